"""Terms in training: what the sources get, and a model that learns to use and inflect them."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from allyouneed.cli.dry_run import as_text, measured_plan
from allyouneed.data.corpus import Pair
from allyouneed.errors import DataError, ModelFolderError, RecipeError
from allyouneed.loading import load
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.text.tokenizer import Tokenizer
from allyouneed.training.recipe.toml_file import load_recipe
from allyouneed.training.run import train
from allyouneed.training.terms import TermHints
from allyouneed.translation.terms.annotation import without_terms
from allyouneed.translation.terms.glossary import Glossary

# Letters are copied. A term is "x" in a translation, unless the glossary says another letter, which
# gets an "s" in a sentence that begins with "z". Pairs with "x" have nothing to annotate.
LETTERS = "abcdefg"
FORMS = "ijkl"
TERMS = ["".join(word) for word in product("mnopqrtuvw", repeat=3)]  # too many to learn by heart
GLOSSARY = {term: FORMS[n % len(FORMS)] for n, term in enumerate(TERMS)}


def made(pairs: int, seed: int, *, terms: float = 0.5) -> list[tuple[str, str]]:
    chance, found = Random(seed), []
    for _ in range(pairs):
        source = chance.choices(LETTERS, k=chance.randint(2, 5))
        many = chance.random() < 0.5
        term = chance.choice(TERMS)
        source.insert(chance.randint(0, len(source)), term)
        form = GLOSSARY[term] + "s" * many if chance.random() < terms else "x"
        first = ["z"] * many
        target = [form if word == term else word for word in source]
        found.append((" ".join(first + source), " ".join(first + target)))
    return found


RECIPE = """
name = "terms"
seed = 1

[[data.train]]
source = "train.tsv"

[[data.valid]]
source = "valid.tsv"

[terms]
file = "terms.tsv"
share = 1.0

[vocabulary]
size = 300

[model]
preset = "tiny"
encoder_layers = 2
decoder_layers = 2
d_model = 64
d_ff = 256
dropout = 0.0

[optimizer]
clip_norm = 1.0

[schedule]
name = "cosine"
learning_rate = 0.003
warmup = 50
steps = 900

[training]
steps = 900
batch_tokens = 512
label_smoothing = 0.0
average_last = 0

[validation]
sentences = 0
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    for name, count, seed in (("train.tsv", 12000, 1), ("valid.tsv", 50, 2)):
        rows = "".join(f"{source}\t{target}\n" for source, target in made(count, seed))
        (tmp_path / name).write_text(rows)
    rows = "".join(f"{term}\t{form}|{form}s\n" for term, form in GLOSSARY.items())
    (tmp_path / "terms.tsv").write_text(rows)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path / "recipe.toml"


def test_a_model_learns_to_use_and_to_inflect_terms(recipe: Path, tmp_path: Path) -> None:
    result = train(str(recipe), tmp_path / "run")
    native, core = (load(result.model, engine=engine) for engine in ("cpu-float32", "core"))
    chance, texts, terms, wanted = Random(5), [], [], []
    for source, target in made(60, 3, terms=0.0):
        term = next(word for word in source.split() if word in TERMS)
        other = chance.choice([form for form in FORMS if form != GLOSSARY[term]])
        form = other + "s" * source.startswith("z")
        texts.append(source)
        terms.append({term: other})
        wanted.append(" ".join(form if w == "x" else w for w in target.split()))
    plain = [native(text, beam=1).text for text in texts]
    assert sum("x" in text for text in plain) >= 55  # without terms the model does as it likes
    found = [native(text, beam=1, terms=one).text for text, one in zip(texts, terms, strict=True)]
    right = sum(one == other for one, other in zip(found, wanted, strict=True))
    assert right >= 54
    again = [core(text, beam=1, terms=one).text for text, one in zip(texts, terms, strict=True)]
    assert again == found
    linked = native(texts[0], beam=1, terms=terms[0], alignments=True)
    words = linked.source.split()
    place = next(n for n, word in enumerate(words) if word in TERMS)
    assert len(words) == len(linked.text.split())
    assert (place, place) in (linked.alignment or ())  # what was put in counts as the term
    missed = native("a b mop c", beam=1, terms={"mop": "entirely other words"})
    assert "the model may have inflected it" in missed.notes[-1]


