"""Harm to others: what a victim loses beside the subject, more than it loses beside standard algorithms and beside itself.

R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Beyond Jain's Fairness Index", HotNets 2019: a new algorithm is held against the
harm that deployed ones do. The references are previous standards (RFC 9743 section 5.2): Reno (RFC 5681), CUBIC (RFC 9438)
and CUBIC of Linux. Goodput is in in fair shares of the victim: what each flow has at the same place where all run its
algorithm, so that mixes of one in ten and lossy paths have one unit. 0.2 of the fair share of one of two flows is 0.1 of what
it has alone.
"""

from collections.abc import Iterator

from tonopah.judge.definitions import Harm, Victim
from tonopah.judge.findings import Finding
from tonopah.judge.often import Often
from tonopah.judge.study import Place, Results
from tonopah.judge.subjects import TITLES, Cast

HARMFUL = "harmful to others"


def harm_more(alone: float, beside: float) -> float:
    """Return the harm to something of which more is better: 0 for none, 1 for all, negative for a benefit."""
    return (alone - beside) / alone


def harm_less(alone: float, beside: float) -> float:
    """Return the harm to something of which less is better."""
    return (beside - alone) / beside if beside else 0.0


def harm_findings(harm: Harm, results: Results, cast: Cast, family: int) -> list[Finding]:
    """Return what becomes of every victim at every place: goodput and costs, against every reference."""
    found = []
    for place, victim in victims(harm, results):
        metrics = ["left", *(f"{victim.group}_{cost}" for cost in harm.costs)]
        for metric in metrics:
            mine, *theirs = (values_of(place, victim, arm, metric) for arm in (victim.subject, *victim.references))
            known = {arm: values for arm, values in zip(victim.references, theirs, strict=True) if values}
            if mine and known:
                settled = all(place.has_settled(arm) for arm in (victim.subject, *known))
                found.append(
                    Finding(
                        place, metric, "more" if metric == "left" else "less", mine, known, results.first, results.scale,
                        results.looks, family, HARMFUL, None, who(victim, place, cast), victim.subject, settled,
                    )
                )  # fmt: skip
    return found


def victims(harm: Harm, results: Results) -> Iterator[tuple[Place, Victim]]:
    """Yield every place with every victim that is there."""
    for experiment in harm.experiments:
        for place in results.at(experiment, harm.where):
            yield from ((place, victim) for victim in harm.victims if place.metric(victim.subject, f"{victim.group}_goodput_bps"))


def values_of(place: Place, victim: Victim, arm: str, metric: str) -> dict[int, float]:
    """Return a metric of a victim in an arm, by replicate."""
    if metric != "left":
        return place.metric(arm, metric)
    count, fair = victim_flows(place, victim), fair_bps(place, victim)
    return {k: value / count / fair for k, value in place.metric(arm, f"{victim.group}_goodput_bps").items()} if fair else {}


def victim_flows(place: Place, victim: Victim) -> int:
    """Return how many flows a victim has at a place."""
    flows = place.point.world.flows
    groups = [flows] if isinstance(flows, int) else flows
    return max(1, groups[1 if victim.group == "y" and len(groups) > 1 else 0])


def fair_bps(place: Place, victim: Victim) -> float:
    """Return the goodput of a flow where all run the victim's algorithm."""
    flows = place.point.world.flows
    return place.mean(victim.itself, "goodput_bps") / max(1, flows if isinstance(flows, int) else sum(flows))


def starving(harm: Harm, results: Results, cast: Cast) -> list[Often]:
    """Return how often victims starve, at every place."""
    found = []
    for place, victim in victims(harm, results):
        mine, *theirs = (
            list(place.metric(arm, f"{victim.group}_starved").values()) for arm in (victim.subject, *victim.references)
        )
        found.append(Often(who(victim, place, cast), place.experiment, place.label, *Often.counted(mine, theirs)))
    return [one for one in found if one.runs and one.references]


def who(victim: Victim, place: Place, cast: Cast) -> str:
    """Return the name of a victim."""
    if other := place.point.world.other:
        return TITLES.get(other, other)
    return {"CUBIC": cast.baseline.name, "Reno": cast.second.name}.get(victim.name, victim.name)
