"""The segments that an endpoint driven by hand receives and sends."""

from dataclasses import dataclass, fields

from tonopah._core import check_segment


@dataclass(frozen=True, repr=False)
class Segment:
    """A TCP segment with the ECN field of its packet (RFC 9293, 7323, 2018, 3168).

    Parameters
    ----------
    seq, ack : int
        Sequence and acknowledgment number.
    len_bytes : int
        Length of the payload.
    flags : str
        The letters S (SYN), F (FIN), R (RST), P (PSH), E (ECE), W (CWR), e (AE) and . (ACK), such as "S.".
    window_bytes : int
        Receive window in bytes, scaling applied.
    sack : tuple of (int, int)
        Up to four SACK blocks `(start, end)`.
    timestamps_ms : (int, int), optional
        TSval and TSecr in ms.
    ecn : str
        "not_ect", "ect0", "ect1" or "ce".
    ecn_bytes : (int, int, int), optional
        Counters of the AccECN option: ECT(0), CE and ECT(1), in bytes.
    mss_bytes, window_scale : int, optional
        Options of a SYN: the largest segment in bytes, and the shift count of the window.
    sack_permitted : bool
        Option of a SYN.

    Raises
    ------
    ScenarioError
        A field has an impossible value; the error names the field and what is allowed.
    """

    seq: int = 0
    ack: int = 0
    len_bytes: int = 0
    flags: str = "."
    window_bytes: int = 65_535
    sack: tuple[tuple[int, int], ...] = ()
    timestamps_ms: tuple[int, int] | None = None
    ecn: str = "not_ect"
    ecn_bytes: tuple[int, int, int] | None = None
    mss_bytes: int | None = None
    window_scale: int | None = None
    sack_permitted: bool = False

    def __post_init__(self) -> None:
        check_segment(self)

    def __repr__(self) -> str:
        """Return the constructor call, with the fields that differ from their defaults."""
        values = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        return f"Segment({', '.join(f'{name}={value!r}' for name, value, default in values if value != default)})"

    def __str__(self) -> str:
        """Return the segment in the notation of tcpdump: flags, first:last(payload), acknowledgment, window, options."""
        words = [self.flags or "none", f"{self.seq}:{self.seq + self.len_bytes}({self.len_bytes})"]
        if "." in self.flags:
            words.append(f"ack {self.ack}")
        words.append(f"win {self.window_bytes}")
        if self.sack:
            words.append("sack " + " ".join(f"{start}:{end}" for start, end in self.sack))
        for field in fields(self)[6:]:
            value = getattr(self, field.name)
            if value != field.default:
                words.append(f"{field.name} {value}")
        return " ".join(words)
