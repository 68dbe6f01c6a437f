"""Reads the claims of a study file: each test is one or more readings and exactly one condition (docs/studies.md)."""

from collections.abc import Mapping
from typing import Any

from tonopah.errors import InputError
from tonopah.spec.model import Claim, Part, Test
from tonopah.spec.part import axes_hint
from tonopah.spec.validation import keys, one_of, tables, texts, typed, within

TRENDS = ("increasing", "decreasing", "flat", "saturating")
PERCENTS = ("above_percent", "below_percent", "within_percent", "published_percent")
CONDITIONS = ("trend", "above", "below", "order", "difference", "parts", "not_testable")
POINTS = ("mean", "each", "any")

TEST_KEYS = {
    "part": str, "trend": str, "above": float, "below": float, "order": list, "difference": dict, "parts": list, "paired": bool,
    **dict.fromkeys(PERCENTS, float), "over": str, "at": dict, "points": str, "margin_percent": float, "not_testable": str,
}  # fmt: skip


def parse_claim(entry: Mapping[str, Any], path: str, parts: list[Part]) -> Claim:
    """Return one `[[claim]]`; its `test` is one table or an array of tables."""
    if isinstance(entry.get("test"), dict):
        entry = {**entry, "test": [entry["test"]]}
    allowed = {"id": str, "text": str, "part": str, "test": list, "not_testable": str}
    keys(entry, path, allowed, required=("id", "text"))
    default = {"part": entry["part"]} if "part" in entry else {}
    tests = [parse_test({**default, **test}, f"{path}.test[{i}]", parts) for i, test in tables(entry, "test", path)]
    if tests and "not_testable" in entry:
        raise InputError(f"{path}.not_testable", "stands beside tests", "write { not_testable = … } as one of the tests")
    return Claim(entry["id"], entry["text"], tuple(tests), entry.get("not_testable"))


def parse_test(entry: Mapping[str, Any], path: str, parts: list[Part]) -> Test:
    """Return one test of a claim."""
    # Text or an array of it: several readings side by side.
    readings = {key: entry[key] for key in ("metric", "algorithm") if key in entry}
    keys(
        {key: value for key, value in entry.items() if key not in readings}, path, {**TEST_KEYS, "metric": str, "algorithm": str}
    )
    if sum(condition in entry for condition in CONDITIONS) != 1:
        raise InputError(path, "needs exactly one condition", f"one of {', '.join(CONDITIONS)}")
    if "not_testable" in entry:
        keys(entry, path, {"not_testable": str, "part": str})
        return Test(not_testable=entry["not_testable"])
    if "metric" not in entry:
        raise InputError(f"{path}.metric", "is missing")
    metrics = texts(entry["metric"], f"{path}.metric")
    algorithms = texts(entry["algorithm"], f"{path}.algorithm") if "algorithm" in entry else ()
    check_percent(entry, path)
    if "parts" in entry:
        return parse_between(entry, path, parts, metrics, algorithms)
    part = the_part(entry, path, parts)
    check_place(entry, path, part)
    fields = {key: entry[key] for key in TEST_KEYS if key in entry and key not in ("difference", "order", "parts")}
    to = None
    if "difference" in entry:
        difference = entry["difference"]
        of = {key: value for key, value in difference.items() if key == "of"}
        keys({**difference, **({"of": ""} if of else {})}, f"{path}.difference", {"of": str, "to": str})
        if algorithms or "of" not in difference:
            raise InputError(f"{path}.difference.of", "is missing" if not algorithms else "stands instead of algorithm")
        algorithms, to = texts(difference["of"], f"{path}.difference.of"), difference.get("to", part.baseline)
    order = texts(entry["order"], f"{path}.order") if "order" in entry else ()
    if "order" in entry and len(order) < 2:
        raise InputError(f"{path}.order", "needs two algorithms or more")
    for label in (*order, *algorithms, *((to,) if to else ())):
        one_of(label, path, part.labels)
    if to in algorithms:
        raise InputError(f"{path}.difference", f"compares {to} with itself")
    check_trend(entry, path)
    return Test(**{**fields, "part": part.id, "metrics": metrics, "algorithms": algorithms, "to": to, "order": order})


