"""Variants for older processors give what the one for this processor gives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions
from allyouneed.engine.native import build
from allyouneed.engine.native.bindings import open_library
from allyouneed.engine.native.engine import NativeEngine
from allyouneed.engine.native.library import Library, installed_folder
from allyouneed.model_folder.places import cache_home

BEST = build.best_variant(build.features())
SHAPES: list[dict[str, Any]] = [
    {},
    {"residual": "pre-norm", "norm": "rms", "activation": "swiglu", "positions": "rotary"},
    {"d_model": 37, "heads": 1, "head_width": 70, "positions": "none", "activation": "gelu"},
]


@pytest.fixture(scope="module", params=list(build.variants()))
def variant(request: pytest.FixtureRequest, library: Library) -> Library:
    """One that this processor can run; compiled once and kept, as the best one is."""
    if request.param not in build.usable_variants(build.features()):
        pytest.skip(f"this processor lacks something that variant {request.param} needs")
    if request.param == BEST:
        return library
    name = build.library_name(request.param)
    for folder in (installed_folder(), cache_home()):
        if build.intact(folder / name):
            path = folder / name
            break
    else:
        path = build.compile_variant(request.param, cache_home())
    return Library(open_library(path), path)


def test_each_says_what_it_is(variant: Library, library: Library) -> None:
    name = variant.functions.aya_variant().decode()
    assert variant.path.name == build.library_name(name)
    assert (variant.units == library.units) == (name == BEST)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_float32(
    shape: dict[str, Any],
    variant: Library,
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
    sentences: Callable[..., Any],
    assert_same: Callable[..., None],
) -> None:
    model = odd_model(**shape)
    sources = sentences(model.config, [5, 1, 40, 33, 2, 32])
    for beam in (1, 4):
        options = BeamOptions(beam=beam, n_best=beam, extra_length=9)
        older, best = native(model, library=variant), native(model)
        assert_same(older.search(sources, options), best.search(sources, options))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_int8(
    shape: dict[str, Any],
    variant: Library,
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
    sentences: Callable[..., Any],
) -> None:
    """The integers are the same; floats around them may fall to the next integer, but rarely."""
    model = odd_model(**shape)
    ids_BN = torch.full((1, 1), model.config.start)
    apart = []
    for source in sentences(model.config, [5, 1, 40, 33, 2, 32, 9, 14, 3, 22]):
        older, best = (
            road.step(ids_BN, road.start(road.encode(torch.tensor([source])), 1, 1))
            for road in (
                native(model, "int8", library=variant).decodable,
                native(model, "int8").decodable,
            )
        )
        apart.append(float((older - best).abs().max() / best.std()))
    assert sorted(apart)[len(apart) // 2] < 1e-5
    assert max(apart) < 0.2


def test_integer_products_are_exact_at_their_largest(
    variant: Library,
    odd_model: Callable[..., Transformer],
    native: Callable[..., NativeEngine],
) -> None:
    """Weights of ±127, activations of -127 and 126, whose unit is 1, everywhere, where sums
    of 16 bits would overflow; one row, and as many as tiles take.

    Without layers, a logit is a product of an embedding and a row of the output layer."""
    model = odd_model(
        encoder_layers=0,
        decoder_layers=0,
        d_model=256,
        positions="none",
        scale_embeddings=False,
        output_bias=False,
    )
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight, most in (
            (model.output.weight, 127),
            (model.decoder.embeddings.tokens.weight, 126),
        ):
            weight.copy_(
                torch.randint(0, 2, weight.shape, generator=generator) * (127 + most) - 127
            )
            weight[5:8, 1:], weight[8:11, 1:] = most, -127
            weight[5:8, 0], weight[8:11, 0] = -127, most
    wanted = (model.decoder.embeddings.tokens.weight @ model.output.weight.T).detach()
    road = native(model, "int8", library=variant).decodable
    for rows in (1, 2, 5, 6, 16, 17, 40):
        cache = road.start(road.encode(torch.tensor([[2]])), rows, 1)
        ids_1N = torch.arange(rows)[None] + 5
        assert torch.equal(road.step(ids_1N, cache)[0], wanted[ids_1N[0]])


@pytest.mark.parametrize(
    ("cpuinfo", "best"),
    [
        ("flags\t\t: fpu sse2 avx2 fma avx512f avx512bw avx512dq avx512vl avx512_vnni", "avx512"),
        ("flags\t\t: fpu sse2 avx2 fma avx512f avx512bw avx512dq avx512vl", "avx2"),
        ("flags\t\t: fpu sse2 avx2 fma avx_vnni", "avxvnni"),
        ("flags\t\t: fpu sse2 avx2", "any"),
        ("model name\t: avx2 fma\nflags\t\t: fpu", "any"),
        ("", "any"),
    ],
)
def test_which_variant_a_processor_can_run(
    cpuinfo: str, best: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "processor", lambda: "x86_64")
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\n{cpuinfo}\n")
    assert build.best_variant(build.features(tmp_path / "cpuinfo")) == best


@pytest.mark.parametrize(
    ("features", "best"),
    [
        ("fp asimd asimddp sve i8mm", "i8mm"),
        ("fp asimd asimddp sve", "dotprod"),
        ("fp asimd", "any"),
    ],
)
def test_which_variant_an_arm_can_run(
    features: str, best: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "processor", lambda: "arm64")
    (tmp_path / "cpuinfo").write_text(f"Features\t: {features}\n")
    assert build.best_variant(build.features(tmp_path / "cpuinfo")) == best


@pytest.mark.parametrize(
    ("named", "runs"),
    [("any", "any"), ("avx2", "avx2"), ("AVX2", "avx2"), (" avx2 ", "avx2"), ("", "avx2")],
)
def test_a_variant_is_named_in_capitals_or_not(
    named: str, runs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "processor", lambda: "x86_64")
    monkeypatch.setenv("ALLYOUNEED_CPU", named)
    assert build.best_variant({"avx2", "fma"}) == runs


@pytest.mark.parametrize("named", ["bogus", "avx512", "avx 2"])
def test_a_variant_that_cannot_run_is_refused(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "processor", lambda: "x86_64")
    monkeypatch.setenv("ALLYOUNEED_CPU", named)
    with pytest.raises(
        build.NoVariant, match=rf"^ALLYOUNEED_CPU='{named}' .*; choose from avx2, any, or unset it$"
    ):
        build.best_variant({"avx2", "fma"})


def test_a_processor_of_another_kind_has_one_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "processor", lambda: "riscv64")
    assert list(build.variants()) == ["any"]
