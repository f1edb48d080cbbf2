"""The C interface: structures that Python mirrors lie where C puts them, and whatever numbers it is
given, nothing but an error code comes back."""

import ctypes
import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from allyouneed.core.transformer import Transformer
from allyouneed.engine.native import bindings
from allyouneed.engine.native.build import ENGINE, KERNELS, Sources
from allyouneed.engine.native.library import Library
from allyouneed.engine.native.packed import PackedModel
from allyouneed.engine.native.worker import Worker
from allyouneed.model_folder.weights.shapes import weight_shapes

ERRORS = {bindings.OK, bindings.FAILED, bindings.MEMORY, bindings.NOT_FINITE}
POSITIONS = 40
MOST = 64  # places of a hostile request's sentences
MARK = 77_777_777  # stands behind the memory that a search may write to
Make = Callable[..., Transformer]


def mirrored(structures: dict[str, type[ctypes.Structure]]) -> set[str]:
    """A line for each field, as the library writes them."""
    return {
        f"{name} {field} {getattr(structure, field).offset} {getattr(structure, field).size}"
        for name, structure in structures.items()
        for field, *_ in structure._fields_
    }


def declared(sources: Sources) -> set[str]:
    """ "structure field" for every field that the header declares."""
    header = sources.main.with_name("interface.h").read_text("utf-8")
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    found = re.findall(r"typedef struct \{(.*?)\} (\w+);", header, re.DOTALL)
    fields = ((name, line.strip()) for body, name in found for line in body.split(";"))
    field_name = re.compile(r"(\w+)(?:\)\(void\))?$")  # of a number, or of a function
    return {f"{name} {field_name.findall(line)[0]}" for name, line in fields if line}


def test_structures_of_the_engine(library: Library) -> None:
    lines = library.functions.aya_layout().decode().splitlines()
    assert set(lines) == mirrored(bindings.STRUCTURES)
    assert {" ".join(line.split()[:2]) for line in lines} == declared(ENGINE)
    assert len(lines) == len(set(lines)) > 50


def test_structures_of_the_kernels(library: Library) -> None:
    from allyouneed.training.cpu import kernels

    lines = kernels.find_kernels().functions.ayt_layout().decode().splitlines()
    assert set(lines) == mirrored(kernels.STRUCTURES)
    assert {" ".join(line.split()[:2]) for line in lines} == declared(KERNELS)


def test_a_field_that_moved_is_found() -> None:
    class Moved(ctypes.Structure):
        _fields_ = [("count", ctypes.c_int64), ("size", ctypes.c_int64)]

    assert "aya_lists size 8 8" in mirrored({"aya_lists": Moved})
    assert "aya_lists count 0 4" not in mirrored({"aya_lists": Moved})


small = st.integers(-2, 50)
any_int = st.one_of(small, st.sampled_from([-(2**31), -1, 0, 1, 46, 47, 2**31 - 1]))
any_long = st.one_of(small, st.sampled_from([-(2**63), 2**63 - 1, 2**40]))
words = st.integers(3, 46)
half, often = st.booleans(), st.sampled_from([*[True] * 9, False])
any_double = st.floats(allow_nan=True, allow_infinity=True)


def address(array: Any, kind: Any) -> Any:
    return array.ctypes.data_as(kind)


@st.composite
def lists(
    draw: st.DrawFn,
    keep: list[Any],
    good: st.SearchStrategy[int] = words,
    in_order: st.SearchStrategy[bool] = half,
) -> bindings.Lists:
    """Lists that may be in order; memory is as large as the sizes beside it say."""
    ids = draw(st.lists(good if draw(in_order) else st.one_of(good, any_int), max_size=12))
    if draw(in_order):
        cuts = sorted(draw(st.lists(st.integers(0, len(ids)), max_size=3)))
        offsets = [0, *cuts, len(ids)]
    else:
        offsets = draw(st.lists(any_long, min_size=1, max_size=5))
    ids_, offsets_ = np.array(ids, np.int32), np.array(offsets, np.int64)
    keep += [ids_, offsets_]
    return bindings.Lists(
        count=len(offsets) - 1 if draw(in_order) else draw(st.sampled_from([0, -1])),
        size=len(ids),
        ids=address(ids_, bindings.Ints),
        offsets=address(offsets_, bindings.Offsets),
    )


