"""A command in the network of a scenario, in real time."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tonopah._core import Emulation
from tonopah.cc.permission import permission
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.kernel import device, hosts, running
from tonopah.kernel.isolation import isolated
from tonopah.runs import simulation
from tonopah.runs.simulation import checked_seed, engine_form

STDERR = 2
GRACE_S = 2.0
"""For a server to end after SIGTERM."""


@dataclass(frozen=True)
class Options:
    """How an emulation runs."""

    clock: running.Clock = field(default_factory=running.Clock)
    pcap: str | None = None
    """Folder for what each host sends and receives."""
    apart: bool = False
    """What the command prints goes to standard error: standard output is for results alone."""


def emulate(
    scenario: Mapping[str, Any], name: str | None, seed: int, command: Sequence[str], options: Options = Options()
) -> running.Emulated:
    """Run a command, or a shell without one, in the network of a scenario that was read from the file `name`.

    Raises ScenarioError if the scenario cannot be emulated or the machine lacks what it takes, OSError if the command is none,
    RunFailedError if the emulation fails.
    """
    world, table = checked(scenario, name, seed)
    return running.Emulated(*isolated(lambda: inside(world, name, seed, command, table, options)))


def checked(scenario: Mapping[str, Any], name: str | None, seed: int) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Return a scenario that is emulated, and its table `emulate`. Raises ScenarioError."""
    world = {**scenario, "emulate": scenario.get("emulate", {})}
    table = simulation.checked_in(world, name, seed)["graph"]["emulate"]
    if permission().limited and table.get("server"):
        shown = repr(table["server"][0]["command"])
        raise InputError("emulate.server[0].command", f"{shown} is a command, {permission().who}", "--code any", name)
    return world, table


def inside(
    world: Mapping[str, Any],
    name: str | None,
    seed: int,
    command: Sequence[str],
    table: Mapping[str, Any],
    options: Options,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], int]:
    """Carry out the emulation in the namespaces of this process."""
    made = hosts.make_hosts(table["hosts"], table)
    hosts.mount_privately(made)
    known = hosts.environment(made)
    try:
        pairs = [(host.name, host.addresses.texts) for host in made]
        header = device.VNET_HEADER if table.get("offload") else 0
        emulation = Emulation(engine_form(world, name).text, checked_seed(seed), pairs, None, header)
    except ScenarioError as error:
        raise relay(error, name) from None
    captures = running.capture_files(options.pcap, table["hosts"])
    network = running.Network(emulation, made, captures, options.clock, time.monotonic_ns())
    network.start()
    by_name = {host.name: host for host in made}
    servers = []
    try:
        for server in table.get("server", []):
            servers.append(
                hosts.start(
                    by_name[server["host"]], server["command"], known, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
                )
            )
            hosts.await_listener(by_name[server["host"]], servers[-1])
        code = run_command(by_name[table["run_on"]], command, known, options.apart)
    finally:
        end(servers)
        network.stop()
    return (*network.results(), code)


def run_command(host: hosts.Host, command: Sequence[str], known: Mapping[str, str], apart: bool) -> int:
    """Run the command on its host, or a shell; return its exit code, of a shell always 0. Raises InputError."""
    shell = os.environ.get("SHELL", "/bin/sh")
    try:
        code = hosts.start(host, command or [shell], known, stdout=STDERR if apart else None).wait()
    except OSError as error:
        raise InputError("", f"{(command or [shell])[0]}: {error.strerror}", "a command that this machine has") from None
    if not command:
        return 0
    return 128 - code if code < 0 else code


def end(servers: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the servers; what does not end by itself ends with the namespace of its processes."""
    for server in servers:
        server.send_signal(signal.SIGTERM)
    for server in servers:
        try:
            server.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            server.kill()
