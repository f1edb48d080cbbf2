"""The C interface of the engine (source/interface.h) in ctypes."""

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_float,
    c_int32,
    c_int64,
    c_uint8,
    c_void_p,
)
from pathlib import Path
from typing import Any, ClassVar

from allyouneed.engine.native.build import ENGINE

ERROR_BYTES = 512  # kErrorBytes
OK, FAILED, MEMORY, NOT_FINITE, STOPPED = range(5)

Floats, Doubles = POINTER(c_float), POINTER(c_double)
Ints, Offsets, Bytes = POINTER(c_int32), POINTER(c_int64), POINTER(c_uint8)
Fetch = CFUNCTYPE(c_int64, c_char_p, c_int64, c_int64, Floats)
Move = CFUNCTYPE(c_int32, c_void_p, c_int64)
Interrupted = CFUNCTYPE(c_int32)  # not 0: the search ends
Fields = list[tuple[str, Any]]


class Config(Structure):
    """aya_config: a TransformerConfig in numbers."""

    _fields_: ClassVar[Fields] = [
        ("vocabulary", c_int32),
        ("source_vocabulary", c_int32),
        ("d_model", c_int32),
        ("heads", c_int32),
        ("head_width", c_int32),
        ("d_ff", c_int32),
        ("encoder_layers", c_int32),
        ("decoder_layers", c_int32),
        ("max_positions", c_int32),
        ("pre_norm", c_int32),
        ("rms", c_int32),
        ("activation", c_int32),
        ("rotary", c_int32),
        ("normalise_embeddings", c_int32),
        ("bias", c_int32),
        ("tied_source", c_int32),
        ("tied_output", c_int32),
        ("pad", c_int32),
        ("start", c_int32),
        ("end", c_int32),
        ("norm_epsilon", c_float),
        ("embedding_scale", c_float),
    ]


class Lists(Structure):
    """aya_lists: lists of ids, one after the other."""

    _fields_: ClassVar[Fields] = [
        ("count", c_int32),
        ("size", c_int64),
        ("ids", Ints),
        ("offsets", Offsets),
    ]


class Options(Structure):
    """aya_options: BeamOptions or SamplingOptions in numbers."""

    _fields_: ClassVar[Fields] = [
        ("beam", c_int32),
        ("n_best", c_int32),
        ("min_length", c_int32),
        ("no_repeat_ngram", c_int32),
        ("loop_guard", c_int32),
        ("stop_exact", c_int32),
        ("stop_first", c_int32),
        ("penalty_count", c_int32),
        ("given", c_int32),
        ("penalties", Doubles),
        ("samples", c_int32),
        ("top_k", c_int32),
        ("top_p", c_double),
        ("temperature", c_double),
        ("chance_count", c_int64),
        ("chances", Doubles),
    ]


class Attention(Structure):
    """aya_attention: which cross-attention to report."""

    _fields_: ClassVar[Fields] = [("layer", c_int32), ("head_count", c_int32), ("heads", Ints)]


class Terms(Structure):
    """aya_terms: terms that translations have to use."""

    _fields_: ClassVar[Fields] = [
        ("forms", Lists),
        ("term_of", Ints),
        ("forms_of", Offsets),
        ("sources", Lists),
        ("terms_of", Offsets),
        ("edges", Bytes),
    ]


class Request(Structure):
    """aya_request: the input of a search."""

    _fields_: ClassVar[Fields] = [
        ("sources", Lists),
        ("limits", Ints),
        ("prefixes", POINTER(Lists)),
        ("selection", POINTER(Lists)),
        ("options", Options),
        ("attention", Attention),
        ("terms", POINTER(Terms)),
        ("interrupted", Interrupted),
    ]


class Found(Structure):
    """aya_found: the memory that a search writes its hypotheses to."""

    _fields_: ClassVar[Fields] = [
        ("room", c_int32),
        ("source_room", c_int32),
        ("places", c_int64),
        ("ids", Ints),
        ("log_p", Floats),
        ("lengths", Ints),
        ("scores", Doubles),
        ("attention", Floats),
    ]


STRUCTURES: dict[str, type[Structure]] = {
    "aya_config": Config,
    "aya_lists": Lists,
    "aya_options": Options,
    "aya_attention": Attention,
    "aya_terms": Terms,
    "aya_request": Request,
    "aya_found": Found,
}
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "aya_interface": (c_char_p, []),
    "aya_layout": (c_char_p, []),
    "aya_variant": (c_char_p, []),
    "aya_units": (c_char_p, []),
    "aya_features": (c_char_p, []),
    "aya_model_new": (c_void_p, [POINTER(Config), c_int32, Fetch, c_char_p]),
    "aya_model_free": (None, [c_void_p]),
    "aya_model_store": (c_int32, [c_void_p, Move, c_char_p]),
    "aya_model_restored": (
        c_void_p,
        [POINTER(Config), c_int32, Fetch, Move, c_int64, c_char_p],
    ),
    "aya_worker_new": (c_void_p, [c_void_p, c_int32, c_char_p]),
    "aya_worker_free": (None, [c_void_p]),
    "aya_worker_threads": (c_int32, [c_void_p]),
    "aya_search": (c_int32, [c_void_p, POINTER(Request), POINTER(Found), c_char_p]),
    "aya_begin": (c_int32, [c_void_p, POINTER(Request), c_char_p]),
    "aya_next": (c_int32, [c_void_p, Ints, c_char_p]),
    "aya_encode": (c_int32, [c_void_p, POINTER(Lists), c_char_p]),
    "aya_start": (c_int32, [c_void_p, c_int32, c_char_p]),
    "aya_step": (c_int32, [c_void_p, c_int32, Ints, Floats, c_char_p]),
    "aya_select": (c_int32, [c_void_p, c_int32, Ints, c_char_p]),
}


def open_library(path: Path) -> ctypes.CDLL:
    """The compiled library with typed functions.

    Raises:
        OSError: the file is no library for this machine, or has another interface.
    """
    library = ctypes.CDLL(str(path))
    try:
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        interface = library.aya_interface().decode()
    except AttributeError as error:
        raise OSError(f"{path} is not the engine's library: {error}") from error
    if interface != ENGINE.interface():
        raise OSError(f"{path} has interface {interface} instead of {ENGINE.interface()}")
    return library
