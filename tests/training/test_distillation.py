"""A teacher's translations in the place of targets: made once, by all workers, through kills."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from allyouneed.data.corpus import Corpus, Pair
from allyouneed.data.readers import read_pairs
from allyouneed.errors import DataError, ModelFolderError, RecipeError
from allyouneed.loading import load, load_ensemble
from allyouneed.model_folder.folder import save_model_folder
from allyouneed.model_folder.traits import Traits
from allyouneed.text.languages import Languages
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training import distillation
from allyouneed.training.distillation import SEARCH, distil
from allyouneed.training.log import Record
from allyouneed.training.workers import ALONE, Workers
from allyouneed.translation.assembly import CUT_OFF
from allyouneed.translation.result import Translation

CPU = torch.device("cpu")
STEPS = "training.steps=4"


class PowerCut(BaseException):
    pass


@pytest.fixture(scope="module")
def taught(shared_runs: Any) -> Any:
    """The runs, one of them that of a teacher."""
    shared_runs.start("teacher", "training.steps=8", "seed=7")
    return shared_runs


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distillation, "PART", 16)


def by(runs: Any) -> str:
    return f"data.train.0.distill={runs.root / 'teacher' / 'model'}"


def translated(runs: Any) -> list[dict[str, str]]:
    """What a distilled corpus should hold."""
    sources = [pair.source for pair in read_pairs(Corpus(made="reverse", pairs=120, seed=1))]
    texts = load(runs.root / "teacher" / "model")(sources, options=SEARCH)
    return [
        {"source": found.source, "target": found.text}
        for found in texts
        if CUT_OFF not in found.notes
    ]


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def silent(*what: Any) -> None:
    pass


def test_a_student_learns_the_teachers_translations(taught: Any) -> None:
    reported: list[Record] = []
    taught.start("student", by(taught), STEPS, report=reported.append)
    (made,) = (taught.root / "student" / "cache").glob("distilled-*")
    assert made.suffix == ".jsonl"
    assert rows(made) == translated(taught)
    data, _ = (record["report"] for record in taught.records("student", "data"))
    assert data["corpora"] == [str(made)]
    notes = [record["text"] for record in taught.records("student", "note")]
    (told,) = [note for note in notes if note.startswith("distilled")]
    assert told.startswith("distilled: 120 sentences of made:reverse:1 translated by ")
    stages = [(r["stage"], r["done"], r["total"]) for r in reported if r["event"] == "preparing"]
    assert stages[:2] == [("translating", 0, 120), ("translating", 120, 120)]


def test_several_teachers_decide_together(taught: Any) -> None:
    taught.start("second-teacher", "training.steps=8", "seed=8")
    names = [str(taught.root / name / "model") for name in ("teacher", "second-teacher")]
    both = f'data.train=[{{made="reverse", pairs=20, seed=1, distill={json.dumps(names)}}}]'
    said: list[str] = []
    found = distil(taught.recipe(both), taught.root / "both", CPU, ALONE, said.append, silent)
    translator = load_ensemble(names)
    for pair in read_pairs(found[0]):
        assert pair.target == translator(pair.source, options=SEARCH).text
    assert " with " in said[-1]
    assert "2 models" in said[-1]
    with pytest.raises(RecipeError, match="distill"):
        taught.recipe('data.train=[{made="reverse", distill=[]}]')


def test_sources_are_written_for_text_of_the_target_language(taught: Any) -> None:
    text = taught.root / "text"
    text.mkdir()
    (text / "1.txt").write_text("a b c\nd e\n", encoding="utf-8")
    (text / "2.txt").write_text("f\n", encoding="utf-8")
    teacher = taught.root / "teacher" / "model"
    back = f'data.train=[{{target="{text}", weight=2.0, back_translate="{teacher}"}}]'
    said: list[str] = []
    made = distil(taught.recipe(back), taught.root / "back", CPU, ALONE, said.append, silent)
    assert made[0].weight == 2
    assert made[0].name.startswith(str(taught.root / "back" / "cache" / "translated-back-"))
    lines = ["a b c", "d e", "f"]
    sources = [found.text for found in load(teacher)(lines, options=SEARCH)]
    assert [(pair.source, pair.target) for pair in read_pairs(made[0])] == [
        *zip(sources, lines, strict=True)
    ]
    assert said[-1].startswith("translated back: 3 sentences of ")
    taught.start("back", back, STEPS, "vocabulary.size=270")


def test_only_texts_that_no_corpus_above_has_are_translated(taught: Any) -> None:
    folder = taught.root / "new"
    folder.mkdir()
    (folder / "own.tsv").write_text("x\ta b c\nd e\ty\n", encoding="utf-8")
    (folder / "more.tsv").write_text("1\ta b c\n2\td e\n3\tf\n4\tf\n", encoding="utf-8")
    teacher = taught.root / "teacher" / "model"
    own = f'{{source="{folder / "own.tsv"}"}}'
    more = f'source="{folder / "more.tsv"}", back_translate="{teacher}", only_new=true'
    said: list[str] = []
    recipe = taught.recipe(f"data.train=[{own}, {{{more}}}]")
    made = distil(recipe, folder, CPU, ALONE, said.append, silent)
    assert said[0].startswith("to be translated back: kept 2 of 4 pairs")
    assert "known from a corpus above, or twice: 2" in said[0]
    assert [pair.target for pair in read_pairs(made[1])] == ["d e", "f"]
    again = distil(taught.recipe(f"data.train=[{{{more}}}]"), folder, CPU, ALONE, silent, silent)
    assert [pair.target for pair in read_pairs(again[0])] == ["a b c", "d e", "f"]
    with pytest.raises(RecipeError, match="only_new says which texts a model translates"):
        taught.recipe("data.train.0.only_new=true")


def test_either_side_may_be_the_one_that_is_written(taught: Any) -> None:
    folder, teacher = taught.root / "sides", taught.root / "teacher" / "model"
    back = [f"data.train.0.back_translate={teacher}"]
    own = [
        (pair.source, pair.target) for pair in read_pairs(Corpus(made="reverse", pairs=120, seed=1))
    ]
    (forth,) = distil(taught.recipe(by(taught)), folder, CPU, ALONE, silent, silent).values()
    (back_,) = distil(taught.recipe(*back), folder, CPU, ALONE, silent, silent).values()
    assert {pair.source for pair in read_pairs(forth)} <= {source for source, _ in own}
    targets = [pair.target for pair in read_pairs(back_)]
    assert set(targets) <= {target for _, target in own}
    assert len(targets) > 100
    with pytest.raises(RecipeError, match="name the corpus twice, each time with one of them"):
        taught.recipe(by(taught), *back)


def test_a_corpus_named_twice_is_learnt_from_both_ways(taught: Any) -> None:
    made = '{made = "reverse", pairs = 120, seed = 1'
    teacher = taught.root / "teacher" / "model"
    both = f'data.train=[{made}, weight = 2.0}}, {made}, distill = "{teacher}"}}]'
    taught.start("both", both, STEPS, "vocabulary.size=270")
    data, _ = (record["report"] for record in taught.records("both", "data"))
    own, distilled = data["corpora"]
    assert own == "made:reverse:1"
    assert rows(Path(distilled)) == translated(taught)


@pytest.mark.usefixtures("small_parts")
def test_a_killed_run_goes_on_with_the_next_part(taught: Any) -> None:
    def cut(record: Record) -> None:
        if record.get("stage") == "translating" and record["done"] == 48:
            raise PowerCut

    with pytest.raises(PowerCut):
        taught.start("cut", by(taught), STEPS, report=cut)
    (folder,) = (taught.root / "cut" / "cache").glob("distilled-*")
    parts = {part.name: part.stat().st_mtime_ns for part in folder.iterdir()}
    assert sorted(parts) == ["000000.jsonl", "000001.jsonl", "000002.jsonl"]
    (folder / ".000003.jsonl.1-1.partial").write_text("half of a")
    kept: dict[str, int] = {}

    def watch(record: Record) -> None:
        if record.get("stage") == "translating" and record["done"] == 120:
            kept.update({part.name: part.stat().st_mtime_ns for part in folder.iterdir()})

    taught.start("cut", by(taught), STEPS, report=watch)
    assert kept.items() > parts.items()
    assert rows(folder.with_suffix(".jsonl")) == translated(taught)
    assert not folder.exists()
    notes = [record["text"] for record in taught.records("cut", "note")]
    assert any(", 72 of them now" in note for note in notes)


def test_it_is_done_once_for_a_teacher_and_a_corpus(
    taught: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = taught.root / "once"
    first = distil(taught.recipe(by(taught)), folder, CPU, ALONE, silent, silent)

    def refuse(*what: Any, **more: Any) -> Any:
        raise PowerCut

    monkeypatch.setattr(distillation, "load", refuse)
    assert distil(taught.recipe(by(taught)), folder, CPU, ALONE, silent, silent) == first
    for other in ("data.train.0.seed=5", "data.train.0.pairs=119"):
        with pytest.raises(PowerCut):
            distil(taught.recipe(by(taught), other), folder, CPU, ALONE, silent, silent)
    assert distil(taught.recipe(), folder, CPU, ALONE, silent, silent) == {}


def test_another_teacher_is_another_corpus(taught: Any) -> None:
    folder = taught.root / "pupils"
    first = distil(taught.recipe(by(taught)), folder, CPU, ALONE, silent, silent)
    best = f"data.train.0.distill={taught.root / 'teacher' / 'best'}"
    config = taught.root / "teacher" / "best" / "config.json"
    config.write_text(config.read_text().replace('"source_language": ""', '"source_language": "x"'))
    second = distil(taught.recipe(best), folder, CPU, ALONE, silent, silent)
    assert first.keys() == second.keys() == {0}
    assert first[0].source != second[0].source


@dataclass
class Meeting:
    """Where two workers of one process wait for one another."""

    barrier: threading.Barrier = field(default_factory=lambda: threading.Barrier(2, timeout=60))
    said: list[Any] = field(default_factory=lambda: [None, None])

    def exchange(self, rank: int, what: Any) -> list[Any]:
        self.said[rank] = what
        self.barrier.wait()
        said = list(self.said)
        self.barrier.wait()
        return said


class Half(Workers):
    """One of two workers."""

    world = 2

    def __init__(self, rank: int, meeting: Meeting) -> None:
        self.rank, self._meeting = rank, meeting

    def sum(self, numbers: Sequence[float]) -> list[float]:
        return [sum(each) for each in zip(*self._meeting.exchange(self.rank, numbers), strict=True)]

    def from_first(self, work: Callable[[], Any]) -> Any:
        return self._meeting.exchange(self.rank, work() if self.first else None)[0]


@pytest.mark.usefixtures("small_parts")
def test_two_workers_share_the_work(taught: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write, by_whom = distillation._write, {}

    def watched(place: Path, *rest: Any) -> None:
        by_whom[place.stem] = threading.current_thread().name
        write(place, *rest)

    monkeypatch.setattr(distillation, "_write", watched)
    meeting, found = Meeting(), {}
    recipe = taught.recipe(by(taught))

    def work(rank: int) -> None:
        half = Half(rank, meeting)
        found[rank] = distil(recipe, taught.root / "shared", CPU, half, silent, silent)

    threads = [threading.Thread(target=work, args=(rank,), name=str(rank)) for rank in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert by_whom == {f"{number:06d}": str(number % 2) for number in range(8)}
    assert found[0] == found[1]
    assert rows(found[0][0].source) == translated(taught)


def test_what_is_cut_off_is_left_out(tmp_path: Path) -> None:
    def translator(sources: list[str], options: Any) -> list[Translation]:
        assert options == SEARCH
        return [
            Translation(
                tokens=(),
                token_log_probabilities=(),
                source=source,
                text=source.upper() + "\u2028\n",
                notes=(CUT_OFF,) if source == "b" else (),
            )
            for source in sources
        ]

    place = tmp_path / "part.jsonl"
    pairs = [Pair(side, other, 1) for side, other in ("ax", "by", "äz")]
    distillation._write(place, translator, pairs, "target")  # type: ignore[arg-type]
    assert rows(place) == [
        {"source": "a", "target": "A\u2028\n"},
        {"source": "ä", "target": "Ä\u2028\n"},
    ]
    assert list(tmp_path.iterdir()) == [place]


def test_lines_that_cannot_be_distilled_are_told_of(taught: Any) -> None:
    path = taught.root / "pairs.tsv"
    path.write_bytes(b"a b\tb a\r\nonly one side\nb c\tc b\n")
    own = f'data.train=[{{source="{path}", distill="{taught.root / "teacher" / "model"}"}}]'
    said: list[str] = []
    distil(taught.recipe(own), taught.root / "odd", CPU, ALONE, said.append, silent)
    assert said[0].startswith("to be distilled: kept 2 of 3 pairs\nleft out\n  malformed: 1\n")
    assert "carriage return" in said[0]


def test_nothing_to_translate_is_said_of_the_users_file(taught: Any) -> None:
    (taught.root / "empty.txt").touch()
    teacher = taught.root / "teacher" / "model"
    own = f'data.train=[{{target="{taught.root / "empty.txt"}", back_translate="{teacher}"}}]'
    with pytest.raises(DataError, match=r"empty\.txt: no sentence to translate; read 0 pairs"):
        distil(taught.recipe(own), taught.root / "empty", CPU, ALONE, silent, silent)


def test_what_is_translated_is_what_is_named(taught: Any) -> None:
    for side in ("source", "target"):
        (taught.root / f"{side}.txt").write_text("a b\n", encoding="utf-8")
    files = ", ".join(f'{side}="{taught.root / side}.txt"' for side in ("source", "target"))
    for key, side in (("distill", "source"), ("back_translate", "target")):
        own = f'data.train=[{{{files}, {key}="{taught.root / "teacher" / "model"}"}}]'
        said: list[str] = []
        distil(taught.recipe(own), taught.root / key, CPU, ALONE, said.append, silent)
        assert f": 1 sentences of {taught.root / side}.txt translated by " in said[-1]


@pytest.mark.parametrize(
    ("amiss", "said"),
    [
        ('data.valid=[{source="nowhere.tsv"}]', "nowhere.tsv: no such file"),
        ("vocabulary.tokenizer=nowhere.json", "nowhere.json: no such file"),
        ('data.train.1={made="reverse", distill="nowhere"}', "there is no model 'nowhere'"),
        ('data.train.1={source="nowhere.tsv"}', "nowhere.tsv: no such file"),
    ],
)
def test_nothing_is_translated_for_a_recipe_that_cannot_be(
    taught: Any, monkeypatch: pytest.MonkeyPatch, amiss: str, said: str
) -> None:
    def refuse(*what: Any, **more: Any) -> Any:
        raise PowerCut

    monkeypatch.setattr(distillation, "load", refuse)
    two = f'{{made="reverse", pairs=20, distill="{taught.root / "teacher" / "model"}"}}'
    with pytest.raises((DataError, ModelFolderError), match=said):
        taught.start("run", f'data.train=[{two}, {{made="copy"}}]', amiss)


@pytest.fixture
def polyglot(small_model: Callable[..., Any], small_tokenizer: Tokenizer, tmp_path: Path) -> Path:
    """A model of three languages that writes other words for each of them."""
    languages = Languages(
        sources=("de", "en", "fr"),
        targets=("de", "en", "fr"),
        marks={"de": (20,), "en": (21,), "fr": (22,)},
        source_begins_with="source",
        translation_begins_with="target",
    )
    model = small_model(d_model=32, shared_embeddings="none", output_bias=True)
    with torch.no_grad():
        model.output.bias[model.config.end] += 3
    save_model_folder(tmp_path / "polyglot", model, small_tokenizer, Traits(multilingual=languages))
    return tmp_path / "polyglot"


@pytest.mark.parametrize("key", ["distill", "back_translate"])
def test_a_teacher_of_many_languages_is_told_the_two_of_the_recipe(
    polyglot: Path, runs: Any, key: str
) -> None:
    there = ("source_language=German", "target_language=fr")
    runs.start("student", f"data.train.0.{key}={polyglot}", STEPS, *there)
    (made,) = (runs.root / "student" / "cache").glob("*-*.jsonl")
    read, written = ("source", "target") if key == "distill" else ("target", "source")
    source, target = ("de", "fr") if key == "distill" else ("fr", "de")
    found = rows(made)
    texts = load(polyglot)(
        [one[read] for one in found], options=SEARCH, source=source, target=target
    )
    assert found
    assert [one[written] for one in found] == [one.text for one in texts]


@pytest.mark.parametrize("named", [(), ("source_language=German", "target_language=Italian")])
def test_a_teacher_of_many_languages_needs_two_that_it_has(
    polyglot: Path, runs: Any, named: tuple[str, ...]
) -> None:
    with pytest.raises(RecipeError, match=r"^distill: .*polyglot: this model .*source_language"):
        runs.start("student", f"data.train.0.distill={polyglot}", STEPS, *named)


def test_a_teacher_that_translates_the_other_way_is_refused(taught: Any) -> None:
    there = ("source_language=English", "target_language=German")
    for wrong, right in (("distill", "back_translate"), ("back_translate", "distill")):
        name = "de-en" if wrong == "distill" else "en-de"
        said = rf"^{wrong}: \S*{name} translates .*, but this needs .* or use {right} instead"
        with pytest.raises(RecipeError, match=said):
            taught.start("run", f"data.train.0.{wrong}={name}", *there)
        (section,) = taught.recipe(f"data.train.0.{right}={name}", *there).data.train
        (folder,) = distillation.teachers_of(section, ("English", "German"))
        assert folder.name == name
        assert distillation.teachers_of(section, ("", "")) == [folder]


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_keeps_what_is_translated(taught: Any) -> None:
    with pytest.raises(DataError, match=r"No space left.*free some.*finished parts are kept"):
        distil(taught.recipe(by(taught)), taught.root / "full", CPU, ALONE, silent, silent)


def test_validation_pairs_keep_their_own_targets(taught: Any) -> None:
    with pytest.raises(RecipeError, match=r"unknown key data\.valid\.0\.distill"):
        taught.recipe("data.valid.0.distill=en-de")


def test_a_teacher_that_is_not_there_is_named_with_its_key(runs: Any) -> None:
    with pytest.raises(ModelFolderError, match=r"^distill: there is no model 'nowhere'"):
        runs.start("run", "data.train.0.distill=nowhere")
    with pytest.raises(ModelFolderError, match=r"^back_translate: there is no model 'nowhere'"):
        runs.start("run", "data.train.0.back_translate=nowhere")
