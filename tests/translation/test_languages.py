"""A model of several languages is told which are meant by marks, and every door goes by them."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from allyouneed.core.transformer import Transformer
from allyouneed.decoding.length_penalty import Average
from allyouneed.decoding.options import BeamOptions, SamplingOptions
from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder, save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.text.languages import Languages
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.translation.translator import Translator

CODES = ("de", "en", "fr")
MARKS = {"de": (20,), "en": (21,), "fr": (22,)}
BOTH = Languages(
    sources=CODES,
    targets=CODES,
    marks=MARKS,
    source_begins_with="source",
    translation_begins_with="target",
)
TEXTS = ["The dog sleeps.", "A man rides a bike.", "Where?"]
OPTIONS = BeamOptions(beam=3, n_best=2, max_length=9, length_penalty=Average())
ENGINES = ["core", "cpu-float32", "cpu-int8"]


@pytest.fixture(scope="session")
def polyglot(
    small_model: Callable[..., Transformer],
    small_tokenizer: Tokenizer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    model = small_model(d_model=32, shared_embeddings="none", output_bias=True)
    with torch.no_grad():
        model.output.bias[model.config.end] += 3
    path = tmp_path_factory.mktemp("models") / "polyglot"
    save_model_folder(path, model, small_tokenizer, Traits(multilingual=BOTH))
    return path


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("beam", [1, 3])
def test_the_target_is_given_and_costs_nothing(polyglot: Path, engine: str, beam: int) -> None:
    translator = load(polyglot, engine, kind=Translator)
    search = BeamOptions(beam=beam, max_length=9, length_penalty=Average())
    found = translator(TEXTS, options=search, source="en", target="fr")
    for text, translation in zip(TEXTS, found, strict=True):
        ids = [21, *translator.tokenizer.encode(text).ids]
        options = search.after(1)
        [[by_hand]] = translator.engine.search([ids], options, [[22]])
        assert by_hand.ids[0] == 22
        assert by_hand.token_log_probabilities[0] == 0.0
        assert by_hand.score == pytest.approx(by_hand.log_probability / len(by_hand.ids), abs=1e-6)
        assert len(by_hand.ids) <= 10
        by_mouth = translation.token_log_probabilities
        assert by_mouth == pytest.approx(by_hand.token_log_probabilities[1:], abs=1e-4)
        assert translation.tokens == tuple(map(translator.tokenizer.piece, by_hand.ids[1:]))
        [[free]] = translator.engine.search([ids], options, [[]])
        assert free.ids[0] != 22


def test_engines_agree(polyglot: Path) -> None:
    core, native = (load(polyglot, engine, kind=Translator) for engine in ENGINES[:2])
    one, other = (t(TEXTS, options=OPTIONS, source="de", target="en") for t in (core, native))
    for ours, theirs in zip(one, other, strict=True):
        assert [a.tokens for a in ours.alternatives] == [a.tokens for a in theirs.alternatives]
        assert ours.log_probability == pytest.approx(theirs.log_probability, abs=1e-4)


def test_every_door_goes_by_the_languages(polyglot: Path) -> None:
    translator = load(polyglot, "core", kind=Translator)
    assert translator.languages == CODES
    assert len(translator.directions) == 6
    greedy = BeamOptions(beam=1, max_length=9)
    french = [one.text for one in translator(TEXTS, options=greedy, source="en", target="fr")]
    german = [one.text for one in translator(TEXTS, options=greedy, source="en", target="de")]
    assert french != german
    words = {"source": "en", "target": "fr"}
    lines = translator.translate_lines(TEXTS, options=greedy, **words)
    assert [one.text for one in lines] == french
    [chunk] = translator.translate_chunks([TEXTS], greedy, **words)
    assert [one.text for one in chunk] == french
    streamed = ["".join(translator.stream(text, greedy, **words)) for text in TEXTS]
    assert streamed == french
    drawn = SamplingOptions(seed=3, max_length=9)
    assert translator(TEXTS[0], options=drawn, **words).tokens


def test_given_translations_are_scored_behind_the_mark(polyglot: Path) -> None:
    translator = load(polyglot, "core", kind=Translator)
    [score] = translator.score(["A man."], ["A dog."], source="en", target="fr")
    assert len(score.tokens) == len(translator.tokenizer.encode("A dog.").ids)
    [other] = translator.score(["A man."], ["A dog."], source="en", target="de")
    assert score.log_probability != other.log_probability


def test_several_threads_may_ask_for_several_languages(polyglot: Path) -> None:
    translator = load(polyglot, "core", kind=Translator)
    greedy = BeamOptions(beam=1, max_length=9)
    alone = {
        target: translator(TEXTS, options=greedy, source="en", target=target)
        for target in ("de", "fr")
    }
    together: dict[str, object] = {}

    def ask(target: str) -> None:
        together[target] = translator(TEXTS, options=greedy, source="en", target=target)

    threads = [threading.Thread(target=ask, args=(target,)) for target in alone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_a_language_has_to_be_named(polyglot: Path) -> None:
    translator = load(polyglot, "core", kind=Translator)
    for ask in (
        lambda: translator("x"),
        lambda: translator.translate_lines(["x"]),
        lambda: translator.stream("x"),
        lambda: translator.score(["x"], ["y"]),
    ):
        with pytest.raises(UsageError, match="translates into de, en, fr; name one"):
            ask()


def test_a_folder_with_languages_that_cannot_be(polyglot: Path, tmp_path: Path) -> None:
    import shutil

    path = shutil.copytree(polyglot, tmp_path / "bad")
    config = (path / "config.json").read_text("utf-8")
    (path / "config.json").write_text(
        config.replace('"fr": [\n        22', '"fr": [\n        2200')
    )
    with pytest.raises(ModelFolderError, match=r"config\.json: languages: marks\.fr=\[2200\] must"):
        open_model_folder(path)
