"""Names of flows in a study: the numbers that they stand for."""

from collections.abc import Mapping
from typing import Any

from tonopah.errors import InputError
from tonopah.scenario.flow_names import names_of_flows
from tonopah.spec.validation import list_allowed, shorten

ALL = "all"
"""Of a figure: every flow."""
KEYS = (("derived", "flows"), ("derived", "to"), ("figure", "flow"))
"""Tables of a study and their keys that take flows."""


def with_numbers(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study whose derived metrics and figures have numbers in place of names of flows. Raises InputError.

    What is no table is left to who refuses it.
    """
    if not isinstance(document, Mapping):
        return document
    found = numbered(document, document.get("scenario"), "")
    parts = document.get("part")
    if isinstance(parts, list):
        found["part"] = [
            numbered(part, own_flows(part, document), f"part[{i}].") if isinstance(part, Mapping) else part
            for i, part in enumerate(parts)
        ]
    return found


def own_flows(part: Mapping[str, Any], document: Mapping[str, Any]) -> Any:
    """Return the scenario that lists the flows of a part: its own, or else the file's."""
    own = part.get("scenario")
    return own if isinstance(own, Mapping) and "flow" in own else document.get("scenario")


def numbered(table: Mapping[str, Any], scenario: Any, where: str) -> dict[str, Any]:
    """Return a study or a part of one with numbers in place of names."""
    numbers, found = {name: i for i, name in names_of_flows(scenario).items()}, dict(table)
    for kind, key in KEYS:
        entries = found.get(kind)
        if isinstance(entries, list):
            found[kind] = [
                {**one, key: number(one[key], numbers, f"{where}{kind}[{i}].{key}")}
                if isinstance(one, Mapping) and key in one
                else one
                for i, one in enumerate(entries)
            ]
    return found


def number(value: Any, numbers: Mapping[str, int], path: str) -> Any:
    """Return what stands for flows with numbers in place of names. Raises InputError."""
    if isinstance(value, list):
        return [number(one, numbers, f"{path}[{i}]") for i, one in enumerate(value)]
    if not isinstance(value, str) or value == ALL:
        return value
    if value not in numbers:
        hint = list_allowed(list(numbers), "names", value) if numbers else "a number; scenario.flow.N.name gives a flow a name"
        raise InputError(path, f"{shorten(value)} is the name of no flow", hint)
    return numbers[value]
