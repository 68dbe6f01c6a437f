"""The classes of failure: when a subject fails beside a reference in one world with one seed, and by how much.

classes.toml says the same in words; its thresholds are those used here. A margin is the least, over the conditions of a class, of
log2(left side / right side): it fails where the margin is 0 or above.
"""

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from tonopah._core import parse_quantity
from tonopah.breaking.observed import Observed
from tonopah.breaking.scenario import ACCESS_S, PAYLOAD, WARMUP_S, Setup

TABLE: dict[str, dict[str, Any]] = tomllib.loads(resources.files("tonopah.breaking").joinpath("classes.toml").read_text())
LIMIT: dict[str, float] = TABLE.pop("threshold")
NAMES = tuple(TABLE)
NO = -math.inf
LEAST_BPS = 100e3
"""Below so much goodput of a reference nothing can be said of a subject."""
LEAST_LOSS = 0.005
UNSTEADY_WORLDS = ("event", "service", "cross", "harq", "late")
"""Axes that make any goodput unsteady."""
CHATTY = ("cbr", "on_off")
HARM_REFERENCES: tuple[Mapping[str, str], ...] = (
    {"name": "reno", "profile": "rfc"}, {"name": "cubic", "profile": "rfc"}, {"name": "cubic", "profile": "linux"},
)  # fmt: skip
"""With the rival's own algorithm, the envelope of standards: what none of them does to a rival is harm. None of them harms."""

Margin = Callable[[Setup, Observed, Observed], float]
Possible = Callable[[Setup, Observed], bool]


@dataclass(frozen=True)
class Class:
    """A class of failure."""

    name: str
    margin: Margin
    """Of subject and reference."""
    possible: Possible
    """Whether the subject could fail beside a reference that does all that line, path and application allow."""


def log2(left: float, right: float) -> float:
    """Return by how many doublings one side exceeds the other; nothing exceeds nothing."""
    if left <= 0:
        return NO
    return math.inf if right <= 0 else math.log2(left / right)


def excess(*pairs: tuple[float, float]) -> float:
    """Return the margin of conditions, each of two sides."""
    return min(log2(left, right) for left, right in pairs)


def capacity_bps(setup: Setup) -> float:
    """Return the most payload that any sender can get on average after the warm-up."""
    line = setup.line
    rate = float(parse_quantity(line["rate"], "rate"))
    length_s = setup.duration_s - WARMUP_S
    now, since, total = rate, WARMUP_S, 0.0
    for change in line.get("changes", []):
        at_s = float(parse_quantity(change["at"], "duration"))
        total += now * (at_s - since)
        since, now = at_s, float(parse_quantity(change["rate"], "rate")) if "rate" in change else now
    mean = (total + now * (setup.duration_s - since)) / length_s
    service = line.get("service", {})
    if service.get("kind") == "slots":
        mean = max(mean, *(float(parse_quantity(one, "rate")) for one in service["rate"]))
    if service.get("kind") == "boost":
        held = 8 * float(parse_quantity(service["bucket"], "size")) / length_s
        mean = max(mean, float(parse_quantity(service["sustained"], "rate")) + held)
    queue = line.get("queue", {})
    if isinstance(queue, Mapping) and queue.get("kind") in ("policer", "tbf"):
        held = 8 * float(parse_quantity(queue["burst"], "size")) / length_s
        mean = min(mean, float(parse_quantity(queue["rate"], "rate")) + held)
    if setup.app in CHATTY:
        mean = min(mean, float(parse_quantity(setup.values["app"]["rate"], "rate")))
    return PAYLOAD * mean


def least_delay_s(setup: Setup) -> float:
    """Return the least one-way delay of the path at any time."""
    delays = [setup.line["delay"], *(one["delay"] for one in setup.line.get("changes", []) if "delay" in one)]
    return min(float(parse_quantity(one, "duration")) for one in delays) + 2 * ACCESS_S


def least_time_s(setup: Setup) -> float:
    """Return the least time that the application of the subject can wait for what it asks for."""
    one_way_s = least_delay_s(setup)
    if setup.app in CHATTY:
        return one_way_s
    app = setup.values["app"]
    size = float(parse_quantity(app["size" if setup.app == "transfer" else "response"], "size"))
    changes = setup.line.get("changes", [])
    rates = [setup.line["rate"], *(one["rate"] for one in changes if "rate" in one)]
    fastest = max(float(parse_quantity(one, "rate")) for one in rates)
    service = setup.line.get("service", {})
    fastest = max([fastest, *(float(parse_quantity(one, "rate")) for one in service.get("rate", []))])
    if "peak" in service:
        fastest = max(fastest, float(parse_quantity(service["peak"], "rate")))
    return 2 * one_way_s + 8 * size / fastest


