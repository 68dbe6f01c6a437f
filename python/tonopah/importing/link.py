"""A measured link as a scenario: a dumbbell whose bottleneck has the rates and delays of a file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from tonopah.errors import InputError
from tonopah.importing.samples import KINDS, Samples, leocc_delays
from tonopah.scenario.files import read_file
from tonopah.scenario.link_files import decompressed, read_text, read_trace
from tonopah.scenario.rate_files import steps

MAX_FILE_BYTES = 512 * 1024 * 1024
MAX_CHANGES = 100_000
"""Changes of delay that a scenario may list."""

OPPORTUNITY_BYTES = 1504


@dataclass
class Imported:
    """What a file became: files by name, the scenario first, and what is to be said of it."""

    files: dict[str, str | bytes]
    told: list[str]


def import_link(kind: str, names: Sequence[str], out: Path, rate: str | None) -> Imported:
    """Return the scenario of a measured link. Raises InputError, and nothing is written."""
    if kind in ("mahimahi", "leocc"):
        if rate is not None:
            raise InputError("--rate", "the file has rates", "leave --rate out", names[0])
        return import_trace(kind, names, out)
    if len(names) != 1:
        raise InputError("FILE", f"{kind} is read from one file, {len(names)} are given")
    samples = KINDS[kind](read_text(names[0]), names[0]).check(names[0])
    if not samples.times and not samples.delays:
        raise InputError("", "has no row of a measurement", f"is it of the kind {kind}?", names[0])
    if not samples.times and rate is None:
        raise InputError("--rate", "the file has delays and no rates", "--rate 100Mbps", names[0])
    if samples.times and rate is not None:
        raise InputError("--rate", "the file has rates", "leave --rate out", names[0])
    files: dict[str, str | bytes] = {}
    if samples.times:
        table = f"{out.stem}-rates.csv"
        rows = "".join(f"{at:.9g},{round(bps)}\n" for at, bps in zip(samples.times, samples.bps, strict=True))
        service = {"kind": "rate_trace", "file": table, "loop": len(samples.times) > 1}
        link: dict[str, Any] = {"service": service}
        files[table] = f"t_s,rate_bps\n{rows}"
    else:
        link = {"rate": rate}
    link |= delays_of(samples, names[0])
    length = length_of(samples)
    return Imported({out.name: scenario_of(kind, names, link, length)} | files, told_of(samples, length))


def import_trace(kind: str, names: Sequence[str], out: Path) -> Imported:
    """Return the scenario of a trace of opportunities, which stays where it is, and of the delays beside it."""
    if len(names) != (1 if kind == "mahimahi" else 2):
        needs = "one file" if kind == "mahimahi" else "bw_N.txt and delay_N.txt"
        raise InputError("FILE", f"{kind} is read from {needs}, {len(names)} are given")
    trace = Path(names[0])
    stamps = read_trace(decompressed(read_file(trace, "a trace", MAX_FILE_BYTES), trace), names[0]).split()
    length = int(stamps[-1]) / 1e3
    profile = "mahimahi" if kind == "mahimahi" else "std"
    size = OPPORTUNITY_BYTES if kind == "mahimahi" else 1500
    mbps = len(stamps) * size * 8 / length / 1e6
    service = {"kind": "trace", "file": os.path.relpath(trace, out.parent), "profile": profile}
    told = [f"each line (ms): an opportunity of {size} B; {len(stamps):,} over {length:g} s, {mbps:.3g} Mb/s in the mean"]
    link: dict[str, Any] = {"service": service}
    if kind == "leocc":
        samples = leocc_delays(read_text(names[1]), names[1]).check(names[1])
        if not samples.delays:
            raise InputError("", "has no row of a measurement", "delay_N.txt of leocc", names[1])
        link |= delays_of(samples, names[1])
        told += told_of(samples, length_of(samples))
    else:
        told.append("the file has no delay: 20 ms one way are assumed")
        link["delay"] = "20ms"
    return Imported({out.name: scenario_of(kind, names, link, length)}, told)


def delays_of(samples: Samples, source: str) -> dict[str, Any]:
    """Return the keys of a link for delays: the first, and changes."""
    if not samples.delays:
        return {"delay": "20ms"}
    changed = steps(samples.delay_times, samples.delays)
    changes = [{"at": f"{round(at * 1e6)}us", "delay": f"{round(delay * 1e6)}us"} for at, delay in changed]
    if len(changes) > MAX_CHANGES:
        raise InputError("", f"has {len(changes):,} changes of delay", f"at most {MAX_CHANGES:,}: take a part of it", source)
    return {"delay": changes[0]["delay"], "changes": changes[1:]}


def length_of(samples: Samples) -> float:
    """Return how long the samples last; the last row lasts as long as the one before it unless the file says so."""
    ends = [
        times[-1] + (times[-1] - times[-2] if len(times) > 1 else 1.0) for times in (samples.times, samples.delay_times) if times
    ]
    return samples.length_s or max(ends)


def told_of(samples: Samples, length: float) -> list[str]:
    """Return what is to be said of samples."""
    told = list(samples.taken)
    if samples.times:
        ends = [*samples.times[1:], length]
        bits = sum(bps * (end - at) for at, end, bps in zip(samples.times, ends, samples.bps, strict=True))
        told.append(f"{len(samples.times):,} rates over {length:g} s, {bits / length / 1e6:.3g} Mb/s in the mean")
    if samples.delays:
        least, most = min(samples.delays), max(samples.delays)
        told.append(f"{len(samples.delays):,} delays, one way {1e3 * least:.3g} to {1e3 * most:.3g} ms")
    else:
        told.append("the file has no delay: 20 ms one way are assumed")
    if samples.left_out:
        told.append(f"{samples.left_out:,} rows are left out: of another test, lost, without length, or not after the row before")
    return told


def scenario_of(kind: str, names: Sequence[str], link: Mapping[str, Any], length: float) -> str:
    """Return the scenario as TOML."""
    bottleneck = {"queue": "300p", "reverse": {"rate": "1Gbps"}} | dict(link)
    network = {"kind": "dumbbell", "pairs": 1, "access": {"rate": "10Gbps", "delay": "1us"}, "bottleneck": bottleneck}
    flow = [{"from": "left0", "to": "right0", "cc": "cubic"}]
    duration = f"{max(1, round(length))}s"
    head = f"# Of {', '.join(names)} by `tonopah import {kind}`. Assumed: queue, access, way back, flow.\n"
    return head + tomli_w.dumps({"duration": duration, "network": network, "tcp": {"profile": "linux"}, "flow": flow})
