"""The shipped module of the view is what its sources build."""

import shutil
import subprocess
from pathlib import Path

import pytest

WIDGET = Path(__file__).resolve().parents[2] / "widget"


@pytest.mark.skipif(
    not (shutil.which("node") and (WIDGET / "node_modules").is_dir()),
    reason="needs node, and `npm ci` in widget/",
)
def test_the_shipped_module_is_what_its_sources_build() -> None:
    command = ["node", "build.js", "--check"]
    run = subprocess.run(command, cwd=WIDGET, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
