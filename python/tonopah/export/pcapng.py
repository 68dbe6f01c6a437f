"""A run as captures for Wireshark and tshark: a pcapng file for each host, for each link, or for each radio channel.

The format is that of draft-ietf-opsawg-pcapng: times in nanoseconds of the run; packets from the IPv4 header on, frames of a
channel from the radiotap or MAC header on. The engine writes the headers, with options and checksums; payload is not stored,
and its bytes are zeros, but for that of transports in libraries. Their keys are in every file, so that Wireshark decrypts.
"""

import json
import re
import struct
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from tonopah._core import capture, engine_version
from tonopah.errors import ScenarioError, relay
from tonopah.runs.simulation import RunResult, checked_seed, engine_form
from tonopah.writing import replace_file

SECTION, INTERFACE, PACKET, SECRETS = 0x0A0D0D0A, 1, 6, 10
TLS_KEYS = 0x544C534B
"""Kind of secrets: lines of SSLKEYLOGFILE."""
BYTE_ORDER = 0x1A2B3C4D
NAME, USER_APPLICATION, DESCRIPTION, SPEED, RESOLUTION, FLAGS = 2, 4, 3, 8, 9, 2
NANOSECONDS = 9
INBOUND, OUTBOUND = 1, 2
SOURCE_ADDRESS = slice(12, 16)
"""In an IPv4 header."""

Point = Literal["hosts", "links", "channels"]
POINTS: tuple[Point, ...] = get_args(Point)
"""Where packets are seen."""


@dataclass
class Interface:
    """What packets were seen on."""

    name: str
    description: str
    speed_bps: int = 0
    """0 if it has none."""
    address: bytes = b""
    """Packets from it are outbound; unknown if empty."""


@dataclass
class Capture:
    """The content of a file: interfaces with their link types, and the blocks of their packets."""

    name: str
    interfaces: list[tuple[Interface, int]] = field(default_factory=list)
    packets: list[bytes] = field(default_factory=list)


def run(scenario: dict[str, Any], name: str | None, seed: int, folder: Path, at: Point = "hosts") -> RunResult:
    """Run a scenario, write what is seen at its hosts, links or channels into files in `folder`, and return its result.

    Raises ScenarioError when the scenario cannot be run or has none of them, OSError when a file cannot be written.
    """
    with tempfile.TemporaryDirectory() as logs:
        try:
            summary, series, seen = engine_form(scenario, name).call(capture, checked_seed(seed), at=at, logs=(logs, ["keys"]))
        except ScenarioError as error:
            raise relay(error, name) from None
        secrets = b"".join(file.read_bytes() for file in sorted(Path(logs).glob("*.keys")))
    result = RunResult(json.loads(summary), series)
    points = {"hosts": hosts, "links": links, "channels": channels}[at](result.summary)
    folder.mkdir(parents=True, exist_ok=True)
    for made in captures(seen, points):
        replace_file(folder / f"{made.name}.pcapng", file_bytes(made, secrets))
    return result


def hosts(summary: Mapping[str, Any]) -> dict[int, tuple[str, Interface]]:
    """Return for each node the file of its packets and its interface. Node n has the address 10.0.0.0 + n + 1."""
    found = {}
    for index, node in enumerate(summary["nodes"]):
        address = struct.pack(">I", (10 << 24) + index + 1)
        found[index] = node["node"], Interface(node["node"], "sent and received by the transport", address=address)
    return found


def links(summary: Mapping[str, Any]) -> dict[int, tuple[str, Interface]]:
    """Return for each direction of a link the file of the link and its interface."""
    found = {}
    for index, link in enumerate(summary["links"]):
        ends = link["from"], link["to"]
        speed = round(link["rate_bps"] or 0)
        found[index] = ("-".join(sorted(ends)), Interface(" > ".join(ends), "as the link begins to transmit", speed))
    return found


def channels(summary: Mapping[str, Any]) -> dict[int, tuple[str, Interface]]:
    """Return for each radio channel its file and its interface."""
    names = {channel["channel"]: f"channel{channel['channel']}" for channel in summary["channels"]}
    return {index: (name, Interface(name, "every frame, as its transmission begins")) for index, name in names.items()}


def captures(seen: str, points: Mapping[int, tuple[str, Interface]]) -> Iterable[Capture]:
    """Return the captures with packets, by the rows of the engine: point, link type, time, size, headers."""
    made: dict[str, Capture] = {}
    places: dict[int, tuple[Capture, int, bytes]] = {}
    for row in seen.splitlines()[1:]:
        point, link_type, t_ns, size, headers = row.split(",")
        if int(point) not in places:
            name, interface = points[int(point)]
            capture_of = made.setdefault(name, Capture(file_name(name, made)))
            capture_of.interfaces.append((interface, int(link_type)))
            places[int(point)] = capture_of, len(capture_of.interfaces) - 1, interface.address
        to, number, address = places[int(point)]
        to.packets.append(packet_block(number, int(t_ns), int(size), bytes.fromhex(headers), address))
    return made.values()


def file_name(name: str, taken: Mapping[str, Capture]) -> str:
    """Return the name of a file for something with this name, which may contain any letters."""
    plain = re.sub(r"[^\w.-]", "_", name)[:200]
    return plain if all(plain != other.name for other in taken.values()) else f"{plain}-{len(taken)}"


def file_bytes(made: Capture, secrets: bytes = b"") -> bytes:
    """Return a capture as a pcapng file of one section, with the keys of its connections."""
    application = option(USER_APPLICATION, f"Tonopah {engine_version()}".encode())
    section = block(SECTION, struct.pack("<IHHq", BYTE_ORDER, 1, 0, -1) + application + option(0, b""))
    interfaces = b"".join(interface_block(*interface) for interface in made.interfaces)
    keys = block(SECRETS, struct.pack("<II", TLS_KEYS, len(secrets)) + padded(secrets)) if secrets else b""
    return section + interfaces + keys + b"".join(made.packets)


def interface_block(interface: Interface, link_type: int) -> bytes:
    """Return the description of an interface."""
    options = option(NAME, interface.name.encode()) + option(DESCRIPTION, interface.description.encode())
    if interface.speed_bps:
        options += option(SPEED, struct.pack("<Q", interface.speed_bps))
    options += option(RESOLUTION, bytes([NANOSECONDS])) + option(0, b"")
    return block(INTERFACE, struct.pack("<HHI", link_type, 0, 0) + options)


def packet_block(interface: int, t_ns: int, size: int, headers: bytes, address: bytes) -> bytes:
    """Return a packet of which the headers were captured."""
    head = struct.pack("<IIIII", interface, t_ns >> 32, t_ns & 0xFFFFFFFF, len(headers), size)
    options = b""
    if address:
        direction = OUTBOUND if headers[SOURCE_ADDRESS] == address else INBOUND
        options = option(FLAGS, struct.pack("<I", direction)) + option(0, b"")
    return block(PACKET, head + padded(headers) + options)


def option(code: int, value: bytes) -> bytes:
    """Return an option of a block; code 0 ends them."""
    return struct.pack("<HH", code, len(value)) + padded(value)


def block(kind: int, body: bytes) -> bytes:
    """Return a block, which has its length at both ends."""
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def padded(value: bytes) -> bytes:
    """Return bytes with zeros up to a multiple of four."""
    return value + bytes(-len(value) % 4)
