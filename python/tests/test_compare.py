"""`tonopah compare`: what counts as a regression, and how it is told."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from tonopah.cli.compare import STATUS
from tonopah.cli.main import main
from tonopah.errors import InputError
from tonopah.judge.comparison import REPLICATES, begin, change_text, compared_metrics, may_regress, outcome, threshold_text
from tonopah.judge.definitions import definitions
from tonopah.judge.effects import Effect
from tonopah.judge.study import axes_of, placed
from tonopah.stats import mean_of


def synthetic(comparison, change, noise=0.01):
    """Return metrics of all points, alike but for noise; `change(experiment, point, metric, value)` is what the candidate has."""
    random = np.random.default_rng(1)
    tables = {}
    for part in comparison.spec.parts:
        names = [metric.name for metric in compared_metrics() if part.id in metric.experiments]
        candidate, reference = part.labels
        rows = []
        for point in part.worlds.points.values():
            for k in range(1, REPLICATES + 1):
                base = {name: (5e6 if name.endswith("bps") else 0.5) * (1 + noise * random.standard_normal()) for name in names}
                mine = {name: value * (1 + noise * random.standard_normal()) for name, value in base.items()}
                own = {name: change(part.id, point.label, name, value) for name, value in mine.items()}
                both = ((reference, base), (candidate, own))
                rows += [{"algorithm": arm, "seed": k, **axes_of(point), **values} for arm, values in both]
        tables[part.id] = pd.DataFrame(rows)
    return placed(comparison.spec.parts, tables)


@pytest.fixture(scope="module")
def comparison():
    return begin("cubic", "reno", experiments=["E1", "E2", "E3", "E4", "E5", "E6", "E7", "E15", "E18", "E24", "E25"])


def outcomes(comparison, change):
    rows = comparison.compare(synthetic(comparison, change))
    return {(row.experiment, row.point, row.metric) for row in rows if outcome(row) == "regressed"}, rows


def test_noise_is_no_regression(comparison):
    bad, rows = outcomes(comparison, lambda experiment, point, metric, value: value)
    assert not bad
    assert len(rows) > 60


def test_a_tenth_less_goodput_at_high_rtt_is_one(comparison):
    bad, rows = outcomes(
        comparison, lambda e, point, metric, value: 0.9 * value if (e, metric) == ("E6", "goodput_bps") else value
    )
    assert {place[0] for place in bad} == {"E6"}
    assert len(bad) == 2
    text = comparison.markdown(rows)
    assert text.splitlines()[0].startswith("Congestion control: 2 regressions, 0 improvements, ")
    assert text.splitlines()[2] == comparison.sentence(rows)
    assert re.match(
        r"Reno \(linux\) against CUBIC \(linux\): of \d+ rows 2 regressed \(most at Goodput, E6, .*: -9\.\d % \[",
        text.splitlines()[2],
    )
    assert len(text.splitlines()) <= 60
    told = comparison.facts(rows)
    assert (told["status"], told["summary"]["regressed"]) == ("regression", 2)


def test_a_gain_is_an_improvement_and_a_change_of_share_to_either_side_is_not(comparison):
    _, rows = outcomes(
        comparison, lambda e, point, metric, value: 0.7 * value if metric in ("qdelay_p95_s", "x_share") else value
    )
    found = {(row.metric, outcome(row)) for row in rows if row.metric in ("qdelay_p95_s", "x_share")}
    assert found == {("qdelay_p95_s", "improved"), ("x_share", "regressed")}


def test_the_threshold_scales_all_of_them():
    wide = begin("cubic", "reno", experiments=["E6"], threshold_percent=20.0)
    assert not outcomes(wide, lambda e, point, metric, value: 0.9 * value)[0]


def test_every_metric_that_is_compared_belongs_to_experiments():
    for metric in compared_metrics():
        assert set(metric.experiments) <= set(definitions().experiments)


def test_wrong_input_is_refused(capsys):
    with pytest.raises(InputError, match="cannot be compared"):
        begin("cubic", "reno", experiments=["E11"])
    assert main(["compare", "cubic", "nothing"]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "cubic", "reno", "--size", "smoke", "--quick"])
    capsys.readouterr()


def test_two_equal_algorithms_are_identical_and_a_worse_one_fails(tmp_path, capsys):
    short = ["--experiments", "E15", "--replicates", "4", "--json", "--out", str(tmp_path)]
    assert main(["compare", "reno", "reno", *short]) == 0
    same = json.loads(capsys.readouterr().out)
    assert {row["outcome"] for row in same["rows"]} == {"identical"}
    # A window that falls to a tenth at each loss has less goodput where loss is random.
    assert main(["compare", "reno", '{ name = "reno", beta = 0.1 }', *short, "--markdown", str(tmp_path / "comment.md")]) == 1
    worse = json.loads(capsys.readouterr().out)
    assert (worse["status"], worse["summary"]["regressed"] > 0) == ("regression", True)
    assert (tmp_path / "comment.md").read_text().startswith("Congestion control: ")


def test_a_regression_that_is_not_excluded_makes_the_status_unclear():
    about = {"kind": "percent", "metric": "goodput_bps", "experiment": "E1", "point": "1 flows"}
    noisy = Effect(mean_of([-9.0, 6.0, -8.0, 5.0]), 5.0, better="more", p_holm=0.6, **about)
    better = Effect(mean_of([9.0, 2.0, 7.0, 3.0]), 5.0, better="more", p_holm=0.2, **about)
    same = Effect(mean_of([0.1, -0.1, 0.2, -0.2]), 5.0, better="more", p_holm=0.9, **about)
    assert (outcome(noisy), may_regress(noisy)) == ("unclear", True)
    assert (outcome(better), may_regress(better)) == ("unclear", False), "a regression of 5 % is excluded"
    assert not may_regress(same)
    assert change_text(noisy) == "-1.5 %", "of four there is no interval"
    assert threshold_text(noisy) == "-5 %"
    less = Effect(mean_of([9.0, -6.0, 8.0, -5.0]), 5.0, better="less", p_holm=0.6, **about)
    assert may_regress(less) and threshold_text(less) == "+5 %"
    assert STATUS == {"regression": 1, "unclear": 3, "ok": 0}
