"""Tables in documents, made by `python -m tonopah.reports.docs docs`; the prose around them stays as it is.

That of the networks in docs/reports.md, and of every statement of a report at the head of its page in docs/findings.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tonopah.reports.networks import NETWORKS
from tonopah.reports.networks.model import Parameter
from tonopah.reports.statements import HEAD as HEAD_OF_STATEMENTS
from tonopah.reports.statements import Known, known, rows

PAGE = "reports.md"
BLOCK = re.compile(r"(<!-- words: networks -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = ("network", "what it is", "parameters and defaults", "script")


def page(text: str) -> str:
    """Return the page with its table made anew."""
    return BLOCK.sub(lambda found: found[1] + table() + found[2], text)


def table() -> str:
    """Return a row for each network of a script: what it is, its parameters with their defaults, and where it stands."""
    rows = [
        (f"`reports:{one.name}`", one.title, ", ".join(words(key, found) for key, found in one.parameters.items()), one.source)
        for one in NETWORKS
    ]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (HEAD, ["---"] * len(HEAD), *rows))


STATEMENTS = re.compile(r"(<!-- statements: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
NUMBERED = re.compile(r"(?:^|; )(\d+(?:, \d+)*) ")
"""The numbers of the statements in the first cell of a row."""
CLAIM = re.compile(r"^\| ([A-Z]\d+) [^|]*\| ([^|]+) \|", re.MULTILINE)


def findings_page(text: str, known: Known) -> str:
    """Return a page of findings with the table of the statements of its report made anew; the verdicts are those on the page."""
    verdicts = dict(CLAIM.findall(text))

    def made(found: re.Match[str]) -> str:
        cells = list(rows(found[2], known, verdicts))
        lines = [HEAD_OF_STATEMENTS, ["---"] * len(HEAD_OF_STATEMENTS), *cells]
        return found[1] + contradictions(cells) + "".join(f"| {' | '.join(line)} |\n" for line in lines) + found[3]

    return STATEMENTS.sub(made, text)


def contradictions(cells: Sequence[Sequence[str]]) -> str:
    """Return in which statements a text contradicts its author's own numbers; nothing if there is none."""
    by = {
        word: [no for statement, author, *_ in cells if author.startswith(f"{word}:") for no in NUMBERED.findall(statement)]
        for word in ("false", "mixed")
    }
    said = (("in statements", by["false"]), ("in part in", by["mixed"]))
    parts = [f"{words} {', '.join(numbers)}" for words, numbers in said if numbers]
    return f"The text contradicts its author's own numbers {'; '.join(parts)}.\n\n" if parts else ""


def words(key: str, parameter: Parameter) -> str:
    """Return a parameter with its default, or what it may be, and what it changes if it is a switch."""
    allowed = " or ".join(f'"{choice}"' for choice in parameter.choices) or str(parameter.default).lower()
    notes = [
        "or any other" if parameter.is_algorithm else "", parameter.text,
        f"in steps of {parameter.step}" if parameter.step > 1 else "",
        f"has no effect: {parameter.inert}" if parameter.inert else "",
    ]  # fmt: skip
    return f"`{key}` {allowed}" + (f" ({'; '.join(filter(None, notes))})" if any(notes) else "")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    file = folder / PAGE
    file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
    for one in sorted((folder / "findings").glob("*.md")):
        one.write_text(findings_page(one.read_text(encoding="utf-8"), known(folder)), encoding="utf-8")
