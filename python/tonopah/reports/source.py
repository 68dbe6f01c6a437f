"""The source `reports` of study files: the networks of the reports' scripts, and any scenario counted as other tools do."""

from collections.abc import Mapping
from typing import Any

from tonopah.errors import InputError
from tonopah.metrics import add, metric
from tonopah.reports.counters import other_tools
from tonopah.reports.metrics import GROUPS
from tonopah.reports.networks import network
from tonopah.reports.networks.model import Network
from tonopah.spec.source import Sourced

SCRIPT, RECORD = "script", "record"
"""Keys of the network of a script: its parameters, and what to record besides. The script fixes all else."""
VERSION = 5
"""Of what scripts count and of the worlds that they build, part of the id of their runs. Raise it on purpose, when a value
changes."""
COUNTED = "counted"
"""The source that takes a scenario as it is, and counts as awk scripts, FlowMonitor and NetSim do."""

for group in GROUPS:
    add(group)


def make(name: str, given: Mapping[str, Any], path: str) -> Sourced:
    """Return the network of a script with the parameters that are given, or a scenario counted anew. Raises InputError."""
    return counted(given) if name == COUNTED else scripted(name, given, path)


def counted(given: Mapping[str, Any]) -> Sourced:
    """Return a scenario of the study's own whose runs and flows have the metrics of other tools beside those of the engine."""
    names = other_tools.COLUMNS
    shown = {name: metric(name) for name in names}
    identity = {"name": COUNTED, "version": VERSION}
    return Sourced(given, given, other_tools.PLACE, shown, shown, identity, at_nominal=False, title="Counts of other tools")


def scripted(name: str, given: Mapping[str, Any], path: str) -> Sourced:
    """Return the network of a script. Raises InputError."""
    below = f"{path}." if path else ""
    one = network(name, f"{below}source")
    for key in given:
        if key not in (SCRIPT, RECORD):
            raise InputError(f"{below}{key}", "has no meaning: the script fixes it", allowed(one))
    record, own = given.get(RECORD), given.get(SCRIPT, {})
    check_record(record, f"{below}{RECORD}")
    if not isinstance(own, Mapping):
        raise InputError(f"{below}{SCRIPT}", f"{own!r} is not a table", "{ nodes = 40 }")
    parameters = one.complete(own, f"{below}{SCRIPT}")
    effects = one.effects(own, f"{below}{SCRIPT}")
    scenario = one.scenario(parameters)
    if record:
        recorded = scenario.get(RECORD, {})
        series = list(dict.fromkeys([*recorded.get("series", []), *record.get("series", [])]))
        scenario = {**scenario, RECORD: {**recorded, **record, "series": series}}
    columns = dict.fromkeys(f"{one.metrics}.{column}" for name in one.columns for column, _ in one.columns_of(name))
    return Sourced(
        given={**given, SCRIPT: parameters}, scenario=scenario, observer=one.place("observe"),
        columns={column: metric(column) for column in columns},
        identity={"name": one.name, "parameters": parameters, "version": VERSION}, title=one.title,
        about=f"As in the script: {one.source}.", lacks=one.lacks,
        warnings=tuple(effects.warnings), idle=tuple(effects.idle), effective=tuple(effects.effective),
    )  # fmt: skip


def allowed(one: Network) -> str:
    """Return what may be set in the network of a script."""
    return f"allowed: {SCRIPT}, {RECORD}; {SCRIPT} has {', '.join(one.parameters)}"


def check_record(record: Any, path: str) -> None:
    """Refuse what the series that a script wants cannot be added to; the engine checks the rest. Raises InputError."""
    if record is None:
        return
    if not isinstance(record, Mapping):
        raise InputError(path, f"{record!r} is not a table", '{ series = ["cwnd"], every = "50ms" }')
    series = record.get("series", [])
    if not isinstance(series, list) or not all(isinstance(name, str) for name in series):
        raise InputError(f"{path}.series", f"{series!r} is not a list of names", 'such as ["cwnd", "ssthresh"]')