def the_part(entry: Mapping[str, Any], path: str, parts: list[Part]) -> Part:
    """Return the part that a test is about; in a study of one part it need not be named."""
    if "part" not in entry and len(parts) == 1:
        return parts[0]
    ids = [part.id for part in parts]
    if "part" not in entry:
        raise InputError(f"{path}.part", "is missing", f"parts: {', '.join(ids)}")
    one_of(entry["part"], f"{path}.part", ids)
    return parts[ids.index(entry["part"])]


def parse_between(
    entry: Mapping[str, Any], path: str, parts: list[Part], metrics: tuple[str, ...], algorithms: tuple[str, ...]
) -> Test:
    """Return a test that compares two parts: the first against the second."""
    compared = texts(entry["parts"], f"{path}.parts")
    ids = [part.id for part in parts]
    if len(compared) != 2:
        raise InputError(f"{path}.parts", "needs two parts", f"parts: {', '.join(ids)}")
    for part_id in compared:
        one_of(part_id, f"{path}.parts", ids)
        part = parts[ids.index(part_id)]
        check_place(entry, path, part)
        for label in algorithms:
            one_of(label, f"{path}.algorithm", part.labels)
        if part.statistic == "median" and not entry.get("paired", False):
            raise InputError(
                f"{path}.paired", f"is missing: {part_id} goes by medians", "medians are compared with paired = true"
            )
    fields = {key: entry[key] for key in (*PERCENTS, "over", "at", "points", "paired") if key in entry}
    return Test(**fields, part=compared[0], parts=compared, metrics=metrics, algorithms=algorithms)


def check_percent(entry: Mapping[str, Any], path: str) -> None:
    """Check that a difference, and nothing else, has one condition in percent."""
    given = [key for key in PERCENTS if key in entry]
    if ("difference" in entry or "parts" in entry) and len(given) != 1:
        raise InputError(path, "needs exactly one bound of the difference", f"one of {', '.join(PERCENTS)}")
    if given and "difference" not in entry and "parts" not in entry:
        raise InputError(f"{path}.{given[0]}", "has no meaning without a difference", 'difference = { of = "…", to = "…" }')
    if "within_percent" in entry:
        within(entry["within_percent"], f"{path}.within_percent", 0.001, 1000)
    if "paired" in entry and "parts" not in entry:
        raise InputError(f"{path}.paired", "has meaning between parts only", "algorithms of a part are always paired")


def check_place(entry: Mapping[str, Any], path: str, part: Part) -> None:
    """Check `over`, `at` and `points` against the sweeps of a part."""
    if "over" in entry and part.sweep_over({entry["over"]}) is None:
        raise InputError(f"{path}.over", f"no sweep varies {entry['over']} alone", axes_hint(part.sweeps))
    if "at" in entry:
        if "over" in entry:
            raise InputError(f"{path}.at", "stands beside over", "one point, or all points of an axis")
        found = part.sweep_over(set(entry["at"]))
        if found is None:
            raise InputError(f"{path}.at", f"no sweep varies {' and '.join(entry['at'])} alone", axes_hint(part.sweeps))
        for axis, value in entry["at"].items():
            values = part.sweeps[found].vary[axis]
            one_of(str(value), f"{path}.at.{axis}", [str(v) for v in values])
    if "points" in entry:
        one_of(entry["points"], f"{path}.points", POINTS)
        if "over" not in entry:
            raise InputError(f"{path}.points", "has no meaning without over", "the axis whose points are meant")


def check_trend(entry: Mapping[str, Any], path: str) -> None:
    """Check that a trend has its axis."""
    if "trend" in entry:
        one_of(entry["trend"], f"{path}.trend", TRENDS)
        if "over" not in entry:
            raise InputError(f"{path}.over", "is missing", "the axis along which the trend is")
    elif "margin_percent" in entry:
        raise InputError(f"{path}.margin_percent", "has no meaning without trend", 'trend = "flat"')
    if "margin_percent" in entry:
        typed(entry["margin_percent"], f"{path}.margin_percent", float)
    if "points" in entry and "difference" not in entry:
        raise InputError(f"{path}.points", "has no meaning without difference or parts")