@st.composite
def terms(draw: st.DrawFn, keep: list[Any], sentences: int) -> bindings.Terms:
    """Terms that may belong to the sentences of a request."""
    forms = draw(lists(keep, words, often))
    sources = draw(lists(keep, st.integers(0, 2), often))

    def numbers(count: int, kind: type[Any], good: st.SearchStrategy[int]) -> Any:
        size = max(count, 0)
        other = any_long if kind is np.int64 else any_int
        number = good if draw(often) else st.one_of(good, other)
        drawn = draw(st.lists(number, min_size=size, max_size=size))
        keep.append(np.array(drawn, kind))
        return keep[-1]

    def shares(count: int) -> Any:
        """Where each sentence's part of `count` begins."""
        between = numbers(sentences - 1, np.int64, st.integers(0, max(count, 0)))
        whole = [0, *(sorted(between) if draw(often) else between), count]
        keep.append(np.array(whole[: sentences + 1], np.int64))
        return keep[-1]

    edges = np.array(draw(st.lists(st.integers(0, 3), min_size=47, max_size=47)), np.uint8)
    keep.append(edges)
    return bindings.Terms(
        forms=forms,
        term_of=address(
            numbers(forms.count, np.int32, st.sampled_from([0, 0, 0, 1])), bindings.Ints
        ),
        forms_of=address(shares(forms.count), bindings.Offsets),
        sources=sources,
        terms_of=address(shares(sources.count), bindings.Offsets),
        edges=address(edges, bindings.Bytes),
    )


class Places:
    """Memory for hypotheses, and memory behind it that the library must not write to."""

    def __init__(self, places: int, room: int, width: int) -> None:
        given = max(places, 0)
        sizes = [given * room, given * room, given, given, given * room * width]
        types = [np.int32, np.float32, np.int32, np.float64, np.float32]
        kinds = [bindings.Ints, bindings.Floats, bindings.Ints, bindings.Doubles, bindings.Floats]
        arrays = [np.full(size + 4096, MARK, kind) for size, kind in zip(sizes, types, strict=True)]
        self.beyond = [array[size:] for array, size in zip(arrays, sizes, strict=True)]
        self.found = bindings.Found(room, width, places, *map(address, arrays, kinds))

    def beyond_is_untouched(self) -> bool:
        return all((part == MARK).all() for part in self.beyond)


@pytest.fixture(scope="module")
def workers(library: Library, odd_model: Make) -> list[Worker]:
    model = odd_model()
    arrays = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    packed = [PackedModel(library.functions, model.config, arrays, int8) for int8 in (True, False)]
    return [Worker(one, 2) for one in packed]


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_hostile_requests(data: st.DataObject, workers: list[Worker]) -> None:
    keep: list[Any] = []
    draw = data.draw
    sources = draw(lists(keep))
    count = max(sources.count, 0)
    sensible = st.sampled_from([1, 4])
    limits = np.array(draw(st.lists(any_int, min_size=count, max_size=count)), np.int32)
    if draw(st.booleans()):
        limits = np.clip(limits, 1, 6)
    penalties = np.array(draw(st.lists(st.one_of(st.just(1.0), any_double), max_size=50)))
    chances = np.array(draw(st.lists(st.one_of(st.just(0.4), any_double), max_size=200)))
    heads = np.array(draw(st.lists(any_int, max_size=3)), np.int32)
    others = [draw(st.none() | lists(keep)) for _ in range(2)]
    options = bindings.Options(
        beam=draw(st.one_of(sensible, any_int)),
        n_best=draw(st.one_of(sensible, any_int)),
        penalty_count=len(penalties),
        penalties=address(penalties, bindings.Doubles),
        samples=draw(st.one_of(st.just(0), st.just(1), any_int)),
        top_p=draw(st.one_of(st.just(1.0), any_double)),
        temperature=draw(st.one_of(st.just(1.0), any_double)),
        chance_count=len(chances),
        chances=address(chances, bindings.Doubles),
        **{
            name: draw(any_int) for name in ("min_length", "no_repeat_ngram", "loop_guard", "top_k")
        },
        stop_exact=draw(st.booleans()),
        stop_first=draw(st.booleans()),
    )
    request = bindings.Request(
        sources=sources,
        limits=address(limits, bindings.Ints),
        prefixes=others[0] and ctypes.pointer(others[0]),
        selection=others[1] and ctypes.pointer(others[1]),
        options=options,
        attention=bindings.Attention(
            layer=draw(st.one_of(st.just(-1), any_int)),
            head_count=len(heads),
            heads=address(heads, bindings.Ints),
        ),
    )
    room, width = draw(st.integers(0, POSITIONS)), draw(st.integers(0, POSITIONS))
    wanted = (options.samples or options.n_best) * count
    found = Places(
        draw(st.one_of(st.just(min(max(wanted, 0), MOST)), st.integers(0, 8))), room, width
    )
    error = ctypes.create_string_buffer(bindings.ERROR_BYTES)
    for worker in workers:
        functions = worker.model.library
        status = functions.aya_search(worker.pointer, request, found.found, error)
        assert status in ERRORS
        assert (status == bindings.OK) or error.value
        assert found.beyond_is_untouched()
        newest = ctypes.c_int32()
        if functions.aya_begin(worker.pointer, request, error) == bindings.OK:
            for _ in range(POSITIONS + 1):
                if functions.aya_next(worker.pointer, newest, error) or newest.value < 0:
                    break
            else:
                pytest.fail("a stream without an end")


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_hostile_terms(data: st.DataObject, workers: list[Worker]) -> None:
    """In a request that is in order otherwise."""
    keep: list[Any] = []
    beam, room, width = data.draw(st.sampled_from([1, 3])), 8, 4
    ids, offsets = np.array([5, 6, 2, 9, 8, 7, 2], np.int32), np.array([0, 3, 7], np.int64)
    limits, heads = np.array([room, 5], np.int32), np.array([1], np.int32)
    penalties = np.ones(room + 2)
    wanted = data.draw(terms(keep, 2))
    request = bindings.Request(
        sources=bindings.Lists(
            2, 7, address(ids, bindings.Ints), address(offsets, bindings.Offsets)
        ),
        limits=address(limits, bindings.Ints),
        options=bindings.Options(
            beam=beam,
            n_best=beam,
            penalty_count=len(penalties),
            penalties=address(penalties, bindings.Doubles),
        ),
        attention=bindings.Attention(1, 1, address(heads, bindings.Ints)),
        terms=ctypes.pointer(wanted),
    )
    found = Places(2 * beam, room, width)
    error = ctypes.create_string_buffer(bindings.ERROR_BYTES)
    for worker in workers:
        status = worker.model.library.aya_search(worker.pointer, request, found.found, error)
        assert status in ERRORS
        assert (status == bindings.OK) or error.value
        assert found.beyond_is_untouched()


