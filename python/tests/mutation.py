"""Changes of scenario and study files as people and accidents make them: values, names, missing, doubled and foreign parts."""

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conftest import DUMBBELL, STUDY
from hypothesis import strategies as st

from tonopah.scenario.document import omit_none, to_toml

RADIO = {
    "duration": "3s",
    "network": {
        "kind": "adhoc", "nodes": 6, "flows": 2, "area": {"x": "300m", "y": "300m"},
        "placement": {"kind": "uniform"}, "mobility": {"kind": "random_waypoint"}, "routing": {"kind": "aodv"},
    },
    "tcp": {"cc": "newreno"},
    "traffic": {"app": {"kind": "cbr", "rate": "20pps", "size": "512B"}},
}  # fmt: skip
CELLS = {"duration": "2s", "network": {"kind": "infrastructure", "cells": 2, "stations_per_cell": 2, "flows": 2}}
SPACE = {
    "duration": "3s",
    "network": {"kind": "constellation", "preset": "iridium", "terminals": ["London", "Boston"], "flows": 1},
    "tcp": {"cc": {"name": "cubic", "profile": "linux"}},
}
GRAPH = {
    "duration": "2s",
    "network": {"kind": "graph"},
    "node": [{"name": "a"}, {"name": "b", "x": 1.0, "y": 2.0}, {"name": "c"}],
    "link": [
        {"from": "a", "to": "b", "rate": "1Mbps", "delay": "5ms", "queue": {"kind": "red", "limit": "20p"}},
        {"from": "b", "to": "c", "rate": "2Mbps", "changes": [{"at": "1s", "rate": "500kbps"}, {"at": "1.5s", "up": False}]},
    ],
    "flow": [{"from": "a", "to": "c", "app": {"kind": "on_off", "rate": "100pps", "size": "300B"}, "tcp": {"sack": False}}],
    "record": {"series": ["cwnd", "srtt"], "every": "20ms"},
}
WIRED = {
    "duration": "1s",
    "network": {"kind": "random_wired", "nodes": 8, "flows": 2, "degree": 3.0, "links": {"loss": {"kind": "packet", "p": 0.01}}},
    "tcp": {"mss": "1000B", "cc": {"name": "bbr"}, "rto_min": "200ms", "recv_buffer": "64kB"},
}
LAN = {"duration": "1s", "network": {"kind": "lan", "routers": 2, "switches_per_router": 2, "pcs_per_switch": 2, "flows": 2}}
SERVED = {
    "duration": "2s",
    "network": {"kind": "graph"},
    "node": [{"name": "a"}, {"name": "b"}],
    "link": [
        {
            "from": "a", "to": "b", "service": {"kind": "trace", "times": "1 1 5 9"}, "harq": {"p": [0.1, 0.2]},
            "jitter": {"kind": "normal", "mean": "5ms", "sd": "1ms", "reorder": True}, "duplicate": {"p": 0.1},
            "reverse": {
                "service": {"kind": "rate_trace", "points": [["0s", "1Mbps"], ["1s", "2Mbps"]]},
                "reorder": {"kind": "late", "p": 0.1, "by": {"kind": "uniform", "max": "9ms"}},
                "acks": {"kind": "decimate", "every": 4, "timeout": "5ms"}, "corrupt": {"kind": "packet", "p": 0.1},
            },
        }
    ],
    "flow": [{"from": "a", "to": "b"}],
}  # fmt: skip
SCENARIOS = [DUMBBELL, SERVED, RADIO, CELLS, SPACE, GRAPH, WIRED, LAN, STUDY["scenario"]]

