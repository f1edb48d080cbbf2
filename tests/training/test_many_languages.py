"""One model of several made languages: data, marks, validation, and the folder that comes out."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from allyouneed.cli.dry_run import as_text, measured_plan, plan
from allyouneed.data.alignment.aligner import Aligner
from allyouneed.data.collate import collate
from allyouneed.data.mixing import mixed_by_direction, mixed_weights
from allyouneed.errors import RecipeError, UsageError
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.training import vocabulary
from allyouneed.training.log import read_log
from allyouneed.training.preparation import prepare
from allyouneed.training.recipe.toml_file import Recipe, load_recipe, to_toml
from allyouneed.training.run import train
from allyouneed.training.tasks.table import task_of
from allyouneed.training.tasks.task import RunStart
from allyouneed.training.vocabulary import balanced
from allyouneed.training.workers import ALONE

# The three languages have the same letters: only the mark tells which one is asked for.
RECIPE = """
name = "three"

[[data.train]]
source = "ab.tsv"
source_language = "aa"
target_language = "bb"
both_directions = true

[[data.train]]
source = "ac.tsv"
source_language = "aa"
target_language = "cc"

[[data.valid]]
source = "ab-valid.tsv"
source_language = "aa"
target_language = "bb"
both_directions = true

[[data.valid]]
source = "ac-valid.tsv"
source_language = "aa"
target_language = "cc"

[vocabulary]
size = 300

[model]
preset = "tiny"
encoder_layers = 1
decoder_layers = 1
d_model = 48
d_ff = 96
heads = 2
dropout = 0.0
max_positions = 64

[schedule]
name = "inverse-sqrt"
learning_rate = 0.01
warmup = 40

[training]
steps = 6
batch_tokens = 512
average_last = 0
validate_every_steps = 3

