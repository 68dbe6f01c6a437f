"""The worlds of `bench`. A new one is an entry in WORLDS; a peer runs it if it has a program for its kind of network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tonopah_dev.bench.scenarios import (
    adhoc,
    aggregated,
    constellation,
    fat_tree,
    growing,
    leaf_spine,
    low_rate,
    satellites,
    web,
    wired,
)


@dataclass(frozen=True)
class Load:
    """A scenario, and the settings of the program of a peer."""

    name: str
    title: str
    seconds: float
    """Simulated."""
    build: Callable[[float], dict[str, Any]]
    """Makes the scenario for a number of simulated seconds."""
    hops: str
    """What a data packet passes on its way, in every simulator."""
    peers: tuple[str, ...] = ("ns2", "ns3")
    """Who has what it takes."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the world file for peers."""
    radio: bool = False
    """Chance has so large a part in it that two simulators need not deliver the same."""
    series: str = ""
    """Of the worlds that show how cost grows: with the number of what."""
    size: int = 0
    """That number."""


RENO = {"peer_window": 10_000, "peer_tcp": "TCP/Newreno", "peer_sink": "TCPSink/DelAck"}
SACK = {"peer_window": 100_000, "peer_tcp": "TCP/Sack1", "peer_sink": "TCPSink/Sack1/DelAck"}
"""What ns-2 runs against our full endpoint. Without SACK it would take minutes to repair the first overflow of a long path."""

CUBE = {
    "flows": 19, "pattern": "one_sink", "area": {"x": "25m", "y": "25m", "z": "25m"},
    "mobility": {"kind": "gauss_markov", "speed": "10m/s"},
}  # fmt: skip
FIELD = {
    "flows": 20, "area": {"x": "100m", "y": "100m"}, "mobility": {"kind": "random_waypoint", "speed": "4m/s", "pause": "2s"},
}  # fmt: skip
"""Networks of reports that docs/studies.md repeats: everybody to one station within reach, and any to any over several hops."""

WIRED = ("ns2", "ns2-lean", "ns3")

LINKS = "3 links"
FRAMES = "1 to 3 frames"
SPACE = "up, down, 1 to 9 between satellites"

WORLDS = (
    Load("wired10", "dumbbell, 10 flows, 100 Mb/s", 60, partial(wired, 10), LINKS, WIRED, settings=RENO),
    Load("wired200", "dumbbell, 200 flows, 100 Mb/s", 60, partial(wired, 200), LINKS, WIRED, settings=RENO),
    Load("wired1000", "dumbbell, 1,000 flows, 100 Mb/s", 60, partial(wired, 1000), LINKS, WIRED, settings=RENO),
    Load("wired10g", "dumbbell, 10 flows, 10 Gb/s", 3, partial(wired, 10, gbps=10.0), LINKS, WIRED, settings=SACK),
    Load("web100k", "dumbbell, 100,000 flows of 10 kB, 1 Gb/s", 10, partial(web, 10_000), LINKS, peers=("ns2",), settings=RENO),
    Load("wifi40", "ad hoc 802.11b, 40 stations, 20 flows", 100, partial(adhoc, 40), FRAMES, radio=True),
    Load("wifi100", "ad hoc 802.11b, 100 stations, 50 flows", 100, partial(adhoc, 100), FRAMES, radio=True),
    Load("wifi200", "ad hoc 802.11b, 200 stations, 100 flows", 100, partial(adhoc, 200), FRAMES, radio=True),
    Load("wifin10", "802.11n, 10 stations, 10 flows, A-MPDU", 100, partial(aggregated, 10), "1 frame", ("ns3",), radio=True),
    Load("lrwpan20", "802.15.4, 20 stations, 19 flows to one", 100, partial(low_rate, 20, CUBE), "1 link", peers=(), radio=True),
    Load(
        "lrwpan40",
        "802.15.4, 40 stations, 20 flows, mesh",
        100,
        partial(low_rate, 40, FIELD),
        "1 to 4 links",
        peers=(),
        radio=True,
    ),
    # 56,000 flows/s of 1,711,250 B are 0.6 of 128 links of 10 Gb/s.
    Load(
        "fattree8",
        "fat tree, 128 hosts, web search at load 0.6, 2,240 flows",
        0.04,
        partial(fat_tree, 8, 56_000),
        "2 to 6 links",
        peers=(),
    ),
    Load("leo10", "Iridium, 20 terminals, 10 flows", 100, partial(satellites, 10), SPACE, peers=("ns2",)),
    Load("leo50", "Iridium, 100 terminals, 50 flows", 100, partial(satellites, 50), SPACE, peers=("ns2",)),
    *(
        Load(
            f"flows{flows}", f"dumbbell, {flows:,} flows, 1 Mb/s each", seconds, partial(growing, flows), LINKS, (),
            series="flows", size=flows,
        )
        for flows, seconds in ((10, 2400), (100, 240), (1000, 24), (10_000, 3), (100_000, 0.5))
    ),
    # 438.25 flows/s of 1,711,250 B are 0.6 of a host's 10 Gb/s.
    *(
        Load(
            f"hosts{hosts}", f"leaf-spine, {hosts:,} hosts, web search at load 0.6, {round(438.25 * hosts * seconds):,} flows",
            seconds, partial(leaf_spine, hosts, round(438.25 * hosts)), "2 or 4 links", (), series="hosts", size=hosts,
        )
        for hosts, seconds in ((16, 0.16), (64, 0.04), (256, 0.01), (1024, 0.005))
    ),
    *(
        Load(
            f"space{planes * each}", f"{planes * each:,} satellites, 40 terminals, 20 flows", 20,
            partial(constellation, planes, each, 20), "up, down, and between satellites", (),
            series="satellites", size=planes * each,
        )
        for planes, each in ((6, 11), (12, 22), (24, 33), (36, 44))
    ),
)  # fmt: skip
"""In the order of the tables."""
