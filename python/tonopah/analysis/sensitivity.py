"""Which verdicts hang on which assumption: every claim judged again in worlds where something else is assumed.

One assumption changes at a time. Of each world only the runs are made that the claims need: their parts, axes and algorithms;
runs that two worlds share are made once. A world that a claim does not read is left out for it.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tonopah.analysis import claims, tables
from tonopah.analysis.evidence import Outcome, Testable
from tonopah.analysis.verdicts import Verdict
from tonopah.errors import InputError
from tonopah.scenario.paths import put_all
from tonopah.spec.claim import Bound, Claim, NotTestable, Order, Trend
from tonopah.spec.criteria import parts_read
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.part import merge
from tonopah.spec.plan import PartPlan, Plan, plan_part
from tonopah.spec.point import check_point
from tonopah.spec.schema import Alternative, Assumption
from tonopah.spec.validation import list_allowed, shorten

if TYPE_CHECKING:
    from tonopah.store.store import Store


@dataclass(frozen=True)
class Place:
    """An alternative where it stands in the study file, and the part that it changes."""

    path: str
    part: str
    alternative: Alternative


@dataclass
class AlteredWorld:
    """The study with one assumption replaced by an alternative, in every part that makes this assumption."""

    assumption: Assumption
    value: str
    reason: str
    places: list[Place] = field(default_factory=list)
    moved: bool = False
    """Whether a number was moved that the study does not say it assumes (moved.py)."""

    @property
    def parts(self) -> set[str]:
        """The parts that it changes."""
        return {place.part for place in self.places}


def find_worlds(spec: StudySpec) -> list[AlteredWorld]:
    """Return a world for each alternative; parts that assume the same, with the same alternative, change together."""
    found: dict[tuple[str, str, str], AlteredWorld] = {}
    listed = [(f"assumed[{i}]", entry, spec.parts) for i, entry in enumerate(spec.assumed)]
    for number, part in enumerate(spec.parts):
        listed += [(f"part[{number}].assumed[{i}]", entry, [part]) for i, entry in enumerate(part.assumed)]
    for path, entry, parts in listed:
        for i, other in enumerate(entry.alternatives):
            key = entry.parameter, entry.value, other.value
            world = found.setdefault(key, AlteredWorld(entry, other.value, other.reason))
            world.places += [Place(f"{path}.alternatives[{i}].set", part.id, other) for part in parts]
    return list(found.values())


def changed_part(part: Part, world: AlteredWorld) -> Part:
    """Return a part as it is in a world. Raises InputError with the path of the alternative that cannot be set."""
    for place in world.places:
        if place.part == part.id:
            scenario = merge(part.scenario, {})
            try:
                for path, value in place.alternative.changes.items():
                    put_all(scenario, path, value)
            except InputError as error:
                raise at_alternative(error, place.path) from None
            part = replace(part, scenario=scenario)
    return part


def at_alternative(error: InputError, path: str) -> InputError:
    """Return the error of a scenario with the path of the alternative that made it."""
    if error.path.startswith(path):
        return error
    inside = error.path.removeprefix("scenario").removeprefix(".")
    return InputError(f"{path}.{inside}" if inside else path, error.message, error.hint)


def check_alternatives(spec: StudySpec, folder: str | Path) -> int:
    """Return the number of alternatives, after the engine has accepted each at the nominal point. Raises InputError.

    An alternative that leaves the nominal point of a part as it is has no effect there, and is an error too.
    """
    worlds = find_worlds(spec)
    nominal: dict[str, str] = {}
    for world in worlds:
        for place in world.places:
            part = spec.part(place.part)
            if part.id not in nominal:
                nominal[part.id] = check_point(part.scenario, part.variants[0], {}, folder).resolved
            try:
                resolved = check_point(changed_part(part, world).scenario, part.variants[0], {}, folder).resolved
            except InputError as error:
                raise at_alternative(error, place.path) from None
            if resolved == nominal[part.id]:
                where = f" in part {part.id}" if part.id else ""
                raise InputError(place.path, f"has no effect{where}", "a value other than the one assumed")
    return len(worlds)


def choose_claims(spec: StudySpec, wanted: Collection[str], worlds: Iterable[AlteredWorld]) -> StudySpec:
    """Return the study with the chosen claims only, of those that read a part which some world changes, and what they need.

    Raises InputError for a claim that does not exist, or if no claim is left.
    """
    known = [claim.id for claim in spec.claims]
    for name in wanted:
        if name not in known:
            raise InputError("--claims", f"{shorten(name)} is unknown", list_allowed(known, "claims", name))
    changed = set().union(*(world.parts for world in worlds))
    if not changed:
        hint = 'assumed = [{ …, alternatives = [{ value = "10 packets", set = { "tcp.recv_buffer" = "10000B" } }] }]'
        raise InputError("assumed", "has no alternatives: there is nothing to compare with", hint)
    chosen = [claim for claim in spec.claims if not wanted or claim.id in wanted]
    left = [claim for claim in chosen if claim_parts(claim) & changed]
    if not left:
        raise InputError("--claims" if wanted else "claim", "reads no part that an alternative changes")
    return only_claims(spec, left)


def only_claims(spec: StudySpec, left: list[Claim]) -> StudySpec:
    """Return the study with these claims and the parts, algorithms and axes that they read."""
    needed = set().union(*(claim_parts(claim) for claim in left))
    parts = [reduce_to_claims(part, left) for part in spec.parts if part.id in needed]
    return replace(spec, parts=parts, claims=left)


def tested(claim: Claim) -> list[Testable]:
    """Return the criteria of a claim that read runs."""
    return [test for test in claim.tests if not isinstance(test, NotTestable)]


def claim_parts(claim: Claim) -> set[str]:
    """Return the ids of the parts that a claim reads."""
    return {part for test in tested(claim) for part in parts_read(test)}


def criteria_of(part: Part, chosen: Iterable[Claim]) -> list[Testable]:
    """Return the criteria that read a part."""
    return [test for claim in chosen for test in tested(claim) if part.id in parts_read(test)]


def reduce_to_claims(part: Part, chosen: list[Claim]) -> Part:
    """Return a part with the algorithms and axes that the criteria of claims read, and no figures."""
    tests = criteria_of(part, chosen)
    labels = set().union(*(labels_read(test, part) for test in tests))
    everywhere = any(isinstance(test, Bound) and not test.over and not test.at for test in tests)
    axes = [{test.over} if test.over else set(test.at) for test in tests]
    sweeps = [sweep for sweep in part.sweeps if set(sweep.vary) in axes or (everywhere and len(sweep.vary) == 1)]
    variants = [variant for variant in part.variants if variant.label in labels]
    return replace(part, variants=variants, sweeps=sweeps, figures=[])


def labels_read(test: Testable, part: Part) -> set[str]:
    """Return the labels that a criterion reads in a part."""
    if isinstance(test, Order):
        return set(test.order)
    to = getattr(test, "to", "")
    return {*(test.algorithms or (part.baseline,)), *([to] if to else [])}


def plan_worlds(spec: StudySpec, worlds: list[AlteredWorld], folder: str | Path) -> tuple[Plan, list[Plan]]:
    """Return the plan of the study as it assumes, and one for each world. Raises InputError."""
    default = compose(spec, {part.id: plan_claims(part, spec.claims, folder) for part in spec.parts})
    plans = []
    for world in worlds:
        made = {}
        for part in spec.parts:
            if part.id not in world.parts:
                made[part.id] = default.parts[part.id]
                continue
            try:
                made[part.id] = plan_claims(changed_part(part, world), spec.claims, folder)
            except InputError as error:
                path = next(place.path for place in world.places if place.part == part.id)
                raise at_alternative(error, path) from None
        plans.append(compose(spec, made))
    return default, plans


def plan_claims(part: Part, chosen: list[Claim], folder: str | Path) -> PartPlan:
    """Return the runs of a part that its criteria read; none for time series."""
    tests = criteria_of(part, chosen)
    nominal = any(not isinstance(test, Trend) and not test.over and not test.at for test in tests)
    plan = plan_part(part, folder, nominal or not part.sweeps)
    return replace(plan, representative={})


def compose(spec: StudySpec, parts: dict[str, PartPlan]) -> Plan:
    """Return the plan of all parts."""
    runs = {run.id: run for part in spec.parts for run in parts[part.id].runs.values()}
    return Plan(runs, parts)


def together(plans: Iterable[Plan]) -> Plan:
    """Return a plan of the runs of all plans, to be carried out at once."""
    return Plan({run.id: run for plan in plans for run in plan.runs.values()})


@dataclass(frozen=True)
class AlteredReading:
    """A reading of a criterion as the study assumes, and in a world."""

    before: Outcome
    after: Outcome

    @property
    def moved(self) -> float:
        """By how much the effect moved: points of percent, or percent of a value in another unit."""
        old, new = self.before.effect.value, self.after.effect.value
        if math.isnan(old) or math.isnan(new):
            return 0.0
        if self.before.unit == "%":
            return abs(new - old)
        return 100 * abs(new - old) / max(abs(old), abs(new)) if old != new else 0.0


@dataclass(frozen=True)
class AlteredClaim:
    """A claim in a world: its verdict there, and what became of each reading of its criteria."""

    world: AlteredWorld
    verdict: Verdict
    changes: list[AlteredReading]
    hangs: bool
    """Whether the verdict on the claim is another one than where the study's own value is assumed."""

    @property
    def largest(self) -> AlteredReading | None:
        """The reading to look at: of those that have the verdict of the claim there and had another one, the one that moved most.

        If there are none, of those whose verdict changed, else of all.
        """
        return max(self.changes, key=self.weight, default=None)

    def weight(self, change: AlteredReading) -> tuple[bool, bool, float]:
        """Return how much a reading says about the change of the verdict."""
        changed = change.before.verdict != change.after.verdict
        return changed and change.after.verdict == self.verdict.verdict, changed, change.moved


