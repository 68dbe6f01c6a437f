"""The hosts of a scenario as network namespaces, and commands on them."""

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tonopah.kernel import device
from tonopah.kernel.system import (
    CLONE_NEWNET,
    MS_BIND,
    MS_PRIVATE,
    MS_REC,
    inside_network,
    mount,
    own_network,
    unmount,
    unshare,
)

NETWORKS = {"network": "10.77.0.0/16", "network6": "fd77::/64"}
"""Of hosts for which no scenario says it."""
LONGEST_WAIT_S = 5.0
"""For a server to listen; it is not waited for any longer."""
LISTENS = "0A"
"""State of a socket in /proc/net/tcp."""


@dataclass(frozen=True)
class Host:
    """A host: its node, its addresses, its namespace and its device as open files."""

    name: str
    addresses: device.Addresses
    namespace: int
    device: int


def make_hosts(names: Sequence[str], emulate: Mapping[str, object]) -> list[Host]:
    """Make the hosts of an emulation, each in a namespace of its own; stay in the last, since the way back takes rights.

    Raises InputError, OSError.
    """
    found = []
    for index, name in enumerate(names):
        own = device.addresses(index, str(emulate["network"]), str(emulate["network6"]))
        unshare(CLONE_NEWNET)
        tun = device.make(own, int(str(emulate["mtu"])), bool(emulate.get("offload", False)))
        found.append(Host(name, own, own_network(), tun))
    return found


def mount_privately(hosts: Sequence[Host]) -> None:
    """Mount what programs see in a namespace of mounts of their own: their processes, and a file of the names of hosts."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    # A container may keep its /proc from being mounted again; programs then see the processes of all.
    with suppress(OSError):
        mount("proc", "/proc", "proc")
    # A file system of its own that no path leads to, but for the one file.
    mount("tmpfs", "/tmp", "tmpfs")
    file = Path("/tmp/hosts")
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{address} {host.name}" for host in hosts for address in host.addresses.texts]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with suppress(OSError):
        mount(str(file), "/etc/hosts", None, MS_BIND)
    unmount("/tmp")


def environment(hosts: Sequence[Host]) -> dict[str, str]:
    """Return the environment of programs: `TONOPAH_HOST_name` and `TONOPAH_HOST6_name` are addresses."""
    named = [(re.sub(r"\W", "_", host.name, flags=re.ASCII), *host.addresses.texts) for host in hosts]
    own = {f"TONOPAH_HOST_{name}": v4 for name, v4, _ in named} | {f"TONOPAH_HOST6_{name}": v6 for name, _, v6 in named}
    return {**os.environ, **own}


def start(host: Host, command: Sequence[str] | str, known: Mapping[str, str], **streams: int | None) -> subprocess.Popen[bytes]:
    """Begin a command on a host. Raises OSError."""
    with inside_network(host.namespace):
        return subprocess.Popen(command, shell=isinstance(command, str), env=known, **streams)  # type: ignore[call-overload]


def await_listener(host: Host, server: subprocess.Popen[bytes]) -> None:
    """Wait until somebody on a host listens, at most some seconds, or until its server has ended."""
    with inside_network(host.namespace):
        until = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < until and server.poll() is None and not listens():
            time.sleep(0.02)


def listens() -> bool:
    """Tell whether somebody in this namespace listens for connections or datagrams."""
    for name in ("tcp", "tcp6", "udp", "udp6"):
        with suppress(OSError):
            lines = Path(f"/proc/thread-self/net/{name}").read_text(encoding="ascii").splitlines()[1:]
            if any(name.startswith("udp") or line.split()[3] == LISTENS for line in lines):
                return True
    return False


def set_control(name: str, value: str) -> None:
    """Set a sysctl of this namespace. Raises OSError."""
    Path("/proc/sys", *name.split(".")).write_text(value, encoding="ascii")
