"""`allyouneed tokenize`: shows the pieces and ids that a model reads."""

import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Annotated

import typer

from allyouneed.cli.columns import cell_len, left_aligned
from allyouneed.cli.lines import given_or_arriving
from allyouneed.cli.options import DEFAULT_MODEL, Debug, Json, Model
from allyouneed.cli.output import as_json, note, result
from allyouneed.text.shown import shown


def tokenize(
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts to tokenise, each in quotes. Without them: standard input."),
    ] = None,
    model: Model = DEFAULT_MODEL,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show the pieces that a text is cut into, and their ids; id 2 is the end of a sentence.

    **Examples**

    - `allyouneed tokenize "I am looking for a place to eat."`
    - `allyouneed tokenize --json < input.txt`

    Each piece is shown above its id; ␣ is a space. --json adds spans: the beginning and end of each
    piece in the text, in characters.
    """
    from allyouneed.model_folder.folder import open_model_folder
    from allyouneed.text.clean import clean

    tokenizer = open_model_folder(model).tokenizer
    width = shutil.get_terminal_size((100, 24)).columns
    numbers = count(1)
    for chunk in given_or_arriving(texts, note):
        for text, number in zip(chunk, numbers, strict=False):
            cleaned, notes = clean(text)
            for said in notes:
                note(f"{'text' if texts else 'line'} {number}: {said}")
            encoding = tokenizer.encode(cleaned)
            if json:
                result(
                    as_json(
                        {
                            "text": cleaned,
                            "pieces": encoding.pieces,
                            "ids": encoding.ids,
                            "spans": encoding.spans,
                        }
                    )
                )
            else:
                result("\n".join(piece_table(encoding.pieces, encoding.ids, width)))


def piece_table(pieces: Sequence[str], ids: Sequence[int], width: int) -> Iterator[str]:
    """Lines of pieces, each followed by a line of their ids, at most `width` wide if possible."""
    above: list[str] = []
    below: list[str] = []
    for piece, id in zip(pieces, ids, strict=True):
        column = max(cell_len(shown(piece)), len(str(id)))
        if above and cell_len(" ".join(above)) + 1 + column > width:
            yield " ".join(above).rstrip()
            yield " ".join(below).rstrip()
            above, below = [], []
        above.append(left_aligned(shown(piece), column))
        below.append(str(id).ljust(column))
    yield " ".join(above).rstrip()
    yield " ".join(below).rstrip()
