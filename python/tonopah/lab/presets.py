"""The gallery of the bench: scenarios to begin with, as TOML files. The first comment is the title, the next what it shows."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "presets"


@cache
def load() -> list[dict[str, str]]:
    """Return name, title, text and TOML of each preset, in the order of the numbers of their files."""
    return [entry(path) for path in sorted(FOLDER.glob("*.toml"))]


def entry(path: Path) -> dict[str, str]:
    """Return one preset."""
    lines = path.read_text(encoding="utf-8").splitlines()
    count = next(index for index, line in enumerate(lines) if not line.startswith("#"))
    title, *text = (line.lstrip("# ") for line in lines[:count])
    toml = "\n".join(lines[count:]).strip() + "\n"
    return {"name": path.stem.partition("-")[2], "title": title, "text": " ".join(text), "toml": toml}
