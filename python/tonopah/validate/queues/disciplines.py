"""What `tc` was told of a queue, as a scenario writes it. A word that is not translated is an error: nothing is passed over.

Words, units and defaults are those of iproute2 (tc-pie(8), tc-red(8), …, `q_choke.c`) and of Linux 6.1.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from tonopah.errors import InputError
from tonopah.validate.queues.recordings import QueueCase

ETHERNET_BYTES = 14
"""The kernel counts the header of Ethernet with every packet, in the shaper and in every limit and quantum."""
IP_BYTES = 1500
CODEL_TICK_NS = 1024
"""The unit of CoDel's clock in Linux: 5 ms are 4882 of them, so that a wait of exactly 5 ms is above target."""
PIE_GAIN = 16
"""`tc` counts PIE's `alpha` and `beta` in sixteenths per second (tc-pie(8); `pie.c`)."""

Options = dict[str, str]

PIE = "limit target tupdate alpha beta"
PIE_FLAGS = "ecn noecn dq_rate_estimator no_dq_rate_estimator nobytemode"
RED = "limit min max avpkt burst probability bandwidth"
WORDS: dict[str, tuple[str, str]] = {
    "pfifo": ("limit", ""),
    "codel": ("limit target interval ce_threshold", "ecn noecn"),
    "fq_codel": ("limit flows memory_limit quantum target interval ce_threshold", "ecn noecn"),
    "pie": (PIE, PIE_FLAGS),
    "fq_pie": (f"{PIE} flows quantum memory_limit ecn_prob", PIE_FLAGS),
    "red": (RED, "ecn harddrop adaptive adaptative"),
    "choke": (RED, "ecn"),
    "sfq": ("limit perturb quantum depth divisor", ""),
    "fq": ("limit flow_limit quantum initial_quantum refill_delay maxrate low_rate_threshold ce_threshold", "nopacing"),
    "cake": (
        "rtt memlimit",
        "besteffort diffserv3 diffserv4 flowblind srchost dsthost hosts flows dual-srchost dual-dsthost triple-isolate "
        "ack-filter ack-filter-aggressive no-ack-filter ingress egress raw",
    ),
}
"""The words of each discipline that are translated: those that a value follows, and those that stand alone."""

NEEDED = {"pfifo": "limit", "red": "limit avpkt", "choke": "limit"}


def read(case: QueueCase, words: Sequence[str]) -> tuple[Options, set[str]]:
    """Return the options and the flags that `tc` was given. Raises InputError at a word that is not translated."""
    kind, place = case.qdisc.split()[0], f"{case.name}.qdisc"
    valued, alone = (known.split() for known in WORDS[kind])
    options: Options = {}
    flags: set[str] = set()
    left = iter(words)
    for word in left:
        if word in options or word in flags:
            raise InputError(place, f"{word!r} stands twice")
        if word in alone:
            flags.add(word)
        elif word not in valued:
            raise InputError(place, f"{word!r} of {kind} is not translated", f"known: {', '.join([*valued, *alone])}")
        elif (value := next(left, None)) is None:
            raise InputError(place, f"{word!r} has no value")
        else:
            options[word] = value
    if lacking := [word for word in NEEDED.get(kind, "").split() if word not in options]:
        raise InputError(place, f"{kind} needs {' and '.join(lacking)} (what tc takes without depends on the device)")
    if "bandwidth" in options and rate_bps(options["bandwidth"]) != round(case.mbps * 1e6):
        hint = f"an average fades with the rate of the line here, {case.mbps:g}mbit"
        raise InputError(place, f"bandwidth {options['bandwidth']} is not translated", hint)
    return options, flags


def number(text: str, units: dict[str, float]) -> float:
    """Return a number of `tc` with its unit."""
    found = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", text)
    if not found or found[2].lower() not in units:
        raise InputError("", f"{text!r} is not a number of tc", f"units: {', '.join(unit for unit in units if unit)}")
    return float(found[1]) * units[found[2].lower()]


def nanos(text: str) -> int:
    """Return a time in nanoseconds; `tc` takes a number alone for microseconds."""
    return round(number(text, {"": 1e3, "us": 1e3, "usecs": 1e3, "ms": 1e6, "msecs": 1e6, "s": 1e9, "secs": 1e9}))


def span(text: str) -> str:
    """Return a time as a scenario writes it."""
    return f"{nanos(text)}ns"