def error(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Error: its run ends with an exception, or does not end where that of the reference does."""
    return math.inf if subject.error or (subject.endless and not reference.failed) else NO


def underuse(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Underuse: it has half of what the reference has, or less."""
    if setup.rivals or setup.app not in ("bulk", *CHATTY):
        return NO
    mine, theirs = subject.mean(setup.subjects), reference.mean(setup.subjects)
    if theirs <= LEAST_BPS:
        return NO
    floor = LIMIT["lost"] * min(setup.payload_bps, 2 * theirs)
    return excess((LIMIT["half"] * theirs, mine), (theirs - mine, floor))


def could_underuse(setup: Setup, subject: Observed) -> bool:
    """Tell whether it has at most half of what the line carries."""
    return not setup.rivals and setup.app in ("bulk", *CHATTY) and subject.mean(setup.subjects) <= 0.5 * capacity_bps(setup)


def queued_s(setup: Setup, run: Observed, least_s: float) -> float:
    """Return the greatest median of the queueing delay of the subject's flows."""
    found = [run.value(flow, "delay_p50_s") for flow in setup.subjects]
    return max((one for one in found if not math.isnan(one)), default=least_s) - least_s


def delay(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Delay: its packets wait longer, and it has no more of it."""
    if setup.rivals or setup.app != "bulk" or subject.mean(setup.subjects) > 1.1 * reference.mean(setup.subjects):
        return NO
    known = [run.value(flow, "delay_min_s") for run in (subject, reference) for flow in range(len(run.flows))]
    least_s = min((one for one in known if not math.isnan(one)), default=0.0)
    mine, theirs = queued_s(setup, subject, least_s), queued_s(setup, reference, least_s)
    return excess((mine, LIMIT["times"] * max(theirs, 0.002)), (mine - theirs, LIMIT["wait_s"]))


def could_delay(setup: Setup, subject: Observed) -> bool:
    """Tell whether its packets wait at all."""
    return not setup.rivals and setup.app == "bulk" and queued_s(setup, subject, least_delay_s(setup)) >= LIMIT["wait_s"]


def loss(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Loss: more than the reference, and more than may be lost."""
    mine, theirs = subject.loss(setup.subjects), reference.loss(setup.subjects)
    if mine < LEAST_LOSS:
        return NO
    return excess((mine, LIMIT["loss"]), (mine, LIMIT["times"] * max(theirs, 0.001)))


def could_loss(setup: Setup, subject: Observed) -> bool:
    """Tell whether it loses more than may be lost."""
    return subject.loss(setup.subjects) >= LIMIT["loss"]


def slow(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Slow: its application waits longer."""
    if setup.rivals or setup.app == "bulk":
        return NO
    mine, theirs = subject.time_s(setup), reference.time_s(setup)
    return excess((mine, LIMIT["slow"] * theirs), (mine - theirs, LIMIT["slow_s"]))


def could_slow(setup: Setup, subject: Observed) -> bool:
    """Tell whether its application waits longer than it has to."""
    if setup.rivals or setup.app == "bulk":
        return False
    mine, least_s = subject.time_s(setup), least_time_s(setup)
    return mine >= LIMIT["slow"] * least_s and mine - least_s >= LIMIT["slow_s"]


def unfinished(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Unfinished: its transfer does not end."""
    if setup.app != "transfer" or setup.rivals or subject.ended(setup) or not reference.ended(setup):
        return NO
    return excess((subject.time_s(setup), LIMIT["unfinished"] * reference.time_s(setup)))


def could_unfinished(setup: Setup, subject: Observed) -> bool:
    """Tell whether its transfer did not end."""
    return setup.app == "transfer" and not setup.rivals and not subject.ended(setup)


def recovery(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Recovery: longer after a change of the line, though it was no worse before."""
    if setup.app != "bulk" or setup.rivals or "event" not in setup.values:
        return NO
    level = reference.level(setup)
    if level <= LEAST_BPS or subject.before_bps(setup) < LIMIT["half"] * reference.before_bps(setup):
        return NO
    mine, theirs = (run.recovery_s(setup, LIMIT["level"] * level) for run in (subject, reference))
    return excess((mine, LIMIT["times"] * max(theirs, 0.1)), (mine - theirs, LIMIT["recover_s"]))


def could_recovery(setup: Setup, subject: Observed) -> bool:
    """Tell whether it needs longer than it may, if a reference had whatever the line carries."""
    if setup.app != "bulk" or setup.rivals or "event" not in setup.values:
        return False
    rates = [setup.line["rate"], *(one["rate"] for one in setup.line["changes"] if "rate" in one)]
    most = PAYLOAD * max(float(parse_quantity(one, "rate")) for one in rates)
    return subject.recovery_s(setup, LIMIT["level"] * most) >= LIMIT["recover_s"]


def stall(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Stall: nothing arrives for seconds."""
    if setup.app != "bulk" or setup.rivals:
        return NO
    mine, theirs = subject.silence_s(setup), reference.silence_s(setup)
    return excess((mine, LIMIT["silent_s"]), (mine, LIMIT["times"] * max(theirs, 0.2)))


def could_stall(setup: Setup, subject: Observed) -> bool:
    """Tell whether nothing arrives for seconds."""
    return setup.app == "bulk" and not setup.rivals and subject.silence_s(setup) >= LIMIT["silent_s"]


def steady(setup: Setup) -> bool:
    """Tell whether a goodput could be steady."""
    return setup.app == "bulk" and not setup.rivals and not any(axis in setup.values for axis in UNSTEADY_WORLDS)


def unsteady(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Unsteady: its goodput varies from second to second."""
    if not steady(setup) or subject.mean(setup.subjects) <= 0.3 * reference.mean(setup.subjects):
        return NO
    mine, theirs = subject.variation(setup), reference.variation(setup)
    return excess((mine, LIMIT["variation"]), (mine, LIMIT["times"] * max(theirs, 0.02)))


def could_unsteady(setup: Setup, subject: Observed) -> bool:
    """Tell whether its goodput varies."""
    return steady(setup) and subject.variation(setup) >= LIMIT["variation"]


def hungry(subject_s: float, reference_s: float) -> float:
    """Return the margin of two times of starvation."""
    return excess((subject_s, LIMIT["starve_s"]), (subject_s, LIMIT["times"] * max(reference_s, 0.3)))


def starvation(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Starvation: one of its flows gets next to nothing beside the others."""
    if len(setup.subjects) < 2 or setup.rivals:
        return NO
    share = LIMIT["starve"] * reference.mean(setup.subjects) / len(setup.subjects)
    return hungry(*(run.starved_s(setup.subjects, share) for run in (subject, reference)))


def could_starvation(setup: Setup, subject: Observed) -> bool:
    """Tell whether one of its flows is far below its share of the line."""
    share = LIMIT["starve"] * capacity_bps(setup) / len(setup.subjects)
    return len(setup.subjects) > 1 and not setup.rivals and subject.starved_s(setup.subjects, share) >= LIMIT["starve_s"]


def yields(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Tell by how much it yields: next to nothing beside rivals."""
    if not setup.rivals:
        return NO
    share = LIMIT["starve"] * reference.mean((*setup.subjects, *setup.rivals)) / (1 + len(setup.rivals))
    return hungry(*(run.starved_s(setup.subjects, share) for run in (subject, reference)))


def could_yield(setup: Setup, subject: Observed) -> bool:
    """Tell whether it is far below its share of the line beside rivals."""
    share = LIMIT["starve"] * capacity_bps(setup) / (1 + len(setup.rivals))
    return bool(setup.rivals) and subject.starved_s(setup.subjects, share) >= LIMIT["starve_s"]


def fair_share(setup: Setup, subject: Observed) -> float:
    """Return half of the rivals' fair share of what all flows get."""
    count = len(setup.rivals)
    return LIMIT["half"] * count / (1 + count) * subject.mean((*setup.subjects, *setup.rivals))


def harm(setup: Setup, subject: Observed, reference: Observed) -> float:
    """Harm: rivals have half of what a standard leaves them, and of their fair share, or less."""
    if not setup.rivals:
        return NO
    mine, theirs = subject.mean(setup.rivals), reference.mean(setup.rivals)
    return excess((LIMIT["half"] * theirs, mine), (fair_share(setup, subject), mine))


def could_harm(setup: Setup, subject: Observed) -> bool:
    """Tell whether rivals have half of their fair share, or less."""
    return bool(setup.rivals) and fair_share(setup, subject) >= subject.mean(setup.rivals)


CLASSES: dict[str, Class] = {
    one.name: one
    for one in (
        Class("error", error, lambda _, subject: subject.failed),
        Class("underuse", underuse, could_underuse), Class("delay", delay, could_delay), Class("loss", loss, could_loss),
        Class("slow", slow, could_slow), Class("unfinished", unfinished, could_unfinished),
        Class("recovery", recovery, could_recovery), Class("stall", stall, could_stall),
        Class("unsteady", unsteady, could_unsteady), Class("starvation", starvation, could_starvation),
        Class("yields", yields, could_yield), Class("harm", harm, could_harm),
    )
}  # fmt: skip


def margin(name: str, setup: Setup, subject: Observed, reference: Observed) -> float:
    """Return the margin of a class; a subject without result fails by error alone, and beside none that has none itself."""
    if name != "error" and (subject.failed or reference.failed):
        return NO
    return CLASSES[name].margin(setup, subject, reference)


def possible(name: str, setup: Setup, subject: Observed) -> bool:
    """Tell whether a subject could fail in a class, without any reference."""
    if subject.failed:
        return name == "error"
    return name != "error" and CLASSES[name].possible(setup, subject)
