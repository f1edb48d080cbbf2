"""Vocabulary selection by the front door: off unless asked for, and the same in every engine."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import UsageError
from allyouneed.loading import load
from allyouneed.model_folder.folder import VOCABULARY_SELECTION, save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.model_folder.vocabulary_selection import VocabularySelection, indispensable
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator

TEXTS = ["A man rides a bike.", "The dog sleeps.", "Where is the coffee?", "please"]
OPTIONS = BeamOptions(beam=3, n_best=2, extra_length=4)


@pytest.fixture
def folder(
    small_model: Callable[..., Transformer], small_tokenizer: Tokenizer, tmp_path: Path
) -> Path:
    """A model with random weights, and a selection that gives each source id itself and the
    next one."""
    save_model_folder(tmp_path / "model", small_model(), small_tokenizer, Traits(trained_length=24))
    pieces = len(small_tokenizer)
    ids = [id_ for source in range(pieces) for id_ in (source, (source + 1) % pieces)]
    VocabularySelection(
        np.arange(0, 2 * pieces + 1, 2),
        np.array(ids, np.int32),
        indispensable(small_tokenizer).astype(np.int32),
    ).save(tmp_path / "model" / VOCABULARY_SELECTION, small_tokenizer)
    return tmp_path / "model"


def found(translator: Translator, sources: list[list[int]], options: object = OPTIONS):
    return translator.engine.search(sources, options)  # type: ignore[arg-type]


def test_it_is_off_unless_asked_for(folder: Path) -> None:
    assert load(folder, "core").engine.selection is None
    sources = load(folder, "core").tokenizer.encode_ids(TEXTS)
    with_all, selected = (
        found(load(folder, "core", vocabulary_selection=on), sources) for on in (False, True)
    )
    assert [h[0].ids for h in with_all] != [h[0].ids for h in selected]


@pytest.mark.parametrize("engine", ["core", "cpu-float32", "cpu-int8"])
def test_each_sentence_has_its_own_ids(folder: Path, engine: str) -> None:
    translator = opened(folder, engine)
    selection = translator.engine.selection
    assert selection is not None
    sources = translator.tokenizer.encode_ids(TEXTS)
    for options in (OPTIONS, SamplingOptions(samples=3, max_length=6)):
        for source, hypotheses in zip(sources, found(translator, sources, options), strict=True):
            ids = {id_ for hypothesis in hypotheses for id_ in hypothesis.ids}
            assert ids <= set(selection.ids([source]).tolist())


def test_float32_engines_agree(folder: Path) -> None:
    native, core = opened(folder, "cpu-float32"), opened(folder, "core")
    sources = core.tokenizer.encode_ids(TEXTS)
    for one, other in zip(found(native, sources), found(core, sources), strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        for mine, its in zip(one, other, strict=True):
            assert mine.token_log_probabilities == pytest.approx(
                its.token_log_probabilities, abs=1e-4
            )


@pytest.mark.parametrize("engine", ["core", "cpu-float32", "cpu-int8"])
def test_neighbours_change_nothing(folder: Path, engine: str) -> None:
    translator = opened(folder, engine)
    sources = translator.tokenizer.encode_ids(TEXTS)
    for source, together in zip(sources, found(translator, sources), strict=True):
        (alone,) = found(translator, [source])
        assert [h.ids for h in alone] == [h.ids for h in together]
        assert [h.score for h in alone] == pytest.approx([h.score for h in together], abs=1e-4)


@pytest.mark.parametrize("engine", ["core", "cpu-float32"])
def test_a_prefix_may_have_any_words(folder: Path, engine: str) -> None:
    translator = opened(folder, engine)
    selection = translator.engine.selection
    assert selection is not None
    prefix = "Fahrrad"
    ids = translator.tokenizer.encode(prefix).ids[:-1]
    source = translator.tokenizer.encode(TEXTS[1]).ids
    assert not set(ids) <= set(selection.ids([source]).tolist())
    assert translator(TEXTS[1], prefix=prefix).text.startswith(prefix)


def test_streaming_selects_too(folder: Path) -> None:
    translator = opened(folder, "core")
    for text in TEXTS:
        greedy = translator(text, beam=1).text
        assert "".join(translator.stream(text)) == greedy


def test_the_core_keeps_to_it_while_it_is_probed(folder: Path) -> None:
    translator = opened(folder, "cpu-int8")
    attention = translator.model.decoder.layers[0].cross_attention
    seen: list[torch.Tensor] = []

    def probe(weights_BHTS: torch.Tensor, _: object) -> torch.Tensor:
        seen.append(weights_BHTS)
        return weights_BHTS

    attention.probes.append(probe)
    probed = translator(TEXTS[0], options=OPTIONS)
    assert seen
    assert probed.text == opened(folder, "core")(TEXTS[0], options=OPTIONS).text


def opened(folder: Path, engine: str) -> Translator:
    """With vocabulary selection; a machine that cannot compile has no cpu-float32."""
    try:
        return load(folder, engine, vocabulary_selection=True)
    except UsageError as error:
        pytest.skip(str(error))
