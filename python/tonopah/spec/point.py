"""A point of a study: one scenario for one variant at one place of the axes, as the engine has accepted it."""

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah._core import check, parse_quantity
from tonopah.cc.binding import BoundScenario, bind
from tonopah.errors import InputError, ScenarioError, relay, warning_texts
from tonopah.kernel.engines import varying
from tonopah.runs.simulation import INTERNAL
from tonopah.scenario import paths
from tonopah.spec.derived import Derived
from tonopah.spec.model import Part
from tonopah.spec.schema import Variant
from tonopah.spec.series import recording
from tonopah.spec.source import Sourced, is_sourced, make
from tonopah.spec.vary import FIXED, Vary

REPRESENTATIVE_SAMPLES = 1000
"""Samples of a series over a representative run, where the study does not say how often."""


@dataclass(frozen=True)
class Point:
    """A scenario for one variant at one place of the axes, checked by the engine."""

    label: str
    values: dict[str, Any]
    bound: BoundScenario
    resolved: str
    derived: tuple[Derived, ...] = ()
    random: tuple[str, ...] = ()
    owners: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    sourced: Sourced | None = None
    engine: str = ""


def check_point(
    scenario: dict[str, Any],
    variant: Variant,
    values: dict[str, Any],
    folder: str | Path,
    derived: tuple[Derived, ...] = (),
    vary: Vary = FIXED,
    draws: str = "",
    engine: str = "",
) -> Point:
    """Return the scenario with the variant and the values of the axes in it, after the engine has accepted it.

    What identifies its runs holds digests of the sources of its algorithms in Python, the metrics derived from its series, and a
    kernel that carries its flows, with its release: an edited one is run anew.
    """
    changed = copy.deepcopy(scenario)
    try:
        for path, value in (variant.changes | values).items():
            paths.put_all(changed, path, value)
        sourced = make(changed, "") if is_sourced(changed) else None
        if sourced:
            sourced.refuse_idle(variant.changes)
            changed = copy.deepcopy(dict(sourced.scenario))
        vary.given_to(changed, draws)
        bound = bind(changed, folder)
        checked = json.loads(check(bound.text, 1, bound.algorithms))
        resolved = checked["resolved"]
        if engine and bound.origins:
            raise InputError("tcp.cc", "is code, which no kernel has", "an algorithm of the kernel, or leave engine out")
    except ScenarioError as error:
        where = "".join(f", {axis} = {value}" for axis, value in values.items())
        what = f"with tcp.cc = {variant.label}" if set(variant.changes) == {"tcp.cc"} else labelled(variant.label)
        raise relay(error, prefix="scenario", suffix=f" [{what}{where}]") from None
    if bound.origins:
        resolved["sources"] = {name: origin.digest for name, origin in bound.origins.items()}
    if derived:
        resolved["derived"] = [metric.identity() for metric in derived]
    if sourced:
        resolved["source"] = dict(sourced.identity)
    if engine:
        resolved["engine"] = engine
    canonical = json.dumps(resolved, sort_keys=True, separators=(",", ":"), allow_nan=False)
    owners = {what: len(checked["graph"].get(what, ())) for what in ("flow", "node")}
    told = [f"scenario.{text}" for text in sourced.warnings] if sourced else []
    warnings = (*told, *warning_texts(checked["warnings"], prefix="scenario"))
    random = (*checked["random"], *varying(engine))
    return Point(variant.label, values, bound, canonical, derived, random, owners, warnings, sourced, engine)


def labelled(label: str) -> str:
    """Return which variant an error is about; a label such as "with SACK" needs no second "with"."""
    return label if label.startswith("with ") else f"with {label}"


def distributions(part: Part) -> dict[str, Any]:
    """Return what `record` needs for the figures of distributions of a part."""
    names = sorted({name for figure in part.figures if figure.kind == "cdf" for name in figure.y})
    return {"distributions": names} if names else {}


def record_derived(part: Part, derived: tuple[Derived, ...]) -> dict[str, Any]:
    """Return the scenario of a part with only the series that derived metrics need, and the distributions that its figures show.

    A study keeps series of representative runs only.
    """
    scenario = part.scenario
    rest = {key: value for key, value in scenario.items() if key != "record"}
    needed, counted = sorted({name for metric in derived for name in metric.needs}), distributions(part)
    if not needed:
        return {**rest, **({"record": counted} if counted else {})}
    given = scenario.get("record") or {}
    times = {key: given[key] for key in ("every", "bin") if key in given}
    if times.get("every") == "change":
        # Averages over time need samples at equal distances.
        times["every"] = given.get("bin", "100ms")
    return {**rest, "record": {**recording(needed), **times, **counted}}


def record_representative(part: Part, duration: str) -> dict[str, Any]:
    """Return the scenario of representative runs: with its own series, and those that its figures and derived metrics need."""
    record = part.scenario.get("record") or {}
    wanted = [name for figure in part.figures if figure.kind == "series" for name in figure.y]
    wanted += [name for metric in part.derived for name in metric.needs]
    wanted += [f"{INTERNAL}*"] if record.get("internals") else []
    series = recording([*record.get("series", []), *wanted])
    seconds = parse_quantity(duration, "duration")
    every = {} if "every" in record else {"every": f"{max(1, round(1000 * seconds / REPRESENTATIVE_SAMPLES))}ms"}
    return {**part.scenario, "record": {**record, **every, **series, **distributions(part)}}
