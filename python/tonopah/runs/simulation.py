"""One run: scenario in, summary and series out. What a user gets of it also draws itself: study/run.py."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah._core import RunSummary, run_on_threads
from tonopah._core import algorithms as engine_algorithms
from tonopah._core import check as engine_check
from tonopah._core import run as engine_run
from tonopah.cc.binding import BoundScenario, bind
from tonopah.cc.loading import list_installed
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.metrics import busiest
from tonopah.runs.distribution import DISTRIBUTIONS, pooled
from tonopah.runs.summary import (
    FlowSummary,
    LinkSummary,
    WorkloadSummary,
    flow_summary,
    link_summary,
    table,
    workload_rows,
    workload_summary,
)
from tonopah.scenario.document import prepare
from tonopah.scenario.flow_names import names_of_flows
from tonopah.scenario.traps import traps

if TYPE_CHECKING:
    import pandas as pd

SERIES = (
    "cwnd", "ssthresh", "send_window", "srtt", "rtt", "queue", "sending_rate", "throughput", "goodput", "state", "retransmits",
    "pipe", "outstanding", "rto", "acked", "energy", "position_x", "position_y", "position_z", "route_hops", "path_delay",
    "aqm_p", "aqm_p_l", "queue_l", "queue_c", "drops", "marks", "capacity", "queue_delay",
    "alive", "arrivals", "offered", "carried", "buffer", "level", "chunk_rate", "chunk_level", "airtime",
    "rttvar", "min_rtt", "pacing_rate", "delivery_rate", "timeouts", "wire_flight", "limit",
)  # fmt: skip
"""Names of the series that a run can record (`record.series`)."""
INTERNAL = "cc."
"""How the name of a series begins that is a variable of an algorithm (`record.internals`)."""
OWNERS: dict[str, str] = {
    **dict.fromkeys(("queue", "queue_delay", "aqm_p", "aqm_p_l", "queue_l", "queue_c", "drops", "marks", "capacity"), "link"),
    **dict.fromkeys(("energy", "airtime", "position_x", "position_y", "position_z"), "node"),
    **dict.fromkeys(("alive", "arrivals", "offered", "carried"), "workload"),
}
"""Series that do not belong to flows, and what they belong to."""
BINNED = ("sending_rate", "throughput", "goodput", "capacity", "queue_delay", "arrivals", "offered", "carried", "airtime")
"""Series whose value is that of the time since the sample before; any other value holds until the next."""

MOST_THREADS = 1024
"""Threads that a run may have."""


class RunResult:
    """What a run gave: its summary, which is read when it is needed, its series, and why it had one thread, if it had."""

    def __init__(
        self, summary: dict[str, Any] | RunSummary, series: Mapping[str, Mapping[str, Any]], undivided: str | None = None
    ):
        self._summary = summary
        self._series = series
        self.undivided = undivided

    @property
    def summary(self) -> dict[str, Any]:
        """Metrics of the network, its flows, links and nodes in SI units; docs/glossary.md defines the terms."""
        if isinstance(self._summary, RunSummary):
            self._summary = json.loads(self._summary.json())
        return self._summary

    def summary_of_first(self, most_flows: int, most_links: int | None = None) -> dict[str, Any]:
        """Return the summary with at most its first flows and busiest links: 100,000 take longer to read than to simulate."""
        if isinstance(self._summary, RunSummary):
            some = [] if most_links is None else [most_links]
            return json.loads(self._summary.json(most_flows, *some))  # type: ignore[no-any-return]
        first = {**self._summary, "flows": self._summary["flows"][:most_flows]}
        links = first.get("links", ())
        return first if most_links is None or len(links) <= most_links else {**first, "links": busiest(links, most_links)}

    @property
    def warnings(self) -> list[dict[str, str]]:
        """What the scenario says and seldom means: `path` and `message` of each."""
        if isinstance(self._summary, RunSummary):
            return json.loads(self._summary.warnings())  # type: ignore[no-any-return]
        return list(self._summary.get("warnings", []))

    @property
    def flow_count(self) -> int:
        """Number of flows."""
        return self._summary.flows if isinstance(self._summary, RunSummary) else len(self._summary.get("flows", ()))

    def __getstate__(self) -> dict[str, Any]:
        return {"_summary": self.summary, "_series": self._series, "undivided": self.undivided}

    @property
    def names(self) -> list[str]:
        """Names of the recorded series, those in `record.series` of the scenario."""
        return sorted(self._series)

    def series(self, name: str) -> "pd.DataFrame":
        """Return a series as a table.

        Parameters
        ----------
        name : str
            One of `names`.

        Returns
        -------
        pandas.DataFrame
            One row for each sample: `t_s` in seconds, `flow` (or `link`, `node`, `workload`) by number, and `value` in bytes, s,
            bit/s, J or m; of `cc.state` also `word`.

        Raises
        ------
        InputError
            The scenario did not record it.
        """
        if name not in self._series:
            hint = f"recorded: {', '.join(self.names) or 'nothing'}; add it to record.series"
            raise InputError("series", f"{name!r} was not recorded", hint)
        return series_frame(name, self._series[name])

    @property
    def flows(self) -> "pd.DataFrame":
        """One row for each flow with all its metrics in SI units; names of nested values are joined by a dot."""
        return table(self.summary["flows"])

    @property
    def links(self) -> "pd.DataFrame":
        """One row for each direction of a link, as `flows`."""
        return table(self.summary["links"])

    @property
    def nodes(self) -> "pd.DataFrame":
        """One row for each node, as `flows`."""
        return table(self.summary["nodes"])

    @property
    def workloads(self) -> "pd.DataFrame":
        """One row for each workload (class `all`) and each of its classes of sizes, as `flows`; empty without workloads."""
        return table(workload_rows(self.summary))

    def workload(self, name: str, size_class: str = "all") -> WorkloadSummary:
        """Return what the flows of a workload did, all or those of a class. Raises InputError if there is none."""
        rows = workload_rows(self.summary)
        for row in rows:
            if (row["workload"], row["class"]) == (name, size_class):
                return workload_summary(row)
        known = ", ".join(f"{row['workload']} {row['class']}" for row in rows)
        raise InputError("workload", f"there is no class {size_class!r} of a workload {name!r}", known or "there are none")

    def flow(self, flow: int | str) -> FlowSummary:
        """Return what a flow did, by its number or by its name. Raises InputError if there is no such flow."""
        return flow_summary(self._flow(flow))

    def _flow(self, flow: int | str) -> dict[str, Any]:
        if not isinstance(flow, str):
            return self._entry("flow", flow)
        names = {name: number for number, name in names_of_flows(self.summary["resolved"]).items()}
        if flow not in names:
            raise InputError("flow", f"{flow!r} is the name of no flow", f"names: {', '.join(names) or 'none'}; or a number")
        return self._entry("flow", names[flow])

    def distribution(self, name: str, flow: int | str | Sequence[int | str] = "all") -> "pd.DataFrame":
        """Return how what was measured of every packet, ACK or message is distributed.

        Parameters
        ----------
        name : {"delay", "app_delay", "rtt"}
            One-way delay of data packets, delay of messages from write to read, or RTT samples of the sender; the scenario has it
            in `record.distributions`.
        flow : int, str, or sequence of them
            Whose, by number or name; those of several flows are pooled, of all of them with `"all"`.

        Returns
        -------
        pandas.DataFrame
            A row for each value that there was, from the least on: `value_s`, exact to 1 %, `count`, and the cumulative `share`.

        Raises
        ------
        InputError
            There is no such flow, or the scenario did not record the distribution.
        """
        if name not in DISTRIBUTIONS:
            raise InputError("name", f"{name!r} is no distribution", f"one of {', '.join(DISTRIBUTIONS)}")
        flows = range(self.flow_count) if flow == "all" else (flow,) if isinstance(flow, int | str) else flow
        found = [self._flow(one).get("distributions", {}).get(name) for one in flows]
        counted = [one for one in found if one]
        if not counted:
            recorded = self.summary["resolved"]["record"].get("distributions", ())
            hint = "no packet, ACK or message was measured" if name in recorded else f'add "{name}" to record.distributions'
            raise InputError("name", f"{name!r} was not recorded", hint)
        return pooled(counted).frame()

    def link(self, number: int) -> LinkSummary:
        """Return what a direction of a link did. Raises InputError if there is no such link."""
        return link_summary(self._entry("link", number))

    def _entry(self, kind: str, number: int) -> dict[str, Any]:
        entries: list[dict[str, Any]] = self.summary[f"{kind}s"]
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(entries):
            raise InputError("number", f"there is no {kind} {number!r}", f"0 to {len(entries) - 1}")
        return entries[number]


def series_frame(name: str, columns: Mapping[str, Any]) -> "pd.DataFrame":
    """Return the engine's columns of a series as a table."""
    import pandas as pd

    owner = OWNERS.get(name, "flow")
    word = {"word": columns["word"]} if "word" in columns else {}
    return pd.DataFrame({"t_s": columns["t_s"], owner: columns["id"], "value": columns["value"], **word})


