"""The claims of a study file: each has criteria, and each criterion one or more readings and exactly one condition.

One class for each kind of condition. What a criterion says about its part (labels, axes) is checked in resolution.py.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from tonopah.spec.validation import CurrentMetrics, Many, Model, PatternPath, Texts, between, check_table, refuse, tagged_union

PERCENTS = ("above_percent", "below_percent", "within_percent", "published_percent")

NO_DIFFERENCE = ("has no meaning without a difference", 'difference = { of = "…", to = "…" }')
ELSEWHERE = {
    **dict.fromkeys(PERCENTS, NO_DIFFERENCE),
    "margin_percent": ("has no meaning for a bound", "it belongs to trend, order, difference and parts"),
    "points": ("has no meaning without difference or parts", "how a difference holds over an axis"),
    "paired": ("has meaning between parts only", "algorithms of a part are always paired"),
}
"""Keys of some criteria only, and what is said about them in the others."""


def elsewhere(*here: str) -> dict[str, tuple[str, str]]:
    """Return the keys that a criterion does not have: all of `ELSEWHERE` but those that are its own."""
    return {key: said for key, said in ELSEWHERE.items() if key not in here}


class Measured(Model):
    """What every criterion but `NotTestable` has: metrics to read, in a part."""

    metrics: Annotated[Texts, CurrentMetrics] = Field(
        alias="metric", description="Metric, or an array of them: several readings of the same claim."
    )
    part: str = Field("", description="Part that it reads; that of the claim if absent. Not needed in a study of one part.")

    MISPLACED: ClassVar[Mapping[str, tuple[str, str]]] = elsewhere()

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Labels that it reads, each a reading of its own; empty where the criterion compares its own choice."""
        return ()


class Located(Measured):
    """A criterion at one point, or over an axis."""

    over: PatternPath | None = Field(None, description="Axis; it covers all points of it.")
    at: dict[PatternPath, Any] = Field(default_factory=dict, description="One point: `{ path = value }`.")

    @model_validator(mode="after")
    def check_place(self) -> "Located":
        """Refuse a point beside an axis."""
        if self.at and self.over:
            raise refuse("stands beside over", "one point, or all points of an axis", ("at",))
        return self


Margin = Annotated[float, *between(0.001, 1000)]
"""A margin of equivalence, in percent."""
MARGIN = "Margin in percent: an effect that is shown to be within it, in either direction, is none."

ALGORITHM = "Label that it reads, or an array of them; the baseline if absent."


class Trend(Measured):
    """The metric goes up, down, stays, levels off or turns along an axis.

    `"increasing"` (`"decreasing"`): the fitted line rises (falls), and no way back is half as long as the whole way. `"flat"`:
    every point is within `margin_percent` (5 % if absent) of the mean of all. `"saturating"` (`"falls, then levels off"`): it
    rises (falls) in the first step, and less than half as fast in the last. `"rises, then falls"` (`"falls, then rises"`): at
    some point inside, it is above (below) both ends, and the lines fitted on either side of it rise and fall (fall and rise).
    """

    trend: Literal[
        "increasing", "decreasing", "flat", "saturating", "falls, then levels off", "rises, then falls", "falls, then rises"
    ] = Field(description="The shape.")  # fmt: skip
    over: PatternPath = Field(description="Axis along which the trend is.")
    margin_percent: Margin | None = Field(None, description=f"{MARGIN} The metric is then flat along the axis.")
    algorithm: Texts = Field((), description=ALGORITHM)

    HINTS: ClassVar[Mapping[str, str]] = {"over": "the axis along which the trend is"}
    MISPLACED: ClassVar[Mapping[str, tuple[str, str]]] = elsewhere("margin_percent")

    @property
    def margin(self) -> float | None:
        """The margin within which the metric is flat; None where none is declared."""
        return 5.0 if self.trend == "flat" and self.margin_percent is None else self.margin_percent

    @property
    def at(self) -> dict[str, Any]:
        """The single point; a trend has none."""
        return {}

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Labels that it reads, each a reading of its own."""
        return self.algorithm


class Bound(Located):
    """The metric is above (below) a value at every point; with `at` at this one."""

    above: float | None = Field(None, description="Lower bound, in SI units.")
    below: float | None = Field(None, description="Upper bound, in SI units.")
    algorithm: Texts = Field((), description=ALGORITHM)

    @property
    def side(self) -> Literal["above", "below"]:
        """On which side of the limit the metric is said to be."""
        return "below" if self.above is None else "above"

    @property
    def limit(self) -> float:
        """The bound, in SI units."""
        return (self.below or 0.0) if self.above is None else self.above

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Labels that it reads, each a reading of its own."""
        return self.algorithm


