"""Notebooks with what they show, to be read on a code host: `python -m tonopah_dev.pages.notebooks docs/notebooks`."""

import ast
import base64
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from tonopah.study.pictures import Interactive, Picture

TAGS = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL)


def written(path: Path) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells, carried out in order in an empty folder."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with elsewhere():
        for number, cell in enumerate(code, 1):
            cell["execution_count"], cell["outputs"] = number, carried_out("".join(cell["source"]), path.name, names, number)
    return notebook


@contextmanager
def elsewhere() -> Iterator[None]:
    """Work in a folder of its own, which is removed."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


def carried_out(source: str, name: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Carry out a cell and return its outputs: what it printed, and the value of its last expression."""
    tree = ast.parse(source)
    end = tree.body[-1]
    last = ast.Expression(end.value) if isinstance(end, ast.Expr) else None
    if last:
        tree.body.pop()
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, name, "exec"), names)
        value = eval(compile(last, name, "eval"), names) if last else None
    stream = [{"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())}] if printed.getvalue() else []
    if value is None:
        return stream
    return [*stream, {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data_of(value)}]


def data_of(value: Any) -> dict[str, Any]:
    """Return what is kept of a value, by type of content: of a picture its PNG, of an interactive figure a line."""
    if isinstance(value, Interactive):
        return {"text/plain": ["An interactive figure: run the cell to see it."]}
    plain = [f"<{type(value).__name__}>"]
    if isinstance(value, Picture):
        return {"image/png": base64.b64encode(value.draw("png")).decode(), "text/plain": plain}
    if hasattr(value, "_repr_html_"):
        return {"text/html": lines(value._repr_html_()), "text/plain": plain}
    return {"text/plain": lines(repr(value))}


def lines(text: str) -> list[str]:
    """Return a text as notebooks store it: lines with their ends."""
    return text.splitlines(keepends=True)


def readable(notebook: dict[str, Any]) -> list[str]:
    """Return the texts of all outputs without their tags, a cell each; what versions of matplotlib draw otherwise is a word."""
    cells = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [" ".join(word for output in outputs for word in words_of(output)) for outputs in cells]


def words_of(output: dict[str, Any]) -> list[str]:
    """Return the words of an output."""
    if output["output_type"] == "stream":
        return "".join(output["text"]).split()
    if "image/png" in output["data"]:
        return ["a", "picture"]
    return TAGS.sub(" ", "".join(output["data"].get("text/html") or output["data"]["text/plain"])).split()


def main() -> None:
    """Write the notebooks of a folder anew."""
    for path in sorted(Path(sys.argv[1]).glob("*.ipynb")):
        text = json.dumps(written(path), indent=1, ensure_ascii=False) + "\n"
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
