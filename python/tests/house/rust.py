"""Rust sources without what is not code: comments, strings and tests; their functions and their calls."""

import re
from collections.abc import Iterator

FUNCTION = re.compile(r"^( *)(?:pub(?:\([a-z]+\))? )?(?:const )?(?:unsafe )?fn (\w+)", re.MULTILINE)
CALL = re.compile(r"\b((?:\w+::)*)(\w+)(?:::<[^()]*>)?\(")
FOREIGN = ("AtomicBool::", "Cell::", "mem::", "Param::")
"""Functions of the library with names that the house has too; and `Param::flag`, which states a default."""
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|r(#+)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', re.DOTALL)


def code_of(text: str) -> str:
    """Return the code of a file; comments and literals are blank, lines stay where they are, tests at its end are left out."""
    blank = NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return blank.split("#[cfg(test)]\nmod tests {")[0]


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Yield the functions of a file with their lengths in lines, from signature to closing brace."""
    code = code_of(text)
    lines = code.split("\n")
    for found in FUNCTION.finditer(code):
        start = code.count("\n", 0, found.start())
        if re.match(r"[^{;]*;", code[found.end() :]):
            continue  # a signature in a trait
        end = next((i for i in range(start, len(lines)) if lines[i] == f"{found[1]}}}"), None)
        if end is not None:
            yield found[2], end - start + 1


def bare_booleans(text: str, house: set[str]) -> Iterator[str]:
    """Yield the calls of functions of the house that have a bare true or false among their arguments."""
    code = code_of(text)
    for found in CALL.finditer(code):
        if found[2] not in house or found[1].endswith(FOREIGN) or code[: found.start()].rstrip().endswith("fn"):
            continue
        if {"true", "false"} & set(arguments(code, found.end())):
            yield found[2]


def arguments(code: str, start: int) -> list[str]:
    """Return the arguments of a call whose opening parenthesis ends at `start`."""
    found, depth, begin = [], 0, start
    for at in range(start, len(code)):
        letter = code[at]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if depth < 0 or (letter == "," and depth == 0):
            found.append(code[begin:at].strip())
            begin = at + 1
        if depth < 0:
            break
    return found
