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
    "ECN": "AccECN's option in another form",
}


def letters(flags: str) -> str:
    """Return the flags but PSH and URG in order, AE as the endpoint writes it."""
    return "".join(sorted(flags.replace("P", "").replace("U", "").replace("A", "e")))


def same_ecn(expected: str, seen: str) -> str:
    """Return the ECN field of a segment as the script would write it."""
    name = seen.replace("not_ect", "noecn")
    return expected if expected == "ect01" and name in {"ect0", "ect1"} else name


def comparable(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the script as the endpoint would show them."""
    for name in options:
        if name in UNKNOWN_OPTIONS or name not in {"mss", "wscale", "sackOK", "TS", "sack", "accecn"}:
            raise NotApplicableError(UNKNOWN_OPTIONS.get(name, f"TCP option {name}"))
    return {name: value[1] if name == "TS" else value for name, value in options.items()}


def ecn_counters(segment: Segment) -> dict[str, int] | None:
    """Return the counters of AccECN's option as they are on the wire: those of ECT begin at 1, and have 24 bits (RFC 9768)."""
    if segment.ecn_bytes is None:
        return None
    ect0, ce, ect1 = segment.ecn_bytes
    return {"e0b": (ect0 + 1) % (1 << 24), "ceb": ce % (1 << 24), "e1b": (ect1 + 1) % (1 << 24)}


def ecn_bytes(options: dict[str, Any]) -> tuple[int, int, int] | None:
    """Return AccECN's option of a script's packet as a segment has it."""
    counts = options.get("accecn")
    if counts is None:
        return None
    if len(counts) < 3:
        raise NotApplicableError("AccECN's option with fewer than three counters arrives")
    return (counts["e0b"] - 1) % (1 << 32), counts["ceb"] % (1 << 32), (counts["e1b"] - 1) % (1 << 32)


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
