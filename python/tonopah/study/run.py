"""`run`: a scenario in one call, and its result, which draws itself."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.errors import ScenarioWarning, warning_texts
from tonopah.execution.observed import observed
from tonopah.runs import simulation
from tonopah.runs.simulation import RunResult, checked_threads, engine_form, simulate
from tonopah.scenario.document import names_source, prepare
from tonopah.spec.source import sourced

if TYPE_CHECKING:
    from tonopah.study.pictures import Picture

SHOWN = (
    "flow", "from", "to", "cc", "goodput_bps", "delay_s", "delay_p95_s", "rtt_s", "loss_ratio", "retransmitted_packets",
    "completion_s",
)  # fmt: skip
"""Columns of flows that a notebook shows."""


class Result(RunResult):
    """The result of a run.

    Parameters
    ----------
    summary : dict, or the engine's summary, which is read when it is needed
        Metrics of the network, its flows, links and nodes in SI units; docs/glossary.md defines the terms.
    series : mapping
        Columns of each recorded series.
    undivided : str, optional
        Why the run had one thread, if it was to have several.
    """

    def plot(self, *names: str) -> "Picture":
        """Return a picture of recorded series, a panel each; of all of them without names.

        A notebook shows it; `save("x.pdf")` writes it. Raises InputError if a series was not recorded.
        """
        # Drawing takes longer to load than most runs take.
        from tonopah.study import pictures

        return pictures.plot_result(self, names)

    def _repr_html_(self) -> str:
        shown = [name for name in SHOWN if name in self.flows]
        return str(self.flows[shown].to_html(index=False, float_format=lambda value: f"{value:.6g}"))

    def __repr__(self) -> str:
        world = self.summary_of_first(0)
        about = f"{world.get('duration_s')} s, seed {world.get('seed')}"
        return f"<tonopah.Result: {self.flow_count} flows, {about}, series {self.names}>"


def run(
    source: str | Path | Mapping[str, Any],
    seed: int = 1,
    set: Mapping[str, Any] | None = None,
    cc: str | Mapping[str, Any] | type | None = None,
    threads: int = 1,
) -> Result:
    """Run one scenario; the same scenario and seed give the same result, bit for bit.

    Parameters
    ----------
    source : str, path or mapping
        The scenario: a TOML file, or a dictionary of the same structure (docs/generated/scenario.md), or a source such as
        `reports:tcp-fr-hosts` (docs/reports.md), whose own counts then stand in the summary as `observed`.
    seed : int
        Seed of all random draws, 0 to 2^64 - 1.
    set : mapping, optional
        Values changed by path before the run, such as `{"flow.0.cc": "reno", "network.flows": 20}`.
    cc : str, mapping or class, optional
        Congestion control of all flows, short for `set={"tcp.cc": cc}`. Here and in the scenario a class derived from
        CongestionControl may stand for a name.
    threads : int
        How many threads share the run at most; the result is the same. Where the network does not allow it, the run has one, and
        `Result.undivided` says why (docs/threads.md).

    Returns
    -------
    Result
        Summary and recorded series.

    Raises
    ------
    ScenarioError
        The scenario cannot be run; the error names the path of the key at fault.
    AlgorithmError
        An algorithm in Python raised an exception.

    Warns
    -----
    ScenarioWarning
        The scenario says something that is seldom meant; it is run all the same.
    """
    changes = {**(set or {}), **({} if cc is None else {"tcp.cc": cc})}
    found = sourced(source, changes) if names_source(source) else None
    scenario, name = prepare(found.run_of(), None) if found else prepare(source, changes)
    result = Result(*simulate(scenario, name, seed, checked_threads(threads)))
    if found and found.observer:
        result.summary["observed"] = observed(engine_form(scenario, name), seed, found.observer)
    for text in (*(found.warnings if found else ()), *warning_texts(result.warnings, name)):
        warnings.warn(text, ScenarioWarning, stacklevel=2)
    return result


def check(source: str | Path | Mapping[str, Any], seed: int = 1, set: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Check a scenario without running it.

    Parameters
    ----------
    source, seed, set
        As for `run`; `seed` draws random topologies.

    Returns
    -------
    dict
        `resolved`, the scenario with all defaults; `graph`, its network as nodes and links; `random`, what is drawn from the
        seed: where it is empty, every seed gives the same run; `warnings`, what the scenario says and seldom means, as `path`
        and `message` of each; `radio`, where there are radios: by channel their ranges, for each flow its least number of hops.

    Raises
    ------
    ScenarioError
        The scenario cannot be run; the error names the path of the key at fault.
    """
    if names_source(source):
        return simulation.check(sourced(source, set or {}).run_of(), seed)
    return simulation.check(source, seed, set)
