"""Runs the recorded cases in the engine and judges them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from tonopah._core import trace
from tonopah.metrics import count_text
from tonopah.scenario.document import to_json
from tonopah.terminal.grid import Grid
from tonopah.validate.frame import Comparison
from tonopah.validate.linux import measures, packets, table, two_flows, worlds
from tonopah.validate.linux.flow_track import FlowTrack, kernel_track, our_track
from tonopah.validate.linux.measures import LinuxResult
from tonopah.validate.linux.recordings import LinuxCase, LinuxLibrary


@dataclass(frozen=True)
class Repetition:
    """One run of a case."""

    case: LinuxCase
    seed: int
    replay: bool = False
    """With the losses of the recording in the place of random ones."""
    recording: int = 0
    """Which one of the case's recordings it repeats."""

    @property
    def text(self) -> str:
        """The scenario as the engine takes it."""
        case = self.case.recorded[self.recording]
        return to_json(worlds.scenario(worlds.as_recorded(case) if self.replay else case, self.seed))

    @property
    def in_figures(self) -> bool:
        """Tables and figures show this run."""
        return self.seed == 1 and self.replay == (self.case.kind == "random")


def repetitions(case: LinuxCase) -> list[Repetition]:
    """Return the runs of a case."""
    runs = [Repetition(case, seed, recording=i) for i in range(len(case.recorded)) for seed in worlds.seeds(case)]
    if case.kind == "random":
        runs += [Repetition(case, seed, replay=True) for seed in (worlds.seeds(case) if worlds.draws(case) else [1])]
    return runs


@dataclass(frozen=True)
class AgainstLinux(Comparison[LinuxCase, LinuxResult]):
    """The comparison with recordings of Linux's TCP."""

    library: LinuxLibrary
    goal_keys = ("name", "ours", "kernel", "goal", "met")

    def cases(self) -> Sequence[LinuxCase]:
        """Return all recorded cases."""
        return self.library.cases

    def missing(self, case: LinuxCase) -> str | None:
        """Return what the engine lacks for a case, or None."""
        return worlds.missing(case)

    def jobs(self, case: LinuxCase) -> Sequence[tuple[str, int]]:
        """Return the runs that a case needs."""
        return [(one.text, one.seed) for one in repetitions(case)]

    def read(self, case: LinuxCase, index: int, summary: str, series: Any) -> tuple[list[FlowTrack], list[FlowTrack]]:
        """Return the tracks of a run read at the recording's samples, and those at each change if the run is shown."""
        run = repetitions(case)[index]
        full = [our_track(series, i) for i in range(case.flows)]
        kernel = recorded_tracks(self.library, case)[run.recording]
        sampled = [ours.at(theirs.t_s) for ours, theirs in zip(full, kernel, strict=True)]
        return sampled, full if run.in_figures else []

    def judge(self, case: LinuxCase, runs: Sequence[tuple[list[FlowTrack], list[FlowTrack]]]) -> LinuxResult:
        """Return the result of a case."""
        return judge(self.library, case, runs)

    def refuse(self, case: LinuxCase, reason: str) -> LinuxResult:
        """Return the result of a case that cannot be compared."""
        return LinuxResult(case, reason)

    def finish(self, results: Sequence[LinuxResult]) -> None:
        """Adjust p values for the number of cases that have one."""
        measures.adjust_for_number(results)

    def facts(self, result: LinuxResult) -> dict[str, Any]:
        """Return what a program is told of a result beside its goals."""
        return measures.facts(result)

    def tables(self, results: Sequence[LinuxResult]) -> list[Grid]:
        """Return the tables of measures, and the goals."""
        return table.tables(results)

    def notes(self, results: Sequence[LinuxResult]) -> list[str]:
        """Return what is to be kept in mind of single recordings of flows that compete, and why cases were not compared."""
        single = sum(result.refused is None and result.case.kind == "shared" for result in results)
        note = f"{count_text(single, 'case')} with two flows: one recording each, that is one draw of many."
        return [*([note] if single else []), *table.not_compared(results)]


@lru_cache(maxsize=8)
def recorded_tracks(library: LinuxLibrary, case: LinuxCase) -> list[list[FlowTrack]]:
    """Return the tracks of all flows in each recording of a case."""
    samples = library.samples(case)
    runs = [samples[samples["run"] == i] for i in range(len(case.recorded))] if case.starts_ms else [samples]
    return [[kernel_track(run, i) for i in range(case.flows)] for run in runs]


def kernel_tracks(library: LinuxLibrary, case: LinuxCase) -> list[FlowTrack]:
    """Return the tracks of all flows of a case with a single recording."""
    (tracks,) = recorded_tracks(library, case)
    return tracks


def judge(library: LinuxLibrary, case: LinuxCase, runs: Sequence[tuple[list[FlowTrack], list[FlowTrack]]]) -> LinuxResult:
    """Return the result of one case from the tracks of its runs."""
    made = list(zip(repetitions(case), runs, strict=True))
    recorded = recorded_tracks(library, case)
    if case.kind == "beside":
        ours = [[run for one, (run, _) in made if one.recording == i] for i in range(len(recorded))]
        return LinuxResult(case, beside=two_flows.compare(ours, recorded))
    (kernel,) = recorded
    theirs = packets.kernel_packets(library.packets(case)) if case.kind == "scripted" else []
    until = None if case.bytes is None else packets.acked_s(theirs, case.bytes)
    shown = next(full for one, (_, full) in made if one.in_figures)
    flows = [measures.compare_flow(case.algorithm(i), kernel[i], shown[i], until) for i in range(case.flows)]
    replicates, replayed = ([run for one, (run, _) in made if one.replay == replay] for replay in (False, True))
    result = LinuxResult(case, flows=flows)
    if len(replicates) > 1:
        result.replicates = [[track.goodput_bps for track in run] for run in replicates]
    match case.kind:
        case "steady" | "scripted" if worlds.draws(case):
            result.checks = measures.drawn_checks([run[0] for run in replicates], kernel[0])
        case "scripted":
            result.checks = measures.scripted_checks(case, flows[0], our_log(case), theirs)
        case "random":
            result.checks = measures.random_checks(flows[0], [run[0] for run in result.replicates])
            if worlds.draws(case):
                drawn = measures.drawn_checks([run[0] for run in replayed], kernel[0])
                result.checks[1:] = [replace(check, name=f"replay: {check.name}") for check in drawn]
        case "shared":
            ours = [measures.shares_of(run) for run in replicates]
            result.checks = measures.shared_checks(flows, ours, measures.shares_of(kernel))
        case _:
            result.checks = measures.steady_checks(flows[0])
    return result


def our_log(case: LinuxCase) -> list[packets.LoggedPacket]:
    """Return the packets of our run of a case with one flow."""
    return packets.our_packets(trace(json.dumps(worlds.scenario(case)), 1))
