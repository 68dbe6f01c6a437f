"""Claims as the page shows them: a card with its tests in a table and the figure that decides it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tonopah.analysis.claims import Verdict
from tonopah.analysis.figure_model import FigureData
from tonopah.names import slug
from tonopah.report.panels import Panel, difference_id, make_panels
from tonopah.spec.claim import Difference, FigureName
from tonopah.spec.model import StudySpec
from tonopah.stats import Estimate


@dataclass(frozen=True)
class TestRow:
    """A row of the table of tests: one reading of one test of a claim."""

    asked: str
    reading: str
    sentence: str
    note: str
    verdict: str
    needed: int | None
    effect: Estimate
    unit: str
    p: float
    test: str


@dataclass(frozen=True)
class ClaimView:
    """A claim on the page."""

    verdict: Verdict
    anchor: str
    rows: list[TestRow]
    tally: str
    """How often its tests have each verdict, in words."""
    panel: Panel | None
    difference: bool
    """Whether its figure is first shown as difference to the baseline, which is what the claim is about."""
    labels: list[str]
    """What the part of its figure compares."""


def claim_views(spec: StudySpec, verdicts: list[Verdict], figures: Mapping[str, FigureData]) -> list[ClaimView]:
    """Return the claims of a study as the page shows them."""
    return [claim_view(spec, verdict, figures) for verdict in verdicts]


def claim_view(spec: StudySpec, verdict: Verdict, figures: Mapping[str, FigureData]) -> ClaimView:
    """Return one claim as the page shows it."""
    rows = test_rows(verdict)
    counts = Counter(test.verdict for test in verdict.tests)
    figure = find_figure(verdict.figure, figures)
    return ClaimView(
        verdict,
        f"claim--{slug(verdict.claim.id)}",
        rows,
        ", ".join(f"{count} {kind}" for kind, count in counts.most_common()),
        make_panels(with_difference(figure, figures))[0] if figure else None,
        verdict.decisive is not None and isinstance(verdict.decisive.criterion, Difference),
        spec.part(figure.part).labels if figure else [],
    )


def find_figure(name: FigureName | None, figures: Mapping[str, FigureData]) -> FigureData | None:
    """Return the figure that shows a metric over an axis, or at the nominal point; None if the study draws none."""
    if name is None:
        return None
    shown = [figure for figure in figures.values() if figure.part == name.part and name.metric in (figure.y.key, figure.x.key)]
    at_nominal = [figure for figure in shown if figure.kind in ("bar", "ecdf")]
    over_axis = [figure for figure in shown if figure.kind in ("line", "heatmap") and figure.x.key == name.over and not figure.baseline]
    return next(iter(over_axis if name.over else at_nominal), None)


def with_difference(figure: FigureData, figures: Mapping[str, FigureData]) -> list[FigureData]:
    """Return a figure, and the same as difference to the baseline if the study draws it."""
    partner = figures.get(difference_id(figure))
    return [figure, partner] if partner else [figure]


def test_rows(verdict: Verdict) -> list[TestRow]:
    """Return a row for each reading of each test."""
    return [
        TestRow(
            outcome.asked, outcome.reading, outcome.sentence, test.note if outcome is test.readings[-1] else "", outcome.verdict,
            outcome.needed, outcome.effect, outcome.unit, outcome.p_for, outcome.test,
        )
        for test in verdict.tests
        for outcome in test.readings
    ]  # fmt: skip
