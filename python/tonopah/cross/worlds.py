"""The worlds of a comparison of engines: a scenario, and what its table `[cross]` says of margins, replicates and sweeps."""

import copy
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from tonopah.errors import InputError, ScenarioError, relay
from tonopah.runs import simulation
from tonopah.scenario import paths
from tonopah.scenario.document import prepare
from tonopah.scenario.tables import inline_files
from tonopah.spec.schema import Replicates, Sweep
from tonopah.spec.validation import Many, Model, between, validate

TABLE = "cross"
MOST_WORLDS = 1000
SERIES = ("cwnd", "queue", "drops")
"""What is recorded of every run: for figures, and the last for episodes."""
EVERY = "10ms"

Percent = Annotated[float, *between(0.001, 1000)]


class Margins(Model):
    """What counts as no difference, by what is measured: in percent, of Jain's index as a difference."""

    goodput: Percent = Field(5.0, description="Percent.")
    delay: Percent = Field(10.0, description="Percent of the queueing delay, its mean and its 95th percentile.")
    loss: Percent = Field(20.0, description="Percent of the loss ratio, of retransmissions and of loss episodes.")
    window: Percent = Field(10.0, description="Percent of the mean congestion window.")
    jain: Annotated[float, *between(0.0001, 1)] = Field(0.05, description="Difference of Jain's index.")


class CrossSweep(Sweep):
    """Axes with their values, crossed: each point is a world."""

    replicates: Replicates | None = Field(None, description="Replicates of these worlds; otherwise those of `[cross]`.")


class CrossTable(Margins):
    """The table `[cross]` of a scenario file."""

    replicates: Replicates = Field(10, description="Replicates of each engine; one where nothing can vary.")
    sweep: Many[CrossSweep] = Field((), description="Axes with their values, crossed: each point is a world.")


@dataclass(frozen=True)
class World:
    """One world: its scenario, the file that it is from, and the values of the axes at which it stands."""

    scenario: dict[str, Any]
    name: str | None
    values: Mapping[str, Any] = field(default_factory=dict)
    random: tuple[str, ...] = ()
    """What seeds change in it, in words."""
    replicates: int = 1
    """On each engine; one where nothing can vary."""
    graph: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        """The values in words; empty if there is one world alone."""
        return ", ".join(f"{path.rpartition('.')[2]} {text_of(value)}" for path, value in self.values.items())

    @property
    def slug(self) -> str:
        """How names of files begin that belong to it; empty if there is one world alone."""
        letters = "".join(letter if letter.isalnum() or letter == "." else "-" for letter in self.label.replace(", ", "_"))
        return f"{letters}-" if letters else ""


def text_of(value: Any) -> str:
    """Return a value of an axis as it is shown."""
    return ", ".join(f"{key} {text_of(one)}" for key, one in value.items()) if isinstance(value, Mapping) else str(value)


def worlds_of(source: str | Path | Mapping[str, Any], changes: Mapping[str, Any]) -> tuple[CrossTable, list[World]]:
    """Return the table `[cross]` of a scenario, and its worlds, which the engine has accepted. Raises ScenarioError."""
    document, name = prepare(source, changes)
    given = document.pop(TABLE, {})
    try:
        table: CrossTable = validate(CrossTable, given, TABLE)
    except ScenarioError as error:
        raise relay(error, name) from None
    points = [(dict(zip(sweep.vary, values, strict=True)), sweep.replicates or table.replicates) for sweep in table.sweep
              for values in itertools.product(*sweep.vary.values())] or [({}, table.replicates)]  # fmt: skip
    if len(points) > MOST_WORLDS:
        raise InputError(f"{TABLE}.sweep", f"{len(points)} worlds", f"at most {MOST_WORLDS}", name)
    return table, [world_at(document, name, values, replicates) for values, replicates in points]


def world_at(document: Mapping[str, Any], name: str | None, values: Mapping[str, Any], replicates: int) -> World:
    """Return the world at a point of a sweep. Raises ScenarioError."""
    scenario = copy.deepcopy(dict(document))
    try:
        for path, value in values.items():
            paths.put_all(scenario, path, value)
        inline_files(scenario, Path(name).parent if name else Path(), name)
        every = (scenario.get("record") or {}).get("every", EVERY)
        # A window that is sampled as it changes has no common times with that of a kernel.
        scenario["record"] = {"series": list(SERIES), "every": EVERY if every == "change" else every}
        checked = simulation.checked_in(scenario, name, 1)
    except ScenarioError as error:
        at = World({}, None, values).label
        raise relay(error, name, suffix=f" [{at}]" if at else "") from None
    return World(scenario, name, values, tuple(checked["random"]), replicates, checked["graph"])
