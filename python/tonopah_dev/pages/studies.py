"""The reference tables of docs/studies.md, from the schema of the study file; prose and examples between them stay as they are.

A table stands between `<!-- keys: CLASS -->` (the keys of one table of the file, or of several, each below its name),
`<!-- kinds: UNION -->` (the alternatives of a union) or `<!-- words: KEY -->` (the values of a key that are too many for a table)
and `<!-- end -->`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tonopah.runs.simulation import SERIES
from tonopah.spec.claim import CONDITIONS, CRITERIA, Measured
from tonopah.spec.derived import KINDS, Derived
from tonopah.spec.published import QUANTITIES, UNITS
from tonopah.spec.schema import PartHead, PartKeys, json_schema
from tonopah_dev.pages.markdown import KEYS, grouped_rows, markdown_table

WORDS = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "object": "table",
}  # fmt: skip
MAX_WORDS = 8
"""A key of more values has them in a list of its own."""
TABLES = {
    "Sweep": "`[[sweep]]`", "Quick": "`[quick]`", "Assumption": "`[[assumed]]`", "Alternative": "an entry of `alternatives`",
    "Missing": "`[[missing]]`", "HistoryEntry": "`[[history]]`", "Compare": "`[compare]`", "Variant": "`[[compare.variant]]`",
    "Column": "an entry of `columns`", "Given": "`given`", "Best": "an entry of `claims`", "Change": "an entry of `differences`",
}  # fmt: skip
"""How the file names the tables that share one with others here."""
BLOCK = re.compile(r"(<!-- (keys|kinds|words): (\w+(?: \w+)*) -->\n).*?(<!-- end -->)", re.DOTALL)


def studies_page(page: str) -> str:
    """Return docs/studies.md with its tables made anew."""
    schema = json_schema()
    return BLOCK.sub(lambda found: found[1] + block(found[2], found[3], schema) + found[4], page)


def block(what: str, name: str, schema: dict[str, Any]) -> str:
    """Return the text of one block."""
    if what == "kinds":
        return {"derived": derived_text, "criteria": criteria_text}[name](schema)
    if what == "words":
        return f"{join_words({'series': SERIES, 'is': QUANTITIES, 'unit': UNITS}[name])}.\n"
    if len(names := name.split()) > 1:
        groups = [(TABLES[each], "", key_rows(schema["$defs"][each])) for each in names]
        return markdown_table(KEYS, grouped_rows(groups))
    definition = schema if name == "StudyFile" else schema["$defs"].get(name, {})
    match name:
        case "StudyFile":
            return keys_table(definition, [key for key in definition["properties"] if key not in PartKeys.known_keys()])
        case "PartKeys":
            return keys_table(schema, PartKeys.known_keys())
        case "PartTable":
            return keys_table(definition, PartHead.known_keys())
        case "Derived":
            common = {key: schema["$defs"]["Recovery"]["properties"][key] for key in Derived.known_keys()}
            kind = {"enum": list(KINDS), "description": "What it is (below)."}
            return keys_table({"properties": {"name": common["name"], "kind": kind, **common}, "required": ["name", "kind"]})
        case "Criterion":
            return keys_table(schema["$defs"]["Trend"], Measured.known_keys())
    return keys_table(definition)


def derived_text(schema: dict[str, Any]) -> str:
    """Return the keys of each kind of derived metric."""
    kinds = [(f"`{name}`", schema["$defs"][kind.__name__], {"kind", *Derived.known_keys()}) for name, kind in KINDS.items()]
    return alternatives_table(kinds)


def criteria_text(schema: dict[str, Any]) -> str:
    """Return the keys of each kind of criterion, headed by those that make it one."""
    kinds = []
    for kind in CRITERIA:
        keys = " or ".join(f"`{key}`" for key, of in CONDITIONS.items() if of is kind)
        common = set(Measured.known_keys()) if issubclass(kind, Measured) else set()
        kinds.append((keys, schema["$defs"][kind.__name__], common))
    return alternatives_table(kinds)


def alternatives_table(kinds: list[tuple[str, Mapping[str, Any], set[str]]]) -> str:
    """Return what each alternative is, and the keys that it does not share with all others."""
    groups = []
    for title, definition, common in kinds:
        own = [key for key in definition["properties"] if key not in common]
        groups.append((title, " ".join(definition["description"].split()), key_rows(definition, own)))
    return markdown_table(KEYS, grouped_rows(groups))


def keys_table(definition: Mapping[str, Any], keys: list[str] | None = None) -> str:
    """Return the keys of a table with type, default and meaning."""
    return markdown_table(KEYS, key_rows(definition, keys))


def key_rows(definition: Mapping[str, Any], keys: list[str] | None = None) -> list[list[str]]:
    """Return a row for each key of a table."""
    required = set(definition.get("required", []))
    rows = []
    for key in definition["properties"] if keys is None else keys:
        entry = definition["properties"][key]
        default = "required" if key in required else default_text(entry.get("default"))
        rows.append([f"`{key}`", type_text(entry), default, " ".join(entry.get("description", "").split())])
    return rows


def join_words(words: Iterable[str]) -> str:
    """Return words as they are written in the file."""
    return ", ".join(f"`{json.dumps(word, ensure_ascii=False)}`" for word in words if word)


def default_text(value: Any) -> str:
    """Return a default as TOML; nothing where the absence of a value is the default."""
    return f"`{json.dumps(value, ensure_ascii=False)}`" if value not in (None, "", [], {}) else ""


def type_text(entry: Mapping[str, Any]) -> str:
    """Return the type of a value in words; of a choice, its words."""
    if "const" in entry:
        return f"`{json.dumps(entry['const'])}`"
    if "enum" in entry:
        return join_words(entry["enum"]) if len(entry["enum"]) <= MAX_WORDS else "text"
    if "$ref" in entry:
        return "table"
    if "anyOf" in entry or "oneOf" in entry:
        return " or ".join(dict.fromkeys(type_text(each) for each in entry.get("anyOf", entry.get("oneOf", []))))
    if entry.get("type") == "array":
        inner = type_text(entry.get("items", {}))
        return "array" if inner in ("", "anything") else "array of tables" if inner == "table" else f"array of {inner}"
    return WORDS.get(entry.get("type", ""), "anything")
