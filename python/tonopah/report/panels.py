"""What a page shows of its figures: panels in sections, a metric and its difference to the baseline in one panel."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tonopah.analysis.figure_model import FigureData
from tonopah.metrics import GROUPS, count_text
from tonopah.report.embed import heading, thinning_note
from tonopah.report.tables import ReportTable

DIFFERENCE_OF = {"line": "difference", "heatmap": "heatmap-difference"}
"""By kind, as ids have it: the kind of the same figure as difference to the baseline."""


@dataclass(frozen=True)
class Panel:
    """A place of the page that shows a figure, or by a switch its difference to the baseline."""

    figure: str
    heading: str
    caption: str
    wide: bool = False
    difference: str = ""
    original: bool = False
    """Whether the metric is computed as a tool of the original does."""


@dataclass
class PageSection:
    """One sweep, or the nominal point: its panels and its tables."""

    anchor: str
    title: str
    note: str
    panels: list[Panel] = field(default_factory=list)
    tables: list[ReportTable] = field(default_factory=list)

    @property
    def count(self) -> str:
        """How much there is to see."""
        return ", ".join(count_text(len(some), noun) for some, noun in ((self.panels, "panel"), (self.tables, "table")) if some)


def make_panels(figures: Iterable[FigureData]) -> list[Panel]:
    """Return a panel for each figure; differences go into the panel of what they are differences of."""
    by_id = {figure.id: figure for figure in figures}
    partners = {figure.id: partner for figure in by_id.values() if (partner := difference_id(figure)) in by_id}
    inside = set(partners.values())
    return [make_panel(figure, partners.get(figure.id, "")) for figure in by_id.values() if figure.id not in inside]


def make_panel(figure: FigureData, difference: str) -> Panel:
    """Return the panel of one figure."""
    profile, _, rest = figure.y.key.partition(".")
    return Panel(
        figure.id,
        heading(figure),
        figure.caption + thinning_note(figure),
        figure.wide,
        difference,
        bool(rest) and profile in GROUPS and GROUPS[profile].folded,
    )


def difference_id(figure: FigureData) -> str:
    """Return the id that the same figure has as difference to the baseline; empty for kinds without one."""
    words = figure.id.split("--")
    if figure.kind not in DIFFERENCE_OF or figure.kind not in words or figure.baseline:
        return ""
    # The first word may be the part, which may be called like a kind.
    i = words.index(figure.kind, 1 if figure.part else 0)
    return "--".join([*words[:i], DIFFERENCE_OF[figure.kind], *words[i + 1 :]])
