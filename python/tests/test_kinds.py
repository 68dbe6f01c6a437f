"""Kinds of metrics: which each has, and how values of it are compared."""

import math

import pytest

from tonopah.judge.effects import paired_effect
from tonopah.judge.sentences import effect_text
from tonopah.metrics import METRICS, metric
from tonopah.metrics.kinds import KINDS as NAMES
from tonopah.stats.kinds import KINDS


def test_a_metric_that_the_list_of_kinds_names_exists_and_has_one_kind():
    named = [name for names in NAMES.values() for name in names]
    assert sorted(set(named)) == sorted(named)
    assert not set(named) - set(METRICS)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("goodput_bps", "positive"), ("jain", "share"), ("utilisation_max", "share"), ("drops.queue", "count"),
        ("loss_ratio", "proportion"), ("reordered_ratio", "proportion"), ("rto_count", "count"), ("completion_p99_s", "time"),
        ("workload.web.fct_s", "time"), ("workload.web.class.10kB.unfinished", "count"), ("mos", "scale"), ("qoe", "signed"),
    ],
)  # fmt: skip
def test_the_kind_follows_from_what_is_measured(name, kind):
    assert metric(name).kind == kind
    assert kind in KINDS


def test_metrics_within_bounds_are_no_ratios_of_means():
    for name, known in METRICS.items():
        if known.bounds == (0.0, 1.0):
            assert known.kind in ("share", "proportion"), name


def test_an_effect_is_compared_by_the_kind_of_its_metric():
    mine, theirs = {1: 2e6, 2: 2.2e6, 3: 2.1e6, 5: 1e6}, {1: 1e6, 2: 1e6, 3: 1e6, 4: 1e6}
    ratio = paired_effect("goodput_bps", mine, theirs)
    assert (ratio.kind, ratio.estimate.n, ratio.subject) == ("log", 3, pytest.approx(2.1e6))
    assert ratio.estimate.value == pytest.approx(sum(map(math.log, (2, 2.2, 2.1))) / 3)
    share = paired_effect("jain", {1: 0.9, 2: 0.8}, {1: 0.5, 2: 0.5}, better="more")
    assert (share.kind, share.estimate.value, share.margin) == ("difference", pytest.approx(0.35, abs=0.01), 0.05)


def test_a_ratio_of_losses_counts_only_with_a_difference_that_counts():
    """0.26 instead of 0.18 % of loss is no red word, whatever the ratio."""
    few = {k: 0.0018 + k * 1e-5 for k in range(1, 11)}
    more = {k: 1.45 * value for k, value in few.items()}
    found = paired_effect("loss", more, few, better="less", p_holm=0.001)
    assert found.verdict != "contradicted"
    tenfold = {k: 10 * value for k, value in few.items()}
    assert paired_effect("loss", tenfold, few, better="less", p_holm=0.001).verdict == "contradicted"


def test_a_ratio_to_nothing_is_no_number_and_says_no_direction():
    nothing, some = dict.fromkeys(range(5), 0.0), dict.fromkeys(range(5), 0.1) | {3: 0.2}
    assert math.isnan(paired_effect("loss_ratio", some, nothing).gain)
    assert effect_text(paired_effect("loss_ratio", some, nothing)) == "–"
    assert paired_effect("loss_ratio", nothing, some).gain == -math.inf
    assert effect_text(paired_effect("loss_ratio", nothing, some)) == "0 ×"
