"""Packets of a script beside segments of the endpoint."""

from dataclasses import replace
from typing import Any

from tonopah.packetdrill.syntax import NotApplicableError, ScriptPacket
from tonopah.runs.segment import Segment

UNKNOWN_OPTIONS = {
    "FO": "TCP Fast Open",
    "FOEXP": "TCP Fast Open",
    "md5": "TCP-MD5",
    "mp_capable": "MPTCP",
    "exp": "an experimental option",
    "ECN": "AccECN's option",
}


def letters(flags: str) -> str:
    """Return the flags but PSH and URG in order, AE as the endpoint writes it."""
    if any(letter.isdigit() for letter in flags):
        raise NotApplicableError("the ACE counter of AccECN")
    return "".join(sorted(flags.replace("P", "").replace("U", "").replace("A", "e")))


def same_ecn(expected: str, seen: str) -> str:
    """Return the ECN field of a segment as the script would write it."""
    name = seen.replace("not_ect", "noecn")
    return expected if expected == "ect01" and name in {"ect0", "ect1"} else name


def comparable(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the script as the endpoint would show them."""
    for name in options:
        if name in UNKNOWN_OPTIONS or name not in {"mss", "wscale", "sackOK", "TS", "sack"}:
            raise NotApplicableError(UNKNOWN_OPTIONS.get(name, f"TCP option {name}"))
    return {name: value[1] if name == "TS" else value for name, value in options.items()}


def joined(first: Segment, second: Segment) -> Segment:
    """Return two neighbouring segments as one packet, as segmentation offload would show them."""
    return replace(second, seq=first.seq, len_bytes=first.len_bytes + second.len_bytes)


def packet_text(packet: ScriptPacket) -> str:
    """Return a packet of the script as `Segment` prints one."""
    text = f"{packet.flags or '-'} {packet.seq}:{packet.seq + packet.len_bytes}({packet.len_bytes})"
    if packet.ack is not None:
        text += f" ack {packet.ack}"
    if packet.window is not None:
        text += f" win {packet.window}"
    if packet.options:
        text += " " + " ".join(f"{name} {value}" for name, value in packet.options.items())
    return text
