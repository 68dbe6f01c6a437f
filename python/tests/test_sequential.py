"""Replicates until intervals are narrow: the schedule, what it guarantees, and a study that stops."""

import json

import numpy as np
import pytest

import tonopah as tp
from tonopah import stats
from tonopah.analysis.sequential import confidence, schedule
from tonopah.cli import main
from tonopah.spec.manifest import Target


def test_looks_grow_to_the_cap():
    assert schedule(10, 100) == [10, 15, 23, 35, 53, 80, 100]
    assert schedule(10, 10) == [10]
    assert schedule(1, 4) == [2, 3, 4]
    assert schedule(200, 100) == [100]


def test_the_error_is_spent_in_equal_shares():
    assert confidence(1) == pytest.approx(0.95)
    assert confidence(5) == pytest.approx(0.99)


@pytest.mark.parametrize("width", [0.4, 0.8])
def test_intervals_cover_although_one_stops_when_they_are_narrow(width):
    """Repeated intervals cover at 95 % or better; ordinary ones, stopped the same way, do so less often."""
    draw, looks = np.random.default_rng(11), schedule(4, 40)
    covered = {0.95: 0, confidence(len(looks)): 0}
    for _ in range(1500):
        values = draw.normal(0, 1, looks[-1])
        for level in covered:
            for n in looks:
                found = stats.mean_interval(values[:n], level)
                if found.high - found.value <= width:
                    break
            covered[level] += found.low <= 0 <= found.high
    # Three standard errors of 1500 draws are 1.7 %.
    assert covered[confidence(len(looks))] / 1500 >= 0.95 - 0.017
    assert covered[0.95] < covered[confidence(len(looks))]


@pytest.mark.parametrize("stop", ["narrow", "decided"])
def test_verdicts_hold_although_the_data_say_when_to_stop(stop):
    """Two equal algorithms: with the level of one look, whoever stops at the first verdict is wrong too often."""
    draw, looks, wrong = np.random.default_rng(4), schedule(4, 40), {1: 0, len(schedule(4, 40)): 0}
    for _ in range(300):
        a, b = 10 + draw.normal(0, 1, (2, looks[-1]))
        for shares in wrong:
            level = (1 - confidence(shares)) / 2
            for n in looks:
                found = stats.ratio_of(a[:n], b[:n])
                decided = min(found.p_greater(), found.p_less()) < level
                narrow = found.interval(confidence(shares)).half_width < 8
                if decided if stop == "decided" else narrow:
                    break
            wrong[shares] += decided
    # Three standard errors of 300 draws are 3.8 %.
    assert wrong[len(looks)] / 300 <= 0.05 + 0.038
    assert wrong[1] > wrong[len(looks)]
    if stop == "decided":
        assert wrong[1] / 300 > 0.07


@pytest.fixture
def study(study_document, tmp_path):
    from conftest import toml

    study_document |= {"sweep": study_document["sweep"][:1], "claim": [], "quick": {}, "figure": study_document["figure"][:1]}
    (tmp_path / "s.toml").write_text(toml(study_document))
    study = tp.Study.load(tmp_path / "s.toml")
    study.folder = tmp_path / "out"
    return study


def test_a_study_stops_when_its_differences_are_narrow(study):
    study.run(quiet=True, until=Target(400.0, 12, ("goodput_bps",)))
    reached = study.reached[""]
    assert (reached.look, reached.looks, reached.replicates, reached.narrow) == (2, 4, 5, True)
    again = tp.Study.open(study.folder)
    assert again.spec.parts[0].confidence == pytest.approx(confidence(reached.looks))
    text = again.report().read_text()
    assert "Jennison and Turnbull" in text and "5 replicates after look 2 of 4" in text
    assert "--until 400% --at-most 12 --metric goodput_bps" in text


def test_a_study_stops_at_the_cap(study):
    study.run(quiet=True, until=Target(1e-9, 5, ("goodput_bps",)))
    reached = study.reached[""]
    assert (reached.replicates, reached.narrow) == (5, False)
    assert "Goodput of cubic" in reached.where and reached.half_width > 1e-9
    assert set(study.table()["seed"]) == {1, 2, 3, 4, 5}
    assert study.missing() == 0


def test_the_command_line_takes_a_width(study, capsys):
    code = main.main(["study", "run", study.source, "--until", "300%", "--at-most", "3", "--metric", "goodput_bps",
                     "--out", str(study.folder)])  # fmt: skip
    assert code == 0
    assert main.main(["study", "run", study.source, "--metric", "goodput_bps"]) == 2
    assert "has no meaning without --until" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main.main(["study", "run", study.source, "--until", "narrow"])


def test_reports_at_several_sizes_are_looks(study_document, tmp_path):
    """Who adds replicates by hand until a word appears looks as often as `--until` does, and the report says so."""
    from conftest import toml

    test = {"metric": "goodput_bps", "difference": {"of": "cubic"}, "above_percent": 0}
    study_document |= {"sweep": study_document["sweep"][:1], "quick": {}, "figure": study_document["figure"][:1]}
    study_document["claim"] = [{"id": "C", "text": "more", "test": test}]
    (tmp_path / "s.toml").write_text(toml(study_document))
    found = []
    for size in (4, 4, 5, 6):
        made = tp.Study.load(tmp_path / "s.toml")
        made.run(out=tmp_path / "out", replicates=size, quiet=True)
        made.report(quiet=True)
        found.append(json.loads((tmp_path / "out" / "verdicts.json").read_text())["claims"][0]["tests"][0]["readings"][0])
    assert [round(one["looks"]) for one in found] == [1, 1, 2, 3]
    assert "3 looks at the data" in found[-1]["sentence"]
    assert tp.Study.open(tmp_path / "out").spec.parts[0].confidence == pytest.approx(confidence(3))
