"""What is known of a network whose author published a script: parameters, what is built, what is counted, and what is allowed."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tonopah.cc.loading import engine_names, find_entry_points
from tonopah.cc.permission import permission
from tonopah.cc.references import is_code, name_in
from tonopah.errors import InputError
from tonopah.reports.counters.packets import Numbers, Seen, run_seen, seen
from tonopah.reports.worlds import Scenario
from tonopah.spec.source import Observed

KIBI = 1024.0
"""Bits of a kilobit of the scripts of ns-3."""
MEDIAN = "_median10"
"""End of the name of a metric that is the median of ten runs."""


@dataclass(frozen=True)
class Goal:
    """How far ours may be from the reference."""

    relative: float = 0.0
    absolute: float = 0.0
    factor: float = 0.0
    """Largest ratio of the two, either way, instead."""

    def met(self, ours: float, reference: float) -> bool:
        """Whether a number is close enough; the last digit printed is no difference."""
        if self.factor:
            return ours > 0 and reference > 0 and 1 / self.factor <= ours / reference <= self.factor
        return abs(ours - reference) <= self.absolute + self.relative * abs(reference) + 1e-12

    def around(self, reference: float) -> tuple[float, float]:
        """Return between which numbers ours agrees."""
        if self.factor:
            return reference / self.factor, reference * self.factor
        far = self.absolute + self.relative * abs(reference)
        return reference - far, reference + far

    @property
    def text(self) -> str:
        """The goal in words."""
        if self.factor:
            return f"factor {self.factor:g}"
        return f"±{100 * self.relative:g} %" if self.relative else f"±{self.absolute:g}"


@dataclass(frozen=True)
class Contrast:
    """What a number of ours must be as a multiple of the same number of ours at another point."""

    where: Mapping[str, Any]
    """Parameters of the points that it is asked of."""
    other: Mapping[str, Any]
    """Parameters that the other point has instead."""
    metrics: Sequence[str]
    low: float
    high: float
    name: str
    """The other point in words."""

    def met(self, ours: float, other: float) -> bool:
        """Whether a number is close enough to that of the other point."""
        return self.low * abs(other) <= abs(ours) <= self.high * abs(other)

    @property
    def text(self) -> str:
        """The goal in words."""
        return f"{self.low:.3g} to {self.high:.3g} of ours {self.name}"


@dataclass(frozen=True)
class Spread:
    """What is asked of the runs of ours, each by itself, not of their mean. Runs that do not have the number do not count."""

    about: str = ""
    """The stored metric that it is held against, if any."""
    low: float = -math.inf
    high: float = math.inf
    """Each run is between these two."""
    holds: bool = False
    """The range of ours holds the author's number."""
    meets: bool = False
    """The range of ours meets that of the runs of the stock simulator."""

    def met(self, ours: Sequence[float], author: Sequence[float], stock: Sequence[float]) -> bool:
        """Whether the runs are what is asked; without any they are not."""
        if not ours or min(ours) < self.low or max(ours) > self.high:
            return False
        held = not self.holds or all(min(ours) <= number <= max(ours) for number in author)
        return held and not (self.meets and stock and (min(ours) > max(stock) or max(ours) < min(stock)))

    @property
    def text(self) -> str:
        """The goal in words."""
        asked = {
            f"each {self.low:g} to {self.high:g}": math.isfinite(self.low), "range holds the author's": self.holds,
            "ranges meet": self.meets,
        }  # fmt: skip
        return ", ".join(words for words, applies in asked.items() if applies)


@dataclass(frozen=True)
class Direction:
    """From the first stored point of an axis to the last, a number must go the way of the reference."""

    axes: Sequence[str]
    metrics: Sequence[str]


@dataclass(frozen=True)
class Sign:
    """What differs between two algorithms by more than a share of the other's number must differ the same way here."""

    algorithm: str
    other: str
    metrics: Sequence[str]
    least: float


