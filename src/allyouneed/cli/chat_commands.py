"""The commands of a chat, such as `/why` and `/reset`."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from allyouneed.cli.columns import cell_len, left_aligned
from allyouneed.decoding.options import BeamOptions, SamplingOptions, SearchOptions
from allyouneed.errors import UsageError, nearest
from allyouneed.text.shown import shown

if TYPE_CHECKING:
    from allyouneed.chat import Chat
    from allyouneed.insight.reasons import Reason


class Leave(Exception):
    """The user typed `/quit`."""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """The answer of a command, as text for people and as values for programs."""

    text: str
    data: Any


def answer(chat: "Chat", line: str) -> CommandAnswer:
    """Runs the command on a line that begins with "/".

    Raises:
        UsageError: there is no such command, or it does not take this value.
        Leave: the command is `/quit`.
    """
    name, *words = line.removeprefix("/").split() or [""]
    if name not in COMMANDS:
        close = nearest(name, COMMANDS)
        raise UsageError(
            f"there is no command /{name}; "
            + (f"did you mean /{close}? " if close else "")
            + f"the commands are {', '.join(f'/{known}' for known in COMMANDS)}"
        )
    command, _ = COMMANDS[name]
    if len(words) > 1:
        raise UsageError(f"/{name} takes one value, not {' '.join(words)!r}")
    return command(chat, words[0] if words else "")


def _reset(chat: "Chat", _: str) -> CommandAnswer:
    count = len(chat.turns)
    chat.reset()
    return CommandAnswer(f"{count} turns forgotten", {"forgotten": count})


def _temperature(chat: "Chat", value: str) -> CommandAnswer:
    if value:
        from allyouneed.chat import DRAWN

        sampling = chat.options if isinstance(chat.options, SamplingOptions) else DRAWN
        temperature = _number(float, "temperature", value, "0.8")
        chat.options = replace(sampling, temperature=temperature, **_lengths(chat.options))
    return _search(chat)


def _beam(chat: "Chat", value: str) -> CommandAnswer:
    if value:
        width = _number(int, "beam", value, "4")
        chat.options = BeamOptions(beam=width, **_lengths(chat.options))
    return _search(chat)


def _search(chat: "Chat") -> CommandAnswer:
    """The present settings of the search."""
    options = chat.options
    if isinstance(options, BeamOptions):
        text = f"beam search, {options.beam} wide" if options.beam > 1 else "greedy search"
        return CommandAnswer(f"replies are found by {text}", asdict(options))
    text = f"temperature {options.temperature:g}, top p {options.top_p:g}, top k {options.top_k}"
    return CommandAnswer(f"replies are sampled: {text}", asdict(options))


def _history(chat: "Chat", _: str) -> CommandAnswer:
    turns = [{"who": "model" if turn.own else "you", "text": turn.text} for turn in chat.turns]
    out_of_sight = max(0, len(turns) + 1 - chat.history.turns)
    lines = [
        f"{turn['who']:>5}: {turn['text']}{'' if number >= out_of_sight else '  (out of sight)'}"
        for number, turn in enumerate(turns)
    ]
    return CommandAnswer("\n".join(lines) or "there are no turns yet", turns)


def _why(chat: "Chat", _: str) -> CommandAnswer:
    found = chat.why()
    rows = [("said", "probability", "other ways", "looked at"), *map(_row, found)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            left_aligned(cell, width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )
    return CommandAnswer("\n".join(lines), [reason.to_dict() for reason in found])


def _row(reason: "Reason") -> tuple[str, str, str, str]:
    others = [
        f"{shown(other.text)} {other.probability:.2f}"
        for other in reason.alternatives
        if other.id != reason.token.id
    ]
    looks = [f"{look.word} {look.share:.2f}" for look in reason.looks]
    return (
        shown(reason.token.text),
        f"{reason.probability:.2f}",
        ", ".join(others),
        ", ".join(looks),
    )


def _help(_: "Chat", __: str) -> CommandAnswer:
    lines = [f"/{name:<12} {says}" for name, (_, says) in COMMANDS.items()]
    return CommandAnswer("\n".join(lines), {name: says for name, (_, says) in COMMANDS.items()})


def _quit(_: "Chat", __: str) -> CommandAnswer:
    raise Leave


COMMANDS: dict[str, tuple[Callable[["Chat", str], CommandAnswer], str]] = {
    "why": (_why, "the last reply's tokens: probability, alternatives, words attended to"),
    "history": (_history, "show the turns so far"),
    "reset": (_reset, "forget the turns so far"),
    "temperature": (
        _temperature,
        "sample replies, as in /temperature 0.8; without a number: show the settings",
    ),
    "beam": (_beam, "beam search, as in /beam 4; 1 is greedy; without a number: show the settings"),
    "help": (_help, "this list"),
    "quit": (_quit, "leave; so does Ctrl-D"),
}


def _number(kind: Callable[[str], Any], name: str, value: str, example: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise UsageError(
            f"{value!r} is not a number that /{name} takes; write, for example, /{name} {example}"
        ) from None


def _lengths(options: SearchOptions) -> dict[str, Any]:
    """The options that all searches have in common."""
    return {field.name: getattr(options, field.name) for field in fields(SearchOptions)}
