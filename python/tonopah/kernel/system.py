"""System calls that Python lacks, and what to say where the machine refuses them."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tonopah.errors import InputError

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
MS_REC, MS_PRIVATE, MS_BIND, MNT_DETACH = 0x4000, 0x40000, 0x1000, 2
PR_SET_PDEATHSIG = 1
TUN = "/dev/net/tun"
"""The device that makes network devices of programs."""
REMEDY = (
    "run as root or with CAP_SYS_ADMIN and CAP_NET_ADMIN, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1"
)
TUN_REMEDY = "modprobe tun; in a container --device /dev/net/tun"


def call(name: str, *arguments: int | bytes | None) -> None:
    """Call a function of the C library that returns -1 and sets errno. Raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


def unshare(flags: int) -> None:
    """Leave the namespaces of these kinds for new ones (unshare(2)). Raises OSError."""
    call("unshare", flags)


def enter_network(namespace: int) -> None:
    """Enter the network namespace of an open file (setns(2)). Raises OSError."""
    call("setns", namespace, CLONE_NEWNET)


@contextmanager
def inside_network(namespace: int) -> Iterator[None]:
    """Be in a network namespace meanwhile: a process that is begun there stays in it."""
    before = own_network()
    try:
        enter_network(namespace)
        yield
    finally:
        enter_network(before)
        os.close(before)


def own_network() -> int:
    """Return the network namespace of this thread as an open file, which holds it."""
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends, however it ends."""
    call("prctl", PR_SET_PDEATHSIG, 9, 0, 0, 0)


def mount(source: str, target: str, kind: str | None = None, flags: int = 0) -> None:
    """Mount (mount(2)). Raises OSError."""
    call("mount", os.fsencode(source), os.fsencode(target), None if kind is None else kind.encode(), flags, None)


def unmount(target: str) -> None:
    """Let a mount go when nothing uses it any more. Raises OSError."""
    call("umount2", os.fsencode(target), MNT_DETACH)


def own_namespaces() -> None:
    """Get namespaces of mounts and processes; without the right to them, a user namespace first in which this process is root.

    The next child is the first of its namespace of processes, and with it all others in it end. Raises InputError.
    """
    kinds = CLONE_NEWNS | CLONE_NEWPID
    try:
        unshare(kinds)
    except PermissionError:
        user, group = os.getuid(), os.getgid()
        try:
            unshare(kinds | CLONE_NEWUSER)
            for file, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
                Path(f"/proc/self/{file}").write_text(text, encoding="ascii")
        except OSError as error:
            raise InputError("", f"this user may not make network namespaces: {error.strerror}", REMEDY) from None
    except OSError as error:
        raise InputError("", f"this machine makes no namespaces: {error.strerror}", REMEDY) from None


def open_tun() -> int:
    """Open the device of TUN. Raises InputError."""
    try:
        return os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError("", f"{TUN} cannot be opened: {error.strerror}", TUN_REMEDY) from None
