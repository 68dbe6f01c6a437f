"""Tables in Markdown."""

KEYS = ["key", "type", "default", "meaning"]
"""Head of a table of keys."""


def markdown_table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def grouped_rows(groups: list[tuple[str, str, list[list[str]]]], anchor: str = "") -> list[list[str]]:
    """Return the rows of several tables of keys as those of one, each below its title and what it is.

    A key that an earlier table has too, with the same meaning, is only named.
    """
    rows: list[list[str]] = []
    before: dict[str, str] = {}
    for title, about, keys in groups:
        own: list[list[str]] = []
        also: dict[str, list[str]] = {}
        for row in keys:
            first = before.setdefault("|".join(row), title)
            if first == title:
                own.append(row)
            else:
                also.setdefault(first, []).append(row[0])
        shared = " and ".join(f"{', '.join(names)} of {first}" for first, names in also.items())
        said = f"{about} Also {shared}.".strip() if shared else about
        mark = f'<a id="{anchor}-{title.strip("`")}"></a>' if anchor else ""
        rows += [[f"{mark}**{title}**", "", "", said], *own]
    return rows
