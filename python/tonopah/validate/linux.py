"""Runs the recorded cases in the engine and judges them."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tonopah._core import run_many, trace
from tonopah.scenario.document import to_json
from tonopah.validate import measures, packets, worlds
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

    @property
    def text(self) -> str:
        """The scenario as the engine takes it."""
        return to_json(worlds.scenario(worlds.as_recorded(self.case) if self.replay else self.case, self.seed))

    @property
    def in_figures(self) -> bool:
        """Tables and figures show this run."""
        return self.seed == 1 and self.replay == (self.case.kind == "random")


def jobs_of(cases: Sequence[Case]) -> list[Job]:
    """Return the runs that the cases need."""
    jobs = []
    for case in cases:
        if worlds.missing(case) is None:
            jobs += [Job(case, seed) for seed in worlds.seeds(case)]
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
        runs = open_cases.setdefault(job.case.id, Runs(job.case, kernel_tracks(library, job.case)))
        runs.add(job, outcome, series)
        if runs.complete:
            results[job.case.id] = judge(library, open_cases.pop(job.case.id))
        step()
        return True

    run_many([(job.text, job.seed) for job in jobs], threads or os.cpu_count() or 1, take)
    return list(results.values())


class Runs:
    """The runs of one case so far."""

    def __init__(self, case: Case, kernel: list[Track]):
        self.case, self.kernel = case, kernel
        self.full: list[Track] = []
        """Tracks of the flows in the run that is shown, at each change."""
        self.sampled: dict[int, list[Track]] = {}
        """Tracks by seed, read at the recording's samples; without the replay."""
        self.replayed: dict[int, list[Track]] = {}
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
        kept[job.seed] = [ours.at(theirs.t_s) for ours, theirs in zip(tracks, self.kernel, strict=True)]
        if job.in_figures:
            self.full = tracks

    @property
    def complete(self) -> bool:
        """All runs are there."""
        return self.seen == len(jobs_of([self.case]))


def kernel_tracks(library: Library, case: Case) -> list[Track]:
    """Return the recorded tracks of all flows of a case."""
    samples = library.samples(case)
    return [kernel_track(samples, i) for i in range(case.flows)]


def judge(library: Library, runs: Runs) -> CaseResult:
    """Return the result of one case from its runs."""
    case, kernel = runs.case, runs.kernel
    if runs.error:
        return CaseResult(case, f"not runnable: {runs.error}")
    theirs = packets.kernel_packets(library.packets(case)) if case.kind == "scripted" else []
    until = None if case.bytes is None else packets.acked_s(theirs, case.bytes)
    flows = [measures.compare_flow(case.algorithm(i), kernel[i], runs.full[i], until) for i in range(case.flows)]
    replicates = [runs.sampled[seed] for seed in sorted(runs.sampled)]
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
                replayed = [runs.replayed[seed][0] for seed in sorted(runs.replayed)]
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
