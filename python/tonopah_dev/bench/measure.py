"""Runs worlds in turn here and in the peers, and compares."""

import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tonopah._core import __file__ as engine_file
from tonopah.errors import InputError, RunFailedError
from tonopah.scenario.document import to_json
from tonopah_dev.bench.scenarios import SEED
from tonopah_dev.bench.worlds import WORLDS, Load
from tonopah_dev.peers import ns2, ns3, process
from tonopah_dev.peers.outcome import PeerOutcome, PeerStopped
from tonopah_dev.peers.world_file import number

OURS = "tonopah"
STUDY = "study"
"""The name that stands for the measurement of a study (batch.py) among those of the worlds."""
THREADS = "threads"
"""The same for one run on several threads (threads.py)."""
PEERS = {"ns2": ns2, "ns2-lean": ns2, "ns3": ns3}
"""Whom to compare with: ns-2 as installed, ns-2 without the headers that a wired world does not use, ns-3."""
SAME_WORK = 0.03
"""Wired and satellite worlds count as the same work if the peers deliver as many packets within this share."""


@dataclass(frozen=True)
class Options:
    """What `python -m tonopah_dev.bench` was asked for."""

    worlds: tuple[Load, ...]
    against: tuple[str, ...] = ()
    runs: int = 3
    seconds: int | None = None
    """Simulated; each world's own unless given."""
    limit_s: float = 600.0
    """CPU seconds after which a peer's run is stopped."""
    study: bool = False
    """Also what a study costs beside its runs."""
    threads: bool = False
    """Also what threads make of one run."""


def select(names: str | None) -> tuple[Load, ...]:
    """Return the worlds of a list of names with commas between them; all without one."""
    if names is None:
        return WORLDS
    known = {world.name: world for world in WORLDS}
    wanted = split_names(names)
    for name in wanted or [names]:
        if name not in known and name not in (STUDY, THREADS):
            raise InputError("--only", f"{name!r} is unknown", f"known: {', '.join([*known, STUDY, THREADS])}")
    return tuple(known[name] for name in wanted if name in known)


def selects(names: str | None, name: str) -> bool:
    """Tell whether a list of names, or no list, asks for the measurement of that name."""
    return names is None or name in split_names(names)


def split_names(names: str) -> list[str]:
    """Return the names of a list with commas between them, each once."""
    return list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))


def peers_of(names: str | None) -> tuple[str, ...]:
    """Return the peers of a list of names with commas between them; raise an error if one is unknown or not installed."""
    wanted = split_names(names or "")
    for name in wanted:
        if name not in PEERS:
            raise InputError("--against", f"{name!r} is unknown", f"known: {', '.join(PEERS)}")
        PEERS[name].require()
    return tuple(wanted)


def ours(scenario: dict[str, Any], segment_bytes: int) -> PeerOutcome:
    """Run a scenario here, in a process of its own; its CPU time is that of the run, without the start of Python."""
    script = Path(__file__).with_name("engine.py")
    done = process.run([sys.executable, "-I", "-S", str(script), engine_file, str(SEED)], to_json(scenario))
    if done.code != 0:
        raise RunFailedError(f"a run failed: {done.errors.strip().splitlines()[-1] if done.errors.strip() else done.code}")
    result = json.loads(done.output)
    return PeerOutcome(
        packets=round(result["goodput_bps"] * number(scenario["duration"]) / 8 / segment_bytes),
        flows_without_delivery=result["flows_without_delivery"],
        cpu_s=result["cpu_s"],
        setup_cpu_s=result["setup_cpu_s"],
        memory_mib=result["memory_mib"],
        events=result["events"],
        frames=None if result["data_frames"] is None else result["data_frames"] + result["control_frames"],
        energy_j=result["energy_j"],
    )


def measure(options: Options, step: Callable[[], None] = lambda: None) -> list[dict[str, Any]]:
    """Return one entry for each world: every run of every side, medians, ratios.

    The sides of a world run in turn, so that a machine that slows down slows all of them. `step` is called after each run.
    """
    with tempfile.TemporaryDirectory() as folder:
        programs = ns3.Programs(Path(folder))
        return [measure_world(world, options, programs, step) for world in options.worlds]


