"""Runs a chat at a terminal, or line by line through a pipe."""

import sys
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from allyouneed.cli.chat_commands import CommandAnswer, Leave, answer
from allyouneed.cli.lines import arriving_lines, standard_input
from allyouneed.cli.loading import tell
from allyouneed.cli.output import as_json, note, result
from allyouneed.errors import UsageError

if TYPE_CHECKING:
    from allyouneed.chat import Chat

PROMPT = "> "


def talk(chat: "Chat") -> None:
    """Runs a conversation at a terminal until Ctrl-D or `/quit`. Ctrl-C stops a reply."""
    with suppress(ImportError):  # some systems lack readline; typing works without it
        import readline  # noqa: F401
    note("type a turn and press Enter; /help lists commands, Ctrl-C stops a reply, Ctrl-D leaves")
    while True:
        try:
            line = input(PROMPT).strip()
            if line.startswith("/"):
                result(answer(chat, line).text)
            elif line:
                _reply_growing(chat, line)
        except KeyboardInterrupt:
            sys.stdout.write("\n")
        except UsageError as error:
            note(str(error))
        except (EOFError, Leave) as end:
            sys.stdout.write("\n" if isinstance(end, EOFError) else "")
            return


def _reply_growing(chat: "Chat", line: str) -> None:
    with closing(chat.stream(line)) as pieces:  # the history keeps the part of a stopped reply
        for piece in pieces:
            sys.stdout.write(piece)
            sys.stdout.flush()
    sys.stdout.write("\n")
    tell(chat)


def answer_lines(chat: "Chat", json: bool) -> int:
    """Reads standard input line by line as one conversation, and writes one line for each turn. An
    empty turn gives an empty line. Answers to commands go to standard error, with `json` to
    standard output.

    A line that cannot be used gives a note, and the conversation continues.

    Returns:
        The number of lines that could not be used.
    """
    refused = 0
    for lines in arriving_lines(standard_input(), note):
        for line in lines:
            try:
                if line.startswith("/"):
                    _command(answer(chat, line), line, json)
                else:
                    _reply(chat, line, json)
            except UsageError as error:
                refused += 1
                _refuse(line, str(error), json)
            except Leave:
                return refused
    return refused


def _refuse(line: str, why: str, json: bool) -> None:
    """Writes a note about a line that cannot be used, and a line of output for its turn."""
    said = "command" if line.startswith("/") else "turn"
    if json:
        result(as_json({said: line, "error": why}))
        return
    note(f"{line}: {why}")
    if said == "turn":
        result("")


def _command(answered: CommandAnswer, line: str, json: bool) -> None:
    if json:
        result(as_json({"command": line, "answer": answered.data}))
    else:
        note(answered.text)


def _reply(chat: "Chat", line: str, json: bool) -> None:
    text = chat.reply(line) if line.strip() else ""
    if json:
        result(as_json({"turn": line, "reply": text, "notes": [*chat.notes]}))
    else:
        tell(chat)
        result(text)
