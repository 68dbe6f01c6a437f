"""A network device of a host: a TUN device with addresses, made in the network namespace of the caller.

It is set by the calls of netdevice(7). The networks are on link, so that the kernel makes the routes itself.
"""

import fcntl
import ipaddress
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tonopah.errors import InputError
from tonopah.kernel.system import REMEDY, open_tun

TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
CHECKSUMS_AND_SEGMENTS = 1 | 2 | 4
"""TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6."""
VNET_HEADER = 10
"""Bytes that stand before each packet then (virtio_net_hdr)."""
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK = 0x8913, 0x8914, 0x8916, 0x891C
SIOCSIFMTU, SIOCGIFINDEX, SIOCSIFTXQLEN = 0x8922, 0x8933, 0x8943
IFF_UP = 1
NAME = "net0"
QUEUE_PACKETS = 20_000
"""Packets that the device holds until they are read: none is lost before our queues."""


@dataclass(frozen=True)
class Addresses:
    """The addresses of a host, with their networks."""

    v4: ipaddress.IPv4Interface
    v6: ipaddress.IPv6Interface

    @property
    def texts(self) -> list[str]:
        """The addresses alone."""
        return [str(self.v4.ip), str(self.v6.ip)]


def addresses(index: int, network: str, network6: str) -> Addresses:
    """Return the addresses of the host of this index. Raises InputError."""
    v4, v6 = ipaddress.IPv4Interface(network).network, ipaddress.IPv6Interface(network6).network
    return Addresses(
        ipaddress.IPv4Interface(f"{v4[index + 1]}/{v4.prefixlen}"), ipaddress.IPv6Interface(f"{v6[index + 1]}/{v6.prefixlen}")
    )


def request(name: str, rest: bytes) -> bytes:
    """Return a `struct ifreq`."""
    return struct.pack("16s24s", name.encode(), rest)


def address_request(address: ipaddress.IPv4Address) -> bytes:
    """Return a `struct ifreq` with an address."""
    return request(NAME, struct.pack("=HH4s", socket.AF_INET, 0, address.packed))


def bring_up(control: socket.socket, name: str) -> None:
    """Let a device begin to work."""
    flags = struct.unpack_from("=H", fcntl.ioctl(control, SIOCGIFFLAGS, request(name, b"")), 16)[0]
    fcntl.ioctl(control, SIOCSIFFLAGS, request(name, struct.pack("=H", flags | IFF_UP)))


def make(own: Addresses, mtu: int, offload: bool) -> int:
    """Make the device of a host here, with loopback beside it; return it as an open file. Raises InputError, OSError."""
    device = open_tun()
    flags = IFF_TUN | IFF_NO_PI | (IFF_VNET_HDR if offload else 0)
    try:
        fcntl.ioctl(device, TUNSETIFF, request(NAME, struct.pack("=H", flags)))
    except PermissionError as error:
        raise InputError("", f"this user may not make network devices: {error.strerror}", REMEDY) from None
    if offload:
        fcntl.ioctl(device, TUNSETOFFLOAD, CHECKSUMS_AND_SEGMENTS)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        bring_up(control, "lo")
        fcntl.ioctl(control, SIOCSIFMTU, request(NAME, struct.pack("=i", mtu)))
        # The right to it is that of the machine, not of a user namespace: the device then holds 500 packets.
        with suppress(PermissionError):
            fcntl.ioctl(control, SIOCSIFTXQLEN, request(NAME, struct.pack("=i", QUEUE_PACKETS)))
        fcntl.ioctl(control, SIOCSIFADDR, address_request(own.v4.ip))
        fcntl.ioctl(control, SIOCSIFNETMASK, address_request(own.v4.netmask))
        bring_up(control, NAME)
        index = struct.unpack_from("=i", fcntl.ioctl(control, SIOCGIFINDEX, request(NAME, b"")), 16)[0]
    add_v6(own.v6, index)
    return device


def add_v6(own: ipaddress.IPv6Interface, index: int) -> None:
    """Give the device an address of IPv6, where the machine has that."""
    with suppress(OSError):
        Path(f"/proc/sys/net/ipv6/conf/{NAME}/disable_ipv6").write_text("0", encoding="ascii")
    with suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFADDR, struct.pack("=16sIi", own.ip.packed, own.network.prefixlen, index))


def dropped_before_us() -> int:
    """Return how many packets the device of this namespace lost before they could be read."""
    for line in Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == NAME:
            return int(counts.split()[11])
    return 0
