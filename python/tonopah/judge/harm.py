"""Harm to others: what a victim loses beside the subject, more than it loses beside the baseline.

R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Beyond Jain's Fairness Index", HotNets 2019: harm is the share of a victim's own
performance alone that another takes; a new algorithm is held against the harm that deployed ones do. The bound is ours.
"""

from typing import Any

from tonopah.judge.definitions import Harm, Victim
from tonopah.judge.effects import EXCESS, LOG_MARGIN, Effect, compared, effect_of, mostly
from tonopah.judge.study import Place, Results
from tonopah.judge.subjects import TITLES, Cast
from tonopah.judge.worlds import PAYLOAD_SHARE, bits_per_second


def harm_more(alone: float, beside: float) -> float:
    """Return the harm to something of which more is better: 0 for none, 1 for all, negative for a benefit."""
    return (alone - beside) / alone


def harm_less(alone: float, beside: float) -> float:
    """Return the harm to something of which less is better."""
    return (beside - alone) / beside if beside else 0.0


def harm_points(harm: Harm, results: Results, cast: Cast) -> list[Effect]:
    """Return the excess harm to every victim at every point of the experiments that a criterion names; more of it is worse."""
    found = []
    for experiment in harm.experiments:
        for place in results.at(experiment, harm.where):
            for victim in harm.victims:
                found.append(goodput_harm(harm, victim, place, results, cast))
                found += [cost_harm(name, victim, place, results, cast) for name in harm.costs]
    return found


def goodput_harm(harm: Harm, victim: Victim, place: Place, results: Results, cast: Cast) -> Effect:
    """Return the excess harm to the goodput of a victim."""
    name, arms = f"{victim.group}_goodput_bps", (victim.subject, victim.reference)
    mine, theirs = (place.metric(arm, name) for arm in arms)
    alone, free = alone_bps(harm, victim, place, results), free_bps(place)
    samples = [
        harm_more(alone.get(k, free), mine[k]) - harm_more(alone.get(k, free), theirs[k]) for k in sorted(set(mine) & set(theirs))
    ]
    beside_subject, beside_baseline = (mostly(list(place.metric(arm, f"{victim.group}_starved").values())) for arm in arms)
    starved = beside_subject and not beside_baseline
    return effect_of(samples, EXCESS, metric="goodput", starved=starved, **about(victim, name, place, results, cast))


def cost_harm(cost: str, victim: Victim, place: Place, results: Results, cast: Cast) -> Effect:
    """Return how much more loss or delay a victim has: the logarithm of the ratio."""
    name = f"{victim.group}_{cost}"
    mine, theirs = (place.metric(arm, name) for arm in (victim.subject, victim.reference))
    samples = [compared("log", name, mine[k], theirs[k]) for k in sorted(set(mine) & set(theirs))]
    return effect_of(samples, LOG_MARGIN, metric=cost, **about(victim, name, place, results, cast))


def about(victim: Victim, name: str, place: Place, results: Results, cast: Cast) -> dict[str, Any]:
    """Return what effects on a victim at a point have in common."""
    return {
        "of": who(victim, place, cast), "experiment": place.experiment, "point": place.label, "better": "less", "kind": "harm",
        "subject": place.mean(victim.subject, name), "baseline": place.mean(victim.reference, name), "looks": results.looks,
    }  # fmt: skip


def alone_bps(harm: Harm, victim: Victim, place: Place, results: Results) -> dict[int, float]:
    """Return the goodput of a victim alone in the same world by replicate, where such runs exist."""
    axes = {axis: value for axis, value in place.point.axes if axis != "flows"}
    for one in results.at(harm.solo_of, {"flows": [1]}) if harm.solo_of and victim.solo else []:
        if {axis: value for axis, value in one.point.axes if axis != "flows"} == axes:
            return one.metric(victim.solo, "goodput_bps")
    return {}


def free_bps(place: Place) -> float:
    """Return the payload that the link carries, less the load of the workload."""
    world = place.point.world
    return PAYLOAD_SHARE * bits_per_second(world.rate) * max(0.05, 1 - world.load)


def who(victim: Victim, place: Place, cast: Cast) -> str:
    """Return the name of a victim."""
    if other := place.point.world.other:
        return TITLES.get(other, other)
    return {"CUBIC": cast.baseline.name, "Reno": cast.second.name}.get(victim.name, victim.name)
