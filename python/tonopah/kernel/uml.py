"""Flows and programs of a scenario on a kernel in virtual time: what is done on this machine's kernel, done in a guest."""

from collections.abc import Mapping, Sequence
from typing import Any

from tonopah.errors import ScenarioError, relay
from tonopah.kernel.emulate import Options, checked
from tonopah.kernel.plan import Plan, planned
from tonopah.kernel.running import Emulated
from tonopah.kernel.virtual import Job, algorithms, execute, lacking, newest

__all__ = ["emulate", "engine", "lacking", "planned_here", "run"]


def engine() -> str:
    """Return what carries the flows, with its release. Raises InputError if there is no kernel."""
    return f"uml {newest().name}"


def planned_here(scenario: Mapping[str, Any], name: str | None, seed: int) -> Plan:
    """Return how the kernel carries the flows of a scenario. Raises ScenarioError that names what it cannot do."""
    return planned(scenario, name, seed, algorithms(newest()))


def run(scenario: Mapping[str, Any], name: str | None, seed: int, pcap: str | None = None) -> Emulated:
    """Carry the flows of a scenario that was read from the file `name` over its network, by a kernel in virtual time.

    `pcap` is a folder for what each host sends and receives. Raises ScenarioError that names what the kernel cannot do or the
    machine lacks, RunFailedError if a flow cannot send.
    """
    kernel = newest()
    try:
        plan = planned_here(scenario, name, seed)
        summary, *rest = execute(Job("carry_flows", (scenario, name, seed, plan, pcap)), kernel)
    except ScenarioError as error:
        raise relay(error, name) from None
    return Emulated({**summary, "engine": f"uml {kernel.name}"}, *rest)


def emulate(scenario: Mapping[str, Any], name: str | None, seed: int, command: Sequence[str], options: Options) -> Emulated:
    """Run a command in the network of a scenario that was read from the file `name`, in virtual time; errors as of `run`."""
    kernel = newest()
    world, _ = checked(scenario, name, seed)
    return Emulated(*execute(Job("run_program", (world, name, seed, tuple(command), options.pcap, options.apart)), kernel))
