"""Recipes: strict, overridable, written back as they were read, and errors that help."""

import dataclasses
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from allyouneed.core.config import PRESETS, TINY, TransformerConfig
from allyouneed.data.corpus import Corpus
from allyouneed.data.filters import Filters
from allyouneed.errors import DataError, RecipeError
from allyouneed.training.recipe.data_sections import FiltersSection
from allyouneed.training.recipe.reply_schema import ReplyRecipe, TrainReplyCorpusSection
from allyouneed.training.recipe.sections import ModelSection
from allyouneed.training.recipe.toml_file import Recipe, load_recipe, packaged_recipes, to_toml

MINIMAL = """
name = "mine"
[[data.train]]
source = "pairs.tsv"
[[data.valid]]
made = "copy"
[training]
epochs = 1
"""


def written(folder: Path, text: str = MINIMAL) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def complaint(folder: Path, text: str = MINIMAL, *overrides: str) -> str:
    with pytest.raises(RecipeError) as caught:
        load_recipe(written(folder, text), overrides)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", sorted(packaged_recipes()))
def test_packaged_recipe_is_read_and_written_back(name: str, tmp_path: Path) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name
    assert load_recipe(written(tmp_path, to_toml(recipe))) == recipe


def test_packaged_recipes_are_the_models_they_say() -> None:
    assert {"copy", "en-de", "multi30k", "reverse"} <= packaged_recipes().keys()
    multi30k = load_recipe("multi30k")
    assert multi30k.model.config(10_000) == dataclasses.replace(
        TINY, vocabulary=10_000, residual="pre-norm", dropout=0.2, positions="rotary"
    )
    assert multi30k.vocabulary.size == 10_000
    bundled = load_recipe("en-de").model.config(8000)
    assert (bundled.residual, bundled.positions, bundled.shared_embeddings) == (
        "post-norm",
        "sinusoidal",
        "all",
    )


def test_packaged_recipes_find_the_data_that_comes_with_them() -> None:
    short = [table for table in load_recipe("en-de").data.train if "short" in str(table.source)]
    [path] = [table.source for table in short]
    assert path is not None
    pairs = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(len(pair) == 2 and all(side.strip() for side in pair) for pair in pairs)
    assert len({source for source, _ in pairs}) == len(pairs) > 5000
    assert ["Monday", "Montag"] in pairs
    assert ["42", "42"] in pairs


def test_model_section_has_every_field_of_the_configuration() -> None:
    from_elsewhere = {"vocabulary", "source_vocabulary", "pad", "start", "end"}
    fields = {field.name: field.type for field in dataclasses.fields(TransformerConfig)}
    ours = {
        name: without_limits(field.annotation)
        for name, field in ModelSection.model_fields.items()
        if name != "preset"
    }
    assert ours.keys() == fields.keys() - from_elsewhere
    for name, kinds in ours.items():
        assert kinds == without_limits(fields[name]) | {type(None)}, name
    assert set(get_args(get_args(ModelSection.model_fields["preset"].annotation)[0])) == set(
        PRESETS
    )


def without_limits(annotation: Any) -> set[Any]:
    """The bare types in an optional or annotated type."""
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is not None:
        return without_limits(annotation.__origin__)
    if type(None) in get_args(annotation):
        return {kind for part in get_args(annotation) for kind in without_limits(part)}
    return {annotation}


@pytest.mark.parametrize(
    ("section", "value"), [(TrainReplyCorpusSection, Corpus), (FiltersSection, Filters)]
)
def test_data_sections_have_the_fields_of_the_data_layer(
    section: type[BaseModel], value: Any
) -> None:
    defaults = {field.name: field.default for field in dataclasses.fields(value)}
    defaults.pop("history", None)  # one for all corpora: [reply]
    defaults.pop("normaliser", None)  # one for all corpora: [data]
    for key in ("languages", "swapped"):
        defaults.pop(key, None)  # follow from the three keys below
    defaults.pop("apart_from", None)  # the texts of validation: drop_validation
    ours = {name: field.default for name, field in section.model_fields.items()}
    for key in ("source_language", "target_language", "both_directions"):
        ours.pop(key, None)
    for key in ("distill", "back_translate", "only_new"):
        ours.pop(key, None)  # the translator's business
    ours.pop("drop_validation", None)  # becomes apart_from
    assert ours == defaults


