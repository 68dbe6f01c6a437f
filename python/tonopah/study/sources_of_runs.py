"""Sources of the algorithms of stored runs, kept beside the runs when they start: a pack needs no file and executes none."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from tonopah.cc.references import is_library
from tonopah.errors import InputError
from tonopah.store.store import Store

KEY = "sources"
BYTES = "surrogateescape"
"""How bytes that are no UTF-8 are kept in a text."""
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def remember(store: Store, names: Collection[str], home: Path) -> None:
    """Store the sources of algorithms, which are named from a folder."""
    store.remember(KEY, {name: found for name in names if (found := read(name, home))})


def read(name: str, home: Path) -> dict[str, str]:
    """Return the files that an algorithm consists of, by their paths in a pack; none of a library with no source beside it."""
    file = home / (name if is_library(name) else name.rpartition(":")[0])
    file = file.with_suffix(".c") if is_library(name) else file
    # A class of an installed package has no file: its version is that of the package.
    return dict(files(name, file)) if file.is_file() else {}


def stored(name: str, known: Mapping[str, Mapping[str, str]], given: Mapping[str, Path]) -> dict[str, bytes]:
    """Return the files of an algorithm as they were when it ran, or the source in C that is given for its library.

    Raises InputError for a library without any.
    """
    file = given.get(Path(name).name) if is_library(name) else None
    found = dict(files(name, file)) if file and file.is_file() else known.get(name, {})
    if is_library(name) and not found:
        missing = f"there is no {file}" if file else "no source in C lay beside it when it ran"
        raise InputError("--source", f"{name}: {missing}", f"--source {Path(name).name}=FILE.c")
    return {path: text.encode("utf-8", BYTES) for path, text in found.items()}


def inside_name(name: str) -> str:
    """Return the name by which an algorithm is known in a pack: its own, or without the folders if it is elsewhere."""
    file, colon, rest = (name, "", "") if is_library(name) else name.rpartition(":")
    path = Path(file)
    return f"{path.name}{colon}{rest}" if path.is_absolute() or ".." in path.parts else name


def files(name: str, file: Path) -> Iterator[tuple[str, str]]:
    """Yield a source and what it names beside it, by their paths in a pack."""
    inside = inside_name(name)
    own = inside if is_library(inside) else inside.rpartition(":")[0]
    for path in with_neighbours(file):
        # The source of a library is compiled to one of the same name.
        kept = Path(own).with_suffix(".c").name if path == file and is_library(name) else path.relative_to(file.parent)
        yield str(Path(own).parent / kept), path.read_text(encoding="utf-8", errors=BYTES)


def with_neighbours(file: Path) -> list[Path]:
    """Return a source and the files beside it that it names, and so on."""
    found, left = [], [file]
    while left:
        path = left.pop()
        if path in found or not path.is_file():
            continue
        found.append(path)
        text = path.read_text(encoding="utf-8", errors=BYTES)
        names = INCLUDE.findall(text) if path.suffix in (".c", ".h") else imported(text)
        left += [inside for each in names if (inside := file.parent / each).resolve().is_relative_to(file.parent.resolve())]
    return sorted(found)


def imported(text: str) -> list[str]:
    """Return the files that modules beside a source would have."""
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    paths = [name.replace(".", "/") for name in names]
    return [place for path in paths for place in (f"{path}.py", f"{path}/__init__.py")]
