"""A drawing of boxes, lines and labels as SVG that takes its colours from the page around it.

In a page, lines and text have the page's colour (`currentColor`), boxes and the rest what its properties `--paper`, `--soft` and
`--accent` say. In a file of its own the drawing follows the light or dark preference of the reader. Lengths are in pixels; y
points down.
"""

from xml.sax.saxutils import escape

Place = tuple[float, float]

FONT_PX = 12.5
LETTER_PX = 0.56 * FONT_PX
"""Width of a letter, about; a sans-serif font of the reader's system is used."""
MARGIN_PX = 8.0
BOX_HEIGHT_PX = 22.0

# Only a document of its own has `svg` as its root: in a page these rules have no effect.
OWN_COLOURS = (
    "svg:root{color:#1b1f24}"
    "@media(prefers-color-scheme:dark){svg:root{color:#e6e8eb;--paper:#16191d;--soft:#a3abb5;--accent:#56B4E9}}"
)
ACCENTS = {"host": "var(--accent,#0072B2)", "gateway": "#D55E00"}
"""Edges of boxes; those of routers and switches have the colour of the text."""


def text_width(text: str) -> float:
    """Return the width of a label, about."""
    return LETTER_PX * len(text)


class Sketch:
    """A drawing that grows with what is drawn."""

    def __init__(self) -> None:
        self.below: list[str] = []
        self.above: list[str] = []
        self.corners: list[Place] = []

    def line(self, start: Place, end: Place, width: float = 1.2, *, strong: bool = False) -> None:
        """Draw a line, below all boxes."""
        colour = "currentColor" if strong else "var(--soft,#57606a)"
        opacity = "" if strong else ' stroke-opacity="0.6"'
        (x0, y0), (x1, y1) = start, end
        self.below.append(
            f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}"{opacity} stroke-width="{width:g}"/>'
        )
        self.corners += [start, end]

    def label(self, at: Place, text: str, *, soft: bool = True) -> None:
        """Write text, centred, on the colour of the page so that lines do not cross it."""
        if not text:
            return
        (x, y), half = at, text_width(text) / 2
        colour = "var(--soft,#57606a)" if soft else "currentColor"
        self.above.append(
            f'<text x="{x:.1f}" y="{y + 0.35 * FONT_PX:.1f}" fill="{colour}" stroke="var(--paper,#fff)" stroke-width="4" '
            f'paint-order="stroke">{escape(text)}</text>'
        )
        self.corners += [(x - half, y - FONT_PX / 2), (x + half, y + FONT_PX / 2)]

    def box(self, at: Place, name: str, role: str) -> None:
        """Draw a node with its name: hosts have round corners, routers are pills, switches have sharp corners."""
        (x, y), width = at, max(30.0, text_width(name) + 14)
        edge = ACCENTS.get(role, "currentColor")
        radius = {"host": 5.0, "switch": 0.0}.get(role, BOX_HEIGHT_PX / 2)
        self.above.append(
            f'<rect x="{x - width / 2:.1f}" y="{y - BOX_HEIGHT_PX / 2:.1f}" width="{width:.1f}" height="{BOX_HEIGHT_PX:g}" '
            f'rx="{radius:g}" fill="var(--paper,#fff)" stroke="{edge}" stroke-width="1.4"/>'
            f'<text x="{x:.1f}" y="{y + 0.35 * FONT_PX:.1f}" fill="currentColor">{escape(name)}</text>'
        )
        self.corners += [(x - width / 2, y - BOX_HEIGHT_PX / 2), (x + width / 2, y + BOX_HEIGHT_PX / 2)]

    def dot(self, at: Place, name: str) -> None:
        """Draw a node without room for its name, which a pointer shows."""
        x, y = at
        self.above.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="var(--paper,#fff)" stroke="{ACCENTS["host"]}" stroke-width="1.4">'
            f"<title>{escape(name)}</title></circle>"
        )
        self.corners += [(x - 4, y - 4), (x + 4, y + 4)]

    def svg(self) -> str:
        """Return the drawing as SVG text."""
        left, right = min(x for x, _ in self.corners) - MARGIN_PX, max(x for x, _ in self.corners) + MARGIN_PX
        top, bottom = min(y for _, y in self.corners) - MARGIN_PX, max(y for _, y in self.corners) + MARGIN_PX
        width, height = right - left, bottom - top
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}" '
            f'width="{width:.0f}" height="{height:.0f}" fill="currentColor" '
            f'font-family="system-ui,sans-serif" font-size="{FONT_PX:g}" text-anchor="middle">'
            f"<style>{OWN_COLOURS}</style>{''.join(self.below)}{''.join(self.above)}</svg>\n"
        )
