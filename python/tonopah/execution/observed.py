"""A single run whose scenario is from a source: its observer counts, in a process of its own."""

import json
from typing import Any

from tonopah.cc.binding import BoundScenario
from tonopah.execution.processes import Job, Worker, answer_of, outcome_of


def observed(bound: BoundScenario, seed: int, observer: str) -> dict[str, float | None]:
    """Return what an observer finds in a run, by column. Raises what the run raises."""
    worker = Worker()
    try:
        outcome = outcome_of(answer_of(worker, Job(bound.text, seed, bound.origins, observer=observer)))
    finally:
        worker.stop()
    if isinstance(outcome, Exception):
        raise outcome
    found: dict[str, Any] = json.loads(outcome)["observed"]["run"]
    return found
