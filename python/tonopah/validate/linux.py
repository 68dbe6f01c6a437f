"""Runs the recorded cases in the engine and judges them."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tonopah._core import run_many, trace
from tonopah.scenario.document import to_json
from tonopah.validate import beside, measures, packets, worlds
from tonopah.validate.measures import CaseResult
from tonopah.validate.recordings import Case, Library
from tonopah.validate.tracks import Track, kernel_track, our_track


@dataclass(frozen=True)
class Job:
    """One run of a case."""

    case: Case
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


def jobs_of(cases: Sequence[Case]) -> list[Job]:
    """Return the runs that the cases need."""
    jobs = []
    for case in cases:
        if worlds.missing(case) is None:
            jobs += [Job(case, seed, recording=i) for i in range(len(case.recorded)) for seed in worlds.seeds(case)]
            if case.kind == "random":
                jobs += [Job(case, seed, replay=True) for seed in (worlds.seeds(case) if worlds.draws(case) else [1])]
    return jobs


def validate(
    library: Library, cases: Sequence[Case], threads: int | None = None, step: Callable[[], None] = lambda: None
) -> list[CaseResult]:
    """Run the cases and return a result for each; `step` is called after every run."""
    results = {case.id: CaseResult(case, worlds.missing(case) or "interrupted") for case in cases}
    jobs = jobs_of(cases)
    open_cases: dict[str, Runs] = {}

    def take(index: int, outcome: Any, series: Any) -> bool:
        job = jobs[index]
        runs = open_cases.setdefault(job.case.id, Runs(job.case, recorded_tracks(library, job.case)))
        runs.add(job, outcome, series)
        if runs.complete:
            results[job.case.id] = judge(library, open_cases.pop(job.case.id))
        step()
        return True

    run_many([(job.text, job.seed) for job in jobs], threads or os.cpu_count() or 1, take)
    found = list(results.values())
    measures.adjust_for_number(found)
    return found


class Runs:
    """The runs of one case so far."""

    def __init__(self, case: Case, kernel: list[list[Track]]):
        self.case, self.kernel = case, kernel
        """Tracks of the flows of each recording."""
        self.full: list[Track] = []
        """Tracks of the flows in the run that is shown, at each change."""
        self.sampled: dict[tuple[int, int], list[Track]] = {}
        """Tracks by recording and seed, read at the recording's samples; without the replay."""
        self.replayed: dict[tuple[int, int], list[Track]] = {}
        """The same with the losses of the recording."""
        self.error: Exception | None = None
        self.seen = 0

    def add(self, job: Job, outcome: Any, series: Any) -> None:
        """Take a finished run."""
        self.seen += 1
        if isinstance(outcome, Exception):
            self.error = outcome
            return
        tracks = [our_track(series, i) for i in range(self.case.flows)]
        kept = self.replayed if job.replay else self.sampled
        sampled = [ours.at(theirs.t_s) for ours, theirs in zip(tracks, self.kernel[job.recording], strict=True)]
        kept[job.recording, job.seed] = sampled
        if job.in_figures:
            self.full = tracks

    @property
    def complete(self) -> bool:
        """All runs are there."""
        return self.seen == len(jobs_of([self.case]))


def recorded_tracks(library: Library, case: Case) -> list[list[Track]]:
    """Return the tracks of all flows in each recording of a case."""
    samples = library.samples(case)
    runs = [samples[samples["run"] == i] for i in range(len(case.recorded))] if case.starts_ms else [samples]
    return [[kernel_track(run, i) for i in range(case.flows)] for run in runs]


def kernel_tracks(library: Library, case: Case) -> list[Track]:
    """Return the tracks of all flows of a case with a single recording."""
    (tracks,) = recorded_tracks(library, case)
    return tracks


def judge(library: Library, runs: Runs) -> CaseResult:
    """Return the result of one case from its runs."""
    case = runs.case
    if runs.error:
        return CaseResult(case, f"not runnable: {runs.error}")
    if case.kind == "beside":
        ours = [[run for (at, _), run in sorted(runs.sampled.items()) if at == i] for i in range(len(runs.kernel))]
        return CaseResult(case, beside=beside.compare(ours, runs.kernel))
    (kernel,) = runs.kernel
    theirs = packets.kernel_packets(library.packets(case)) if case.kind == "scripted" else []
    until = None if case.bytes is None else packets.acked_s(theirs, case.bytes)
    flows = [measures.compare_flow(case.algorithm(i), kernel[i], runs.full[i], until) for i in range(case.flows)]
    replicates = [run for _, run in sorted(runs.sampled.items())]
    result = CaseResult(case, flows=flows)
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
                replayed = [run[0] for _, run in sorted(runs.replayed.items())]
                drawn = measures.drawn_checks(replayed, kernel[0])
                result.checks[1:] = [replace(check, name=f"replay: {check.name}") for check in drawn]
        case "shared":
            ours = [measures.shares_of(run) for run in replicates]
            result.checks = measures.shared_checks(flows, ours, measures.shares_of(kernel))
        case _:
            result.checks = measures.steady_checks(flows[0])
    return result


def our_log(case: Case) -> list[packets.Packet]:
    """Return the packets of our run of a case with one flow."""
    return packets.our_packets(trace(json.dumps(worlds.scenario(case)), 1))
