"""The code blocks of a page of Markdown, and what is wrong with those that are not run.

A comment above a block says what it is: `<!-- not run: REASON -->`, or `<!-- file: NAME -->` for
what is to be saved under that name. Tests of the documentation use this.
"""

import ast
import re
import shlex
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from markdown_it import MarkdownIt
from markdown_it.token import Token

import allyouneed
from allyouneed.cli.app import build
from allyouneed.errors import AllYouNeedError
from allyouneed.training.recipe.toml_file import load_recipe, packaged_recipes

ROOT = Path(__file__).resolve().parents[2]
SHELL = {"console", "bash", "sh", "shell"}
SHOWN = {"text", "json"}  # what a program puts out
OTHERS = {
    "curl",
    ".",
    "cat",
    "printf",
    "python3",
    "torchrun",
}  # nothing of the project's can be wrong with these
COMMANDS = {"allyouneed", "make", "pip", "python"} | OTHERS
COMMENT = re.compile(r"<!--\s*(not run|file):\s*(.+?)\s*-->", re.DOTALL)
PLACEHOLDER = re.compile(r"[A-Z]+|\.\.\.|…")  # VERB, MODEL: the reader's own


@dataclass(frozen=True)
class Block:
    """A block of code: where it stands, its kind, and what the comment above says of it.

    `kind` is "shell", "python", "toml", "shown" (output, not code) or "?" (nobody knows).
    """

    page: Path
    line: int
    kind: str
    text: str
    not_run: str = ""
    file: str = ""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """The pages with code of the reader's, as paths within the project."""
    beside = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "lessons/README.md")]
    found = [path for path in (ROOT / "docs").rglob("*.md") if "lessons" not in path.parts]
    return [path.relative_to(ROOT) for path in (*beside, *sorted(found))]


def blocks(page: Path, text: str | None = None) -> list[Block]:
    """The blocks of a page in their order; directives of the builder are none."""
    markdown = MarkdownIt().enable("table")
    tokens = markdown.parse((ROOT / page).read_text("utf-8") if text is None else text)
    found = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type in ("fence", "code_block") and not token.info.startswith("{"):
            said = _comment(before)
            line = (token.map or [0])[0] + 1
            found.append(Block(page, line, _kind(token), token.content, **said))
    return found


def _comment(token: Token | None) -> dict[str, str]:
    found = COMMENT.match(token.content) if token and token.type == "html_block" else None
    return {found[1].replace(" ", "_"): " ".join(found[2].split())} if found else {}


def _kind(token: Token) -> str:
    language = token.info.split(" ")[0]
    if language in SHELL:
        return "shell"
    if language in SHOWN:
        return "shown"
    if language in ("python", "toml"):
        return language
    first = token.content.strip().removeprefix("$ ").split(" ")[0]
    return "shell" if not language and first in COMMANDS else "?"


def commands(text: str) -> list[tuple[str, str]]:
    """Each command of a shell block with the output that the block shows; "$ " begins a command
    where the block has any, otherwise every line is one and no output is shown."""
    if not re.search(r"^\$ ", text, re.MULTILINE):
        joined = text.replace("\\\n", " ")
        return [(line, "") for line in joined.splitlines() if line.strip()]
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    pairs = [part.split("\n", 1) for part in parts]
    return [(command, shown) for command, shown in pairs]


def inline_commands(page: Path, text: str | None = None) -> list[str]:
    """Calls of the command line within sentences and tables."""
    tokens = MarkdownIt().enable("table").parse(text or (ROOT / page).read_text("utf-8"))
    inline = [child for token in tokens for child in token.children or ()]
    codes = [child.content for child in inline if child.type == "code_inline"]
    return [code for code in codes if code.startswith("allyouneed ")]


def wrong_with(block: Block) -> list[str]:
    """What can be told to be wrong with a block without running it."""
    if block.kind == "python":
        return wrong_with_python(block.text)
    if block.kind == "toml":
        return wrong_with_recipe(block.text)
    if block.kind == "shell":
        return [w for command, _ in commands(block.text) for w in wrong_with_command(command)]
    return ["of no known language"] if block.kind == "?" else []


def wrong_with_python(text: str) -> list[str]:
    """Syntax, and names of the package that there are not."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return [f"not Python: {error}"]
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "allyouneed"
    }
    return [f"allyouneed.{name} is not there" for name in sorted(used - set(dir(allyouneed)))]


def wrong_with_recipe(text: str) -> list[str]:
    """What a recipe, or a part of one put into a whole, is refused for."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return [f"not TOML: {error}"]
    data, training = table.get("data", {}), table.get("training", {})
    missing = {
        "name=part": "name" in table,
        "training.steps=1": {"steps", "epochs", "max_minutes"} & set(training),
        'data.train=[{made = "copy"}]': "train" in data,
        'data.valid=[{made = "copy"}]': "valid" in data,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recipe.toml"
        path.write_text(text, encoding="utf-8")
        try:
            load_recipe(path, [override for override, there in missing.items() if not there])
        except AllYouNeedError as error:
            return [str(error)]
    return []


def wrong_with_command(command: str) -> list[str]:
    """Verbs, options, recipes, targets, files and extras that there are not."""
    words = shlex.split(command.split(" > ")[0].split(" < ")[0].split(" | ")[0], comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    if not words:
        return []
    if "-m" in words and "allyouneed" in words:
        words = words[words.index("allyouneed") :]
    first, rest = words[0], words[1:]
    if first not in COMMANDS:
        return [f"{first}: of no known kind"]
    if first == "allyouneed":
        return wrong_with_call(rest)
    if first == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        return [f"make {word}: no such target" for word in rest if word not in targets]
    if first == "python":
        known = not rest or rest[0].startswith("-") or (ROOT / rest[0]).exists()
        return [] if known else [f"{rest[0]}: no such file"]
    if first == "pip":
        return [w for word in rest for w in _wrong_with_requirement(word)]
    return []


def _wrong_with_requirement(word: str) -> Iterator[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = re.fullmatch(r"(?:allyouneed|\.)\[([\w,]+)\]", word)
    for extra in found[1].split(",") if found else ():
        if extra not in project["optional-dependencies"]:
            yield f"the extra {extra} is not there"


def wrong_with_call(words: Sequence[str]) -> list[str]:
    """What is wrong with a call of `allyouneed`: its verb, its options, its recipe."""
    group: Any = typer.main.get_command(build())
    if not words or words[0].startswith("-") or PLACEHOLDER.fullmatch(words[0]):
        return []
    verb, rest = words[0], words[1:]
    if verb not in group.commands:
        return [f"allyouneed {verb}: no such verb"]
    command = group.commands[verb]
    while inner := getattr(command, "commands", {}).get(rest[0] if rest else ""):  # keys add
        command, rest = inner, rest[1:]
    options = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
    given = [word.split("=")[0] for word in rest if word.startswith("--")]
    unknown = [f"{verb} {o}: no such option" for o in given if o not in {*options, "--help"}]
    return unknown + (_wrong_with_training(rest) if verb == "train" else [])


def _wrong_with_training(words: Sequence[str]) -> list[str]:
    plain = [word for word in words if not word.startswith("-")]
    if not plain or plain[0].endswith(".toml") or PLACEHOLDER.fullmatch(plain[0]):
        return []
    if plain[0] not in packaged_recipes():
        return [f"train {plain[0]}: no such recipe"]
    try:
        load_recipe(plain[0], [word for word in plain[1:] if "=" in word])
    except AllYouNeedError as error:
        return [str(error)]
    return []
