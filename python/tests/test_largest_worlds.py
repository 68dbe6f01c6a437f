"""The largest world of each kind is set up within seconds, on one thread and divided for two."""

import time

import pytest

from tonopah._core import check, run_on_threads
from tonopah.scenario.document import to_json

MOST_CPU_S = 20.0
"""Of a busy machine. Route tables for each pair of a router and a node took 25 s for the network `lan`, of 2,000 routers."""
WIDE = {"x": "10km", "y": "10km"}
WORLDS = {
    "dumbbell": {"kind": "dumbbell", "pairs": 49_999, "flows": 100},
    "star": {"kind": "star", "nodes": 99_999, "flows": 100},
    "lan": {"kind": "lan", "routers": 2, "switches_per_router": 998, "pcs_per_switch": 50, "flows": 6},
    "parking_lot": {"kind": "parking_lot", "hops": 1_900, "long": 10, "cross": 25, "flows": 10},
    "leaf_spine": {"kind": "leaf_spine", "leaves": 200, "spines": 60, "hosts": 400, "flows": 10},
    "fat_tree": {"kind": "fat_tree", "k": 32, "flows": 10},
    "access": {"kind": "access", "lines": [{"homes": 500}], "servers": 100, "flows": 10},
    "random_wired": {"kind": "random_wired", "nodes": 2_000, "degree": 20.0, "flows": 10},
    "infrastructure": {"kind": "infrastructure", "cells": 100, "stations_per_cell": 99, "flows": 10},
    "adhoc": {"kind": "adhoc", "nodes": 10_000, "area": {"x": "4km", "y": "4km"}, "flows": 10, "connected_pairs": True},
    "dsdv": {"kind": "adhoc", "nodes": 10_000, "area": WIDE, "flows": 10, "routing": {"kind": "dsdv"}},
    "wired_cum_wireless": {"kind": "wired_cum_wireless", "routers": 1_000, "nodes": 6_000, "flows": 10},
    "constellation": {"kind": "constellation", "nodes": 1_000, "flows": 10},
}


@pytest.mark.parametrize("kind", WORLDS)
def test_the_largest_world_is_set_up_within_seconds(kind):
    text = to_json({"duration": "1ms", "network": WORLDS[kind]})
    started = time.process_time()
    check(text)
    run_on_threads(text, 1, 2)
    assert time.process_time() - started < MOST_CPU_S