def count(text: str) -> int:
    """Return a whole number."""
    return round(number(text, {"": 1}))


def octets(text: str) -> int:
    """Return a size in bytes; k, m and g are powers of 1024."""
    return round(number(text, {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30}))


def size(text: str) -> str:
    """Return a size as a scenario writes it."""
    return f"{octets(text)}B"


def rate_bps(text: str) -> int:
    """Return a rate in bits per second."""
    return round(number(text, {"bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "bps": 8, "kbps": 8e3, "mbps": 8e6}))


def rate(text: str) -> str:
    """Return a rate as a scenario writes it."""
    return f"{rate_bps(text)}bps"


def renamed(options: Options, names: dict[str, tuple[str, Callable[[str], Any]]]) -> dict[str, Any]:
    """Return the options that are given under the scenario's names."""
    return {key: value(options[word]) for word, (key, value) in names.items() if word in options}


def packets(text: str) -> str:
    """Return a number of packets."""
    return f"{count(text)}p"


def pfifo(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return drop-tail."""
    return {"kind": "drop_tail", "limit": packets(options["limit"])}


def codel(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return CoDel."""
    made = {"kind": "codel", "ecn": "ecn" in flags and "noecn" not in flags}
    return made | control_law(options) | renamed(options, {"limit": ("limit", packets)})


def fq_codel(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return FQ-CoDel, which sees the hash of the senders here, and marks unless it is told not to."""
    made: dict[str, Any] = {"kind": "fq_codel", "guarded": "all", "hash": "sender", "ecn": "noecn" not in flags}
    names = {
        "limit": ("limit", packets), "flows": ("queues", count), "quantum": ("quantum", size),
        "memory_limit": ("memory_limit", size),
    }  # fmt: skip
    return made | control_law(options) | renamed(options, names)


def control_law(options: Options) -> dict[str, Any]:
    """Return the settings of CoDel as Linux computes it."""
    made = {"mtu": f"{IP_BYTES + ETHERNET_BYTES}B", "inverse_sqrt": "newton"}
    times = {"target": "5ms", "interval": "100ms"} | options
    return made | {key: in_ticks(times[key]) for key in ("target", "interval", "ce_threshold") if key in times}


def in_ticks(time: str) -> str:
    """Return a time as CoDel of Linux counts it: in whole units of 1024 ns."""
    return f"{nanos(time) // CODEL_TICK_NS * CODEL_TICK_NS}ns"


def pie(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return PIE."""
    return {"kind": "pie"} | proportional(options, flags)


def fq_pie(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return FQ-PIE, which sees the hash of the senders here. The kernel counts `memory_limit` and drops nothing for it."""
    made = {"kind": "fq_pie", "hash": "sender"} | proportional(options, flags)
    share = ("mark_p", lambda percent: count(percent) / 100)
    names = {"flows": ("flows", count), "quantum": ("quantum", size), "ecn_prob": share}
    return made | renamed(options, names)


def gain(text: str) -> float:
    """Return a gain of PIE as RFC 8033 has it."""
    return count(text) / PIE_GAIN


def proportional(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return the settings of PIE. The kernel updates at whole ticks, at 1000 Hz."""
    made: dict[str, Any] = {"profile": "linux", "ecn": "ecn" in flags and "noecn" not in flags}
    made |= {"estimator": "departure_rate"} if "dq_rate_estimator" in flags and "no_dq_rate_estimator" not in flags else {}
    names = {
        "limit": ("limit", packets), "target": ("target", span), "alpha": ("alpha", gain), "beta": ("beta", gain),
        "tupdate": ("update", lambda text: f"{math.ceil(nanos(text) / 1e6)}ms"),
    }  # fmt: skip
    return made | renamed(options, names)


def red(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return RED. `tc` gives the weight as a power of two, found from the burst that is to pass.

    `adaptative` changes nothing: `tc` of today passes it in an attribute of its own (TCA_RED_FLAGS), and the kernel looks only at
    the field of old when it starts the timer of the adaptation.
    """
    average = octets(options["avpkt"])
    low, high = thresholds(options, octets)
    burst = count(options["burst"]) if "burst" in options else (2 * low + high) // (3 * average)
    return {
        "kind": "red", "limit": size(options["limit"]), "mean_packet": f"{average}B", "queue_in_bytes": True,
        "min_threshold": low / average, "max_threshold": high / average, "max_p": probability(options),
        "weight": red_weight(low, burst, average), "gentle": False, "wait": False,
        "adaptive": False, "ecn": "ecn" in flags, "hard_drop": "harddrop" in flags, "mark_p": 1.0,
    }  # fmt: skip


def choke(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return CHOKe: RED in packets."""
    average = octets(options.get("avpkt", "1000"))
    low, high = thresholds(options, count)
    burst = count(options["burst"]) if "burst" in options else (2 * low + high) // 3
    return {
        "kind": "choke", "limit": packets(options["limit"]), "mean_packet": f"{average}B", "min_threshold": low,
        "max_threshold": high, "max_p": probability(options),
        "weight": red_weight(low * average, burst, average), "ecn": "ecn" in flags,
    }  # fmt: skip


def probability(options: Options) -> float:
    """Return the drop probability at the upper threshold, and what `tc` takes without one."""
    return number(options.get("probability", "0.02"), {"": 1})


def thresholds(options: Options, unit: Callable[[str], int]) -> tuple[int, int]:
    """Return the thresholds of RED and CHOKe; `tc` takes a quarter of the limit and a third of that."""
    high = unit(options["max"]) if "max" in options else unit(options["limit"]) // 4
    return unit(options["min"]) if "min" in options else high // 3, high


def red_weight(low_bytes: int, burst: int, average_bytes: int) -> float:
    """Return the greatest 2^-n with which `burst` packets at once raise the average from 0 to `low_bytes` at most (tc-red(8))."""
    needed = burst + 1 - low_bytes / average_bytes
    weights = (2.0**-power for power in range(1, 32))
    found = next((w for w in weights if needed <= (1 - (1 - w) ** burst) / w), None)
    if needed < 1 or found is None:
        least = math.ceil(low_bytes / average_bytes)
        raise InputError("", f"burst {burst} is too small for min: tc refuses it", f"at least {least}")
    return found


def sfq(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return SFQ."""
    names = {
        "limit": ("limit", packets), "perturb": ("perturb", lambda text: f"{count(text)}s"), "quantum": ("quantum", size),
        "depth": ("depth", count), "divisor": ("queues", count),
    }  # fmt: skip
    return {"kind": "sfq"} | renamed(options, names)


def fq(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return FQ. It sees forwarded packets only, which have no pace of their own that `nopacing` could ignore."""
    names = {
        "limit": ("limit", packets), "flow_limit": ("flow_limit", count), "quantum": ("quantum", size),
        "initial_quantum": ("initial_quantum", size), "refill_delay": ("refill", span), "maxrate": ("flow_rate", rate),
        "low_rate_threshold": ("low_rate", rate), "ce_threshold": ("ce_threshold", span),
    }  # fmt: skip
    return {"kind": "fq"} | renamed(options, names)


def cake(options: Options, flags: set[str]) -> dict[str, Any]:
    """Return CAKE, but for its rate."""
    made: dict[str, Any] = {"kind": "cake"}
    made |= renamed(options, {"rtt": ("rtt", span), "memlimit": ("memory", size)})
    for key, values in (("isolate", ISOLATION), ("tins", TINS), ("ack_filter", ACK_FILTER)):
        made |= next(({key: value} for word, value in values.items() if word in flags), {})
    return made | ({"ingress": True} if "ingress" in flags else {})


ISOLATION = {
    "flowblind": "none", "srchost": "src", "dsthost": "dst", "hosts": "hosts", "flows": "flows", "dual-srchost": "dual_src",
    "dual-dsthost": "dual_dst", "triple-isolate": "triple",
}  # fmt: skip
"""What CAKE isolates, by the words of `tc`."""
TINS = {"besteffort": "besteffort", "diffserv3": "diffserv3", "diffserv4": "diffserv4"}
ACK_FILTER = {"ack-filter": "on", "ack-filter-aggressive": "aggressive", "no-ack-filter": "off"}
DISCIPLINES: dict[str, Callable[[Options, set[str]], dict[str, Any]]] = {
    "pfifo": pfifo, "codel": codel, "fq_codel": fq_codel, "pie": pie, "fq_pie": fq_pie, "red": red, "choke": choke, "sfq": sfq,
    "fq": fq, "cake": cake,
}  # fmt: skip
"""How each discipline of `tc` is written in a scenario."""
