"""Reads a study file (docs/studies.md): TOML, checked by schema.py, becomes the study of model.py."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tonopah.cc.binding import rebase
from tonopah.errors import InputError, relay
from tonopah.scenario.csv_files import read_table
from tonopah.scenario.document import is_study, load, reject_unsupported_values
from tonopah.scenario.paths import put
from tonopah.scenario.setdest import named_by
from tonopah.scenario.tables import inline_files
from tonopah.spec.criteria import criteria_hash
from tonopah.spec.flow_numbers import with_numbers
from tonopah.spec.held import check_published, printed_numbers
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.part import merge, read_parts
from tonopah.spec.renamed import RENAMED
from tonopah.spec.resolution import check_beside, resolve_claim, resolve_headline, resolve_history
from tonopah.spec.schema import TAGS, RowsFile, ScenarioFile, StudyFile
from tonopah.spec.source import is_sourced
from tonopah.spec.validation import list_allowed, validate


def read_spec(path: str | Path) -> tuple[StudySpec, dict[str, Any]]:
    """Return the study at `path`, and its text as a dictionary in which `scenario.file` is replaced by that file."""
    document = read_document(path)
    try:
        return parse_spec(document), document
    except InputError as error:
        raise relay(error, str(path)) from None


def read_document(path: str | Path) -> dict[str, Any]:
    """Return the text of a study as a dictionary that needs no other file."""
    document = load(path)
    if "network" in document and not is_study(document):
        raise InputError("", "is a scenario, not a study", f"tonopah run {shlex.quote(str(path))}", str(path))
    try:
        inline_scenarios(document, Path(path).parent)
    except InputError as error:
        raise relay(error, str(path)) from None
    return document


def inline_scenarios(document: dict[str, Any], folder: Path) -> None:
    """Replace `scenario = {file = …}` and the files that it names by the contents of those files: the study then stands alone."""
    inline_scenario(document, folder)
    tables = document.get("published")
    for i, table in enumerate(tables if isinstance(tables, list) else []):
        if isinstance(table, dict) and isinstance(table.get("rows"), dict):
            table["rows"] = read_rows(table, folder, f"published[{i}].rows")
    parts = document.get("part")
    for i, entry in enumerate(parts if isinstance(parts, list) else []):
        if isinstance(entry, dict):
            inline_scenario(entry, folder, f"part[{i}].scenario")


def read_rows(table: dict[str, Any], folder: Path, where: str) -> list[list[str]]:
    """Return the rows of a published table whose numbers are in a file (CSV) with its columns as header. Raises InputError."""
    path = folder / validate(RowsFile, table["rows"], where).file
    columns = table.get("columns")
    names: list[Any] = [column.get("name") for column in columns if isinstance(column, dict)] if isinstance(columns, list) else []
    try:
        rows = read_table(path)
    except InputError as error:
        raise named_by(error, f"{where}.file", None) from None
    header = list(rows[0][1])
    if unknown := [name for name in header if name not in names]:
        raise InputError(f"{where}.file", f"column {unknown[0]!r} of {path} is none of the table's", list_allowed(names))
    if missing := [name for name in names if name not in header]:
        raise InputError(f"{where}.file", f"{path} has no column {missing[0]!r}", f"its header: {', '.join(header)}")
    return [[row[name] for name in names] for _, row in rows]


def inline_scenario(document: dict[str, Any], folder: Path, where: str = "scenario") -> None:
    """Replace the files of one scenario, which stands at `where`."""
    scenario = document.get("scenario")
    if isinstance(scenario, dict) and "file" in scenario:
        file = validate(ScenarioFile, scenario, where).file
        path = folder / file
        try:
            document["scenario"] = load(path)
        except InputError as error:
            raise named_by(error, f"{where}.file", None) from None
        rebase(document["scenario"], Path(file).parent)
        inline_files(document["scenario"], path.parent, str(path))
    elif isinstance(scenario, dict):
        inline_files(scenario, folder)


def parse_spec(document: Mapping[str, Any]) -> StudySpec:
    """Return a study given as dictionary. Raises InputError with the path of the first mistake and what is allowed there."""
    try:
        reject_unsupported_values(document, "")
        file: StudyFile = validate(StudyFile, with_numbers(document), tags=TAGS)
        parts = read_parts(file)
    except RecursionError:
        raise InputError("", "is nested too deeply") from None
    for i, table in enumerate(file.published):
        check_published(table, f"published[{i}]", parts)
    parts = [replace(part, printed=[one for table in file.published for one in printed_numbers(table, part)]) for part in parts]
    check_beside(parts)
    claims = [resolve_claim(claim, f"claim[{i}]", parts) for i, claim in enumerate(file.claim)]
    return StudySpec(
        question=file.question, title=file.title or file.question, parts=parts, claims=claims,
        published=list(file.published),
        missing=list(file.missing), assumed=list(file.assumed), text=file.text,
        headline=resolve_headline(file.headline, claims, parts), history=resolve_history(file.history, claims),
        criteria=criteria_hash(claims, parts),
    )  # fmt: skip


def is_edited(document: Mapping[str, Any], path: Path) -> bool:
    """Tell whether a study file is not what it was when it was read as `document`; one that is gone or wrong was edited too."""
    try:
        return read_document(path) != document
    except InputError:
        return True


def rename_keys(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored study file of an older version with its keys as they are called now."""
    renamed = {RENAMED.get(key, key): value for key, value in document.items()}
    if isinstance(parts := renamed.get("part"), list):
        renamed["part"] = [
            {RENAMED.get(key, key): value for key, value in part.items()} if isinstance(part, dict) else part for part in parts
        ]
    return renamed


def reduce_spec(spec: StudySpec) -> StudySpec:
    """Return the study with every part at the size of its `[quick]` section."""
    return replace(spec, parts=[reduce_part(part) for part in spec.parts])


def reduce_part(part: Part) -> Part:
    """Return a part at the size of its `[quick]` section (by default: 3 replicates, everything else as it is)."""
    quick = part.quick
    # A source that does not name the length of its runs fixes it.
    fixed = quick.duration is None or (is_sourced(part.scenario) and "duration" not in part.scenario)
    scenario = part.scenario if fixed else {**part.scenario, "duration": quick.duration}
    if quick.changes:
        scenario = merge(scenario, {})
        for path, value in quick.changes.items():
            put(scenario, path, value)
    sweeps = [
        sweep.model_copy(update={"vary": {axis: quick.values.get(axis, all_) for axis, all_ in sweep.vary.items()}})
        for sweep in part.sweeps
    ]
    return replace(part, replicates=quick.replicates, sweeps=sweeps, scenario=scenario)
