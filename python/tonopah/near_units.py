"""What somebody meant by a quantity whose unit is unknown: "10mbps" is "10Mbps", "10MB/s" is "80Mbps", "30pkts" is "30p"."""

import difflib
import re

from tonopah._core import parse_quantity, split_quantity, units

REFUSED = re.compile(
    r'"(?P<text>[^"\\]+)" is not [^"]+: unknown unit "(?P<unit>[^"\\]+)"; .*?\(units: (?P<units>[^)]*)\)(?P<more>.*)'
)
"""The engine's message (crates/tcp/src/units/grammar.rs): the text, its unit, the units of its kind, what else is allowed."""
OTHER_NAMES = {
    "h": "hr hrs hour hours", "min": "m mins minute minutes", "s": "sec secs second seconds",
    "ms": "msec msecs millisecond milliseconds", "us": "usec usecs microsecond microseconds µs μs",
    "ns": "nsec nsecs nanosecond nanoseconds",
    "Gbps": "g gb gbit gbits gbit/s gb/s gigabit", "Mbps": "m mb mbit mbits mbit/s mb/s megabit",
    "kbps": "k kb kbit kbits kbit/s kb/s", "bps": "b bit bits bit/s b/s",
    "TB": "t", "GB": "g", "MB": "m", "kB": "k", "B": "byte bytes octet octets",
    "p": "pkt pkts packet packets", "bdp": "bdps", "pps": "pkt/s pkts/s packets/s p/s", "/s": "hz 1/s per_s",
    "km": "kilometer kilometers kilometre kilometres", "m": "meter meters metre metres",
    "m/s": "mps ms", "km/h": "kmh kph kmph", "W": "watt watts", "mW": "milliwatt", "J": "joule joules", "V": "volt volts",
}  # fmt: skip
"""Other names of units, in small letters; those of a kind are tried, in the order in which they stand."""
BYTES_PER_SECOND = re.compile(r"([kKMG]?)(?:B/s|Bps|[Bb]ytes?/s)")
"""Rates are bits per second here, in bytes per second elsewhere."""
WITHOUT_UNIT = re.compile(r"[\d._+eE-]*[\d.]")
LONGEST = 12
"""Letters of a unit beyond which nobody meant one."""


def near_quantity(message: str) -> str | None:
    """Return the quantity that was meant where the engine's message says that its unit is unknown; None where none is near."""
    found = REFUSED.search(message)
    if not found or len(found["unit"]) > LONGEST or not (number := WITHOUT_UNIT.match(found["text"].strip())):
        return None
    known = found["units"].split(", ")
    if "packets such as" in found["more"]:
        known = [*known, "p", "bdp"]
    if "bps" in known and (bytes_per_second := BYTES_PER_SECOND.fullmatch(found["unit"])):
        return valid(f"{float(number[0].replace('_', '')) * 8:g}{bytes_per_second[1].replace('K', 'k')}bps", known)
    return next((meant for unit in near_units(found["unit"], known) if (meant := valid(number[0] + unit, known))), None)


def near_units(written: str, known: list[str]) -> list[str]:
    """Return the units that may be meant, the likeliest first: one in other letters, by another name, or nearly spelt so."""
    small = written.lower()
    same = [unit for unit in known if unit.lower() == small]
    named = [unit for unit in known if small in OTHER_NAMES.get(unit, "").split()]
    by_lower = {unit.lower(): unit for unit in reversed(known)}
    alike = [by_lower[one] for one in difflib.get_close_matches(small, by_lower, 1, 0.7)]
    # KB and kB are one unit.
    return list(dict.fromkeys(["kB" if unit == "KB" else unit for unit in [*same, *named, *alike]]))


def valid(text: str, known: list[str]) -> str | None:
    """Return a text if the engine reads it as a quantity with one of the units."""
    split = split_quantity(text)
    if not split or split[1] not in known:
        return None
    for kind, names in units().items():
        if split[1] in names and set(names) & set(known):
            try:
                parse_quantity(text, kind)
            except ValueError:
                continue
            return text
    return None
