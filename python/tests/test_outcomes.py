"""What is known of algorithms comes out of the worlds of `tonopah evaluate`: outcomes.toml, each with its source.

All of them take minutes: TONOPAH_OUTCOMES=all. Otherwise those that are marked `ci`. Each is the mean of three replicates.
"""

import json
import os
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tonopah.judge.definitions import World
from tonopah.judge.metrics import measure
from tonopah.judge.subjects import make_subject
from tonopah.judge.traces import traces_of
from tonopah.judge.workload import Draws
from tonopah.judge.worlds import build, seconds
from tonopah.spec import measures
from tonopah.study.run import run

ALL = os.environ.get("TONOPAH_OUTCOMES") == "all"
OUTCOMES = tomllib.loads((Path(__file__).parent / "outcomes.toml").read_text(encoding="utf-8"))["outcome"]
CHECKS = [
    pytest.param(
        outcome,
        check,
        id=f"{outcome['id']}-{':'.join(check['cc'])}-{number}",
        marks=[pytest.mark.xfail(reason=check["open"], strict=True)] if "open" in check else [],
    )
    for outcome in OUTCOMES
    for number, check in enumerate(outcome["checks"])
    if ALL or check.get("ci")
]
REPLICATES = 3


@cache
def value(algorithms, world_text, metric):
    world = World.model_validate(json.loads(world_text))
    found = []
    for k in range(1, REPLICATES + 1):
        built = build(world, [make_subject(name).cc for name in algorithms], Draws(f"outcomes/{k}"))
        traces = traces_of(world, built)
        if traces:
            names = sorted({name for trace in traces for name in trace.needs})
            built.scenario["record"] = {"series": names, "every": world.sample}
        result = run(built.scenario, seed=k)
        summary = dict(result.summary)
        if traces:
            summary["derived"] = measures.from_series(traces, result._series)
        found.append(measure(built, summary, seconds(world.warmup))[metric])
    return float(np.mean(found))


def measured(outcome, check):
    world = json.dumps(outcome["world"] | check.get("world", {}))
    mine = value(tuple(check["cc"]), world, check["metric"])
    return mine / value(tuple(check["against"]), world, check["metric"]) if "against" in check else mine


@pytest.mark.parametrize(("outcome", "check"), CHECKS)
def test_a_known_outcome(outcome, check):
    found = measured(outcome, check)
    assert check.get("at_least", -np.inf) <= found <= check.get("at_most", np.inf), (outcome["says"], outcome["source"])


@pytest.mark.skipif(not ALL, reason="weekly")
@pytest.mark.parametrize("outcome", [one for one in OUTCOMES if "spread_at_most" in one], ids=lambda one: one["id"])
def test_values_are_alike(outcome):
    found = [measured(outcome, check) for check in outcome["checks"]]
    assert max(found) - min(found) <= outcome["spread_at_most"]