[validation]
sentences = 12
"""


def write(folder: Path) -> None:
    """aa is letters; bb is the same with each letter doubled; cc is the letters of aa reversed."""
    chance = random.Random(4)
    for name, count in (("ab", 400), ("ac", 300), ("ab-valid", 8), ("ac-valid", 8)):
        lines = []
        for _ in range(count):
            letters = chance.choices("abcdefgh", k=chance.randint(3, 6))
            other = [2 * x for x in letters] if name[1] == "b" else letters[::-1]
            lines.append(f"{' '.join(letters)}\t{' '.join(other)}\n")
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("three")
    write(folder)
    (folder / "three.toml").write_text(RECIPE, encoding="utf-8")
    return folder


def start_in(folder: Path) -> RunStart:
    return RunStart(folder, torch.device("cpu"), ALONE, lambda text: None, lambda *told: None)


def recipe(place: Path, *overrides: str) -> Recipe:
    found = load_recipe(place / "three.toml", overrides)
    assert isinstance(found, Recipe)
    return found


def test_sources_begin_with_the_mark_of_their_targets_language(place: Path) -> None:
    material = prepare(recipe(place), place / "prepared", lambda note: None)
    tokenizer = material.tokenizer
    assert tokenizer.languages == ("aa", "bb", "cc")[1:] or tokenizer.languages == (
        "aa",
        "bb",
        "cc",
    )
    into = ["bb", "aa", "cc"]
    assert material.train.corpora == 3
    for corpus, code in enumerate(into):
        first = int(material.train.corpus_bounds[corpus])
        source, target = material.train.pair(first)
        assert source[0] == tokenizer.mark(code)
        assert tokenizer.mark(code) not in source[1:]
        assert tokenizer.mark(code) not in target
    forward, backward = (material.train.pair(int(material.train.corpus_bounds[n])) for n in (0, 1))
    assert tokenizer.decode(forward[0].tolist()) == tokenizer.decode(backward[1].tolist())
    assert material.valid_directions[0] == ("aa", "bb")
    assert set(material.valid_directions) == {("aa", "bb"), ("bb", "aa"), ("aa", "cc")}


def test_a_mark_written_in_a_text_is_text(place: Path) -> None:
    tokenizer = prepare(recipe(place), place / "prepared", lambda note: None).tokenizer
    ids = tokenizer.encode("<2bb> a").ids
    assert tokenizer.mark("bb") not in ids
    assert tokenizer.decode([tokenizer.mark("bb"), *ids]) == "<2bb> a"
    with pytest.raises(UsageError, match="no mark for the language 'xx'; it has aa, bb, cc"):
        tokenizer.mark("xx")


def test_each_pair_of_languages_has_one_aligner_and_so_many_pairs_of_each_direction_are_aligned(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt: list[int] = []
    learn = Aligner.learn.__func__  # type: ignore[attr-defined]

    def watch(cls: type, pairs: Any, *rest: Any) -> Aligner:
        some = list(pairs)
        learnt.append(len(some))
        aligner: Aligner = learn(cls, some, *rest)
        return aligner

    monkeypatch.setattr(Aligner, "learn", classmethod(watch))
    guided = ("guided_alignment.layer=0", "guided_alignment.pairs=250")
    material = prepare(recipe(place, *guided), place / "aligned", lambda note: None)
    assert learnt == [250, 250]  # aa with bb in both directions, and aa with cc
    assert material.links is not None
    for corpus, (first, end) in enumerate(pairwise(material.train.corpus_bounds.tolist())):
        aligned = straight = 0
        for number in range(first, end):
            source, target = material.train.pair(number)
            [linked_TS] = material.links.matrices([number], len(target), len(source))
            assert not linked_TS[:, 0].any()  # the mark of the language is aligned with nothing
            aligned += bool(linked_TS.any())
            straight += bool(linked_TS.any() and linked_TS[:-1, 1:-1].diagonal().all())
        assert aligned == 250
        assert corpus == 2 or straight > 225  # aa and bb have the same order, cc has not


@pytest.mark.slow
def test_the_model_is_told_its_direction_by_every_door(place: Path) -> None:
    longer = ("training.steps=800", "training.validate_every_steps=400")
    result = train(recipe(place, *longer), place / "long")
    assert result.model is not None
    folder = open_model_folder(result.model)
    assert folder.multilingual is not None
    translator = load(result.model, engine="core")
    assert set(translator.directions) == {("aa", "bb"), ("bb", "aa"), ("aa", "cc")}
    assert translator("a b c d", source="aa", target="bb").text == "aa bb cc dd"
    assert translator("aa bb cc dd", source="bb", target="aa").text == "a b c d"
    assert translator("a b c d", source="aa", target="cc").text == "d c b a"
    with pytest.raises(UsageError, match="name one: target="):
        translator("a b c")
    through = translator(["aa bb cc dd", "cc aa bb"], source="bb", target="cc")
    assert [one.text for one in through] == ["d c b a", "b a c"]
    assert through[0].notes == ("translated through aa, because no direct way is known",)
    with pytest.raises(UsageError, match=r"from source='cc'\. It has: aa, bb"):
        translator("aa bb", source="cc", target="aa")
    facts = json.loads((result.model / "training.json").read_text("utf-8"))
    scores = facts["validation_bleu_by_direction"]
    assert set(scores) == {"aa-bb", "bb-aa", "aa-cc"}
    assert min(scores["aa-bb"], scores["bb-aa"]) > 80  # reversing is learnt more slowly
    assert scores["aa-cc"] > 20
    assert facts["validation_bleu"] == pytest.approx(sum(scores.values()) / 3)
    assert "validation BLEU aa-cc: " in (result.model / "README.md").read_text("utf-8")
    report = (place / "long" / "report.html").read_text("utf-8")
    assert "BLEU by direction" in report
    assert "<td>bb-aa</td>" in report
    again = train(
        load_recipe(
            place / "three.toml",
            [f"training.init={result.model}", "model={}", "training.steps=1"],
        ),
        place / "again",
    )
    assert again.model is not None
    assert open_model_folder(again.model).multilingual == folder.multilingual


def test_a_model_of_two_languages_becomes_one_of_three(place: Path) -> None:
    two = (place / "three.toml").read_text("utf-8").replace('_language = "', '_was = "')
    two = "\n".join(line for line in two.splitlines() if "_was" not in line and "both_" not in line)
    (place / "two.toml").write_text(two, encoding="utf-8")
    languages = ["source_language=Aa", "target_language=Bb", "training.steps=1"]
    first = train(load_recipe(place / "two.toml", languages), place / "two")
    changes = [f"training.init={first.model}", "model={}", "vocabulary.renew=true"]
    second = train(load_recipe(place / "three.toml", [*changes, "training.steps=1"]), place / "of3")
    assert first.model is not None
    assert second.model is not None
    assert open_model_folder(first.model).languages == ("Aa", "Bb")
    folder = open_model_folder(second.model)
    assert folder.languages == ("", "")
    assert folder.speaks.codes == ("aa", "bb", "cc")


def test_the_plan_tells_tokens_by_direction(place: Path) -> None:
    measured = measured_plan(recipe(place), "cpu", lambda *told: None)
    for planned in (measured, plan(recipe(place))):
        assert set(planned["directions"]) == {"aa-bb", "bb-aa", "aa-cc"}
        assert planned["directions"]["aa-bb"] > planned["directions"]["aa-cc"]
        assert "# bb-aa: about " in as_text(planned)


def test_a_run_is_resumed(place: Path) -> None:
    def losses(name: str) -> list[float]:
        return [one["loss"] for one in read_log(place / name) if one["event"] == "validation"]

    train(recipe(place, "training.steps=3"), place / "cut")
    train(recipe(place), place / "cut", resume=True)
    train(recipe(place), place / "whole")
    assert losses("cut") == losses("whole")
    *_, last = [one for one in read_log(place / "whole") if one["event"] == "final"]
    assert set(last["loss_by_direction"]) == set(last["bleu_by_direction"])
    assert min(last["loss_by_direction"].values()) < last["loss"]
    assert max(last["loss_by_direction"].values()) > last["loss"]
    report = (place / "whole" / "report.html").read_text("utf-8")
    for title in ("BLEU by direction", "Loss by direction"):
        (section,) = [part for part in report.split("<section>") if f"<h2>{title}</h2>" in part]
        assert section.count("<svg") == 3  # a curve for each direction
        assert f"<td>{'bb-aa'}</td>" in section
    assert f"{last['loss_by_direction']['aa-cc']:.3f}" in report


def test_the_loss_of_a_direction_is_that_of_its_pairs_alone(place: Path) -> None:
    task = task_of(recipe(place)).prepared(recipe(place), start_in(place / "prepared"))
    model = task.new_model(1).eval()
    with torch.inference_mode():
        found = task.measure(model, torch.device("cpu"), ALONE)
        wanted: dict[str, list[float]] = {}
        config = task.material.config
        for corpus, direction in enumerate(("aa-bb", "bb-aa", "aa-cc")):
            first, end = task.valid.corpus_bounds[corpus : corpus + 2]
            total = tokens = 0.0
            for number in range(first, end):
                one = collate(task.valid, [number], config.pad, config.start)
                logits = model.output(model.decode(one.target_in_BT, model.encode(one.source_BS)))
                total += float(cross_entropy(logits[0], one.labels_BT[0], reduction="sum"))
                tokens += one.target_tokens
            wanted[direction] = [total, tokens]
    by_direction = {name: total / tokens for name, (total, tokens) in wanted.items()}
    assert found.loss_by_direction == pytest.approx(by_direction, rel=1e-4)
    together = sum(total for total, _ in wanted.values()) / sum(n for _, n in wanted.values())
    assert found.loss == pytest.approx(together, rel=1e-4)


def test_a_recipe_is_written_and_read_back(place: Path) -> None:
    text = to_toml(recipe(place))
    (place / "back.toml").write_text(text, encoding="utf-8")
    assert load_recipe(place / "back.toml") == recipe(place)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["data.train.1={source='ac.tsv'}"], "data.train.1 names no languages and other corpora"),
        (["data.valid.1.target_language=dd"], "data.valid.1 validates aa-dd, which no corpus"),
        (["data.train.0.target_language=aa"], "both languages are 'aa'; they have to differ"),
        (["data.train.1={source='ac.tsv', both_directions=true}"], "both_directions needs source"),
        (["data.train.1={source='ac.tsv', source_language='aa'}"], "names one language"),
        (["source_language=English"], "leave them out at the top"),
        (["data.train.0.distill=en-de"], "both_directions has no place where models write"),
        (["data.train.0.target_language='b b'"], "target_language"),
    ],
)
def test_wrong_languages(place: Path, overrides: list[str], words: str) -> None:
    with pytest.raises(RecipeError, match=words):
        recipe(place, *overrides)


def test_all_corpora_of_a_direction_count_as_one() -> None:
    """At a high temperature directions are drawn alike, whatever they are made of."""
    pairs, weights = [600, 200, 50], [1.0, 1.0, 2.0]
    found = mixed_by_direction(pairs, weights, ["en-de", "en-de", "en-vi"], 1e9)
    assert found == pytest.approx([850 / 2 / 800, 850 / 2 / 800, 2 * 850 / 2 / 50])
    none: list[Any] = [None] * 3
    assert mixed_by_direction(pairs, weights, none, 5) == mixed_weights(pairs, weights, 5)
    assert mixed_by_direction(pairs, weights, ["a", "a", "b"], 1) == weights


def test_small_languages_are_repeated_for_the_vocabulary() -> None:
    texts = [("en", "large text")] * 1000 + [("vi", "small text")] * 8
    found = list(balanced(lambda: texts))
    assert 800 < found.count("large text") < 1000
    assert found.count("small text") == pytest.approx(1008 / 6, abs=2)


def test_a_vocabulary_is_learnt_from_so_much_text_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [("en", f"text {n:05}") for n in range(1000)] + [("vi", "small text")] * 8
    whole = list(balanced(lambda: texts))
    monkeypatch.setattr(vocabulary, "MOST_BYTES", 1008)  # a tenth
    found = list(balanced(lambda: texts))
    assert len(found) == pytest.approx(len(whole) / 10, abs=2)
    assert found.count("small text") == pytest.approx(whole.count("small text") / 10, abs=1)
    numbers = [int(text[5:]) for text in found if text != "small text"]
    assert max(b - a for a, b in pairwise([0, *numbers, 1000])) < 15  # from everywhere


def test_the_preparation_tells_tokens_per_character(place: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    prepare(recipe(place), tmp_path / "prepared", notes.append)
    [rates] = [note for note in notes if note.startswith("tokens per character: ")]
    assert [one.split()[0] for one in rates.partition(": ")[2].split(", ")] == ["aa", "bb", "cc"]
