"""Numbers and values of a report as text."""

import base64
import math
import re
from typing import Any

from markupsafe import Markup

from tonopah.metrics import show
from tonopah.spec.schema import Sweep
from tonopah.stats import Estimate
from tonopah.units import numbers


def plus_minus(found: Estimate) -> str:
    """Return value ± half-width with the digits that the interval justifies; the wider side of an asymmetric interval."""
    if math.isnan(found.low):
        return show(found.value)
    if not has_width(found):
        return f"{show(found.value, 5)} ± 0"
    digits = decimals(found)
    return f"{found.value:,.{digits}f} ± {found.half_width:,.{digits}f}"


def has_width(found: Estimate) -> bool:
    """Tell whether an interval has a width above zero, and an end."""
    return found.half_width > 0 and math.isfinite(found.half_width)


def decimals(found: Estimate) -> int:
    """Return the decimals that an interval justifies: two significant digits of the half-width, since the rest is noise."""
    return min(6, max(0, 1 - math.floor(math.log10(found.half_width))))


def difference_text(change: Estimate | None) -> str:
    """Return a difference in percent with its interval; empty if it was not measured or is one to next to nothing."""
    if change is None or math.isnan(change.value) or change.unbounded:
        return ""
    interval = f" [{change.low:+.2f}, {change.high:+.2f}]" if not math.isnan(change.low) else ""
    return f"{change.value:+.2f} %{interval}"


def value_text(value: Any) -> str:
    """Return a resolved value for people; lists of nodes, links and flows are counted."""
    if isinstance(value, list):
        entries = all(isinstance(entry, dict) for entry in value)
        return (
            ""
            if not value
            else f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
            if entries
            else ", ".join(str(v) for v in value)
        )
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def sweep_values(sweep: Sweep) -> str:
    """Return the values of a sweep in words."""
    parts = []
    for values in sweep.vary.values():
        found = numbers(values)
        parts.append(", ".join(f"{v:g}" for v in found[0]) + f" {found[1]}".rstrip() if found else ", ".join(map(str, values)))
    return " × ".join(parts)


def interval_text(effect: Estimate, unit: str) -> str:
    """Return effect and interval for the table of claims, with the digits that the interval justifies."""
    if math.isnan(effect.value):
        return "–"
    if math.isnan(effect.low):
        return f"{show(effect.value)} {unit}".rstrip()
    if not has_width(effect):
        return f"{show(effect.value)} [{show(effect.low)}, {show(effect.high)}] {unit}".rstrip()
    digits = decimals(effect)
    # More only to distinguish a bound from zero.
    while digits < 6 and any(bound and not round(bound, digits) for bound in (effect.low, effect.high)):
        digits += 1
    value, low, high = (f"{round(bound, digits) + 0.0:,.{digits}f}" for bound in (effect.value, effect.low, effect.high))
    return f"{value} [{low}, {high}] {unit}".rstrip()


def p_text(p: float) -> str:
    """Return a p value for people."""
    return "–" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def drawing(svg: str, description: str) -> Markup:
    """Return a picture for a page: SVG as a part of it if it takes its colours from the page, else as an image.

    An image keeps its ids to itself; a part of the page must have none.
    """
    if "currentColor" in svg and not re.search(r"\sid=", svg):
        inner = svg[svg.index("<svg") :]
        return Markup(inner.replace("<svg", Markup('<svg role="img" aria-label="{}"').format(description), 1))
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    return Markup('<img src="{}" alt="{}">').format(source, description)
