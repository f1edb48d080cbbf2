"""Several models as one translator: the mean of what they say."""

from pathlib import Path

import pytest
import torch

from allyouneed import load_ensemble
from allyouneed.decoding.beam import beam_search
from allyouneed.decoding.ensemble import Ensemble
from allyouneed.decoding.options import BeamOptions
from allyouneed.errors import ModelFolderError, UsageError
from allyouneed.loading import load
from allyouneed.model_folder.folder import save_model_folder
from allyouneed.text.tokenizer import Tokenizer

TEXTS = ["A man.", "A dog and a cat.", "", "Tom"]


@pytest.fixture
def other_folder(copier_folder: Path, tmp_path: Path) -> Path:
    """The same model, a little off."""
    one = load(copier_folder, engine="core")
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in one.model.parameters():
            weight += 0.05 * torch.randn_like(weight)
    save_model_folder(tmp_path / "other", one.model, one.tokenizer)
    return tmp_path / "other"


def test_a_model_helps_itself_to_what_it_says(copier_folder: Path) -> None:
    alone = load(copier_folder, engine="core")(TEXTS)
    together = load_ensemble([copier_folder, copier_folder])(TEXTS)
    assert [one.text for one in together] == [one.text for one in alone]
    scores = [[one.log_probability for one in found] for found in (together, alone)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


def test_it_searches_the_mean(copier_folder: Path, other_folder: Path) -> None:
    members = [load(folder, engine="core") for folder in (copier_folder, other_folder)]
    both = Ensemble([member.model for member in members])
    translator = load_ensemble([copier_folder, other_folder], threads=1)
    assert "2 models" in translator.engine.description
    ids = torch.tensor([translator.tokenizer.encode("A man.").ids])
    [[expected]] = beam_search(both, ids, BeamOptions(beam=4))
    found = translator("A man.")
    assert found.token_log_probabilities == pytest.approx(expected.token_log_probabilities)
    assert found.log_probability != members[0]("A man.").log_probability


def test_what_cannot_decide_together(copier_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one model"):
        load_ensemble([])
    with pytest.raises(ModelFolderError):
        load_ensemble([copier_folder, tmp_path / "absent"])
    one = load(copier_folder, engine="core")
    tokenizer = Tokenizer.train(Path(__file__).read_text().splitlines(), len(one.tokenizer))
    save_model_folder(tmp_path / "stranger", one.model, tokenizer)
    with pytest.raises(UsageError, match="another tokenizer than"):
        load_ensemble([copier_folder, tmp_path / "stranger"])


def test_it_has_no_attention_of_its_own(copier_folder: Path) -> None:
    with pytest.raises(UsageError, match="load one of its models"):
        load_ensemble([copier_folder, copier_folder])("A man.", alignments=True)