def sections(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for field in model.model_fields.values():
        parts = [field.annotation, *get_args(field.annotation)]
        for part in parts:
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from sections(part)


def test_every_key_is_described() -> None:
    seen = [*sections(Recipe), *sections(ReplyRecipe)]
    assert len(seen) >= 12
    bare = [
        f"{section.__name__}.{name}"
        for section in seen
        for name, field in section.model_fields.items()
        if not field.description
    ]
    assert bare == []


def test_overrides_are_toml_or_bare_words(tmp_path: Path) -> None:
    recipe = load_recipe(
        written(tmp_path),
        [
            "model.d_model=256",
            "name=other-name",
            "optimizer.betas=[0.8, 0.9]",
            "data.train.0.weight=2",
            "schedule.name=constant",
            "schedule.learning_rate = 1e-3",
            "description='a = b'",
            "licence=CC BY 2.0",
            "training.init=en-de",
        ],
    )
    assert recipe.model.d_model == 256
    assert recipe.name == "other-name"
    assert recipe.optimizer.betas == (0.8, 0.9)
    assert recipe.data.train[0].weight == 2.0
    assert recipe.schedule.name == "constant"
    assert recipe.schedule.learning_rate == 1e-3
    assert (recipe.description, recipe.licence) == ("a = b", "CC BY 2.0")
    assert recipe.training.init == "en-de"


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("model.d_modle=3", ["unknown key model.d_modle", "did you mean model.d_model?"]),
        ("trainig.steps=3", ["unknown key trainig", "did you mean training?"]),
        ("model.vocabulary=3", ["unknown key model.vocabulary"]),
        ("data.train.0.sorce=x", ["unknown key data.train.0.sorce", "mean data.train.0.source?"]),
        ("model.d_model=wide", ["model.d_model = 'wide'", "valid integer"]),
        ("model.d_model=4.0", ["model.d_model = 4.0", "valid integer"]),
        ("seed=true", ["seed = True", "valid integer"]),
        ("training.precision=fp16", ["training.precision = 'fp16'", "'float32' or 'bf16'"]),
        ("optimizer.epsilon=nan", ["optimizer.epsilon = nan", "finite"]),
        ("training.label_smoothing=1", ["training.label_smoothing = 1", "less than 1"]),
        ("name=a/b", ["name = 'a/b': should have letters, digits, _, - and . only"]),
        ("epochs=3", ["unknown key epochs; did you mean training.epochs?"]),
        ("training.learning_rate=2", ["training.learning_rate; did you mean schedule.learning"]),
        ("model.heads=7", ["[model]", "heads=7", "d_model=512", "511 or 518"]),
        (
            "data.train.0.distill=3",
            ["data.train.0.distill = 3: should be: model folder", "or a list"],
        ),
        ("data.train.0.distill=[]", ["data.train.0.distill = []: should be: model folder"]),
        ("data.train.0.back_translate=''", ["data.train.0.back_translate = ''"]),
        ("data.train=[{target='a.de'}]", ["has no source; name the file", "(back_translate)"]),
        (
            "data.train=[{target='a.jsonl', back_translate='de-en'}]",
            ["a.jsonl is read as jsonl, by columns; name it as source only"],
        ),
        ("schedule.name=cosin", ["schedule.name = 'cosin'", "cosine"]),
        ("schedule.name=cosine", ["schedule.learning_rate is missing", "peak"]),
        ("schedule.warmup=9", ["schedule.name is missing", "noam"]),
        ("training.keep_last=2", ["keep_last = 2", "average_last = 5"]),
        ("data.train.0.target=x", ["data.train.0", "holds both sides"]),
        ("data.train.0.pairs=9", ["data.train.0: pairs does not apply to these files"]),
        ("data.valid.0.source_field=x", ["source_field does not apply to a made corpus"]),
        ("data.valid.0.weight=2", ["unknown key data.valid.0.weight"]),
        ("model.preset=bert", ["0 decoder layers and 2 segments", "a preset with a decoder"]),
        ("model.segments=2", ["6 decoder layers and 2 segments", "leave segments out"]),
        ("data.filters.min_tokens=999", ["data.filters", "min_tokens=999"]),
        ("data.train.1.weight=2", ["'1' should be a number below 1"]),
        ("name.first=x", ["name is a value, not a section"]),
        ("d_model", ["'d_model'", "section.key=value"]),
        ("name=\udc80", ["not valid Unicode"]),
    ],
)
def test_wrong_override(override: str, parts: list[str], tmp_path: Path) -> None:
    message = complaint(tmp_path, MINIMAL, override)
    for part in [*parts, override if "\udc80" not in override else "override"]:
        assert part in message


def test_one_bracket_for_two_is_told(tmp_path: Path) -> None:
    said = complaint(tmp_path, 'name = "x"\n[data.train]\nsource = "a.tsv"\n')
    assert said.endswith(
        "data.train is one table and may be several: write [[data.train]], with two brackets"
    )


