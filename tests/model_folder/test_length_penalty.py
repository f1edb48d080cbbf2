"""The length penalty that a model folder names is used where a call names none."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from allyouneed.decoding.length_penalty import Average, Wu
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import ModelFolderError
from allyouneed.insight.trace import trace
from allyouneed.interop.ctranslate2 import export_ctranslate2
from allyouneed.interop.ctranslate2_folder import import_ctranslate2
from allyouneed.interop.huggingface_folder import export_huggingface
from allyouneed.loading import load, load_ensemble
from allyouneed.model_folder.folder import bundled_folder, open_model_folder
from allyouneed.widget.effects import effect
from allyouneed.widget.questions import ViewState

TEXT = "Police arrested a man on Tuesday after a robbery in Cologne."


def named(folder: Path, alpha: object) -> Path:
    """The folder, in which config.json names this length penalty."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"length_penalty": alpha}))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(bundled_folder("en-de"), tmp_path / "m")


@pytest.mark.parametrize("engine", ["cpu-float32", "core"])
def test_the_folders_length_penalty_is_used(folder: Path, engine: str) -> None:
    translator = load(named(folder, 8.0), engine=engine)

    def ranked(**options: Any) -> list[tuple[str, ...]]:
        best = translator(TEXT, **options)
        return [one.tokens for one in (best, *best.alternatives)]

    assert ranked(n_best=4) == ranked(n_best=4, length_penalty=8.0)
    assert ranked(n_best=4) == ranked(options=BeamOptions(n_best=4))
    of_paper = BeamOptions(n_best=4, length_penalty=Wu(0.6))
    assert ranked(n_best=4) != ranked(options=of_paper) == ranked(n_best=4, length_penalty=0.6)


def test_the_trace_shows_that_search(folder: Path) -> None:
    translator = load(named(folder, 8.0), engine="core")
    assert (
        trace(translator, TEXT).text
        == translator(TEXT).text
        != translator(TEXT, length_penalty=0.6).text
    )


def test_options_without_a_penalty_have_that_of_the_paper() -> None:
    assert BeamOptions().penalty == Wu(0.6)
    assert BeamOptions(length_penalty=Average()).penalty == Average()


@pytest.mark.parametrize("alpha", [-1, 101, True, "1.0", [1]])
def test_an_alpha_that_is_none_is_refused(folder: Path, alpha: object) -> None:
    with pytest.raises(ModelFolderError, match="length_penalty"):
        open_model_folder(named(folder, alpha))


@pytest.mark.parametrize(("named_alpha", "written"), [(1.5, 1.5), (0.0, 0.0), (None, 0.6)])
def test_an_export_for_hugging_face_searches_with_it(
    folder: Path, named_alpha: float | None, written: float, tmp_path: Path
) -> None:
    config = json.loads((folder / "config.json").read_text())
    del config["length_penalty"]
    own = {} if named_alpha is None else {"length_penalty": named_alpha}
    (folder / "config.json").write_text(json.dumps(config | own))
    export_huggingface(open_model_folder(folder), tmp_path / "hf")
    settings = json.loads((tmp_path / "hf" / "generation_config.json").read_text())
    assert settings["length_penalty"] == written


def test_exports_keep_it(folder: Path, tmp_path: Path) -> None:
    export_ctranslate2(open_model_folder(named(folder, 1.5)), tmp_path / "ct2")
    import_ctranslate2(tmp_path / "ct2", tmp_path / "back", note=print)
    assert open_model_folder(tmp_path / "back").length_penalty == 1.5
    about = tmp_path / "ct2" / "allyouneed.json"
    about.write_text(about.read_text().replace("1.5", "-1.5"))
    with pytest.raises(ModelFolderError, match=r"allyouneed\.json: length_penalty"):
        import_ctranslate2(tmp_path / "ct2", tmp_path / "again", note=print)


def test_the_view_and_ensembles_search_with_it(folder: Path) -> None:
    translator = load(named(folder, 8.0), engine="core")
    shown = trace(translator, TEXT)
    change, text = effect(translator, shown, ViewState(text=TEXT))
    assert (text, change) == (translator(TEXT).text, pytest.approx(0, abs=1e-4))
    assert load_ensemble([folder, folder])(TEXT).text == text
