"""A recorded case as scenario: two nodes and one link, the endpoint and the algorithm in their `linux` profiles."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from tonopah.runs.simulation import algorithms
from tonopah.scenario.worlds import Graph, bulk, drop_tail, link
from tonopah.validate.linux.recordings import LinuxCase

REPLICATES = 10
"""Runs of a case in which chance has a part: random losses, or flows that compete (for each recording of a case)."""
DRAWING = frozenset({"bbr", "cdg", "nv"})
"""Algorithms of Linux that draw: the phase of the gain cycle, whether to back off, when to measure the least RTT anew."""
MSS_BYTES = 1448
KERNEL: dict[str, dict[str, str | bool]] = {
    "6.1": {"recv_buffer": "33554432B", "initial_recv_window": "65535B", "tso_fill": False},
    "6.18": {"buffers": "tuned"},
}
"""In what the recorded kernels differ; 6.18 is what the profile `linux` has. The receiver, whose buffer never limits,
acknowledges every segment while its window still opens, by two segments for each that arrives: the packet logs show
11,564 such segments before delayed ACKs begin with 6.1 and 2,898 with 6.18. Packets for the network card cross the ends of
buffers since Linux 6.10: in logs of 20,000 segments 337 to 379 of them do with 6.18, none does with 6.1."""
SERIES = ("send_window", "ssthresh", "state", "retransmits", "acked", "srtt")


@cache
def of_linux() -> frozenset[str]:
    """Return the algorithms that have the profile `linux`."""
    return frozenset(entry["name"] for entry in algorithms() if any(p["name"] == "linux" for p in entry["profiles"]))


def missing(case: LinuxCase) -> str | None:
    """Return what the engine lacks for this case, or None."""
    absent = [name for name in dict.fromkeys(case.cc) if name not in of_linux()]
    return f"algorithm not there yet: {', '.join(absent)}" if absent else None


def as_recorded(case: LinuxCase) -> LinuxCase:
    """Return the case with the losses of the recording in the place of random ones."""
    return replace(case, drop=case.drawn, loss=0.0) if case.kind == "random" else case


def scenario(case: LinuxCase, seed: int = 1, series: tuple[str, ...] = SERIES) -> dict[str, Any]:
    """Return the case as scenario. A seed above 1 starts competing flows at other instants."""
    network = Graph("sender", "receiver")
    queue = drop_tail(case.queue) if case.mark is None else drop_tail(case.queue, mark_threshold=case.mark)
    # The recorded way back has the same delay and no limit of rate.
    back = {"rate": "100Gbps", "queue": drop_tail(1_000_000)}
    path = network.connect("sender", "receiver", **link(f"{case.mbps:g}Mbps", f"{case.owd_ms:g}ms", queue), reverse=back)
    if case.drop:
        path["loss"] = {"kind": "nth", "data_packets": list(case.drop)}
    elif case.loss:
        path["loss"] = {"kind": "packet", "p": case.loss}
    for index, start_us in enumerate(starts(case, seed)):
        cc = {"name": case.algorithm(index), "profile": "linux"}
        network.add_flow("sender", "receiver", cc=cc, app=bulk(case.bytes), start=f"{start_us}us")
    tcp: dict[str, Any] = {"profile": "linux", **KERNEL[case.kernel]}
    if not case.sack:
        tcp["sack"] = False
    return network.scenario(f"{case.secs:g}s", tcp, record={"series": list(series), "every": "change"})


def starts(case: LinuxCase, seed: int) -> list[int]:
    """Return when the flows start, in microseconds: as recorded for seed 1, else all but the first up to `spread_rtts` later."""
    recorded = [round(i * case.stagger_ms * 1000) for i in range(case.flows)]
    if seed == 1:
        return recorded
    later = np.random.default_rng(seed).integers(0, round(2000 * case.owd_ms * case.spread_rtts), case.flows)
    return [start + int(later[i]) * (i > 0) for i, start in enumerate(recorded)]


def draws(case: LinuxCase) -> bool:
    """Tell whether an algorithm of the case draws random numbers, so that one run of it says little."""
    return not DRAWING.isdisjoint(case.cc)


def seeds(case: LinuxCase) -> list[int]:
    """Return the seeds with which the case is run."""
    return list(range(1, REPLICATES + 1)) if case.kind in ("random", "shared", "beside") or draws(case) else [1]
