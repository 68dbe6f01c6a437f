"""Excess harm at every point of the experiments that a criterion names."""

from tonopah.evaluate.definitions import Harm, Victim
from tonopah.evaluate.harm import HarmPoint, harm_more
from tonopah.evaluate.measured import Measured, PointValues, compared
from tonopah.evaluate.subjects import TITLES, Cast
from tonopah.evaluate.verdict import starved_mostly
from tonopah.evaluate.worlds import PAYLOAD_SHARE, bits_per_second


def harm_points(harm: Harm, measured: Measured, cast: Cast) -> list[HarmPoint]:
    """Return the excess harm to every victim at every point."""
    found = []
    for experiment in harm.experiments:
        for point in measured.at(experiment, harm.where):
            for victim in harm.victims:
                found.append(goodput_harm(harm, victim, point, measured, cast))
                found += [cost_harm(name, victim, point, cast) for name in harm.costs]
    return found


def goodput_harm(harm: Harm, victim: Victim, point: PointValues, measured: Measured, cast: Cast) -> HarmPoint:
    """Return the excess harm to the goodput of a victim."""
    name = f"{victim.group}_goodput_bps"
    mine, theirs = point.metric(victim.subject, name), point.metric(victim.reference, name)
    alone = alone_bps(harm, victim, point, measured)
    samples = tuple(
        harm_more(alone[k] if k in alone else free_bps(point), mine[k]) - harm_more(alone.get(k, free_bps(point)), theirs[k])
        for k in sorted(set(mine) & set(theirs))
    )
    starved = [
        starved_mostly(list(point.metric(arm, f"{victim.group}_starved").values())) for arm in (victim.subject, victim.reference)
    ]
    values = point.mean(victim.subject, name), point.mean(victim.reference, name)
    return HarmPoint(
        who(victim, point, cast),
        point.point.experiment.id,
        point.point.label,
        "goodput",
        samples,
        *values,
        starved[0] and not starved[1],
    )


def alone_bps(harm: Harm, victim: Victim, point: PointValues, measured: Measured) -> dict[int, float]:
    """Return the goodput of a victim alone in the same world by replicate, where such runs exist."""
    axes = {axis: value for axis, value in point.point.axes if axis != "flows"}
    for one in measured.at(harm.solo_of, {"flows": [1]}) if harm.solo_of and victim.solo else []:
        if {axis: value for axis, value in one.point.axes if axis != "flows"} == axes:
            return one.metric(victim.solo, "goodput_bps")
    return {}


def free_bps(point: PointValues) -> float:
    """Return the payload that the link carries, less the load of the workload."""
    world = point.point.world
    return PAYLOAD_SHARE * bits_per_second(world.rate) * max(0.05, 1 - world.load)


def cost_harm(name: str, victim: Victim, point: PointValues, cast: Cast) -> HarmPoint:
    """Return how much more loss or delay a victim has: the logarithm of the ratio."""
    column = f"{victim.group}_{name}"
    mine, theirs = point.metric(victim.subject, column), point.metric(victim.reference, column)
    samples = tuple(compared("log", column, mine[k], theirs[k]) for k in sorted(set(mine) & set(theirs)))
    values = point.mean(victim.subject, column), point.mean(victim.reference, column)
    return HarmPoint(who(victim, point, cast), point.point.experiment.id, point.point.label, name, samples, *values)


def who(victim: Victim, point: PointValues, cast: Cast) -> str:
    """Return the name of a victim."""
    other = point.point.world.other
    if other:
        return TITLES.get(other, other)
    return {"CUBIC": cast.baseline.name, "Reno": cast.second.name}.get(victim.name, victim.name)
