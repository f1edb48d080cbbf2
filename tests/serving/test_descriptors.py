"""Connections are no more than the system's limit of descriptors allows, which is raised first."""

import subprocess
import sys

import pytest

from allyouneed.serving.descriptors import RESERVED

TRY = """
import resource, sys
from allyouneed.serving.descriptors import connections_possible
soft, hard, wanted = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
print(connections_possible(wanted), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(
    ("soft", "hard", "wanted", "possible", "raised"),
    [
        (200, 1000, 500, 500, 500 + RESERVED),
        (900, 1000, 500, 500, 900),
        (200, 1000, 5000, 1000 - RESERVED, 1000),
        (100, 300, 5000, 150, 300),
    ],
)
def test_the_limit_is_raised_as_far_as_it_may(
    soft: int, hard: int, wanted: int, possible: int, raised: int
) -> None:
    called = [sys.executable, "-c", TRY, str(soft), str(hard), str(wanted)]
    done = subprocess.run(called, capture_output=True, text=True, check=True)
    assert [*map(int, done.stdout.split())] == [possible, raised, hard]
