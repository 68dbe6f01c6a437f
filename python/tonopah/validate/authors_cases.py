"""The cases of `tonopah validate authors`: every stored point of a sweep that a network of `authors/networks.py` can build."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tonopah.authors.network import Network
from tonopah.authors.networks import NETWORKS
from tonopah.authors.numbers import By, stored
from tonopah.scenario.document import to_json


@dataclass(frozen=True)
class Case:
    """One point of a sweep with one algorithm."""

    name: str
    """Seed, network, algorithm, axis, value."""
    network: Network
    point: Mapping[str, Any]
    references: By

    @property
    def judged(self) -> bool:
        """Whether anything is asked of its numbers: not of other places or routing than the author's."""
        _, name, _, axis, _ = self.name.split("/")
        return name == self.network.stored and axis != "srand"

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds of its runs."""
        return range(1, self.network.runs + 1)

    @property
    def scenarios(self) -> list[str]:
        """Its scenarios as JSON text."""
        return [to_json(scenario) for scenario in self.network.scenarios(self.point)]


@cache
def all_cases() -> tuple[Case, ...]:
    """Return the cases in the order of the page."""
    return tuple(case for network in NETWORKS for case in cases_of(network))


def cases_of(network: Network) -> list[Case]:
    """Return the stored points that a network can build."""
    made = []
    for (seed, name, algorithm, axis, value), references in stored().items():
        own_network = seed == network.seed and name in network.stored_as()
        if own_network and (point := network.point(algorithm, axis, value)) is not None:
            own = {metric: [number] for metric, number in network.constants.get(algorithm, {}).items()}
            both = references | ({"stock": references.get("stock", {}) | own} if own else {})
            made.append(
                Case("/".join((seed, name, algorithm, axis, value)), network, {**point, **network.stored_as()[name]}, both)
            )
    return made