def test_files_of_packaged_recipes_are_told_where_they_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALLYOUNEED_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    recipe = load_recipe("sst2")
    (corpus, *_) = recipe.data.train
    with pytest.raises(DataError, match=r"sst2/train.*docs/reference/recipes\.md says where it"):
        recipe.locate(corpus.source)
    with pytest.raises(
        DataError, match=r"^not beside the recipe or here: mine.*to the folder that holds it$"
    ):
        recipe.locate(Path("mine.tsv"))
    with pytest.raises(DataError, match=r"^/missing/a\.tsv: .*to the folder that holds it$"):
        recipe.locate(Path("/missing/a.tsv"))


def test_wrong_file_is_named_with_the_key(tmp_path: Path) -> None:
    message = complaint(tmp_path, MINIMAL + "epoch = 2\n")
    assert (
        message
        == f"{tmp_path}/mine.toml: unknown key training.epoch; did you mean training.epochs?"
    )
    assert "data.train is missing" in complaint(tmp_path, 'name = "x"\n[data]\nvalid = []\n')


@pytest.mark.parametrize(
    ("text", "line"),
    [('name = "x"\nseed 3\n', 2), ('name = "x"\n\nseed = [1,\n2', 4), ("a = 1\na = 2\n", 2)],
)
def test_syntax_error_names_the_line(text: str, line: int, tmp_path: Path) -> None:
    assert f"mine.toml:{line}: not TOML" in complaint(tmp_path, text)


def test_not_utf8_names_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b'name = "x"\nlicence = "\xe9"\n')
    with pytest.raises(RecipeError, match=r"mine\.toml:2: byte 22 is not UTF-8"):
        load_recipe(path)


def test_unknown_recipe(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"'multi30';.*reverse.*mean multi30k\?$"):
        load_recipe("multi30")
    with pytest.raises(RecipeError, match=r"nowhere\.toml: cannot read .*No such file.*; correct"):
        load_recipe(tmp_path / "nowhere.toml")
    with pytest.raises(RecipeError, match="cannot read"):
        load_recipe(tmp_path)


def test_paths_start_beside_the_recipe_then_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, data, elsewhere = (tmp_path / name for name in ("here", "data", "elsewhere"))
    for folder in (here, data, elsewhere):
        folder.mkdir()
    monkeypatch.setenv("ALLYOUNEED_DATA", str(data))
    monkeypatch.chdir(elsewhere)
    path = written(here)
    source = load_recipe(path).data.train[0].source
    assert source is not None
    with pytest.raises(DataError, match=r"pairs\.tsv: no such file"):
        load_recipe(path).locate(source)
    for folder in (data, elsewhere, here):  # later ones come first
        (folder / "pairs.tsv").touch()
        recipe = load_recipe(path)
        assert recipe.locate(recipe.data.train[0].source or Path()) == folder / "pairs.tsv"
    copy = load_recipe(written(elsewhere, to_toml(recipe)))  # as a run's folder keeps it
    assert copy == recipe


def test_init_excludes_a_new_shape_and_vocabulary(tmp_path: Path) -> None:
    for override in ("model.preset=big", "vocabulary.tokenizer=t.json"):
        message = complaint(tmp_path, MINIMAL, "training.init=en-de", override)
        assert override.partition("=")[0] in message
    base = TransformerConfig(vocabulary=50, dropout=0.3)
    recipe = load_recipe(written(tmp_path), ["training.init=x", "model.dropout=0.1"])
    assert recipe.model.config(50, base) == TransformerConfig(vocabulary=50, dropout=0.1)
    assert recipe.model.config(99, base).vocabulary == 99  # a renewed one


def test_as_many_checkpoints_stay_as_are_averaged(tmp_path: Path) -> None:
    kept = {
        average: load_recipe(
            written(tmp_path), [f"training.average_last={average}"]
        ).training.checkpoints_kept
        for average in (0, 1, 10)
    }
    assert kept == {0: 2, 1: 2, 10: 10}


@given(
    text=st.text(st.characters(codec="utf-8"), max_size=20),
    number=st.floats(min_value=1e-300, allow_infinity=False),
)
@settings(max_examples=50, deadline=None)
def test_any_text_and_number_is_written_back(text: str, number: float) -> None:
    recipe = Recipe.model_validate(tomllib.loads(MINIMAL), strict=False).model_copy(
        update={"description": text}
    )
    recipe = recipe.model_copy(
        update={"optimizer": recipe.optimizer.model_copy(update={"epsilon": number})}
    )
    back = tomllib.loads(to_toml(recipe))
    assert back["description"] == text
    assert back["optimizer"]["epsilon"] == number
