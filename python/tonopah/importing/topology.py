"""A topology as a scenario."""

from collections.abc import Sequence
from pathlib import Path

import tomli_w

from tonopah.errors import InputError
from tonopah.importing.link import Imported
from tonopah.scenario.link_files import read_text
from tonopah.scenario.topology_files import DELAY, QUEUE, RATE, read_topology


def import_topology(kind: str, names: Sequence[str], out: Path) -> Imported:
    """Return the scenario of a topology, with one flow between the first and the last node."""
    if len(names) != 1:
        raise InputError("FILE", f"{kind} is read from one file, {len(names)} are given")
    topology = read_topology(read_text(names[0]), kind, names[0], {"rate": RATE, "delay": DELAY, "queue": QUEUE})
    first, last = topology.nodes[0]["name"], topology.nodes[-1]["name"]
    scenario = {"duration": "10s", "network": {"kind": "graph"}, "tcp": {"profile": "linux", "buffers": "tuned"}}
    parts = {"node": topology.nodes, "link": topology.links, "flow": [{"from": first, "to": last, "cc": "cubic"}]}
    head = f"# Of {names[0]} by `tonopah import {kind}`. Assumed: queues of {QUEUE}, the flow, buffers of hosts.\n"
    told = [f"{len(topology.nodes):,} nodes, {len(topology.links):,} links", *topology.told]
    told.append(f"assumed: queues of {QUEUE}, one flow from {first} to {last}, hosts with tuned buffers")
    return Imported({out.name: head + tomli_w.dumps(scenario | parts)}, told)
