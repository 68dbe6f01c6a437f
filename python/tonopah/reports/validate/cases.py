"""The cases of the comparison: every stored point of a sweep that a network of a report can build."""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tonopah.errors import InputError
from tonopah.reports.networks import NETWORKS
from tonopah.reports.networks.model import Contrast, Network, Sign
from tonopah.reports.numbers import By, stored


@dataclass(frozen=True)
class Case:
    """One point of a sweep with one algorithm."""

    name: str
    """Report, network, algorithm, axis, value."""
    network: Network
    point: Mapping[str, Any]
    references: By
    full: bool = True
    """As many runs as the comparison needs, not those of one in a hurry."""

    @property
    def judged(self) -> bool:
        """Whether anything is asked of its numbers: not of other places or routing than the author's."""
        _, name, _, axis, _ = self.name.split("/")
        return name in (self.network.stored, *self.network.judged) and axis != "srand"

    @property
    def contrast(self) -> Contrast | None:
        """What is asked of its numbers beside those of another point of ours."""
        found = self.network.contrasts.get(self.name.split("/")[1])
        return found if found and all(self.point.get(key) == value for key, value in found.where.items()) else None

    @property
    def sign(self) -> Sign | None:
        """Which of its numbers must be on the same side of another algorithm's as the author's."""
        sign = self.network.sign
        return sign if sign and self.name.split("/")[2] == sign.algorithm else None

    @property
    def first(self) -> "Case | None":
        """The first point of its axis, if it is the last and the number must go where the reference goes."""
        report, name, algorithm, axis, value = self.name.split("/")
        if not self.network.direction or not self.judged or axis not in self.network.direction.axes:
            return None
        along = "/".join((report, name, algorithm, axis, ""))
        points = sorted((case for case in all_cases() if case.name.startswith(along)), key=lambda case: float(case.value))
        return points[0] if len(points) > 1 and points[-1].value == value else None

    @property
    def value(self) -> str:
        """Its value on its axis."""
        return self.name.rpartition("/")[2]

    def metrics(self, ours: str) -> list[str]:
        """Return the stored metrics that are this number of ours."""
        algorithm = self.name.split("/")[2]
        known = dict.fromkeys(metric for by_metric in self.references.values() for metric in by_metric)
        return [metric for metric in known if self.network.own_name(algorithm, metric) == ours]

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds of its runs."""
        runs = self.network.runs if self.full else self.network.quick_runs or self.network.runs
        return range(1, runs + 1)


def select(glob: str | None, full: bool = True, algorithm: str = "") -> list[Case]:
    """Return the cases whose name matches, with all their runs or those of a comparison in a hurry. Raises InputError.

    With `algorithm` each is run with it: what agrees then does not hang on the algorithm.
    """
    named = [case for case in all_cases() if glob is None or fnmatch.fnmatchcase(case.name, glob)]
    cases = [replace(case, full=full, point={**case.point, **instead(case.network, algorithm)}) for case in named]
    if not cases:
        networks = sorted({"/".join(case.name.split("/")[:2]) for case in all_cases()})
        raise InputError("--case", f"no case matches {glob!r}", f"there are {', '.join(f'{network}/*' for network in networks)}")
    return cases


def instead(network: Network, algorithm: str) -> dict[str, str]:
    """Return the parameters of a network that say the algorithm, each with this one; nothing without one. Raises InputError."""
    keys = [key for key, parameter in network.parameters.items() if parameter.is_algorithm] if algorithm else []
    return {key: network.parameters[key].check(algorithm, "--algorithm") for key in keys}


@cache
def all_cases() -> tuple[Case, ...]:
    """Return the cases in the order of the page."""
    return tuple(case for network in NETWORKS for case in cases_of(network))


def same_point(case: Case, algorithm: str) -> Case:
    """Return the case of another algorithm at the same point."""
    report, name, _, axis, value = case.name.split("/")
    wanted = "/".join((report, name, algorithm, axis, value))
    return next(one for one in all_cases() if one.name == wanted)


def cases_of(network: Network) -> list[Case]:
    """Return the stored points that a network can build."""
    made = []
    for (report, name, algorithm, axis, value), references in stored().items():
        own_network = report == network.report and name in network.stored_as()
        if own_network and (point := network.point(algorithm, axis, value)) is not None:
            own = {metric: [number] for metric, number in network.constants.get(algorithm, {}).items()}
            both = references | ({"stock": references.get("stock", {}) | own} if own else {})
            made.append(
                Case("/".join((report, name, algorithm, axis, value)), network, {**point, **network.stored_as()[name]}, both)
            )
    return made