@dataclass(frozen=True)
class Parameter:
    """A parameter of a script: its default there, and what it may be: one of `choices`, or a number from `least` to `most`.

    An algorithm may also be any other that a scenario can name.
    """

    default: Any
    choices: tuple[str, ...] = ()
    least: float = 1
    most: float = 1000
    text: str = ""
    """Of a switch: what it changes."""
    step: int = 1
    """The script divides by it, and drops the rest."""
    inert: str = ""
    """Of an axis of the script that changes nothing: why."""
    is_algorithm: bool = False

    def check(self, value: Any, path: str) -> Any:
        """Return a value, refused if it is none of this parameter's."""
        if self.is_algorithm:
            check_algorithm(value, self.choices, path)
        elif self.choices:
            if value not in self.choices:
                raise InputError(path, f"{value!r} is unknown", f"allowed: {', '.join(self.choices)}")
        elif isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise InputError(path, f"{value!r} is not a switch", "true or false")
        elif isinstance(value, bool) or not isinstance(value, int if isinstance(self.default, int) else int | float):
            kind = "a whole number" if isinstance(self.default, int) else "a number"
            raise InputError(path, f"{value!r} is not {kind}", f"{self.least:g} to {self.most:g}")
        elif not self.least <= value <= self.most:
            raise InputError(path, f"{value!r} is out of range", f"{self.least:g} to {self.most:g}")
        return value

    def rounded(self, value: Any) -> Any:
        """Return what the script makes of a value."""
        return value // self.step * self.step if self.step > 1 else value


def check_algorithm(value: Any, choices: Sequence[str], path: str) -> None:
    """Refuse what is neither an algorithm of the script nor any that a scenario can name. Raises InputError."""
    key, named = name_in(value)
    known = {*choices, *engine_names(), *find_entry_points(), *(permission().stored or ())}
    if isinstance(value, type) or is_code(value) or (isinstance(named, str) and named in known):
        return
    place = f"{path}.{key}" if isinstance(value, Mapping) else path
    hint = f"of the script: {', '.join(choices)}; or another: `tonopah algorithms`, FILE.py:CLASS, a library"
    raise InputError(place, f"{named!r} is unknown", hint)


@dataclass(frozen=True)
class Effects:
    """What the parameters that are given change."""

    effective: list[str] = field(default_factory=list)
    """Paths of those that change something, or that the script has although they change nothing."""
    warnings: list[str] = field(default_factory=list)
    """Of values that are as another, and of axes of the script that change nothing."""
    idle: list[InputError] = field(default_factory=list)
    """Of those that change nothing beside the others."""


