"""A start imports what the first request may need, and nothing more."""

import subprocess
import sys

START = """
import sys
from allyouneed.cli.serve import serve
import allyouneed.serving.app, allyouneed.serving.server, allyouneed.serving.shelf
print(*sys.modules)
"""
LATER = {
    "allyouneed.documents.formats",  # with the first document
    "allyouneed.translation.markup.marked_text",  # with the first text that has tags
    "py3langid",  # once the service is ready
    "torch",
    "lxml",
    "sacrebleu",
}


def test_a_start_imports_no_more_than_it_needs() -> None:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    assert LATER.isdisjoint(done.stdout.split())
    assert "allyouneed.serving.app" in done.stdout.split()
