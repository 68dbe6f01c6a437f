"""What a run of any of the simulators gave, ours included."""

from collections.abc import Mapping
from dataclasses import dataclass

from tonopah.errors import RunFailedError
from tonopah_dev.peers.process import Finished


@dataclass(frozen=True)
class PeerOutcome:
    """One run."""

    packets: int
    """Data packets delivered, each counted once."""
    flows_without_delivery: int
    cpu_s: float
    setup_cpu_s: float
    """Of it before the first event: the start of the process, reading, building."""
    memory_mib: float
    """Largest resident set of the process."""
    events: int
    """Executed; in ns-2 scheduled, which is all it counts."""
    frames: int | None = None
    """Radio frames sent, of data, routing and control, every attempt; None without radios or if not counted."""
    energy_j: float | None = None
    """Consumed by all radios; None if not modelled."""


@dataclass(frozen=True)
class PeerStopped:
    """A run that used up its CPU time before its end."""

    cpu_s: float


def results_of(done: Finished, who: str, what: str) -> Mapping[str, str]:
    """Return the values that a program of ours printed as lines `result NAME VALUE`.

    Both peers mix remarks of their own into the output. Raises RunFailedError when the program failed or printed nothing.
    """
    lines = [line.split() for line in done.output.splitlines() if line.startswith("result ")]
    if done.code != 0 or not lines:
        said = (done.errors or done.output).strip()[-300:] or f"exit code {done.code}"
        raise RunFailedError(f"{who} failed on {what}: {said}")
    return {line[1]: line[2] for line in lines if len(line) == 3}


def outcome_of(done: Finished, who: str, what: str) -> PeerOutcome | PeerStopped:
    """Return what a run of a peer gave."""
    if done.stopped:
        return PeerStopped(done.cpu_s)
    found = results_of(done, who, what)
    return PeerOutcome(
        packets=int(found["packets"]),
        flows_without_delivery=int(found["empty"]),
        cpu_s=done.cpu_s,
        setup_cpu_s=float(found["setup"]),
        memory_mib=done.memory_mib,
        events=int(found["events"]),
        frames=int(found["frames"]) if "frames" in found else None,
        energy_j=float(found["energy"]) if "energy" in found else None,
    )
