"""Text rules of M2M-100, NLLB-200 and Argos: one SentencePiece model per side, and a list of the
pieces in the order of their ids.

The kind "pieces" of tokenizer.json holds the unchanged `.spm` files in base64.
"""

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from allyouneed.text.sentencepiece_tokenizer import SentencePieceTokenizer


class PieceTokenizer(SentencePieceTokenizer):
    """One side of such a model. Marks of languages written in a text are ordinary text."""

    KIND = "pieces"

    def __init__(self, contents: Mapping[str, Any], side: str = "source") -> None:
        """`contents` are those of tokenizer.json; `side` is "source" or "target".

        Raises:
            ValueError: a table does not fit. The message says which one, and why.
        """
        own = contents[side] or contents["source"]
        spelt: Sequence[str] = own["pieces"]
        if not all(isinstance(piece, str) for piece in spelt):
            raise ValueError(f"the {side} pieces are not all strings")
        ids = {piece: id for id, piece in reversed(list(enumerate(spelt)))}
        special: Mapping[str, str] = contents["special"]
        if missing := [piece for piece in special.values() if piece not in ids]:
            raise ValueError(f"the {side} vocabulary lacks {missing[0]}")
        silent = {*contents["silent"], *special.values()} - {special["unknown"]}
        super().__init__(
            contents,
            side,
            file=own["model"],
            spelt=spelt,
            ids={piece: id for piece, id in ids.items() if piece not in silent},
            silent={ids[piece] for piece in silent if piece in ids},
            ends=side == "target" or bool(contents.get("ends", True)),
        )
        self.PAD, self.START, self.END, self.UNKNOWN = (
            ids[special[name]] for name in ("pad", "start", "end", "unknown")
        )
        two = contents["target"] is not None or not self.ends
        self.target = self if side == "target" or not two else PieceTokenizer(contents, "target")

    @classmethod
    def of_files(
        cls,
        source: tuple[bytes, Sequence[str]],
        target: tuple[bytes, Sequence[str]] | None,
        special: Mapping[str, str],
        silent: Collection[str] = (),
        ends: bool = True,
    ) -> "PieceTokenizer":
        """The tokenizer of a `.spm` file and its pieces by id, for each side.

        Without `target` both sides are the same. `special` says how "pad", "start", "end" and
        "unknown" are spelt. Pieces in `silent`, such as marks of languages, add nothing to a text.
        Without `ends` the ids of a source do not end in "end", as in models of OpenNMT.

        Raises:
            ValueError: a table does not fit. The message says which one, and why.
            ModelFolderError: a `.spm` file is damaged or of a kind that is not supported.
        """

        def one(side: tuple[bytes, Sequence[str]]) -> dict[str, Any]:
            return {"model": base64.b64encode(side[0]).decode(), "pieces": list(side[1])}

        found = cls(
            {
                "kind": cls.KIND,
                "special": dict(special),
                "silent": sorted(silent),
                **({} if ends else {"ends": False}),
                "source": one(source),
                "target": None if target is None else one(target),
            }
        )
        found.target.check()
        found.check()
        return found
