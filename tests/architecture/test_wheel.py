"""What `pip install` brings: the package with its data, complete, and nothing else."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODEL_LIMIT = 16_000_000  # bytes of a bundled model
COMMAND = [sys.executable, "-c", "from allyouneed.cli.app import main; main()"]

pytestmark = pytest.mark.slow  # a wheel holds every variant of the native code, compiled


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    (path,) = folder.glob("allyouneed-*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, as pip would lay it down."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run_away_from_the_checkout(unpacked: Path, folder: Path, *arguments: str) -> str:
    run = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_wheel_holds_the_package_with_its_data(unpacked: Path) -> None:
    source = ROOT / "src" / "allyouneed"
    expected = {
        path.relative_to(source.parent)
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    found = {path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()}
    information = {path for path in found if path.parts[0].endswith(".dist-info")}
    assert found - information == expected
    assert {path.name for path in information} >= {"METADATA", "LICENSE", "entry_points.txt"}


def test_bundled_models_stay_small(unpacked: Path) -> None:
    for folder in (unpacked / "allyouneed").glob("models/*"):
        assert sum(path.stat().st_size for path in folder.iterdir()) <= MODEL_LIMIT, folder.name


def test_it_works_away_from_the_checkout(unpacked: Path, tmp_path: Path) -> None:
    place = run_away_from_the_checkout(unpacked, tmp_path, "where", "--json", "equation 1")
    assert str(unpacked) in place
    recipe = run_away_from_the_checkout(unpacked, tmp_path, "train", "reverse", "--dry-run")
    assert 'name = "reverse"' in recipe
