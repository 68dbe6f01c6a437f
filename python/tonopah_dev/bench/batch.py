"""What a study costs beside its runs: throughput on all cores against one, and the overhead of a run.

Carried out as `tonopah study run` does, into a store in the current folder, where results would be.
"""

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tonopah.execution.options import ExecutionOptions, cores
from tonopah.execution.runner import run_missing, run_scenarios
from tonopah.spec.plan import make_plan
from tonopah.spec.reader import parse_spec
from tonopah.store.store import Store
from tonopah_dev.bench.measure import spread

WHAT = "dumbbell, 10 flows, 10 s, four algorithms at 10 to 50 Mb/s"


def document(flows: int, duration: str, replicates: int) -> dict[str, Any]:
    """Return a study of four algorithms on a dumbbell at five rates, one of them the default."""
    return {
        "title": "Speed",
        "question": "How fast?",
        "replicates": replicates,
        "scenario": {"duration": duration, "network": {"kind": "dumbbell", "pairs": flows, "flows": flows}},
        "compare": {"cc": ["reno", "cubic", "vegas", "bbr"]},
        "sweep": [{"vary": {"network.bottleneck.rate": [f"{rate}Mbps" for rate in (10, 20, 30, 40, 50)]}}],
    }


def measure_study(turns: int, step: Callable[[], None] = lambda: None, small: int = 25, large: int = 10) -> dict[str, Any]:
    """Return runs per second on one thread and on all, their ratio, and the overhead of a run in wall-clock and CPU seconds.

    One thread and all take turns, so that a machine that slows down slows both. `small` and `large` are replicates of the study
    of very short runs, from which the overhead follows, and of the one that fills the cores. `step` is called after each turn.
    """
    threads = cores()
    found: dict[str, list[float]] = {name: [] for name in ("one_per_s", "all_per_s", "ratio", "overhead_s", "overhead_cpu_s")}
    busy, tiny = document(10, "10s", large), document(1, "20ms", small)
    runs = small_runs = 0
    for _ in range(turns):
        runs, alone = time_study(busy, 1)[:2]
        together = time_study(busy, threads)[1]
        small_runs, wall, cpu = time_study(tiny, 1)
        engine_wall, engine_cpu = engine_alone(tiny)
        found["one_per_s"].append(runs / alone)
        found["all_per_s"].append(runs / together)
        found["ratio"].append(alone / together)
        found["overhead_s"].append((wall - engine_wall) / small_runs)
        found["overhead_cpu_s"].append((cpu - engine_cpu) / small_runs)
        step()
    return {"what": WHAT, "threads": threads, "runs": runs, "small_runs": small_runs} | {k: spread(v) for k, v in found.items()}


def time_study(study: dict[str, Any], threads: int) -> tuple[int, float, float]:
    """Return the number of runs of a study, and wall-clock and CPU seconds from its text to the last stored run."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=Path.cwd()) as folder:
        start = clocks()
        plan = make_plan(parse_spec(study))
        with Store(folder) as store:
            run_missing(plan, store, quiet=True, options=ExecutionOptions(jobs=threads))
        wall, cpu = (now - then for now, then in zip(clocks(), start, strict=True))
    return len(plan.runs), wall, cpu


def engine_alone(study: dict[str, Any]) -> tuple[float, float]:
    """Return wall-clock and CPU seconds of the runs of a study on one thread, without storing their results."""
    options = ExecutionOptions(jobs=1)
    jobs = [(run.scenario, run.seed) for run in make_plan(parse_spec(study)).runs.values()]
    start = clocks()
    run_scenarios(jobs, lambda *_: True, options.threads, options.run_limits)
    wall, cpu = (now - then for now, then in zip(clocks(), start, strict=True))
    return wall, cpu


def clocks() -> tuple[float, float]:
    """Return wall-clock and CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime
