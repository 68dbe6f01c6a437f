"""The engines that can carry the flows of a world, in one table."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tonopah.cross.worlds import World
from tonopah.errors import InputError
from tonopah.kernel import engines as kernels
from tonopah.peers.known import PEERS, Peer
from tonopah.runs.simulation import RunResult, run_prepared
from tonopah.spec.validation import list_allowed


@dataclass(frozen=True)
class Options:
    """How engines run: `spin` of real time, and a folder for the programs that a peer is given."""

    spin: bool = False
    keep: Path | None = None


@dataclass(frozen=True)
class Engine:
    """Who carries the flows of a world. Its parts that need more than a simulation are imported when it is asked for."""

    name: str
    about: str
    run: Callable[[World, int, Options], RunResult]
    """Run a world with a seed."""
    deterministic: bool
    """Whether a seed gives the same run every time."""
    lacking: Callable[[], str | None] = lambda: None
    """What the machine lacks for it, with the remedy."""
    refuse: Callable[[World], object] = lambda world: None
    """Raise InputError that names what of a world it cannot do."""


def of_kernel(name: str, about: str, *, deterministic: bool) -> Engine:
    """Return a kernel as an engine."""

    def run(world: World, seed: int, options: Options) -> RunResult:
        spin = {"spin": True} if name == "linux" and options.spin else {}
        found: RunResult = kernels.module_of(name).run(world.scenario, world.name, seed, **spin)
        return found

    def lacking() -> str | None:
        if sys.platform != "linux":
            return "a kernel carries flows on Linux alone: use a virtual machine, or a container in one"
        return kernels.lacking(name)

    def refuse(world: World) -> None:
        kernels.module_of(name).planned_here(world.scenario, world.name, 1)

    return Engine(name, about, run, deterministic, lacking, refuse)


def of_peer(name: str, peer: Peer) -> Engine:
    """Return a simulator of others as an engine."""

    def run(world: World, seed: int, options: Options) -> RunResult:
        keep = options.keep / f"{world.slug}seed-{seed}.{peer.ending}" if options.keep else None
        return peer.run(world.scenario, world.name, seed, keep)

    return Engine(
        name, peer.about, run, deterministic=True, lacking=peer.lacking,
        refuse=lambda world: peer.refuse(world.scenario, world.name, 1),
    )  # fmt: skip


def simulate(world: World, seed: int, _: Options) -> RunResult:
    """Let our engine simulate the world."""
    return run_prepared(world.scenario, world.name, seed)


TABLE = (
    Engine("tonopah", "our simulation", simulate, deterministic=True),
    of_kernel("linux", "this machine's kernel, in real time", deterministic=False),
    of_kernel("uml", "a kernel in virtual time", deterministic=True),
    *(of_peer(name, peer) for name, peer in PEERS.items()),
)
ENGINES = {engine.name: engine for engine in TABLE}
"""All engines, by name."""


def chosen(names: Sequence[str]) -> list[Engine]:
    """Return the engines with these names, which this machine has. Raises InputError with what is to be done."""
    for name in names:
        if name not in ENGINES:
            raise InputError("--on", f"{name!r} is no engine", list_allowed(ENGINES, value=name))
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError("--on", f"{','.join(names)!r} is no comparison", "two engines or more, like tonopah,linux")
    for name in names:
        if lacks := ENGINES[name].lacking():
            raise InputError(f"--on {name}", lacks)
    return [ENGINES[name] for name in names]