@dataclass(frozen=True)
class Sensitivity:
    """A claim with its verdict as the study assumes, and in every world that it reads."""

    verdict: Verdict
    effects: list[AlteredClaim]


def judge_worlds(
    spec: StudySpec, worlds: list[AlteredWorld], plans: tuple[Plan, list[Plan]], store: "Store", quick: bool, left_out: int
) -> list[Sensitivity]:
    """Return every claim as the study assumes and in every world; `left_out` counts the claims of the study that are not here."""
    default = judge_world(spec, plans[0], store, quick, left_out)
    others = [judge_world(spec, plan, store, quick, left_out) for plan in plans[1]]
    found = []
    for number, verdict in enumerate(default):
        read = claim_parts(verdict.claim)
        effects = [
            compare(world, verdict, there[number]) for world, there in zip(worlds, others, strict=True) if read & world.parts
        ]
        found.append(Sensitivity(verdict, effects))
    return found


def judge_world(spec: StudySpec, plan: Plan, store: "Store", quick: bool, left_out: int) -> list[Verdict]:
    """Return the verdicts in one world."""
    # Where nothing is random in a world, every point of a part is run once there.
    parts = [replace(part, replicates=plan.parts[part.id].replicates) for part in spec.parts]
    runs = {part.id: tables.part_tables(part, plan.parts[part.id], store)[0] for part in parts}
    return claims.judge(replace(spec, parts=parts), plan, runs, quick, left_out)


def compare(world: AlteredWorld, before: Verdict, after: Verdict) -> AlteredClaim:
    """Return a claim in a world beside the same where the study's own value is assumed."""
    pairs = [(a, b) for a, b in zip(before.tests, after.tests, strict=True) if not isinstance(a.criterion, NotTestable)]
    changes = [AlteredReading(*both) for a, b in pairs for both in zip(a.readings, b.readings, strict=True)]
    return AlteredClaim(world, after, changes, hangs=before.verdict != after.verdict)