@dataclass(frozen=True)
class Network:
    """One network of a script."""

    report: str
    """Name of the report."""
    own: str
    """Its name in the report."""
    title: str
    source: str
    """Repository, commit and file."""
    metrics: str
    """Whose definitions its numbers follow: prefix of their columns, explained in `reports/metrics.py`."""
    parameters: Mapping[str, Parameter]
    build: Callable[..., Scenario]
    """The scenario of a point."""
    count: Callable[[Sequence[Seen]], Numbers]
    """Its numbers, from a run of the scenario and before it of what stands beside it."""
    columns: Mapping[str, tuple[str, float]]
    """By name of a number: its column, and the factor to its SI unit."""
    stored: str
    """The network of `numbers.csv`."""
    axes: Mapping[str, str] = field(default_factory=dict)
    """Axes of `numbers.csv` that are sweeps of the script, and their parameters."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Algorithms of `numbers.csv` that have another name in `algorithm`."""
    sweep_defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By axis: what a sweep changes besides."""
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Further networks of `numbers.csv` that are this one with other parameters."""
    goals: Mapping[str, Goal] = field(default_factory=dict)
    overlap: Sequence[str] = ()
    """Numbers whose mean over seeds must have an interval that meets the reference."""
    judged: Sequence[str] = ()
    """Of `others`, those of which something is asked."""
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    """Numbers of which something is asked run by run."""
    direction: Direction | None = None
    contrasts: Mapping[str, Contrast] = field(default_factory=dict)
    """By network of `numbers.csv`: what is asked instead."""
    aliases: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By algorithm and metric of `numbers.csv`: its name here, if that is another."""
    runs: int = 1
    """Seeds that a comparison needs; 1 for what is deterministic."""
    quick_runs: int | None = None
    """Seeds of a comparison in a hurry, if fewer."""
    sign: Sign | None = None
    constants: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By algorithm: numbers of the stock simulator that are the same at every point."""
    beside: Callable[[Scenario], Scenario] | None = None
    """Another scenario, from that of a point: it shares nothing with it, but is counted together with it."""

    @property
    def name(self) -> str:
        """Its name in study files, behind `reports:`."""
        return f"{self.report}-{self.own}"

    def place(self, method: str) -> str:
        """Return where a method of it is, as `module:function` for those who import it by name."""
        return f"tonopah.reports.networks.{self.report.replace('-', '_')}:{self.own.upper()}.{method}"

    def complete(self, given: Mapping[str, Any], path: str = "") -> dict[str, Any]:
        """Return all parameters, checked. Raises InputError."""
        for key, value in given.items():
            where = f"{path}.{key}" if path else key
            if key not in self.parameters:
                raise InputError(where, "is unknown", f"parameters of {self.name}: {', '.join(self.parameters)}")
            self.parameters[key].check(value, where)
        return {key: parameter.default for key, parameter in self.parameters.items()} | dict(given)

    def effects(self, given: Mapping[str, Any], path: str = "") -> Effects:
        """Return what the given parameters change beside one another."""
        whole, found = self.complete(given), Effects()
        made = self.build(**whole)
        for key, value in given.items():
            parameter, where = self.parameters[key], f"{path}.{key}" if path else key
            if value == parameter.default:
                continue
            used, rest = parameter.rounded(value), f"the script divides by {parameter.step} and drops the rest"
            if used != value:
                found.warnings.append(f"{where}: {value} is as {used}: {rest}")
            elif parameter.inert:
                found.warnings.append(f"{where} has no effect: {parameter.inert}")
            elif self.build(**whole | {key: parameter.default}) == made:
                about = f" ({parameter.text})" if parameter.text else ""
                beside = ", ".join(f"{other} = {whole[other]!r}" for other in self.parameters if other != key)
                hint = f"the network is the same as with {parameter.default!r}, beside {beside}"
                found.idle.append(InputError(where, f"has no effect{about}", hint))
                continue
            found.effective.append(where)
        return found

    def scenario(self, given: Mapping[str, Any], path: str = "") -> Scenario:
        """Return the scenario of a point. Raises InputError."""
        return self.build(**self.complete(given, path))

    def numbers(self, scenario: str, seed: int, summary: str, series: Any) -> Observed:
        """Return what its script prints of a run, in the units of the script, by the names of `numbers.csv`."""
        runs = [run_seen(json.dumps(self.beside(json.loads(scenario))), seed)] if self.beside else []
        numbers = self.count([*runs, seen(scenario, seed, summary, series)])
        return Observed({name: float(number) for name, number in numbers.items()})

    def observe(self, scenario: str, seed: int, summary: str, series: Any) -> Observed:
        """Return its columns of a run, in SI units."""
        found = self.numbers(scenario, seed, summary, series).run
        both = ((number, *one) for name, number in found.items() if not math.isnan(number) for one in self.columns_of(name))
        return Observed({f"{self.metrics}.{column}": factor * number for number, column, factor in both})

    def columns_of(self, name: str) -> list[tuple[str, float]]:
        """Return the columns of a number, if any, with factors to their units: SI, and the script's where it counts 1024 bit."""
        if name not in self.columns:
            return []
        column, factor = self.columns[name]
        return [(column, factor), *([(column.removesuffix("_bps") + "_kibps", 1.0)] if factor == KIBI else [])]

    @property
    def lacks(self) -> str:
        """What the scenario of a point does not hold of the script."""
        beside = ["a second scenario, which shares nothing with it and is counted together with it"] if self.beside else []
        return "; ".join([f"what the script counts (columns {self.metrics}.*)", *beside])

    def stored_as(self) -> dict[str, Mapping[str, Any]]:
        """Return the networks of `numbers.csv` that this one builds, with the parameters that it needs for each."""
        return {self.stored: {}, **self.others}

    def own_name(self, algorithm: str, metric: str) -> str | None:
        """Return the name here of a stored metric, without what says that it is a median; None if nothing here counts it."""
        name = self.aliases.get((algorithm, metric), metric).removesuffix(MEDIAN)
        return name if name in self.columns else None

    def point(self, algorithm: str, axis: str, value: str) -> dict[str, Any] | None:
        """Return the parameters of a stored point; None if no sweep of the script has it."""
        named = self.labels.get(algorithm, algorithm)
        own = {"algorithm": named} if len(self.parameters.get("algorithm", Parameter(0)).choices) > 1 else {}
        if axis == "-":
            return own
        if axis not in self.axes or not re.fullmatch(r"[0-9.]+", value):
            return None
        parameter = self.axes[axis]
        kind = type(self.parameters[parameter].default)
        return own | dict(self.sweep_defaults.get(axis, {})) | {parameter: kind(float(value))}