def check_order(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse an order of one."""
    if len(labels) < 2:
        raise refuse("needs two algorithms or more")
    return labels


class Order(Located):
    """The labels are in this order from low to high (mean over the points)."""

    order: Annotated[Texts, AfterValidator(check_order)] = Field(description="Labels from low to high.")
    margin_percent: Margin | None = Field(None, description=f"{MARGIN} It applies to each neighbour in the order.")

    MISPLACED: ClassVar[Mapping[str, tuple[str, str]]] = elsewhere("margin_percent")


class ComparisonCriterion(Located):
    """A difference in percent against exactly one bound."""

    above_percent: float | None = Field(None, description="The difference is more than this.")
    below_percent: float | None = Field(None, description="The difference is less than this.")
    within_percent: Annotated[float, *between(0.001, 1000)] | None = Field(
        None, description="They are equal within this margin (two one-sided tests)."
    )
    published_percent: float | None = Field(
        None, description="The difference has the sign of the published one, significantly, and the interval holds it."
    )
    margin_percent: Margin | None = Field(None, description=MARGIN)
    points: Literal["mean", "each", "any"] = Field(
        "mean", description="How it holds over an axis: for the mean of the points, at each, or at any."
    )

    MISPLACED: ClassVar[Mapping[str, tuple[str, str]]] = elsewhere("points", "margin_percent", *PERCENTS)

    @model_validator(mode="after")
    def check_bound(self) -> "ComparisonCriterion":
        """Refuse none or several bounds, `points` without axis, and a margin that the claimed effect is inside of."""
        if sum(getattr(self, key) is not None for key in PERCENTS) != 1:
            raise refuse("needs exactly one bound of the difference", f"one of {', '.join(PERCENTS)}")
        if "points" in self.model_fields_set and not self.over:
            raise refuse("has no meaning without over", "the axis whose points are meant", ("points",))
        if self.margin_percent is not None and not self.claims_effect:
            hint = "above_percent from 0 up, below_percent from 0 down, or published_percent"
            raise refuse("has no meaning: no difference at all satisfies this condition", hint, ("margin_percent",))
        if self.margin_percent is not None and self.percent and self.margin_percent > abs(self.percent):
            raise refuse("is larger than the claimed effect", f"at most {abs(self.percent):g}", ("margin_percent",))
        return self

    @property
    def claims_effect(self) -> bool:
        """Tell whether no difference at all would fail the condition; else equality is what is claimed, or allowed."""
        match self.bound:
            case "above":
                return self.percent >= 0
            case "below":
                return self.percent <= 0
            case "within":
                return False
            case _:
                return self.percent != 0

    @property
    def bound(self) -> Literal["above", "below", "within", "published"]:
        """What is said of the difference: on which side of `percent` it is, or how near."""
        return next(name.removesuffix("_percent") for name in PERCENTS if getattr(self, name) is not None)  # type: ignore[return-value]

    @property
    def percent(self) -> float:
        """The bound, the margin or the published difference, in percent."""
        return next(value for name in PERCENTS if (value := getattr(self, name)) is not None)


class Compared(Model):
    """The two sides of a difference: *of* against *to*."""

    of: Texts = Field(description="Label, or an array of them: several readings.")
    to: str = Field("", description="Label that it is compared with; the baseline if absent.")


class Difference(ComparisonCriterion):
    """A label differs from another by more (less) than this, equals it, or differs as published; replicates are paired."""

    difference: Compared = Field(description="What is compared with what.")

    MISPLACED: ClassVar[Mapping[str, tuple[str, str]]] = {
        **elsewhere("points", "margin_percent", *PERCENTS),
        "algorithm": ("stands beside difference", "difference.of names the algorithms"),
    }

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Labels that it compares, each a reading of its own."""
        return self.difference.of

    @property
    def to(self) -> str:
        """Label that they are compared with."""
        return self.difference.to


class BetweenParts(ComparisonCriterion):
    """The first of two parts differs from the second in the same ways; Welch's test, or paired replicates."""

    parts: Texts = Field(description="Ids of the two parts.")
    algorithm: Texts = Field((), description="Label in both, or an array of them; the baseline of each if absent.")
    paired: bool = Field(False, description="Pair replicates by their seed.")

    MISPLACED: ClassVar[Mapping[str, tuple[str, str]]] = elsewhere("points", "paired", "margin_percent", *PERCENTS)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Labels that it compares, each a reading of its own; empty for the baseline of each part."""
        return self.algorithm


class NotTestable(Model):
    """A part of the claim that is beyond a simulator; it does not count. Also a key of the claim."""

    not_testable: str = Field(description="Why.")
    part: str = Field("", description="Part that is meant.")

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that it reads: none."""
        return ()


Criterion = Trend | Bound | Order | Difference | BetweenParts | NotTestable
"""One criterion of a claim: its readings and its condition."""
CONDITIONS: dict[str, type[Criterion]] = {
    "trend": Trend, "above": Bound, "below": Bound, "order": Order, "difference": Difference, "parts": BetweenParts,
    "not_testable": NotTestable,
}  # fmt: skip
"""The key that makes a criterion what it is."""
CRITERIA = tuple(dict.fromkeys(CONDITIONS.values()))


def check_condition(table: Any) -> Any:
    """Refuse a criterion that has not exactly one condition; pydantic then finds its class."""
    if isinstance(table, CRITERIA):
        return table
    check_table(table, list(dict.fromkeys(key for kind in CRITERIA for key in kind.known_keys())), {})
    if sum(condition in table for condition in CONDITIONS) != 1:
        raise refuse("needs exactly one condition", f"one of {', '.join(CONDITIONS)}")
    return table


def condition_of(table: Mapping[str, Any]) -> str:
    """Return the key of a criterion that is its condition."""
    return next(key for key in CONDITIONS if key in table)


if TYPE_CHECKING:
    AnyCriterion = Criterion
else:
    AnyCriterion = tagged_union(CONDITIONS, condition_of, check_condition)
"""A criterion as a field of a model."""


def one_or_more(value: Any) -> Any:
    """Return a table, or an array of tables, as an array."""
    return [value] if isinstance(value, Mapping) else value


class FigureName(Model):
    """Names a figure by what it shows."""

    metric: str = Field(description="What is drawn: the `y` of the figure.")
    over: str = Field("", description="Its axis; a figure of the nominal point if absent.")
    part: str = Field("", description="Part of the figure. Not needed in a study of one part.")


class Claim(Model):
    """A published claim and the criteria that together stand for it."""

    id: str = Field(description="Its name in the report; each has its own.")
    text: str = Field(description="The claim in words.")
    part: str = Field("", description="Part of its criteria, where they do not name one.")
    tests: Annotated[
        Many[AnyCriterion], BeforeValidator(one_or_more, json_schema_input_type=AnyCriterion | list[AnyCriterion])
    ] = Field((), alias="test", description="One criterion or an array of them (below).")
    mechanism: str = Field("", description="Why it is so, in words; the report shows it beside the verdict.")
    margin_percent: Margin | None = Field(None, description="Margin of those of its criteria that claim an effect and have none.")
    figure: FigureName | None = Field(
        None, description="Figure that decides it: `{ metric, over, part }`; that of its decisive criterion if absent."
    )
    not_testable: str = Field("", description="Why a simulator has no answer; instead of `test`.")

    @model_validator(mode="after")
    def check_reason(self) -> "Claim":
        """Refuse a reason beside criteria."""
        if self.tests and self.not_testable:
            raise refuse("stands beside tests", "write { not_testable = … } as one of the tests", ("not_testable",))
        return self
