"""Every path of a scenario that can be set, and other values for it, from the schema of the engine."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tonopah._core import schema

SCHEMA = json.loads(schema())
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(.*)", re.DOTALL)


def shapes(shape: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what a value may be: a shape without references and alternatives."""
    if "$ref" in shape:
        yield from shapes(SCHEMA["$defs"][shape["$ref"].rpartition("/")[2]])
    elif "anyOf" in shape or "oneOf" in shape:
        for one in (*shape.get("anyOf", ()), *shape.get("oneOf", ())):
            yield from shapes(one)
    else:
        yield shape


def of_table(shape: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the shapes of tables that fit a table by its kind."""
    for one in shapes(shape):
        own = one.get("properties", {})
        kind = own.get("kind", {})
        if one.get("type") == "object" and set(value) <= set(own) and kind.get("const", value.get("kind")) == value.get("kind"):
            yield one


def settable(value: Any, shape: Mapping[str, Any] = SCHEMA, path: str = "") -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield every path below a value that a scalar may be set at, what is there, and what else may be."""
    if isinstance(value, Mapping):
        for table in of_table(shape, value):
            for key, below in table["properties"].items():
                if key != "kind":
                    yield from settable(value.get(key), below, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for one in shapes(shape):
            for i, entry in enumerate(value if one.get("type") == "array" else ()):
                yield from settable(entry, one.get("items", {}), f"{path}.{i}")
    else:
        found = [other for one in shapes(shape) for other in others(value, one) if other != value]
        if found:
            yield path, value, found


def others(value: Any, shape: Mapping[str, Any]) -> list[Any]:
    """Return values that a scalar of this shape may have."""
    if "const" in shape:
        return [shape["const"]]
    if "enum" in shape:
        return list(shape["enum"])
    kinds = shape.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "boolean" in kinds:
        return [not value] if isinstance(value, bool) else [True, False]
    if "integer" in kinds:
        return [value + 1, value * 2] if isinstance(value, int) else [1, 2, 7]
    if "number" in kinds:
        return [value / 2, value + 1] if isinstance(value, int | float) else [0.5, 2.0]
    if "string" in kinds and shape.get("examples"):
        given = [value] if isinstance(value, str) else [*shape["examples"]]
        numbers = [found for one in given if (found := NUMBER.fullmatch(one)) and float(found[1])]
        return [*shape["examples"], *(f"{factor * float(one[1]):g}{one[2]}" for one in numbers for factor in (2, 4))]
    return []
