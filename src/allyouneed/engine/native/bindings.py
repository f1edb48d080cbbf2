"""The C interface of the engine (source/interface.h), as ctypes see it."""

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_double, c_float, c_int32, c_int64, c_void_p
from pathlib import Path

INTERFACE = 2  # AYA_INTERFACE
ERROR_BYTES = 512  # kErrorBytes
OK, FAILED, MEMORY, NOT_FINITE, STOPPED = range(5)

Floats, Doubles = POINTER(c_float), POINTER(c_double)
Ints, Offsets = POINTER(c_int32), POINTER(c_int64)
Interrupted = ctypes.CFUNCTYPE(c_int32)  # not 0: the search ends


class Config(Structure):
    """aya_config: a TransformerConfig in numbers."""

    _fields_ = [
        *(
            (name, c_int32)
            for name in (
                "vocabulary",
                "source_vocabulary",
                "d_model",
                "heads",
                "head_width",
                "d_ff",
                "encoder_layers",
                "decoder_layers",
                "max_positions",
                "pre_norm",
                "rms",
                "activation",
                "rotary",
                "normalise_embeddings",
                "bias",
                "pad",
                "start",
                "end",
            )
        ),
        ("norm_epsilon", c_float),
        ("embedding_scale", c_float),
    ]


class Options(Structure):
    """aya_options: BeamOptions in numbers."""

    _fields_ = [
        ("beam", c_int32),
        ("n_best", c_int32),
        ("min_length", c_int32),
        ("no_repeat_ngram", c_int32),
        ("loop_guard", c_int32),
        ("stop_exact", c_int32),
        ("stop_first", c_int32),
        ("penalties", Doubles),
        ("interrupted", Interrupted),
    ]


class Lists(Structure):
    """aya_lists: lists of ids, one behind the other."""

    _fields_ = [("ids", Ints), ("offsets", Offsets)]


class Found(Structure):
    """aya_found: where a search puts its hypotheses."""

    _fields_ = [
        ("ids", Ints),
        ("log_p", Floats),
        ("lengths", Ints),
        ("scores", Doubles),
        ("room", c_int32),
    ]


SIGNATURES = {
    "aya_interface": (c_int32, []),
    "aya_variant": (c_char_p, []),
    "aya_units": (c_char_p, []),
    "aya_model_new": (
        c_void_p,
        [
            POINTER(Config),
            c_int32,
            c_int32,
            POINTER(c_char_p),
            POINTER(Floats),
            Offsets,
            c_char_p,
        ],
    ),
    "aya_model_free": (None, [c_void_p]),
    "aya_worker_new": (c_void_p, [c_void_p, c_int32, c_char_p]),
    "aya_worker_free": (None, [c_void_p]),
    "aya_search": (
        c_int32,
        [
            c_void_p,
            c_int32,
            POINTER(Lists),
            Ints,
            POINTER(Lists),
            POINTER(Lists),
            POINTER(Options),
            POINTER(Found),
            c_char_p,
        ],
    ),
    "aya_encode": (c_int32, [c_void_p, c_int32, POINTER(Lists), c_char_p]),
    "aya_start": (c_int32, [c_void_p, c_int32, c_char_p]),
    "aya_step": (c_int32, [c_void_p, Ints, Floats, c_char_p]),
    "aya_select": (c_int32, [c_void_p, c_int32, Ints, c_char_p]),
}


def open_library(path: Path) -> ctypes.CDLL:
    """The compiled library, its functions typed.

    Raises:
        OSError: a file that is no library of this interface for this machine.
    """
    library = ctypes.CDLL(str(path))
    try:
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        interface = library.aya_interface()
    except AttributeError as error:
        raise OSError(f"{path} is no engine: {error}") from error
    if interface != INTERFACE:
        raise OSError(f"{path} has interface {interface} instead of {INTERFACE}")
    return library
