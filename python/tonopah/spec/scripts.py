"""Parts whose network is that of a report's own script: `scenario.author = { network = "000-wired", nodes = 40 }`.

The other keys of the table are the parameters of the script (`authors/networks.py`); sweeps and variants set them by the path
`author.nodes`. What the script counts is computed from the packets of every run and stands beside the metrics of the engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tonopah.authors.network import Network
from tonopah.authors.networks import network
from tonopah.authors.packets import Scenario
from tonopah.errors import InputError
from tonopah.metrics import Metric, metric
from tonopah.spec.derived import Derived

KEY = "author"
KEYS = (KEY, "record")
"""Keys of such a scenario: the script fixes everything else."""
VERSION = 3
"""Of what scripts count and of the worlds that they build, part of the id of their runs. Raise it on purpose, when a value
changes."""


class OfScript(Derived):
    """What the script of a network counts: columns `PREFIX.METRIC` beside those of the engine."""

    kind: Literal["script"] = "script"
    network: str

    def value_columns(self) -> dict[str, Metric]:
        """Return its columns."""
        one = network(self.network)
        names = dict.fromkeys(f"{one.metrics}.{column}" for column, _ in one.columns.values())
        return {name: metric(name) for name in names}


@dataclass(frozen=True)
class Script:
    """The network of a script at one point: its name, and the scenarios that it builds."""

    network: str
    scenarios: tuple[Scenario, ...]
    identity: Mapping[str, Any]

    @property
    def shown(self) -> Scenario:
        """The scenario whose summary is stored."""
        return self.scenarios[-1]


def is_script(scenario: Mapping[str, Any]) -> bool:
    """Tell whether a scenario is that of a script."""
    return KEY in scenario


def parameters(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a scenario gives to its script."""
    return {key: value for key, value in scenario[KEY].items() if key != "network"}


def complete(scenario: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the scenario of a script with all its parameters. Raises InputError."""
    for key in scenario:
        if key not in KEYS:
            raise InputError(f"{path}.{key}", "has no meaning beside author", f"allowed: {', '.join(KEYS)}")
    check_record(scenario.get("record", {}), f"{path}.record")
    one = named(scenario, path)
    return {**scenario, KEY: {"network": one.name, **one.complete(parameters(scenario), f"{path}.{KEY}")}}


def check_record(record: Any, path: str) -> None:
    """Refuse what the series that a script wants cannot be added to; the engine checks the rest. Raises InputError."""
    if not isinstance(record, Mapping):
        raise InputError(path, f"{record!r} is not a table", '{ series = ["cwnd"], every = "50ms" }')
    series = record.get("series", [])
    if not isinstance(series, list) or not all(isinstance(name, str) for name in series):
        raise InputError(f"{path}.series", f"{series!r} is not a list of names", 'such as ["cwnd", "ssthresh"]')


def named(scenario: Mapping[str, Any], path: str = "scenario") -> Network:
    """Return the network that a scenario names. Raises InputError."""
    table = scenario[KEY]
    if not isinstance(table, Mapping):
        raise InputError(f"{path}.{KEY}", f"{table!r} is not a table", '{ network = "000-wired" }')
    return network(table.get("network"), f"{path}.{KEY}.network".removeprefix("."))


def counts(scenario: Mapping[str, Any]) -> OfScript:
    """Return what the script of a scenario counts."""
    one = named(scenario)
    return OfScript(name=one.metrics, label=one.title, network=one.name)  # pyright: ignore[reportCallIssue]


def build(scenario: Mapping[str, Any]) -> Script:
    """Return what the script builds at a point, recording what the script and the study want. Raises InputError."""
    one = named(scenario, "")
    made = one.scenarios(parameters(scenario), KEY)
    if record := scenario.get("record"):
        own = made[-1].get("record", {})
        series = list(dict.fromkeys([*own.get("series", []), *record.get("series", [])]))
        made[-1] = {**made[-1], "record": {**own, **record, "series": series}}
    identity = {"network": one.name, "parameters": parameters(scenario), "version": VERSION}
    return Script(one.name, tuple(made), identity)
