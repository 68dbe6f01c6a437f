"""`--max-memory` holds for the world itself, not only for what grows while it runs."""

import json

import pytest
from memory import memory_taken

from tonopah import _core

STAR = {"duration": "1s", "network": {"kind": "star", "nodes": 100_000, "flows": 100_000}}


def test_a_world_that_does_not_fit_is_refused_before_it_is_built() -> None:
    refused = pytest.raises(_core.LimitError, match=r"not started: its network and flows need 7\d\d MB, its limit is 300 MB")
    with memory_taken() as taken, refused:
        _core.run(json.dumps(STAR), 1, max_memory=300_000_000)
    assert taken.bytes < 300_000_000


def test_a_million_hosts_are_counted_without_being_drawn() -> None:
    million = json.dumps({"duration": "1s", "network": {"kind": "fat_tree", "k": 160, "flows": 100_000}})
    with memory_taken() as taken:
        for ask in (_core.run, _core.check):
            with pytest.raises(_core.LimitError, match=r"not started: its network and flows need 13666 MB, its limit is 2000 MB"):
                ask(million, 1, max_memory=2_000_000_000)
    assert taken.bytes < 100_000_000


def test_what_grows_counts_besides_the_world() -> None:
    world = {
        "duration": "5s",
        "network": {"kind": "dumbbell", "pairs": 1, "flows": 2_000, "bottleneck": {"rate": "10Gbps", "delay": "100ms"}},
    }
    with pytest.raises(_core.LimitError, match=r"the run was stopped at .* its limit is 20 MB"):
        _core.run(json.dumps(world), 1, max_memory=20_000_000)
    with pytest.raises(_core.LimitError, match="not started"):
        _core.run(json.dumps(world), 1, max_memory=5_000_000)
