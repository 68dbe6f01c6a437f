"""The flows of a scenario, carried by the TCP of this machine's kernel over our network: `tonopah run --on linux`."""

import math
import os
import pickle
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tonopah._core import Emulation
from tonopah.errors import RunFailedError, ScenarioError, relay
from tonopah.kernel import hosts, running, tcp_info, traffic
from tonopah.kernel.isolation import isolated
from tonopah.kernel.machine import lacking
from tonopah.kernel.measured import with_applications
from tonopah.kernel.plan import FIRST_PORT, Plan, planned
from tonopah.kernel.system import enter_network, inside_network
from tonopah.runs.simulation import checked_seed

__all__ = ["engine", "inside", "lacking", "planned_here", "run"]

BEFORE_START_NS = 300_000_000
"""From the making of processes to time 0, so that all are there."""
UNKNOWN = ("recovery_count", "undone_count", "needless_retransmissions", "offered_bps")
"""What is known of a simulated sender and not of the kernel's."""
OWN = ("rmem", "wmem", "ecn", "sack", "timestamps", "no_metrics_save", "min_tso_segs", "recovery", "slow_start_after_idle")
INTERESTING = tuple(f"net.ipv4.tcp_{name}" for name in OWN)
"""Sysctls that the result records."""


def run(
    scenario: Mapping[str, Any], name: str | None, seed: int, spin: bool = False, pcap: str | None = None
) -> running.Emulated:
    """Carry the flows of a scenario that was read from the file `name` over its network, by the kernel.

    `pcap` is a folder for what each host sends and receives. Raises ScenarioError that names what the kernel cannot do or the
    machine lacks, RunFailedError if a flow cannot send.
    """
    try:
        plan = planned_here(scenario, name, seed)
        return running.Emulated(*isolated(lambda: inside(scenario, name, seed, plan, running.Clock(spin), pcap)))
    except ScenarioError as error:
        raise relay(error, name) from None


def planned_here(scenario: Mapping[str, Any], name: str | None, seed: int) -> Plan:
    """Return how this kernel carries the flows of a scenario. Raises ScenarioError that names what it cannot do."""
    return planned(scenario, name, seed)


def inside(
    scenario: Mapping[str, Any], name: str | None, seed: int, plan: Plan, clock: running.Clock, pcap: str | None
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Carry the flows in the namespaces of this process."""
    made = hosts.make_hosts(plan.hosts, {**hosts.NETWORKS, "mtu": plan.mtu})
    hosts.mount_privately(made)
    controls = {}
    for host in made:
        with inside_network(host.namespace):
            controls = set_controls(plan)
    pairs = [(host.name, host.addresses.texts) for host in made]
    emulation = Emulation(plan.text, checked_seed(seed), pairs, (FIRST_PORT, len(plan.flows)))
    start_ns = time.monotonic_ns() + BEFORE_START_NS
    addresses = {host.name: str(host.addresses.v4.ip) for host in made}
    processes = [begin(plan, host, addresses, start_ns) for host in made]
    captures = running.capture_files(pcap, plan.hosts)
    network = running.Network(emulation, made, captures, clock, start_ns)
    network.start()
    told = traffic.Told()
    for process in processes:
        told.add(collect(process))
    summary, series, report = network.results()
    for number, error in told.errors.items():
        raise RunFailedError(f"flow {number} could not send: {error}")
    summary = with_applications(with_senders(summary, told.samples, plan, controls), told.facts, plan)
    return summary, {**series, **sender_series(series, told.samples)}, report


def set_controls(plan: Plan) -> dict[str, str]:
    """Set the sysctls of this namespace; return those that matter as they are. Raises OSError."""
    for name, value in plan.controls.items():
        hosts.set_control(name, value)
    files = {name: Path("/proc/sys", *name.split(".")) for name in INTERESTING}
    return {name: " ".join(file.read_text(encoding="ascii").split()) for name, file in files.items() if file.exists()}


def begin(plan: Plan, host: hosts.Host, addresses: Mapping[str, str], start_ns: int) -> int:
    """Begin the traffic of a host in a process of its own; return where its results come."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            os.close(reader)
            enter_network(host.namespace)
            data = pickle.dumps(traffic.Traffic(plan, host.name, addresses, start_ns).run())
        except BaseException as error:
            data = pickle.dumps(RunFailedError(f"{host.name}: {error}"))
        with os.fdopen(writer, "wb") as stream:
            stream.write(data)
        os._exit(0)
    os.close(writer)
    return reader


def collect(reader: int) -> traffic.Told:
    """Return what the process of a host has found. Raises RunFailedError."""
    with os.fdopen(reader, "rb") as stream:
        data = stream.read()
    found = pickle.loads(data) if data else RunFailedError("the process of a host ended before its time")
    if isinstance(found, RunFailedError):
        raise found
    return found  # type: ignore[no-any-return]


def with_senders(
    summary: dict[str, Any], samples: Mapping[int, Sequence[tuple[float, bytes]]], plan: Plan, controls: Mapping[str, str]
) -> dict[str, Any]:
    """Return the summary with what the kernel says of its senders in place of what a simulated one would."""
    for flow in summary["flows"]:
        flow.update(dict.fromkeys(UNKNOWN))
        own = samples.get(flow["flow"], [])
        flow["rto_count"] = tcp_info.total_timeouts(own[-1][1]) if own else None
        if own:
            last = tcp_info.TcpInfo.of(own[-1][1])
            flow["srtt_s"], flow["min_rtt_s"] = finite(last.srtt), finite(last.min_rtt)
            windows = [tcp_info.TcpInfo.of(data).cwnd for at, data in own if at >= plan.warmup_s]
            flow["cwnd_mean_bytes"] = sum(windows) / len(windows) if windows else None
    known = [flow["srtt_s"] for flow in summary["flows"] if flow["srtt_s"] is not None]
    timeouts = [flow["rto_count"] for flow in summary["flows"] if flow["rto_count"] is not None]
    whole = {"srtt_s": sum(known) / len(known) if known else None, "recovery_count": None}
    whole["rto_count"] = sum(timeouts) if len(timeouts) == len(samples) else None
    return {**summary, "engine": engine(), "sysctls": dict(controls), "network": {**summary["network"], **whole}}


def engine() -> str:
    """Return what carries the flows, with its release."""
    return f"linux {platform.release()}"


def finite(value: float) -> float | None:
    """Return a value that is known."""
    return None if math.isnan(value) else value


def sender_series(asked: Mapping[str, Any], samples: Mapping[int, Sequence[tuple[float, bytes]]]) -> dict[str, dict[str, Any]]:
    """Return the series of senders that the scenario asks for, from what the kernel said."""
    rows = sorted((at, number, data) for number, own in samples.items() for at, data in own)
    infos = [tcp_info.TcpInfo.of(data) for *_, data in rows]
    times = np.array([at for at, *_ in rows], dtype=np.float64)
    numbers = np.array([number for _, number, _ in rows], dtype=np.uint32)
    values = {
        name: np.array([getattr(info, name) for info in infos], dtype=np.float64) for name in asked if name in tcp_info.SERIES
    }
    return {name: {"t_s": times, "id": numbers, "value": column} for name, column in values.items()}
