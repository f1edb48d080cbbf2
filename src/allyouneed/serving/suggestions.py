"""Suggestions: translations as people would have them, kept in a TMX file."""

import re
import threading
from pathlib import Path

from allyouneed.files import write_whole
from allyouneed.serving.refusal import Refused

LARGEST = 64 << 20  # bytes of the file; it takes no more suggestions then
END = b"  </body>\n</tmx>\n"
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Suggestions:
    """A TMX file that grows. `allyouneed translate --memory` and translators' programs read it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def add(self, text: str, translation: str, source: str, target: str) -> None:
        """Adds a text and its translation to the file.

        Raises:
            Refused: the file cannot be written, is full, or is not as this class writes it.
        """
        from allyouneed.documents.memory import tmx, tmx_units

        pair = (NOT_IN_XML.sub("", text), NOT_IN_XML.sub("", translation))
        try:
            with self._lock:
                if self.path.exists():
                    self._append(tmx_units([pair], source, target).encode())
                else:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    write_whole(self.path, tmx([pair], source, target))
        except OSError as error:
            raise Refused(507, "the suggestion cannot be kept; the disk may be full") from error

    def _append(self, unit: bytes) -> None:
        with self.path.open("r+b") as file:
            size = file.seek(0, 2)
            if size > LARGEST:
                raise Refused(507, "no more suggestions are kept: the file of suggestions is full")
            file.seek(max(0, size - len(END)))
            if file.read() != END:
                raise Refused(507, "the file of suggestions was written by another program")
            file.seek(-len(END), 2)
            file.write(unit + END)