@settings(max_examples=100, deadline=None)
@given(
    n_best=st.integers(1, 9),
    samples=st.one_of(st.just(0), st.integers(1, 9)),
    places=st.integers(-1, 20),
)
@example(n_best=1, samples=8, places=2)
def test_hypotheses_without_a_place_are_refused(
    n_best: int, samples: int, places: int, workers: list[Worker]
) -> None:
    """In a request that is in order otherwise. A sampling search has as many hypotheses as it
    draws, whatever `n_best` says."""
    ids, offsets = np.array([5, 6, 2, 9, 8, 2], np.int32), np.array([0, 3, 6], np.int64)
    limits, penalties = np.array([8, 8], np.int32), np.ones(10)
    request = bindings.Request(
        sources=bindings.Lists(
            2, 6, address(ids, bindings.Ints), address(offsets, bindings.Offsets)
        ),
        limits=address(limits, bindings.Ints),
        options=bindings.Options(
            beam=4,
            n_best=n_best,
            penalty_count=len(penalties),
            penalties=address(penalties, bindings.Doubles),
            samples=samples,
            top_p=1.0,
            temperature=1.0,
        ),
        attention=bindings.Attention(layer=-1),
    )
    needed = 2 * (samples or n_best)
    error = ctypes.create_string_buffer(bindings.ERROR_BYTES)
    for worker in workers:
        found = Places(places, 8, 0)
        status = worker.model.library.aya_search(worker.pointer, request, found.found, error)
        assert found.beyond_is_untouched()
        assert status == (bindings.OK if places >= needed else bindings.FAILED)


POINTERS = [  # where a request points to memory that its sizes call for
    *(("sources", name) for name in ("ids", "offsets")),
    ("limits",),
    *(("prefixes", name) for name in ("ids", "offsets")),
    *(("selection", name) for name in ("ids", "offsets")),
    ("options", "penalties"),
    ("attention", "heads"),
    *(("terms", "forms", name) for name in ("ids", "offsets")),
    *(("terms", "sources", name) for name in ("ids", "offsets")),
    *(("terms", name) for name in ("term_of", "forms_of", "terms_of", "edges")),
]