def run_prepared(scenario: Mapping[str, Any], name: str | None, seed: int, threads: int = 1) -> RunResult:
    """Run a scenario that was read from the file `name`, if from any."""
    return RunResult(*simulate(scenario, name, seed, threads))


def simulate(
    scenario: Mapping[str, Any], name: str | None, seed: int, threads: int = 1
) -> tuple[dict[str, Any] | RunSummary, Mapping[str, Mapping[str, Any]], str | None]:
    """Run a scenario like `run_prepared`, and return what a result consists of."""
    bound, undivided = engine_form(scenario, name), None
    try:
        if threads > 1 and not bound.found:
            return run_on_threads(bound.text, checked_seed(seed), threads)
        if threads > 1:
            of_transport = any(origin.is_transport for origin in bound.origins.values())
            code = "an algorithm in Python or in a library takes part"
            undivided = "a transport in a library runs in one part" if of_transport else code
        summary, series = bound.call(engine_run, checked_seed(seed))
    except ScenarioError as error:
        raise relay(error, name) from None
    return json.loads(summary) if isinstance(summary, str) else summary, series, undivided


class AlgorithmList(list[dict[str, Any]]):
    """Descriptions of algorithms, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("name", "title", "reference", "profiles", "parameters"))
        rows = []
        for one in self:
            names = (", ".join(entry["name"] for entry in one[key]) for key in ("profiles", "params"))
            rows.append("".join(f"<td>{escape(text)}</td>" for text in (one["name"], one["title"], one["reference"], *names)))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def algorithms() -> AlgorithmList:
    """Return the congestion-control algorithms.

    Returns
    -------
    AlgorithmList
        A list of dictionaries, which a notebook shows as a table. For each algorithm its name, title, reference, requirements,
        parameters with sources, and profiles; `compat` is true of one that only a report has. Those of the engine come first,
        then those of installed packages (entry points `tonopah.algorithms`), which have no `compat`.
    """
    return AlgorithmList([*json.loads(engine_algorithms()), *list_installed()])


def engine_form(scenario: Mapping[str, Any], source: str | None = None) -> BoundScenario:
    """Return the scenario as text for the engine, with the algorithms in Python that it names.

    Paths in it start at the folder of `source`, the file that it came from, else at the working directory.
    """
    return bind(scenario, Path(source).parent if source else ".", source)


def check(source: str | Path | Mapping[str, Any], seed: int = 1, set: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Check a scenario that is all there, as `tonopah.check` does. Raises ScenarioError."""
    return checked_in(*prepare(source, set), seed)


