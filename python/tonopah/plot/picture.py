"""Pictures of figures for papers: PDF with Type 42 fonts, SVG with text as text, PGF for LaTeX, PNG; equal data, equal bytes."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.analysis.figure_files import as_csv
from tonopah.analysis.figure_model import FigureData
from tonopah.errors import InputError
from tonopah.plot.chart import drawn, plain
from tonopah.plot.look import FORMATS, Look, parse_font, parse_length, parse_palette, parse_size
from tonopah.spec.validation import list_allowed
from tonopah.writing import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG_DPI = 300
METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
"""What would differ from one day or version to the next is left out."""
TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "→": r"$\rightarrow$", "µ": r"$\mu$", "×": r"$\times$", "–": "--",
}  # fmt: skip
ESCAPED = re.compile(r"\\([{}$&%#_])|\\text[a-z]+\{\}|\$\\([a-z]+)\$")


def tex(text: str) -> str:
    """Return text for LaTeX: its special characters escaped, and what pdfLaTeX has no letter for as mathematics."""
    return "".join(TEX.get(letter, letter) for letter in text)


def picture(data: FigureData, look: Look, form: str) -> bytes:
    """Return a picture of a figure: `form` is pdf, svg, pgf or png."""
    # The document has its own fonts, which pdfLaTeX cannot change to one of this machine.
    changes = {"pgf.texsystem": "pdflatex", "pgf.rcfonts": False} if form == "pgf" else {}
    with drawn(data, look, tex if form == "pgf" else plain, changes) as figure:
        if form == "pgf":
            return as_pgf(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=form, dpi=PNG_DPI, metadata=METADATA[form])
        return buffer.getvalue()


def make_look(form: str, **options: Any) -> Look:
    """Return a look from the words of the command line: width="3.5in", font="serif" and so on. Raises InputError."""
    if form not in FORMATS:
        raise InputError("format", f"{form!r} is unknown", list_allowed(FORMATS, value=form))
    for key in options:
        if key not in OPTIONS:
            raise InputError(key, "is unknown", list_allowed(OPTIONS, value=key))
    made: dict[str, Any] = {OPTIONS[key][0]: OPTIONS[key][1](value) for key, value in options.items() if value is not None}
    return Look(**{"width_in": 3.5, **made})


OPTIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "width": ("width_in", parse_length), "height": ("height_in", parse_length), "font": ("font", parse_font),
    "font_size": ("font_size_pt", parse_size), "palette": ("palette", parse_palette), "common_scale": ("common_scale", bool),
}  # fmt: skip
"""By the option of a look: its field, and what makes a value of what was written."""


def write_picture(data: FigureData, look: Look, form: str, folder: Path) -> Path:
    """Write a picture and, beside it, its numbers as CSV; return the path of the picture. Raises OSError."""
    made = picture(data, look, form)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{data.id}.{form}"
    replace_file(target, made)
    replace_file(folder / f"{data.id}.csv", as_csv(data))
    return target


def as_pgf(figure: "Figure") -> bytes:
    """Return a figure as drawing commands of LaTeX's package pgf, in the fonts of the document that includes it."""
    with measured_without_latex():
        buffer = io.BytesIO()
        figure.savefig(buffer, format="pgf")
    # Powers of ten at a logarithmic axis use a command that no package has.
    return buffer.getvalue().replace(rb"\makeatletter", rb"\makeatletter\providecommand{\mathdefault}[1]{#1}", 1)


@contextmanager
def measured_without_latex() -> Iterator[None]:
    """Let matplotlib measure text by its own fonts: by default it starts LaTeX for that, which need not be installed."""
    from matplotlib.backends import backend_agg, backend_pgf

    agg = backend_agg.RendererAgg(100, 100, 72)

    def measure(renderer: Any, text: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        shown = ESCAPED.sub(lambda found: found[1] or "x", text)
        width, height, descent = agg.get_text_width_height_descent(shown, prop, ismath)
        return width * renderer.dpi / agg.dpi, height * renderer.dpi / agg.dpi, descent * renderer.dpi / agg.dpi

    own = backend_pgf.RendererPgf.get_text_width_height_descent
    backend_pgf.RendererPgf.get_text_width_height_descent = measure  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        backend_pgf.RendererPgf.get_text_width_height_descent = own
