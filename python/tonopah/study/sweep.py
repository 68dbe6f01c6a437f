"""A sweep in one call: a scenario, what varies, what is compared; the answer is a table with intervals."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah.analysis.tables import estimate
from tonopah.errors import InputError, near_names
from tonopah.spec.building import Compared, ScenarioSource
from tonopah.stats import Estimate
from tonopah.study.study import Study

if TYPE_CHECKING:
    import pandas as pd

METRICS = ("goodput_bps", "delay_s", "loss_ratio")


def sweep(
    scenario: ScenarioSource,
    vary: Mapping[str, Sequence[Any]],
    compare: Compared,
    replicates: int = 10,
    metrics: Sequence[str] = METRICS,
    jobs: int | None = None,
) -> "pd.DataFrame":
    """Run every algorithm at every combination of values, and return means with their intervals.

    Nothing is kept; a `Study` keeps its results, draws figures and writes a report.

    Parameters
    ----------
    scenario : str, path or mapping
        A scenario file, or a dictionary of its structure (docs/generated/scenario.md).
    vary : mapping
        Values by path, such as `{"network.bottleneck.delay": ["5ms", "20ms"]}`; several axes are crossed.
    compare : sequence
        Algorithms: by name, as `{"name": …, "profile": …}`, or classes that were imported from a file.
    replicates : int
        Runs of each algorithm at each point, with seeds common to all; below 4 there are no intervals.
    metrics : sequence of str
        Columns of `Study.table()`, in SI units.
    jobs : int, optional
        Number of threads; all cores if absent.

    Returns
    -------
    pandas.DataFrame
        A row for each algorithm and point: `algorithm`, the axes, `replicates`, and for each metric its mean and the bounds of
        its 95 % interval, `METRIC_low` and `METRIC_high`; NaN where it was not measured, or replicates allow none.

    Raises
    ------
    InputError
        If an argument cannot be used: with the path of the mistake and what is allowed there.
    AlgorithmError, RunFailedError
        If a run fails.
    """
    import pandas as pd

    study = Study(question="A sweep", scenario=scenario, compare=compare, sweep=vary, replicates=replicates, name="sweep")
    with tempfile.TemporaryDirectory(prefix="tonopah-") as folder:
        study.run(jobs=jobs, out=Path(folder) / "sweep", quiet=True)
        table = study.table()
    [part] = study.spec.parts
    refuse_unknown(metrics, table)
    runs = study.plan.parts[part.id]
    swept = table[table["run"].isin(runs.sweeps[0])] if runs.sweeps else table
    rows = []
    for (algorithm, *values), at in swept.groupby(["algorithm", *vary], sort=False):
        where = dict(zip(vary, values, strict=True))
        rows.append({"algorithm": algorithm, **where, "replicates": len(at)})
        for name in metrics:
            rows[-1] |= interval_of(name, estimate(swept, part.metric(name), algorithm, where, part.method))
    return pd.DataFrame(rows)


def interval_of(name: str, found: Estimate) -> dict[str, float]:
    """Return the columns of a metric: its mean, and the bounds of its interval."""
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def refuse_unknown(metrics: Sequence[str], table: "pd.DataFrame") -> None:
    """Raise InputError for a metric that the table of runs does not have."""
    for name in metrics:
        if name not in table.columns:
            known = [column for column in table.columns if table[column].dtype.kind in "iuf"]
            hint = ", ".join(near_names(name, known, 3)) or "`tonopah metrics` lists all"
            raise InputError("metrics", f"{name!r} is no metric of these runs", hint)
