"""The worlds of the cases: one flow over one link, from the host `left0` to `right0`."""

from typing import Any

from tonopah.scenario.worlds import drop_tail, dumbbell, link

MSS = 1448
PAYLOAD = MSS / 1500
"""Share of the link's rate that is payload."""
ACCESS = {"rate": "100Gbps", "delay": "0ms", "queue": drop_tail(1_000_000)}
"""The links of the hosts, which add nothing."""


def time(seconds: float) -> str:
    """Return a time as a scenario has it, to the nanosecond."""
    return f"{seconds:.9f}s"


def world(
    rate: str = "20Mbps",
    delay: str = "20ms",
    queue: int | dict[str, Any] = 400,
    seconds: float = 20,
    app: dict[str, Any] | None = None,
    tcp: dict[str, Any] | None = None,
    warmup: float = 0,
    **bottleneck: Any,
) -> dict[str, Any]:
    """Return a world; other keys are those of its link."""
    held = link(rate, delay, drop_tail(queue) if isinstance(queue, int) else queue, **bottleneck)
    settings = {"profile": "linux", "mss": f"{MSS}B", "send_buffer": "256MB", "recv_buffer": "256MB", **(tcp or {})}
    flow = {"from": "left0", "to": "right0", **({"app": app} if app else {})}
    made = dumbbell(f"{seconds:g}s", held, settings, access=ACCESS, flow=[flow])
    return {**made, "warmup": f"{warmup:g}s"} if warmup else made


def change(at: float, **what: Any) -> dict[str, Any]:
    """Return a change of the link."""
    return {"at": time(at), **what}


def lost(first: int, step: int = 1, count: int = 1) -> dict[str, Any]:
    """Return the loss of so many segments with data, from one on, each so many further."""
    return {"kind": "nth", "data_packets": [first + step * number for number in range(count)]}


def outage(start: float, end: float) -> dict[str, Any]:
    """Return the loss of all data in a stretch of time; a link that is down holds it back, and a time-out is then undone."""
    during = [[time(start), time(end)]]
    return {"loss": {"kind": "packet", "p": 1.0}, "during": during, "reverse": {"loss": {"kind": "none"}}}


def cbr(rate: str) -> dict[str, Any]:
    """Return an application that writes full segments at a rate."""
    return {"kind": "cbr", "rate": rate, "size": f"{MSS}B"}


def script(*writes: tuple[float, float] | tuple[float, float, float, float]) -> dict[str, Any]:
    """Return an application by its writes: seconds and bytes, and if it is repeated every how many seconds, and until when."""
    rows: list[list[Any]] = []
    for at, size, *repeat in writes:
        again = [{"every": time(repeat[0]), "until": time(repeat[1])}] if repeat else []
        rows.append([time(at), f"{round(size)}B", *again])
    return {"kind": "script", "writes": rows}