@pytest.mark.parametrize("path", [(), *POINTERS], ids=".".join)
def test_null_pointers(path: tuple[str, ...], workers: list[Worker]) -> None:
    """A request in order is answered, and refused without any one of its memories."""
    kind = dict(bindings.Lists._fields_)

    def listed(*rows: list[int]) -> bindings.Lists:
        ids = (ctypes.c_int32 * sum(map(len, rows)))(*(id_ for row in rows for id_ in row))
        offsets = (ctypes.c_int64 * (len(rows) + 1))(
            *(sum(map(len, rows[:n])) for n in range(len(rows) + 1))
        )
        pointers = ctypes.cast(ids, kind["ids"]), ctypes.cast(offsets, kind["offsets"])
        return bindings.Lists(len(rows), len(ids), *pointers)

    wanted = bindings.Terms(
        forms=listed([9, 8]),
        term_of=(ctypes.c_int32 * 1)(0),
        forms_of=(ctypes.c_int64 * 2)(0, 1),
        sources=listed([0, 1]),
        terms_of=(ctypes.c_int64 * 2)(0, 1),
        edges=(ctypes.c_uint8 * 47)(),
    )
    request = bindings.Request(
        sources=listed([5, 6, 2]),
        limits=(ctypes.c_int32 * 1)(8),
        prefixes=ctypes.pointer(listed([7])),
        selection=ctypes.pointer(listed([2, *range(3, 30)])),
        options=bindings.Options(
            beam=2, n_best=2, penalty_count=10, penalties=(ctypes.c_double * 10)(*[1.0] * 10)
        ),
        attention=bindings.Attention(1, 1, (ctypes.c_int32 * 1)(1)),
        terms=ctypes.pointer(wanted),
    )
    place: Any = request
    for name in path[:-1]:
        inner = getattr(place, name)
        place = inner.contents if hasattr(inner, "contents") else inner
    if path:
        setattr(place, path[-1], None)
    found = bindings.Found(
        *(8, 3, 2),
        (ctypes.c_int32 * 16)(),
        (ctypes.c_float * 16)(),
        (ctypes.c_int32 * 2)(),
        (ctypes.c_double * 2)(),
        (ctypes.c_float * 48)(),
    )
    error = ctypes.create_string_buffer(bindings.ERROR_BYTES)
    for worker in workers:
        status = worker.model.library.aya_search(worker.pointer, request, found, error)
        assert status == (bindings.FAILED if path else bindings.OK), error.value
        assert bool(error.value) == bool(path)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_hostile_steps(data: st.DataObject, workers: list[Worker]) -> None:
    keep: list[Any] = []
    error = ctypes.create_string_buffer(bindings.ERROR_BYTES)
    for worker in workers:
        functions, rows = worker.model.library, 0
        given_lists = data.draw(lists(keep))
        if functions.aya_encode(worker.pointer, given_lists, error) == bindings.OK:
            rows = given_lists.count
        for _ in range(data.draw(st.integers(0, 4))):
            many = data.draw(any_int)
            if 0 < many * given_lists.count < 1000 or many < 1:
                status = functions.aya_start(worker.pointer, many, error)
                assert status in ERRORS
            asked = data.draw(st.integers(-1, 100))
            ids = np.array(data.draw(st.lists(any_int, min_size=100, max_size=100)), np.int32)
            logits = np.empty((100, 47), np.float32)
            assert (
                functions.aya_step(
                    *(worker.pointer, asked, address(ids, bindings.Ints)),
                    *(address(logits, bindings.Floats), error),
                )
                in ERRORS
            )
            kept = data.draw(st.integers(-1, 100))
            status = functions.aya_select(worker.pointer, kept, address(ids, bindings.Ints), error)
            assert status in ERRORS
        assert rows >= 0


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_hostile_shapes(data: st.DataObject, workers: list[Worker]) -> None:
    """Tensors of a good model under a configuration that lies about them."""
    packed = workers[0].model
    good = {
        field: getattr(_numbers(packed.config), field) for field, *_ in bindings.Config._fields_
    }
    spoilt = data.draw(st.lists(st.sampled_from(sorted(good)), min_size=1, max_size=3))
    numbers = good | {name: data.draw(any_int) for name in spoilt}
    config = bindings.Config(**numbers)

    model = workers[0].model.config
    tensors = _sizes(model)
    chance = random.Random(data.draw(st.integers(0, 99)))

    def fetch(name: bytes, first: int, count: int, into: Any) -> int:
        real = chance.choice([tensors.get(name.decode(), 0)] * 40 + [0, 7, 2**40])
        if into and real:
            assert 0 <= first < first + count <= tensors[name.decode()]
            np.ctypeslib.as_array(into, (count,))[:] = 0.1
        return real

    error = ctypes.create_string_buffer(bindings.ERROR_BYTES)
    pointer = packed.library.aya_model_new(
        config, data.draw(st.booleans()), bindings.Fetch(fetch), error
    )
    if pointer:
        packed.library.aya_model_free(pointer)
    else:
        assert error.value


def _sizes(config: Any) -> dict[str, int]:
    sizes = {name: math.prod(shape) for name, shape in weight_shapes(config).items()}
    tied = {name: sizes[owner] for name, owner in config.tied_weights().items()}
    table = config.max_positions * config.d_model
    tables = {f"{side}.embeddings.positions.table": table for side in ("encoder", "decoder")}
    return {**sizes, **tied, **tables}


def _numbers(config: Any) -> bindings.Config:
    from allyouneed.engine.native.packed import _numbers as numbers

    return numbers(config)
