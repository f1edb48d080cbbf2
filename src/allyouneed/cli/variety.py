"""Measures how varied the replies of a chat are, on a file of turns."""

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from allyouneed.cli.output import as_json, result
from allyouneed.cli.pairs import conversation_pairs
from allyouneed.cli.tables import print_result, variety_table

if TYPE_CHECKING:
    from allyouneed.chat import Chat


def measure(chat: "Chat", path: Path, first: int | None, spaced: bool, json: bool) -> None:
    """Prints distinct-1 and distinct-2 of the model's replies to the turns of a file, and of the
    replies in the file. Each turn is answered with its history in the file.

    Raises:
        DataError: the file cannot be read, or has no turns.
    """
    from allyouneed.chat import replies
    from allyouneed.evaluation.variety import variety

    pairs = list(islice(conversation_pairs(path, chat.history, spaced), first))
    found = {
        "model": variety(replies(chat.translator, [pair.source for pair in pairs], chat.options)),
        "file": variety([pair.target for pair in pairs]),
    }
    if json:
        result(as_json({name: one.to_dict() for name, one in found.items()}))
    else:
        print_result(variety_table(found, f"{len(pairs):,} turns of {path}"), ())