@cache
def settings_of_profile(profile: str, cc: str, cc_profile: str | None = None) -> Mapping[str, Any]:
    """Return the settings of TCP that a profile has with an algorithm, those of the algorithm under `cc`."""
    network = {"kind": "dumbbell", "pairs": 1, "flows": 1}
    named = {"name": cc, "profile": cc_profile} if cc_profile else cc
    scenario = {"duration": "1s", "tcp": {"profile": profile, "cc": named}, "network": network}
    settings: Mapping[str, Any] = check(scenario, 1)["graph"]["tcp"]
    return settings


def departures(
    tcp: Mapping[str, Any], path: str, usual: Mapping[str, Any], settable: Sequence[str]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield what settings of TCP, and of their algorithm, are not as usual and not settable: path, value, and the usual one."""
    for where, own, theirs in ((path, tcp, usual), (f"{path}.cc", tcp["cc"], usual["cc"])):
        for key, value in own.items():
            if key not in ("cc", *settable) and theirs.get(key) != value:
                yield f"{where}.{key}", value, theirs.get(key)


def checked_in(scenario: Mapping[str, Any], name: str | None, seed: int) -> dict[str, Any]:
    """Check a scenario that was read from the file `name`, if from any. Raises ScenarioError."""
    try:
        bound = engine_form(scenario, name)
        checked = json.loads(engine_check(bound.text, checked_seed(seed), bound.algorithms))
    except ScenarioError as error:
        raise relay(error, name) from None
    checked["warnings"] += traps(checked)
    return checked  # type: ignore[no-any-return]


def checked_threads(threads: int) -> int:
    """Return `threads`, or raise InputError when it is no number of threads."""
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS:
        raise InputError("threads", f"{threads!r} is not a number of threads", f"a whole number from 1 to {MOST_THREADS}")
    return threads


def checked_seed(seed: int) -> int:
    """Return `seed`, or raise InputError when the engine cannot take it."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise InputError("seed", f"{seed!r} is not a seed", "a whole number from 0 to 2^64 - 1")
    return seed
