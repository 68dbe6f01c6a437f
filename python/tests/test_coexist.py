"""`tonopah coexist`: the runs of a matrix, what its cells say, and its page."""

import itertools
import json
import re

import pytest

from tonopah.cli.main import main
from tonopah.execution.options import ExecutionOptions
from tonopah.judge.coexist import Standing, begin, clustered, harm_figure, heat_maps, standings
from tonopah.judge.length import LIMIT_S
from tonopah.judge.study import worlds_of
from tonopah.plot.picture import make_look, picture


def test_a_matrix_has_every_pair_in_both_orders_and_every_algorithm_alone():
    matrix = begin(["cubic", "bbr", "vegas"], replicates=2)
    runs = matrix.plan.runs
    # Three pairs, both ways, in three cases of round-trip times, three self-pairs in two; three alone at three round-trip times.
    assert len(runs) == ((2 * 3 * 3 + 3 * 2) + 3 * 3) * 3 * 2
    order = [run.seed for run in runs.values()]
    assert order == sorted(order)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("coexist")
    command = ["coexist", "cubic", "vegas", "--quick", "--buffers", "1", "--rtts", "40:40", "--replicates", "2"]
    assert main([*command, "--order", "cluster", "--out", str(folder)]) == 0
    return folder


def test_shares_of_a_pair_add_up_and_vegas_yields(folder):
    found = json.loads((folder / "coexist.json").read_text(encoding="utf-8"))
    shares = {(cell["row"].split()[0], cell["column"].split()[0]): cell["share"] for cell in found["cells"]}
    assert shares["CUBIC", "vegas"] + shares["vegas", "CUBIC"] == pytest.approx(1.0)
    assert shares["vegas", "CUBIC"] < 0.2
    assert all(cell["harm"] <= 1 for cell in found["cells"])
    assert all(cell["excess"] == pytest.approx(cell["harm"] - 0.5) for cell in found["cells"])
    assert [one["name"].split()[0] for one in found["algorithms"]] == ["CUBIC", "vegas"]


def test_the_page_shows_every_cell(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    found = json.loads((folder / "coexist.json").read_text(encoding="utf-8"))["answer"]
    assert found[0].startswith("On average CUBIC (linux) takes most, ") and ", and vegas (linux) least, " in found[0]
    assert all(sentence in page for sentence in found) and len(found) == 2
    data = json.loads(re.search(r'id="figures-data">(.*?)</script>', page, re.DOTALL)[1])
    heat, scatter = data.values()
    assert (heat["kind"], scatter["kind"]) == ("heatmap", "scatter")
    assert sum(value is not None for value in heat["series"][0]["y"]) == 4
    assert "vegas (linux) beside CUBIC (linux)" in page
    assert page.count("<svg") == 0, "only scripts draw"


def test_each_pair_is_as_long_as_it_needs(folder):
    matrix = begin(["cubic", "vegas"], buffers=(1.0,), rtts=(("40ms", "40ms"),), replicates=2, quick=True, out=folder)
    assert matrix.carry_out(ExecutionOptions(jobs=1), quiet=True) == 0, "the folder has all"
    worlds = worlds_of(matrix.spec.parts[0])
    (key,) = worlds.points
    assert worlds.length_s(key, "1:1") == LIMIT_S, "two Vegas lose nothing, and are looked at every ten seconds"
    assert worlds.length_s(key, "0:0") < LIMIT_S, "two CUBICs had their epochs before, whoever else is run there"


def test_clusters_keep_every_name(folder):
    matrix = begin(["cubic", "vegas"], buffers=(1.0,), rtts=(("40ms", "40ms"),), replicates=2, quick=True, out=folder)
    cells = matrix.cells()
    names = [one.name for one in standings(cells)]
    assert sorted(clustered(cells, names)) == sorted(names)


@pytest.mark.parametrize(
    "wrong",
    [
        ("--buffers", "0"),
        ("--buffers", "a"),
        ("--rtts", "20"),
        ("--flows", "1:0"),
        ("--queue", "{ kind = "),
        ("--queue", "{ kind = " + "[" * 5000),
        ("--queue", "none"),
    ],
)
def test_wrong_options_are_refused(wrong, tmp_path, capsys):
    assert main(["coexist", "cubic", "reno", *wrong, "--out", str(tmp_path)]) == 2
    assert wrong[1].split()[0] in capsys.readouterr().err


def test_an_algorithm_beside_nobody_is_refused(capsys):
    assert main(["coexist", "cubic"]) == 2
    assert "two or more" in capsys.readouterr().err


def test_an_algorithm_twice_is_refused(capsys):
    assert main(["coexist", "cubic", "cubic"]) == 2
    assert len(list(itertools.islice(capsys.readouterr().err.splitlines(), 2))) == 1


def test_with_marks_an_algorithm_that_has_its_own_keeps_them():
    matrix = begin(["cubic", "prague"], buffers=[1.0], rtts=[("40ms", "40ms")], replicates=1, quick=True, ecn=True)
    run = next(run for run in matrix.plan.runs.values() if run.algorithm == "0:1")
    asked = [flow.get("tcp") for flow in json.loads(run.scenario)["flow"] if "cc" in flow]
    assert asked == [{"ecn": "classic"}, None]


def test_the_picture_of_harm_names_every_algorithm():
    crowd = [Standing(f"name{i} (linux)", 0.5 + 0.001 * i, 0.5, "", 0.5) for i in range(5)]
    figure = harm_figure([*crowd, Standing("apart", 0.1, 0.9, "", 0.5)])
    assert [one.label for one in figure.series] == ["name0", "name1", "name2", "name3", "name4", "apart"]
    assert (figure.series[0].x, figure.series[0].y) == ([0.5], [0.5])


def test_a_cell_of_the_matrix_stands_in_its_row_and_column(folder):
    matrix = begin(["cubic", "vegas"], buffers=(1.0,), rtts=(("40ms", "40ms"),), replicates=2, quick=True, out=folder)
    cells = matrix.cells()
    names = ["CUBIC (linux)", "vegas (linux)"]
    (heat,) = heat_maps(cells, names)
    one, rows = heat.series[0], dict(zip(heat.rows.values, heat.rows.ticks, strict=True))
    found = {
        (rows[row], heat.x.ticks[int(x)]): (y, dot) for x, row, y, dot in zip(one.x, one.row, one.y, one.marked, strict=True)
    }
    wanted = {(c.row.split()[0], c.column.split()[0]): (pytest.approx(100 * c.share.value), c.starved) for c in cells}
    assert found == wanted
    assert heat.rows.ticks[-1] == "CUBIC", "the first row stands at the top"
    drawn = picture(heat, make_look("svg"), "svg").decode()
    assert all(text in drawn for text in ("vegas", f"{one.y[0]:.{1 if one.y[0] >= 9.995 else 2}f}"))
