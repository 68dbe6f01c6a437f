"""The study file: a question as data (docs/studies.md). Reads TOML into the classes of study_spec.py and checks every key.

What the scenario inside may contain is the engine's business; everything around it is checked here and in claim_file.py,
part_file.py and published.py.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tonopah.cc.binding import rebase
from tonopah.errors import InputError, relay
from tonopah.scenario import paths
from tonopah.scenario.document import load
from tonopah.scenario.setdest import inline_movement
from tonopah.spec.claim import parse_claim
from tonopah.spec.model import Part, StudySpec, Sweep
from tonopah.spec.part import PART_KEYS, SERIES, Source, merged, parse_part
from tonopah.spec.published import parse_published
from tonopah.spec.validation import keys, tables

__all__ = ["SERIES", "parse_spec", "read_spec", "reduce_spec"]

TOP_KEYS = {
    "question": str, "title": str, "text": dict, "part": list, **PART_KEYS, "claim": list, "published": list, "missing": list,
}  # fmt: skip


def read_spec(path: str | Path) -> tuple[StudySpec, dict[str, Any]]:
    """Return the study at `path`, and its text as a dictionary in which `scenario.file` is replaced by that file."""
    document = load(path)
    try:
        inline_scenarios(document, Path(path).parent)
        return parse_spec(document), document
    except InputError as error:
        raise relay(error, str(path)) from None


def inline_scenarios(document: dict[str, Any], folder: Path) -> None:
    """Replace `scenario = {file = …}` and a movement file by the contents of those files: the study then stands alone."""
    inline_scenario(document, folder)
    for entry in document.get("part", []) if isinstance(document.get("part"), list) else []:
        if isinstance(entry, dict):
            inline_scenario(entry, folder)


def inline_scenario(document: dict[str, Any], folder: Path) -> None:
    """Replace the files of one scenario."""
    scenario = document.get("scenario")
    if isinstance(scenario, dict) and "file" in scenario:
        keys(scenario, "scenario", {"file": str}, required=("file",))
        path = folder / scenario["file"]
        document["scenario"] = load(path)
        rebase(document["scenario"], Path(scenario["file"]).parent)
        inline_movement(document["scenario"], path.parent, str(path))
    elif isinstance(scenario, dict):
        inline_movement(scenario, folder)


def parse_spec(document: Mapping[str, Any]) -> StudySpec:
    """Return a study given as dictionary; every key that has no meaning is an error that lists those that have one."""
    keys(document, "", TOP_KEYS, required=("question",))
    parts = parse_parts(document)
    claims = [parse_claim(entry, f"claim[{i}]", parts) for i, entry in tables(document, "claim")]
    if len({claim.id for claim in claims}) < len(claims):
        raise InputError("claim", "two claims have the same id")
    published = [parse_published(entry, f"published[{i}]") for i, entry in tables(document, "published")]
    if len({table.id for table in published}) < len(published):
        raise InputError("published", "two tables have the same id")
    check_notes(document, "missing", ("what", "reason"))
    for key, value in document.get("text", {}).items():
        keys({key: value}, "text", {key: str})
    return StudySpec(
        question=document["question"], title=document.get("title", document["question"]), parts=parts, claims=claims,
        published=published, missing=list(document.get("missing", [])), assumed=list(document.get("assumed", [])),
        text=dict(document.get("text", {})),
    )  # fmt: skip


def parse_parts(document: Mapping[str, Any]) -> list[Part]:
    """Return the parts; a document without `[[part]]` is one part."""
    check_notes(document, "assumed", ("parameter", "value", "reason"))
    defaults = {key: document[key] for key in PART_KEYS if key in document}
    if "part" not in document:
        return [parse_part({}, Source(defaults, {}, ""), "")]
    allowed = {"id": str, "title": str, "text": dict, **PART_KEYS}
    parts = []
    for i, entry in tables(document, "part"):
        path = f"part[{i}]"
        keys(entry, path, allowed, required=("id",))
        check_notes(entry, "assumed", ("parameter", "value", "reason"), path)
        parts.append(parse_part(entry, Source(defaults, entry, path), entry["id"]))
    if not parts:
        raise InputError("part", "is empty")
    if len({part.id for part in parts}) < len(parts):
        raise InputError("part", "two parts have the same id")
    return parts


def check_notes(document: Mapping[str, Any], key: str, names: tuple[str, ...], path: str = "") -> None:
    """Check a list of tables of text, like `[[assumed]]`."""
    for i, entry in tables(document, key, path):
        keys(entry, f"{path}.{key}[{i}]".lstrip("."), dict.fromkeys(names, str), required=names)


def reduce_spec(spec: StudySpec) -> StudySpec:
    """Return the study with every part at the size of its `[quick]` section."""
    return replace(spec, parts=[reduce_part(part) for part in spec.parts])


def reduce_part(part: Part) -> Part:
    """Return a part at the size of its `[quick]` section (by default: 3 replicates, everything else as it is)."""
    values = part.quick.get("values", {})
    scenario = part.scenario
    if "duration" in part.quick:
        scenario = {**scenario, "duration": part.quick["duration"]}
    if "set" in part.quick:
        scenario = merged(scenario, {})
        for path, value in part.quick["set"].items():
            paths.put(scenario, path, value)
    sweeps = [Sweep({key: values.get(key, all_) for key, all_ in s.vary.items()}, s.label) for s in part.sweeps]
    return replace(part, replicates=part.quick.get("replicates", 3), sweeps=sweeps, scenario=scenario)
