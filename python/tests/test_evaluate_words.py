"""The words of `tonopah evaluate`, from tables whose truth is known; and how long a run is."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tonopah.judge import sentences, thresholds
from tonopah.judge.definitions import World, definitions, points
from tonopah.judge.evaluation import begin
from tonopah.judge.length import LIMIT_S, epochs, expected_s, first_length_s, has_settled, next_length_s, of_length
from tonopah.judge.often import Often, possible, sure
from tonopah.judge.scoreboard import by_setting, wanted_again
from tonopah.judge.study import axes_of, make_part, placed, replicate_of, worlds_of
from tonopah.judge.subjects import Cast, read_subject
from tonopah.judge.worlds import seconds

ALIKE = {
    "goodput_bps": 48e6, "x_goodput_bps": 24e6, "y_goodput_bps": 24e6, "y_loss": 0.001, "loss": 0.001, "y_qdelay_p95_s": 0.04,
    "qdelay_p95_s": 0.04, "utilisation": 0.97, "larger_ratio": 1.5, "t_fair_s": 10.0, "late_share": 0.5, "x_fair_share": 1.0,
    "jain": 0.97,
}  # fmt: skip
FIXED = {"epochs": 30.0, "share_1": 0.5, "share_2": 0.5, "y_starved": 0.0, "x_starved": 0.0}
FIRST, MORE = 5, 10


def made(evaluation, change=lambda *_: None, noise=0.02):
    """Return results in which all arms have the same law, but for what `change(experiment, arm, replicate, values)` does."""
    draw, tables = np.random.default_rng(11), {}
    for part in evaluation.spec.parts:
        rows = []
        for point, k, arm in itertools.product(worlds_of(part).points.values(), range(1, FIRST + MORE + 1), part.labels):
            values = {name: value * (1 + noise * draw.standard_normal()) for name, value in ALIKE.items()} | FIXED
            values["jain"] = min(1.0, values["jain"])
            change(part.id, arm, k, values)
            rows.append({"algorithm": arm, "seed": k, **axes_of(point), **values})
        tables[part.id] = pd.DataFrame(rows)
    return replace(placed(evaluation.spec.parts, tables), first=FIRST)


def evaluation_of(criterion, *experiments):
    """Return an evaluation that looks at some experiments only."""
    evaluation = begin("bbr", criteria=[criterion])
    evaluation.spec.parts = [part for part in evaluation.spec.parts if part.id in experiments]
    return evaluation


def row_of(evaluation, change=lambda *_: None):
    """Return the row of the only criterion."""
    return evaluation.rows(made(evaluation, change))[0]


@pytest.fixture(scope="module")
def harm():
    return evaluation_of("C6", "E3")


def test_what_differs_nowhere_is_like_the_baseline(harm):
    row = row_of(harm)
    assert (row.word, row.starved, row.suspects) == ("like CUBIC", [], [])


def test_harm_is_what_exceeds_the_worst_of_the_standards(harm):
    def taken(experiment, arm, k, values):
        if arm in ("S:B", "R:B"):
            values["y_goodput_bps"] /= 2

    def more(experiment, arm, k, values):
        taken(experiment, arm, k, values)
        if arm == "S:B":
            values["y_goodput_bps"] /= 8

    assert row_of(harm, taken).word == "no worse", "no more than Reno takes"
    row = row_of(harm, more)
    assert (row.word, row.decides.of, row.decides.metric) == ("harmful to others", "CUBIC", "left")
    first, *_ = sentences.summary([row], harm.cast)
    assert first.startswith(
        "BBRv1 (linux) against CUBIC (linux) and Reno (linux): of one criterion 1 harmful to others (C6: goodput left"
    )
    said = sentences.red_sentence(row)
    assert "goodput left to CUBIC is 6." in said
    assert "more place" in said


def test_what_is_like_the_baseline_is_shown_beside_it():
    def others_take_more(experiment, arm, k, values):
        if arm == "O:O":
            values["y_goodput_bps"] /= 2

    others = evaluation_of("C7", "E11")
    row = row_of(others, others_take_more)
    assert row.word == "like CUBIC"
    assert "instead of" in sentences.seen_text(row, others.cast)
    assert row.primary.subject == pytest.approx(row.primary.baseline, rel=0.1), "not beside what others do to one another"


def test_the_second_set_confirms_or_the_word_is_unclear(harm):
    def at_first(experiment, arm, k, values):
        if arm == "S:B" and k <= FIRST:
            values["y_goodput_bps"] /= 4

    row = row_of(harm, at_first)
    assert row.word == "unclear"
    assert "does not confirm" in row.reason
    again = wanted_again(row, FIRST)
    assert set(again.values()) == {2 * FIRST}
    assert len(again) == 1, "one place is asked again"


def test_loss_counts_from_half_a_percentage_point_on(harm):
    def lossy(least):
        def change(experiment, arm, k, values):
            if arm == "S:B":
                values["y_loss"] = least * (1 + 0.02 * k / FIRST)

        return change

    assert row_of(harm, lossy(0.004)).word == "like CUBIC", "four times as much, but 0.3 points"
    assert row_of(harm, lossy(0.02)).word == "harmful to others"


def test_starving_in_a_third_of_the_runs_is_red_and_a_single_run_is_not(harm):
    def some(experiment, arm, k, values):
        if arm == "S:B":
            values["y_starved"] = float(k % 3 == 0)

    def always(experiment, arm, k, values):
        values["y_starved"] = float(arm == "S:B")

    def everybody(experiment, arm, k, values):
        values["y_starved"] = float(k % 3 == 0)

    def once(experiment, arm, k, values):
        values["y_starved"] = float(arm == "S:B" and k == 2)

    words = [row_of(harm, change).word for change in (some, always, everybody, once)]
    assert words == ["may starve", "starves others", "like CUBIC", "like CUBIC"]
    assert "in 5 of 15 runs" in sentences.red_sentence(row_of(harm, some))


def test_a_bound_on_a_proportion_of_runs():
    surely = Often("CUBIC", "E3", "b", 10, 10, ((0, 10), (1, 10)))
    maybe = Often("CUBIC", "E3", "c", 3, 10, ((0, 10),))
    assert sure([surely, maybe]) == [surely]
    assert possible([maybe]) == [], "three of ten may be chance"
    assert possible([maybe] * 3), "nine of thirty are not"
    assert possible([Often("CUBIC", "E3", "c", 3, 10, ((3, 10),))] * 9) == []


def test_runs_that_have_not_settled_say_so(harm):
    def drifting(experiment, arm, k, values):
        values["share_2"] = 0.6

    row = row_of(harm, drifting)
    assert row.word == "not converged"
    assert len(row.unsettled) == 4


@pytest.mark.parametrize(
    ("metric", "value", "word"),
    [
        ("larger_ratio", 9.5, "favours short round trips"),
        ("t_fair_s", 40.0, "slow to converge"),
        ("late_share", 0.9, "favours latecomers"),
    ],
)
def test_fairness_within_has_words_of_its_own(metric, value, word):
    def change(experiment, arm, k, values):
        if arm == "S":
            values[metric] = value * (1 - 0.005 * k)

    row = row_of(evaluation_of("C4", "E5", "E6"), change)
    assert row.word == word
    assert row.decides.metric == metric


def test_opposite_effects_at_two_points_do_not_cancel(harm):
    evaluation = evaluation_of("C3", "E2")

    def change(experiment, arm, k, values):
        values["loss"] = 0.02 * (1 + 0.01 * k)

    results = made(evaluation, change)
    places = results.places["E2"]
    for place, factor in zip(places[:2], (3.0, 1 / 3), strict=True):
        place.table.loc[place.table["algorithm"] == "S", "loss"] *= factor
    row = evaluation.rows(results)[0]
    assert row.word == "worse"
    assert row.decides.place.label == places[0].label


def test_half_and_double_margins_show_what_hangs_on_them(harm):
    def change(experiment, arm, k, values):
        if arm == "S:B":
            values["y_goodput_bps"] *= 0.85

    found = harm.by_margin(made(harm, change))
    assert found == {"C6 Harm to standard congestion control": {0.5: "harmful to others", 1.0: "like CUBIC", 2.0: "like CUBIC"}}


def test_the_table_of_scenarios_has_what_was_run(harm):
    cells = by_setting(harm.rows(made(harm)), harm.cast)
    assert cells == {"C6 Harm to standard congestion control": {"wired": "like CUBIC"}}


def test_references_are_the_same_runs_whoever_is_judged():
    experiment = definitions().experiments["E3"]
    point = points(experiment, "quick")[0]
    names = {"R:B": "reno", "B:B": "cubic", "C:B": '{ name = "cubic", profile = "rfc" }'}
    for arm, name in names.items():
        cast = Cast(read_subject(name), read_subject("cubic"), read_subject("reno"))
        worlds = make_part(experiment, [point], cast, 2).worlds
        mine, theirs = (worlds(one, axes_of(point), 1) for one in ("S:B", arm))
        assert (mine.scenario, mine.seed) == (theirs.scenario, theirs.seed), (
            "so that none of the three can do more harm than the worst"
        )


def test_seeds_differ_between_points_and_tell_their_replicate():
    experiment = definitions().experiments["E3"]
    both = points(experiment, "quick")
    worlds = make_part(experiment, both, Cast(read_subject("bbr"), read_subject("cubic"), read_subject("reno")), 3).worlds
    seeds = {worlds("S:B", axes_of(point), k).seed for point in both for k in (1, 2, 3)}
    assert len(seeds) == 3 * len(both)
    assert {replicate_of(seed) for seed in seeds} == {1, 2, 3}
    assert max(seeds) < 2**53


def test_a_run_is_as_long_as_its_epochs():
    many, few, none = ({"recovery_count": count, "rto_count": 0} for count in (40, 7, 0))
    assert epochs([many, few], 100.0) == 7.0
    assert epochs([many, none], 100.0) == 10.0, "a flow that loses nothing probes every 10 s"
    assert has_settled([20, 25, 30], [0.5, 0.5, 0.5], [0.51, 0.52, 0.5], 0.1)
    assert not has_settled([5, 25, 6], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5], 0.1)
    assert not has_settled([30, 30, 30], [0.2, 0.21, 0.2], [0.4, 0.41, 0.4], 0.1), "a drift"
    assert has_settled([30, 30, 30], [0.2, 0.6, 0.5], [0.5, 0.3, 0.6], 0.1), "no drift beyond its own error"


def test_runs_begin_at_what_cubic_needs_and_end_at_a_limit():
    short, deep = (World(rate="50Mbps", rtt="40ms", flows=[1, 1], buffer=buffer, duration="60s") for buffer in (0.25, 16.0))
    assert 60 < first_length_s(short) < first_length_s(deep) == LIMIT_S
    assert expected_s(deep) > LIMIT_S
    assert (next_length_s(short, 120.0), next_length_s(short, 200.0), next_length_s(short, 300.0)) == (240.0, 300.0, None)
    assert next_length_s(World(rate="200Mbps", flows=[1, 1]), 150.0) is None, "2.5 million packets"
    assert next_length_s(short, 30.0, 20.0) == next_length_s(short, 30.0, 10.0) == 60.0, "twice where that will do, or drifts end"
    assert next_length_s(short, 30.0, 9.9) == 120.0, "the length between would have too few epochs again"
    assert (next_length_s(short, 30.0, 2.6), next_length_s(short, 30.0, 0.0)) == (240.0, 300.0)
    assert [seconds(text) for text in (of_length(short, 120.0).duration, of_length(short, 120.0).warmup)] == [120.0, 40.0]


def test_the_table_of_thresholds_is_in_the_documents():
    text = (Path(__file__).parents[2] / "docs/evaluate.md").read_text(encoding="utf-8")
    assert "\n".join(thresholds.markdown()) in text
