"""Runs of a tiny model on made letters: milliseconds a step, dropout and BPE dropout on."""

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from allyouneed.engine.native import build
from allyouneed.engine.native.library import Library
from allyouneed.model_folder.places import cache_home
from allyouneed.training.cpu.kernels import find_kernels, open_kernels
from allyouneed.training.log import OnRecord, ignore_record, read_log
from allyouneed.training.recipe.toml_file import Recipe, load_recipe
from allyouneed.training.run import TrainingResult, train

TINY = """
name = "tiny"

[[data.train]]
made = "reverse"
pairs = 120
seed = 1

[[data.valid]]
made = "reverse"
pairs = 20
seed = 2

[vocabulary]
size = 280
dropout = 0.1

[schedule]
name = "inverse-sqrt"
learning_rate = 0.01
warmup = 5

[training]
steps = 10
batch_tokens = 256          # 4 updates an epoch
average_last = 2
log_every = 1

[validation]
sentences = 0
"""


MODEL = """
[model]
preset = "tiny"
encoder_layers = 1
decoder_layers = 1
d_model = 16
d_ff = 32
heads = 2
dropout = 0.1
max_positions = 64
"""


@dataclass(frozen=True)
class Runs:
    """Starts runs of the tiny recipe, each in a folder of its own, and reads what they left."""

    root: Path

    def recipe(self, *overrides: str) -> Recipe:
        path = self.root / "tiny.toml"
        from_weights = any(key.startswith("training.init=") for key in overrides)
        path.write_text(TINY if from_weights else TINY + MODEL, encoding="utf-8")
        return load_recipe(path, overrides)

    def start(
        self, name: str, *overrides: str, resume: bool = False, report: OnRecord = ignore_record
    ) -> TrainingResult:
        recipe = self.recipe(*overrides)
        return train(recipe, self.root / name, resume=resume, report=report)

    def records(self, name: str, event: str) -> list[dict[str, Any]]:
        return [record for record in read_log(self.root / name) if record["event"] == event]

    def losses(self, name: str) -> dict[int, float]:
        """The loss of every step, in the order of the log; each step is there once."""
        steps = [(record["step"], record["loss"]) for record in self.records(name, "step")]
        assert len(steps) == len(dict(steps))
        return dict(steps)

    def weights(self, name: str, part: str = "model") -> bytes:
        return (self.root / name / part / "model.safetensors").read_bytes()


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


@pytest.fixture(scope="module")
def shared_runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Runs that the tests of one file only read."""
    return Runs(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def compiled() -> Library:
    """The kernels for this machine; compiling them may fail for want of a compiler alone."""
    try:
        build.find_compiler()
    except build.NoCompiler as error:
        pytest.skip(f"the kernels are tested where they can be compiled: {error}")
    return find_kernels()


@pytest.fixture(scope="module", params=list(build.variants()))
def kernels(request: pytest.FixtureRequest, compiled: Library) -> ctypes.CDLL:
    """In every variant that this processor can run; compiled once and kept."""
    if request.param not in build.usable_variants(build.features()):
        pytest.skip(f"this processor lacks something that variant {request.param} needs")
    if request.param == build.best_variant(build.features()):
        return compiled.functions
    path = cache_home() / build.library_name(request.param, build.KERNELS)
    if not build.intact(path):
        build.compile_variant(request.param, cache_home(), build.KERNELS)
    return open_kernels(path)
