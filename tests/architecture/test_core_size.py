"""core/ stays a thing one can read in an evening: under 1,000 lines of code."""

import ast
import io
import tokenize

LIMIT = 1_000
LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(source: str) -> int:
    """Lines that hold code: blank lines, comments and docstrings are not counted."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines -= set(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return len(lines)


def test_core_is_small(sources: dict[str, str]) -> None:
    sizes = {
        module: code_lines(source)
        for module, source in sources.items()
        if module.startswith("allyouneed.core")
    }
    assert 0 < sum(sizes.values()) < LIMIT, sizes


def test_only_code_is_counted() -> None:
    source = '''"""A docstring
over two lines."""

import math  # with a comment


# a comment
def area(r: float) -> float:
    """πr²"""
    text = """two
lines"""
    return math.pi * r**2
'''
    assert code_lines(source) == 5
    assert code_lines("x = 1\n" * LIMIT) == LIMIT
