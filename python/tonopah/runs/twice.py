"""A run made twice and held against itself: what a library does must not depend on the machine."""

import json
import struct
from collections.abc import Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from tonopah._core import capture
from tonopah.cc.binding import BoundScenario, libraries, place_of
from tonopah.errors import AlgorithmError, ScenarioError, relay
from tonopah.runs.simulation import RunResult, checked_seed, engine_form

FIRST_NODE = (10 << 24) + 1
"""Address of node 0 (docs/transport.md)."""
IP_SOURCE, IP_HEADER, UDP_HEADER, UDP = slice(12, 16), 20, 8, 17


class Departure(NamedTuple):
    """A packet that enters the network: its node, its time, and its bytes from the IP header on."""

    node: int
    at_ns: int
    size: int
    content: bytes

    @property
    def payload(self) -> bytes:
        """What its transport has handed over."""
        return self.content[IP_HEADER + (UDP_HEADER if self.content[9] == UDP else 0) :]

    @property
    def payload_size(self) -> int:
        """Its length."""
        return self.size - (len(self.content) - len(self.payload))


def run_twice(scenario: Mapping[str, Any], name: str | None, seed: int) -> RunResult:
    """Run a scenario twice and return its result. Raises AlgorithmError if the two runs differ in any packet or metric."""
    bound = engine_form(scenario, name)
    try:
        first, second = (bound.call(capture, checked_seed(seed), at="hosts") for _ in range(2))
    except ScenarioError as error:
        raise relay(error, name) from None
    summary = json.loads(first[0])
    nodes = [node["node"] for node in summary["nodes"]]
    if difference := difference_of(first[2], second[2], nodes) or difference_in(summary, json.loads(second[0])):
        raise different(bound, difference)
    return RunResult(summary, first[1])


def different(bound: BoundScenario, difference: str) -> AlgorithmError:
    """Return the error of two runs that differ."""
    named = libraries(bound.origins)
    who = " or ".join(library.rpartition("/")[2] for library in named) or "the engine"
    error = AlgorithmError(
        f"{place_of(bound.text, named[0]) if named else 'scenario'}: {who} gives two different runs: {difference}"
    )
    error.algorithm, error.method, error.time_s = named[0] if named else "", "", 0.0
    return error


def departures(seen: str) -> Iterator[Departure]:
    """Yield the packets that hosts have sent, by the rows of the engine: point, link type, time, size, bytes."""
    for row in seen.splitlines()[1:]:
        node, _, at_ns, size, content = row.split(",")
        found = Departure(int(node), int(at_ns), int(size), bytes.fromhex(content))
        (source,) = struct.unpack(">I", found.content[IP_SOURCE])
        if source == FIRST_NODE + found.node:
            yield found


def difference_of(first: str, second: str, nodes: list[str]) -> str:
    """Return the first difference of two runs in the packets that hosts have sent, in words; nothing if there is none."""
    if first == second:
        return ""
    numbers: dict[int, int] = {}
    for one, other in zip_longest(departures(first), departures(second)):
        known = one or other
        numbers[known.node] = numbers.get(known.node, 0) + 1
        if one != other:
            what = f"datagram {numbers[known.node]:,} of {nodes[known.node]} at {known.at_ns / 1e9:.6f} s"
            return f"{what} {difference_between(one, other, nodes)}"
    return ""


def difference_between(one: Departure | None, other: Departure | None, nodes: list[str]) -> str:
    """Return how two packets in the same place of two runs differ."""
    if one is None or other is None:
        return f"is in the {'first' if one else 'second'} run only"
    if one.node != other.node:
        return f"is one of {nodes[other.node]} in the second run"
    if one.at_ns != other.at_ns:
        return f"leaves at {one.at_ns / 1e9:.9f} s, then at {other.at_ns / 1e9:.9f} s"
    if one.size != other.size:
        return f"has {one.payload_size:,} bytes, then {other.payload_size:,}"
    pairs = enumerate(zip(one.payload, other.payload, strict=True))
    if (place := next((index for index, (a, b) in pairs if a != b), None)) is not None:
        return f"differs from byte {place}"
    return "differs in its headers"


def difference_in(first: dict[str, Any], second: dict[str, Any]) -> str:
    """Return the first metric in which two summaries differ, in words; nothing if there is none."""
    if first == second:
        return ""
    flows = ((f"flow {one['flow']}", one, other) for one, other in zip(first["flows"], second["flows"], strict=True))
    for what, one, other in chain([("network", first["network"], second["network"])], flows):
        for name, value in one.items():
            if other.get(name) != value:
                return f"{what} has {name} = {value}, then {other.get(name)}"
    return "the summaries differ"
