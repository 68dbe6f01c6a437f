"""The studies that come with the package, and the file of a study by its name."""

from pathlib import Path

from tonopah.errors import InputError

SHIPPED = Path(__file__).parents[1] / "studies"
"""The studies that come with the package; in the source tree a link to the folder `studies` at the root."""


def shipped() -> dict[str, Path]:
    """Return the studies that can be run by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def find(name_or_path: str | Path) -> Path:
    """Return the file of a study given by name or by path."""
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.is_file() or len(path.parts) > 1:
        return path
    known = shipped()
    if str(name_or_path) not in known:
        raise InputError("", "is neither a file nor a study", f"studies: {', '.join(known) or 'none'}", str(name_or_path))
    return known[str(name_or_path)]