ODD: list[Any] = [
    0, 1, -1, 2, 7, 1000, 100_000, 10**6, 10**9, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -(2**63),
    0.0, -0.0, 0.5, 1.0, 1e-9, 1e-300, 1e9, 1e300, -2.5, True, False, None,
    "", " ", "0", "1", "-1", "a", "right0", "left0", "graph", "reno", "cubic", "tahoe", "linux", "ns2", "unlimited", "change",
    "0s", "1ns", "1ms", "1s", "3s", "10000000s", "1e9s", "-1s", "1 hour", "99999999999999999999s",
    "0Mbps", "1bps", "10Mbps", "400Gbps", "1e30bps", "0p", "1p", "33p", "18446744073709551615p", "0B", "1B", "1460B", "64kB",
    "1EB", "0pps", "1pps", "1e9pps", "0m", "1m", "100km", "1dBm", "-200dBm", "2.4GHz", "0J", "💥", "a" * 5000, "\x00",
    "../../etc/passwd",
    [], {}, [[]], [0], [{}], ["a", "a"], {"kind": "packet", "p": 0.5}, {"kind": "nth", "data_packets": [1, 1]}, {"kind": "bulk"},
    {"kind": "red"}, {"kind": "fq_codel"}, {"kind": "x"}, {"python": "nothing.py:X"}, {"name": "cubic", "beta": 0.1},
]  # fmt: skip
"""Values that some part of the schema likes and others do not."""


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every value in a document, the whole left out."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in below:
        yield (*path, key)
        yield from places(inner, (*path, key))


def holder(document: Any, path: tuple[str | int, ...]) -> Any:
    for key in path[:-1]:
        document = document[key]
    return document


def keys_of(schema: dict[str, Any]) -> list[str]:
    """Return every name that the schema knows, for keys in wrong places."""
    found = set()
    for part in places(schema):
        if len(part) > 1 and part[-2] == "properties":
            found.add(str(part[-1]))
    return sorted(found)


@st.composite
def mutated(draw: Any, documents: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """Return one of the documents with one to four changes."""
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 4))):
        every = list(places(document))
        if not every:
            break
        path = draw(st.sampled_from(every))
        where, key = holder(document, path), path[-1]
        match draw(st.sampled_from(["value", "value", "value", "number", "drop", "move", "rename", "add", "double", "text"])):
            case "value":
                where[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "number":
                where[key] = draw(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False))
            case "text":
                where[key] = draw(st.text(max_size=12))
            case "drop":
                del where[key]
            case "move":
                where[key] = copy.deepcopy(fetch(document, draw(st.sampled_from(every))))
            case "rename" if isinstance(where, dict):
                where[draw(st.sampled_from(names))] = where.pop(key)
            case "add" if isinstance(where, dict):
                where[draw(st.sampled_from(names))] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "double" if isinstance(where, list):
                where.append(copy.deepcopy(where[key]))
    return document


FILES = ("pipe", "device", "folder", "loop", "dangling", "link")
"""What may stand where a file is expected; a link to a file is as good as the file."""
LENGTHS = (100, 5000, 200_000)
PIECES = (b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\x1b[2J", b'"', b'"""', b"[", b"]]", b"=", b"\n", b"9" * 5000, b"\xe2\x82")


@st.composite
def mutated_file(draw: Any, documents: list[dict[str, Any]]) -> bytes | str:
    """Return a file of one of the documents with changed bytes or sizes, or what stands there instead of a file."""
    text = to_toml(omit_none(draw(st.sampled_from(documents))))
    data = text.encode()
    place = draw(st.integers(0, len(data)))
    match draw(st.sampled_from(["cut", "flip", "piece", "unquote", "digits", "name", "deep", "steps", "file"])):
        case "cut":
            return data[:place]
        case "flip":
            return data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]
        case "piece":
            return data[:place] + draw(st.sampled_from(PIECES)) + data[place:]
        case "unquote":
            return text.replace('"', "", draw(st.integers(1, 8))).encode()
        case "digits":
            return f"long = {'9' * draw(st.sampled_from(LENGTHS))}\n{text}".encode()
        case "name":
            return text.replace(draw(st.sampled_from(text.split())), "a" * draw(st.sampled_from(LENGTHS)), 1).encode()
        case "deep":
            depth = draw(st.sampled_from((20, 100, 2000)))
            return f"deep = {'[' * depth}{']' * depth}\n{text}".encode()
        case "steps":
            return f"{'.'.join('s' * draw(st.sampled_from((20, 100, 900))))} = 1\n{text}".encode()
    return draw(st.sampled_from(FILES))


def fetch(document: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def shipped() -> list[dict[str, Any]]:
    """Return the studies of the source tree that need nothing beside them, at a small size."""
    found = [STUDY]
    for path in sorted((Path(__file__).parents[2] / "studies").glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        if "question" in document:
            found.append(document | {"replicates": 1})
    return found
