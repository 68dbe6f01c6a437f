"""How a figure for a paper looks: size, font and colours, and their words on the command line."""

import re
from dataclasses import dataclass
from typing import Any

from tonopah.errors import InputError, near_names
from tonopah.plot.style import COLOURS
from tonopah.spec.validation import list_allowed

FORMATS = ("pdf", "svg", "pgf", "png")
INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27, "bp": 1 / 72}
"""Units of lengths as in TeX; a column of IEEE is 3.5in or 252pt wide, \\textwidth of A4 in LNCS 122mm."""
MIN_IN, MAX_IN = 1.0, 40.0
MIN_PT, MAX_PT = 4, 40
GENERIC_FONTS = ("serif", "sans-serif", "monospace")

PALETTES: dict[str, tuple[str, ...]] = {
    "okabe-ito": COLOURS,
    # P. Tol, "Colour schemes", technical note SRON/EPS/TN/09-002, 2021: bright, without its grey, and muted.
    "tol-bright": ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377"),
    "tol-muted": ("#332288", "#CC6677", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499", "#DDCC77"),
    "black": ("#000000",),
    "grey": ("#000000", "#555555", "#888888", "#B0B0B0"),
}
"""Colours that colour-blind readers tell apart; with the last two, line styles and markers do it alone."""


@dataclass(frozen=True)
class Look:
    """Size, font and colours of a figure.

    Parameters
    ----------
    width_in, height_in : float
        Size in inches; without a height it follows from the width.
    font : str
        Name of a font family, or serif, sans-serif or monospace.
    font_size_pt : float, optional
        Size of the text in points; 8 below 4.5 inches of width, else 9.
    palette : str
        Name of a palette.
    common_scale : bool
        Use the scale that all figures of the metric have in common, instead of the figure's own.
    titled : bool
        Write the title above, for a picture that stands alone.
    """

    width_in: float = 5.4
    height_in: float | None = None
    font: str = "DejaVu Sans"
    font_size_pt: float | None = None
    palette: str = "okabe-ito"
    common_scale: bool = False
    titled: bool = False

    @property
    def size_pt(self) -> float:
        """Size of the text in points."""
        return self.font_size_pt or (8.0 if self.width_in < 4.5 else 9.0)

    @property
    def colours(self) -> tuple[str, ...]:
        """The colours of the palette."""
        return PALETTES[self.palette]

    def settings(self) -> dict[str, Any]:
        """Return the settings of matplotlib for this look."""
        size = self.size_pt
        family = {"font.family": self.font} if self.font in GENERIC_FONTS else {"font.family": [self.font, "DejaVu Sans"]}
        return family | {
            "font.size": size, "axes.titlesize": size, "axes.labelsize": size, "legend.fontsize": size - 0.5,
            "xtick.labelsize": size - 0.5, "ytick.labelsize": size - 0.5, "lines.linewidth": 1.3, "lines.markersize": 4.5,
        }  # fmt: skip


def parse_length(text: str | float) -> float:
    """Return a length like 3.5in, 89mm or 252pt in inches. Raises InputError, also for a number without a unit."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)", str(text).strip().lower(), re.ASCII)
    inches = float(found[1]) * INCHES.get(found[2], 0.0) if found else 0.0
    if not MIN_IN <= inches <= MAX_IN:
        raise InputError("", f"{text!r} is not a length from {MIN_IN:g}in to {MAX_IN:g}in", "like 3.5in, 89mm, 8.9cm or 252pt")
    return inches


def parse_size(text: str | float) -> float:
    """Return a size of text in points. Raises InputError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:pt)?", str(text), re.ASCII)
    if not found or not MIN_PT <= float(found[1]) <= MAX_PT:
        raise InputError("", f"{text!r} is not a size of text", f"{MIN_PT} to {MAX_PT} points")
    return float(found[1])


def parse_palette(name: str) -> str:
    """Return the name of a palette. Raises InputError."""
    if name not in PALETTES:
        raise InputError("palette", f"{name!r} is unknown", list_allowed(PALETTES, value=name))
    return name


def parse_font(text: str) -> str:
    """Return the name of a font that matplotlib has. Raises InputError."""
    from matplotlib import font_manager

    known = sorted({*font_manager.get_font_names(), *GENERIC_FONTS})
    same = {name.lower(): name for name in known}
    if text.lower() not in same:
        hint = ", ".join(near_names(text, known)) or "serif, sans-serif, monospace, DejaVu Sans"
        raise InputError("", f"there is no font {text!r} on this machine", f"near names: {hint}")
    return same[text.lower()]
