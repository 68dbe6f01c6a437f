"""One run: scenario in, summary and series out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah._core import algorithms as engine_algorithms
from tonopah._core import check as engine_check
from tonopah._core import run as engine_run
from tonopah.cc.binding import Bound, bind
from tonopah.cc.loading import installed
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.scenario.document import prepare

if TYPE_CHECKING:
    import pandas as pd

OWNERS = {"queue": "link"} | dict.fromkeys(("energy", "position_x", "position_y", "position_z"), "node")
"""What the entries of a series belong to; to flows where nothing else is said."""


class Result:
    """What a run measured: `summary`, a dictionary (see docs/glossary.md for its terms), and sampled series."""

    def __init__(self, summary: dict[str, Any], series: Mapping[str, Mapping[str, Any]]):
        self.summary = summary
        self._series = series

    @property
    def names(self) -> list[str]:
        """Names of the series that the scenario asked for in `record.series`."""
        return sorted(self._series)

    def series(self, name: str) -> "pd.DataFrame":
        """Return one series: columns t_s, flow (or link, or node), value; in bytes, s, bit/s, J and m.

        Raises InputError when the scenario did not record it.
        """
        if name not in self._series:
            hint = f"recorded: {', '.join(self.names) or 'nothing'}; add it to record.series"
            raise InputError("series", f"{name!r} was not recorded", hint)
        return series_frame(name, self._series[name])

    def __repr__(self) -> str:
        flows, duration = len(self.summary.get("flows", [])), self.summary.get("duration_s")
        return f"<tonopah.Result: {flows} flows, {duration} s, seed {self.summary.get('seed')}, series {self.names}>"


def series_frame(name: str, columns: Mapping[str, Any]) -> "pd.DataFrame":
    """Return the engine's columns of a series as a table."""
    import pandas as pd

    owner = OWNERS.get(name, "flow")
    return pd.DataFrame({"t_s": columns["t_s"], owner: columns["id"], "value": columns["value"]})


def run(
    source: str | Path | Mapping[str, Any],
    seed: int = 1,
    set: Mapping[str, Any] | None = None,
    cc: str | Mapping[str, Any] | type | None = None,
) -> Result:
    """Run one scenario, given as TOML file or as dictionary, and return its Result.

    `set` changes values by path before the run: `{"flow.0.cc": "reno", "network.flows": 20}`. `cc` is short for
    `{"tcp.cc": cc}`. Wherever an algorithm is named, a class derived from CongestionControl may stand. The same scenario
    and seed give the same bits. Raises ScenarioError when the scenario cannot be run, AlgorithmError when an algorithm in
    Python raises.
    """
    scenario, name = prepare(source, {**(set or {}), **({} if cc is None else {"tcp.cc": cc})})
    try:
        bound = engine_form(scenario, name)
        summary, series = engine_run(bound.text, checked_seed(seed), bound.algorithms)
    except ScenarioError as error:
        raise relay(error, name) from None
    return Result(json.loads(summary), series)


def algorithms() -> list[dict[str, Any]]:
    """Return the congestion-control algorithms: name, title, reference, demands, parameters with sources, profiles.

    Those of the engine come first, then those that installed packages offer (entry points `tonopah.algorithms`).
    """
    return [*json.loads(engine_algorithms()), *installed()]


def engine_form(scenario: Mapping[str, Any], source: str | None = None) -> Bound:
    """Return the scenario as text for the engine, with the algorithms in Python that it names.

    `source` is the file it came from: paths in it start at that file's folder, else at the working directory.
    """
    return bind(scenario, Path(source).parent if source else ".", source)


def check(source: str | Path | Mapping[str, Any], seed: int = 1, set: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return `{"resolved", "graph"}` of a scenario: with every default filled in, and its world as nodes and links.

    Random topologies are drawn with `seed`. Raises ScenarioError when the scenario cannot be run.
    """
    scenario, name = prepare(source, set)
    try:
        bound = engine_form(scenario, name)
        return json.loads(engine_check(bound.text, checked_seed(seed), bound.algorithms))
    except ScenarioError as error:
        raise relay(error, name) from None


def checked_seed(seed: int) -> int:
    """Return `seed`, or raise InputError when the engine cannot take it."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise InputError("seed", f"{seed!r} is not a seed", "a whole number from 0 to 2^64 - 1")
    return seed
