"""Claims as the page shows them: a card with its tests in a table and the figure that decides it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tonopah.analysis.figure_model import FigureData
from tonopah.analysis.verdicts import Judgement, Verdict, tally
from tonopah.metrics import count_text
from tonopah.names import slug
from tonopah.report.panels import Panel, difference_id, make_panels
from tonopah.spec.claim import Difference, FigureName
from tonopah.spec.model import StudySpec


@dataclass(frozen=True)
class ClaimView:
    """A claim on the page."""

    verdict: Verdict
    anchor: str
    summary: str
    """What the folded table of all readings has, in words."""
    panel: Panel | None
    difference: bool
    """Whether its figure is first shown as difference to the baseline, which is what the claim is about."""
    labels: list[str]
    """What the part of its figure compares."""

    @property
    def tests(self) -> list[Judgement]:
        """The sub-claims."""
        return self.verdict.tests


def claim_views(spec: StudySpec, verdicts: list[Verdict], figures: Mapping[str, FigureData]) -> list[ClaimView]:
    """Return the claims of a study as the page shows them."""
    return [claim_view(spec, verdict, figures) for verdict in verdicts]


def claim_view(spec: StudySpec, verdict: Verdict, figures: Mapping[str, FigureData]) -> ClaimView:
    """Return one claim as the page shows it."""
    figure = find_figure(verdict.figure, figures)
    return ClaimView(
        verdict,
        f"claim--{slug(verdict.claim.id)}",
        readings_text(verdict),
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
    over_axis = [
        figure for figure in shown if figure.kind in ("line", "heatmap") and figure.x.key == name.over and not figure.baseline
    ]
    return next(iter(over_axis if name.over else at_nominal), None)


def with_difference(figure: FigureData, figures: Mapping[str, FigureData]) -> list[FigureData]:
    """Return a figure, and the same as difference to the baseline if the study draws it."""
    partner = figures.get(difference_id(figure))
    return [figure, partner] if partner else [figure]


def readings_text(verdict: Verdict) -> str:
    """Return what the folded table of a claim has."""
    tests, readings = len(verdict.tests), sum(len(test.readings) for test in verdict.tests)
    judged = "" if all(test.verdict == "not judged" for test in verdict.tests) else f": {tally(verdict.tests)}"
    many = count_text(tests, "test") if tests > 1 else "The test"
    several = f" in {count_text(readings, 'reading')}" * (readings > tests)
    return f"{many}{several}{judged if tests > 1 else ''}, with method and p value"
