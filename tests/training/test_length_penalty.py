"""`validation.length_penalty`: validation uses it, and the model folder names it."""

from typing import Any

import pytest
import torch

from allyouneed.decoding.length_penalty import Wu
from allyouneed.engine.torch_engine import TorchEngine
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.training.preparation import prepare
from allyouneed.training.tasks.translate import Translate
from allyouneed.training.validation import validate

SHORT = ("training.steps=1", "validation.sentences=2")


def test_the_model_folder_names_it(runs: Any) -> None:
    runs.start("plain", *SHORT)
    runs.start("first", *SHORT, "validation.length_penalty=1.2")
    init = f"training.init={runs.root / 'first' / 'model'}"
    runs.start("goes_on", *SHORT, init)
    runs.start("other", *SHORT, init, "validation.length_penalty=0.0")
    found = {
        name: open_model_folder(runs.root / name / "model").length_penalty
        for name in ("plain", "first", "goes_on", "other")
    }
    assert found == {"plain": None, "first": 1.2, "goes_on": 1.2, "other": 0.0}


def test_validation_translates_with_it(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = runs.recipe("validation.sentences=2", "validation.length_penalty=1.2")
    material = prepare(recipe, runs.root / "run", lambda note: None)
    seen = []
    search = TorchEngine.search

    def watched(self: TorchEngine, sources: Any, options: Any, *more: Any, **named: Any) -> Any:
        seen.append(options.penalty)
        return search(self, sources, options, *more, **named)

    monkeypatch.setattr(TorchEngine, "search", watched)
    validate(material.new_model(1), Translate(recipe, material), torch.device("cpu"))
    assert set(seen) == {Wu(1.2)}
