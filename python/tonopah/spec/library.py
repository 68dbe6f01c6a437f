"""The studies that come with the package, and the file of a study by its name."""

from pathlib import Path

from tonopah.errors import InputError, near_names
from tonopah.scenario.files import check_name

SHIPPED = Path(__file__).parents[1] / "studies"
"""The studies that come with the package; in the source tree a link to the folder `studies` at the root."""
OTHERS = ("cross",)
"""Files there that are no studies: the worlds of `tonopah cross`."""


def shipped() -> dict[str, Path]:
    """Return the studies that can be run by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml")) if path.stem not in OTHERS}


def find(name_or_path: str | Path) -> Path:
    """Return the file of a study given by name or by path."""
    check_name(str(name_or_path))
    path = Path(name_or_path)
    if path.suffix == ".toml" and not path.stem.strip("."):
        hint = "its name without .toml names the folder of the results"
        raise InputError("", "gives the study no name", hint, str(name_or_path))
    if path.suffix == ".toml" or path.is_file() or len(path.parts) > 1:
        return path
    known = shipped()
    if str(name_or_path) not in known:
        near = near_names(str(name_or_path), known, 1)
        hint = f"studies: {', '.join(known) or 'none'}" + "".join(f"; did you mean {name}?" for name in near)
        raise InputError("", "is neither a file nor a study", hint, str(name_or_path))
    return known[str(name_or_path)]
