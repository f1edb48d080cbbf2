"""The files of deploy/ are sound, and speak of options that there are."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from allyouneed.serving.settings import Settings

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def tool(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def judged(*command: str) -> tuple[int, str]:
    """The exit code of a tool that judges a file, and all that it says."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_dockerfile_is_sound() -> None:
    code, said = judged(tool("hadolint"), str(DEPLOY / "Dockerfile"))
    assert (code, said) == (0, "")


def test_the_manifest_is_sound() -> None:
    code, said = judged(tool("kubernetes-validate"), "--strict", str(DEPLOY / "kubernetes.yaml"))
    assert code == 0, said
    assert "passed for resource deployment/allyouneed" in said


def test_variables_are_those_of_the_service() -> None:
    named = {
        name.lower()
        for path in DEPLOY.iterdir()
        for name in re.findall(r"ALLYOUNEED_([A-Z_]+)", path.read_text("utf-8"))
    }
    assert {"host", "keys"} <= named <= set(Settings.model_fields)


@pytest.mark.parametrize("path", sorted(DEPLOY.iterdir()), ids=lambda path: path.name)
def test_probes_ask_what_is_there(path: Path) -> None:
    asked = set(re.findall(r"/(ready|health)\b", path.read_text("utf-8")))
    assert asked == {"Dockerfile": {"ready"}, "kubernetes.yaml": {"ready", "health"}}.get(
        path.name, set()
    )
