"""Files that a scenario names, and among them tables of flows (CSV), as spreadsheets and scripts write them.

`flow = { file = "flows.csv" }`: a row for each flow, its columns the keys of a flow (`from`, `to`, `start`, `app.kind`, …).
"""

import json
import warnings
from pathlib import Path
from typing import Any

from tonopah.errors import InputError, ScenarioWarning, near_names
from tonopah.scenario.csv_files import read_table
from tonopah.scenario.link_files import inline_link_files
from tonopah.scenario.paths import parse_assignment, put
from tonopah.scenario.setdest import inline_movement, named_by
from tonopah.scenario.topology_files import inline_topology

MAX_FLOWS = 100_000
"""As many as the engine takes (`crates/sim/src/expand/limits.rs`): a longer table is refused before each row is made a flow."""
OFTEN_MEANT = {"src": "from", "source": "from", "dst": "to", "dest": "to", "destination": "to", "algorithm": "cc"}
TEXTS = ("from", "to", "sink_agent")
"""Columns of names, which stay text even where they look like numbers."""


def inline_files(scenario: dict[str, Any], folder: Path, source: str | None = None) -> None:
    """Replace every file that a scenario names by its contents; names are relative to `folder`."""
    inline_flows(scenario, folder, source)
    if assumed := inline_topology(scenario, folder, source):
        warnings.warn(assumed, ScenarioWarning, stacklevel=2)
    inline_movement(scenario, folder, source)
    inline_link_files(scenario, folder, source)


def inline_flows(scenario: dict[str, Any], folder: Path, source: str | None = None) -> None:
    """Replace `flow = { file = … }` by the flows of that table."""
    flow = scenario.get("flow")
    if not isinstance(flow, dict) or not isinstance(flow.get("file"), str):
        return
    if set(flow) != {"file"}:
        raise InputError("flow", "a table of flows stands alone", "only file", source)
    try:
        path = folder / flow["file"]
        rows = read_table(path, MAX_FLOWS)
        check_columns(list(rows[0][1]), path)
        scenario["flow"] = [read_flow(row, where, path) for where, row in rows]
    except InputError as error:
        raise named_by(error, "flow.file", source) from None


def check_columns(names: list[str], path: Path) -> None:
    """Refuse a column that is no key of a flow: the engine, which sees flows and no file, could not name it."""
    from tonopah._core import schema

    known = list(json.loads(schema())["$defs"]["FlowDef"]["properties"])
    for name in names:
        if name.partition(".")[0].partition("[")[0] not in known:
            hint = OFTEN_MEANT.get(name.lower()) or ", ".join(near_names(name, known, 3)) or f"columns: {', '.join(known)}"
            raise InputError("line 1", f"column {name!r} is no key of a flow", hint, str(path))


def is_plain(value: Any) -> bool:
    """Tell whether the engine can be given a value; of another one, such as 1e999, it gets the text, and says what it expects."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def read_flow(row: dict[str, str], where: str, path: Path) -> dict[str, Any]:
    """Return one flow; an empty cell is a key that it does not have."""
    made: dict[str, Any] = {}
    for key, cell in row.items():
        if cell:
            try:
                value = cell if key in TEXTS else parse_assignment(f"{key}={cell}")[1]
                put(made, key, value if is_plain(value) else cell)
            except InputError as error:
                raise InputError(where, f"{error.path}: {error.message}", error.hint, str(path)) from None
    return made