def measure_world(world: Load, options: Options, programs: ns3.Programs, step: Callable[[], None]) -> dict[str, Any]:
    """Return the entry of one world."""
    scenario = world.build(options.seconds or world.seconds)
    segment = round(number(scenario["tcp"]["mss"]))
    run: dict[str, Callable[[], PeerOutcome | PeerStopped]] = {OURS: lambda: ours(scenario, segment)}
    theirs = {
        "ns2": lambda: ns2.run(scenario, SEED, options.limit_s, **world.settings),
        "ns2-lean": lambda: ns2.run(scenario, SEED, options.limit_s, **world.settings, lean=1),
        "ns3": lambda: programs.run(scenario, SEED, options.limit_s, **world.settings),
    }
    run |= {name: theirs[name] for name in options.against if name in world.peers}
    found: dict[str, list[PeerOutcome | PeerStopped]] = {name: [] for name in run}
    for _ in range(options.runs):
        for name, start in run.items():
            # What did not end in time once will not do so now.
            if not (found[name] and isinstance(found[name][-1], PeerStopped)):
                found[name].append(start())
            step()
    counted = ns2.run(scenario, SEED, options.limit_s, frames=1, **world.settings) if world.radio and "ns2" in run else None
    frames = {"ns2": counted.frames} if isinstance(counted, PeerOutcome) else {}
    sides = [side(name, outcomes, frames.get(name)) for name, outcomes in found.items()]
    return {
        "world": world.name,
        "title": world.title,
        "hops": world.hops,
        "flows": flow_count(scenario),
        "seconds": number(scenario["duration"]),
        "radio": world.radio,
        "series": world.series,
        "size": world.size,
        "sides": sides,
        "ratios": [ratio(sides[0], other, world.radio) for other in sides[1:]],
    }


def flow_count(scenario: Mapping[str, Any]) -> int:
    """Return the number of flows of a world; of those that come and go, how many arrive in the mean."""
    rates = [number(workload["arrivals"]["rate"]) for workload in scenario.get("workload", ())]
    arriving = round(sum(rates) * number(scenario["duration"]))
    return arriving + (len(scenario.get("flow", ())) or int(scenario["network"].get("flows", 0)))


def side(name: str, outcomes: Sequence[PeerOutcome | PeerStopped], frames: int | None) -> dict[str, Any]:
    """Return the runs of one simulator and their medians; `frames` were counted in a run of their own."""
    ended = [outcome for outcome in outcomes if isinstance(outcome, PeerOutcome)]
    found: dict[str, Any] = {
        "side": name,
        "stopped": len(ended) < len(outcomes),
        "cpu_s_runs": [outcome.cpu_s for outcome in outcomes],
    }
    found["cpu_s"] = statistics.median(found["cpu_s_runs"])
    if found["stopped"]:
        return found
    # What the packets cost alone.
    found["run_cpu_s_runs"] = [outcome.cpu_s - outcome.setup_cpu_s for outcome in ended]
    found["setup_cpu_s"] = statistics.median(outcome.setup_cpu_s for outcome in ended)
    run_cpu_s = statistics.median(found["run_cpu_s_runs"])
    # Packets, events and frames are the same in every run: the seed is.
    first = asdict(ended[0])
    found |= {key: first[key] for key in ("packets", "flows_without_delivery", "events", "frames")}
    found["frames"] = frames if first["frames"] is None else first["frames"]
    found["memory_mib"] = statistics.median(outcome.memory_mib for outcome in ended)
    found["events_per_packet"] = found["events"] / found["packets"] if found["packets"] else None
    for count in ("packets", "events", "frames"):
        found[f"{count}_per_cpu_s"] = None if found[count] is None else found[count] / run_cpu_s
    return found


def ratio(mine: dict[str, Any], theirs: dict[str, Any], radio: bool) -> dict[str, Any]:
    """Return how a peer compares, run by run: CPU seconds of the peer / ours, for the world, a data packet and a frame.

    Packets and frames are compared without set-up. Above 1 we are faster.
    Of a peer that was stopped only a lower bound of the first is known.
    """
    turns = [b / a for a, b in zip(mine["cpu_s_runs"], theirs["cpu_s_runs"], strict=False)]
    found: dict[str, Any] = {
        "peer": theirs["side"],
        "stopped": theirs["stopped"],
        "cpu": spread(turns),
        "packet": None,
        "frame": None,
    }
    found |= {"goodput": None, "same_work": None}
    if theirs["stopped"]:
        return found
    alone = [b / a for a, b in zip(mine["run_cpu_s_runs"], theirs["run_cpu_s_runs"], strict=False)]
    found["goodput"] = mine["packets"] / theirs["packets"] if theirs["packets"] else None
    if found["goodput"] is not None:
        found["packet"] = spread([turn * found["goodput"] for turn in alone])
        found["same_work"] = None if radio else abs(found["goodput"] - 1) <= SAME_WORK
    if mine["frames"] and theirs["frames"]:
        found["frame"] = spread([turn * mine["frames"] / theirs["frames"] for turn in alone])
    return found


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return least, median and greatest."""
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}
