"""The table of networks in docs/reports.md: `python -m tonopah.reports.docs docs`; the prose around it stays as it is."""

import re
import sys
from pathlib import Path

from tonopah.reports.networks import NETWORKS
from tonopah.reports.networks.model import Parameter

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
    file = Path(sys.argv[1], PAGE)
    file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
