"""Python sources: their functions and their calls."""

import ast
from collections.abc import Iterator

OF_MAPPINGS = "get"
"""A method of mappings, whose second argument is a default; the house has a function of that name too."""


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Yield the functions of a file with their lengths in lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.end_lineno - node.lineno + 1


def bare_booleans(text: str, house: set[str]) -> Iterator[str]:
    """Yield the calls of functions of the house that have a bare True or False among their positional arguments."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        bare = any(isinstance(one, ast.Constant) and isinstance(one.value, bool) for one in node.args)
        if bare and name in house and name != OF_MAPPINGS:
            yield name
