"""source/team.h, by itself: what threads that split work rely on."""

import subprocess
from pathlib import Path

import pytest

from allyouneed.engine.native.build import SOURCE, NoCompiler, find_compiler


def test_a_team(tmp_path: Path) -> None:
    try:
        compiler = find_compiler()
    except NoCompiler as error:
        pytest.skip(str(error))
    program = tmp_path / "team_test"
    source = Path(__file__).with_name("team_test.cpp")
    command = [*compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    subprocess.run([*command, f"-I{SOURCE}", str(source), "-o", str(program)], check=True)
    for arguments, words in (([], ["once", "throws", "taken"]), (["no threads"], ["one"])):
        done = subprocess.run(
            [program, *arguments], stdout=subprocess.PIPE, check=True, timeout=300
        )
        assert done.stdout.decode().split() == words