@pytest.fixture
def hints() -> Callable[..., TermHints]:
    tokenizer = Tokenizer.train(["I like my red bikes and the bike."] * 2, 300)

    def build(share: float = 1.0, longest: int = 100, **terms: str) -> TermHints:
        glossary = Glossary.of(terms)
        return TermHints(glossary, share, 1, Tokenizer.START, tokenizer, None, longest)

    return build


def sources_of(hints: TermHints, *pairs: Pair) -> tuple[list[str], list[Pair]]:
    told: list[Pair] = []
    ids = hints.tokenizer.encode_ids([pair.source for pair in pairs])
    found = hints.added(pairs, ids, told.append)
    for one, plain in zip(found, ids, strict=True):
        assert without_terms(one, Tokenizer.START)[0] == plain
    texts = ["".join(map(hints.tokenizer.piece, one)) for one in found]
    return [text.replace("<s>", "‖") for text in texts], told


def test_a_source_gets_the_first_form_of_a_term_that_its_target_has(
    hints: Callable[..., TermHints],
) -> None:
    used = Pair("My bike, the red Bike.", "Mein Rad, des roten Rades.", 1)
    unused = Pair("My bike.", "Mein Drahtesel.", 2)
    found, told = sources_of(hints(bike="Rad|Rades"), used, unused)
    mark = found[0][found[0].index("bike") + 4]
    assert found[0].replace(mark, "‖").startswith(" My bike‖ Rad‖, the red Bike‖ Rad‖.")
    assert " Rad" not in found[1]
    assert told == [used]


def test_the_share_is_drawn_by_seed_and_pair(hints: Callable[..., TermHints]) -> None:
    pairs = [Pair(f"The bike {n}.", f"Das Rad {n}.", n) for n in range(400)]
    half, third = hints(0.5, bike="Rad"), hints(0.3, bike="Rad")
    _, some = sources_of(half, *pairs)
    assert 160 <= len(some) <= 240
    assert sources_of(half, *reversed(pairs))[1] == some[::-1]
    assert set(sources_of(third, *pairs)[1]) < set(some)


def test_a_term_too_long_for_the_source_is_left_out(hints: Callable[..., TermHints]) -> None:
    pair = Pair("My bike.", "Mein Rad.", 1)
    room = len(hints().tokenizer.encode_ids([pair.source])[0])
    assert sources_of(hints(longest=room + 2, bike="Rad"), pair)[1] == []
    assert sources_of(hints(longest=room + 10, bike="Rad"), pair)[1] == [pair]


def test_the_plan_counts_the_pairs_with_terms(recipe: Path) -> None:
    planned = measured_plan(load_recipe(recipe), None, lambda *told: None)
    pairs = (row.split("\t") for row in (recipe.parent / "train.tsv").read_text().splitlines())
    assert planned["pairs_with_terms"] == sum("x" not in target for _, target in pairs)
    assert f"about {planned['pairs_with_terms']:,} of them get terms" in as_text(planned)


@pytest.mark.parametrize(
    ("content", "said"),
    [("no tab here\n", "terms.tsv:1: no tab"), ("", "no terms in it"), ("a\tb\na\tc\n", ":2: 'a'")],
)
def test_a_bad_glossary_is_refused(recipe: Path, content: str, said: str) -> None:
    (recipe.parent / "terms.tsv").write_text(content)
    with pytest.raises(DataError, match=said):
        train(str(recipe), recipe.parent / "run")


def test_a_missing_glossary_is_refused(recipe: Path) -> None:
    (recipe.parent / "terms.tsv").unlink()
    with pytest.raises(DataError, match=r"terms\.tsv"):
        train(str(recipe), recipe.parent / "run")


def test_a_recipe_of_several_directions_has_no_terms(recipe: Path) -> None:
    text = recipe.read_text()
    for name in ("train", "valid"):
        there = f'source = "{name}.tsv"\n'
        text = text.replace(there, there + 'source_language = "en"\ntarget_language = "de"\n')
    recipe.write_text(text)
    with pytest.raises(RecipeError, match="one direction"):
        load_recipe(recipe)


def test_a_mark_outside_of_the_vocabulary_is_refused(recipe: Path, tmp_path: Path) -> None:
    result: Any = train(str(recipe), tmp_path / "run", overrides=["training.steps=2"])
    assert open_model_folder(result.model).term_mark == Tokenizer.START
    config = result.model / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"term_mark": 300000}))
    with pytest.raises(ModelFolderError, match="term_mark=300000 must be an id below"):
        open_model_folder(result.model)
