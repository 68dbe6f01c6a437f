"""Figures as data: what they hold, one scale for the same quantity, few replicates as points, and the keys of the study file."""

import json
import math
import re

import pandas as pd
import pytest

import tonopah as tp
from tonopah._core import schema
from tonopah.analysis import figure_files, tables
from tonopah.analysis.figure_data import part_figures
from tonopah.analysis.figure_files import as_csv, write_figures
from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series, step_of
from tonopah.analysis.figure_series import around_handovers
from tonopah.analysis.figure_values import Request, SweptAxis, bar, difference_line, heatmap, heatmap_difference, line, scatter
from tonopah.analysis.tables import PartTables, part_tables
from tonopah.errors import InputError
from tonopah.metrics import lower, metric
from tonopah.spec.reader import parse_spec
from tonopah.stats import Method
from tonopah.store.store import Store


def sections_of(study):
    found = {}
    with Store(study.folder, create=False) as store:
        for part in study.spec.parts:
            plan = study.plan.parts[part.id]
            found[part.id] = part_figures(PartTables(part, plan, *part_tables(part, plan, store), store))
    return found


def run(document, folder, **options):
    from conftest import toml

    (folder / "small.toml").write_text(toml(document), encoding="utf-8")
    study = tp.Study.load(folder / "small.toml")
    study.run(quiet=True, out=folder / "out", **options)
    return study


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    from conftest import STUDY

    more = [
        {"kind": "series", "y": ["cwnd"], "flow": "all"},
        {"kind": "line", "x": "network.flows", "y": ["goodput_bps"], "log": "xy", "title": "Goodput of the cell"},
        {"kind": "bar", "y": ["goodput_bps"]},
    ]
    return run(STUDY | {"figure": STUDY["figure"] + more}, tmp_path_factory.mktemp("study"))


def figures_of(study):
    return {figure.id: figure for sections in sections_of(study).values() for one in sections for figure in one.figures}


def test_every_kind_has_its_data_as_json(finished):
    found = figures_of(finished)
    names = ["line--network-flows--goodput_bps", "difference--network-flows--delay_s", "bar--goodput_bps", "ecdf--goodput_bps",
             "scatter--delay_p95_s--goodput_bps", "scatter--network-flows--6--delay_p95_s--goodput_bps",
             "heatmap--network-flows--network-nodes--goodput_bps", "series--cwnd", "series--queue",
             "heatmap-difference--network-flows--network-nodes--goodput_bps", "series--cwnd--flows-all--cubic"]  # fmt: skip
    assert set(names) <= set(found)
    for name, figure in found.items():
        text = json.dumps(figure.as_json(), allow_nan=False)
        assert json.loads(text)["id"] == name
        assert figure.title and figure.caption and figure.y.min is not None and figure.y.min <= figure.y.max
        for one in figure.series:
            assert len(one.x) == len(one.y)
            assert all(len(values) in (0, len(one.y)) for values in (one.low, one.high, one.row, one.x_low, one.x_high))
    assert [section.anchor for section in sections_of(finished)[""]] == ["sweep-1", "sweep-2", "sweep-3", "default"]


def test_what_is_drawn_is_what_the_table_holds(finished):
    table = finished.table()
    mine = table[(table["algorithm"] == "cubic") & (table["network.flows"] == 6) & (table["network.nodes"] == 8)]
    cubic = figures_of(finished)["line--network-flows--goodput_bps"].series[1]
    assert (cubic.label, cubic.style, cubic.x[2], cubic.n[2]) == ("cubic", 1, 6.0, 3)
    assert cubic.y[2] == pytest.approx(mine["goodput_bps"].mean() / 1e6)
    assert cubic.points.y[6:] == pytest.approx((mine.sort_values("seed")["goodput_bps"] / 1e6).tolist())


def test_a_scatter_figure_has_a_point_with_both_intervals_for_each_algorithm():
    values = {("a", 1): [1e6, 1.8e6, 3e6, 2.2e6], ("b", 1): [4e6] * 4, ("a", 2): [9e6] * 4, ("b", 2): [8e6] * 4}
    table = rows(values)
    table["delay_s"] = [0.01, 0.018, 0.03, 0.022] + [0.5] * 12
    asked, over = (Request("", table, metric(name), ["a", "b"], "a", Method()) for name in ("goodput_bps", "delay_s"))
    made = scatter(asked, over, SweptAxis("x", [1, 2], "X"), 1)
    first, second = made.series
    assert (first.x, first.y, second.x, second.y) == ([pytest.approx(20.0)], [2.0], [500.0], [4.0])
    for one, low, high in ((asked, first.low, first.high), (over, first.x_low, first.x_high)):
        found = one.estimate("a", {"x": 1})
        assert low[0] == found.low < found.value < found.high == high[0]
    lines = as_csv(made).splitlines()
    assert lines[0].startswith("algorithm,delay_s (ms),low of delay_s (ms),high of delay_s (ms),goodput_bps (Mb/s)")
    assert lines[2].startswith("b,500,") and lines[2].endswith(",4")
    assert made.title == f"Goodput against {lower(metric('delay_s').label)}: 1"


@pytest.mark.parametrize(("least", "logarithmic"), [(0.1, True), (0.0, False)])
def test_the_horizontal_axis_of_a_scatter_figure_is_logarithmic_where_all_is_positive(least, logarithmic):
    table = rows({("a", 1): [1e6] * 4, ("b", 1): [2e6] * 4})
    table["delay_s"] = [least] * 4 + [0.2] * 4
    asked, over = (Request("", table, metric(name), ["a", "b"], "a", Method(), log="xy") for name in ("goodput_bps", "delay_s"))
    assert scatter(asked, over).x.log is logarithmic


def test_all_panels_of_a_metric_have_one_scale(finished):
    found = figures_of(finished)
    lines = [found["line--network-flows--goodput_bps"], found["line--traffic-app-rate--goodput_bps"]]
    assert lines[0].y.min == lines[1].y.min and lines[0].y.max == lines[1].y.max
    drawn = [value for figure in lines for one in figure.series for value in (*one.y, *one.points.y)]
    assert lines[0].y.min == min(drawn) and lines[0].y.max == max(drawn)
    heat = found["heatmap-difference--network-flows--network-nodes--goodput_bps"].y
    assert heat.min == -heat.max


def test_heat_maps_of_algorithms_are_panels_of_one_figure(finished):
    figure = figures_of(finished)["heatmap--network-flows--network-nodes--goodput_bps"]
    assert [one.label for one in figure.series] == ["newreno", "cubic"]
    values = [value for one in figure.series for value in one.y]
    assert (figure.y.min, figure.y.max) == (min(values), max(values))
    assert figure.rows.values == [8.0, 12.0] and figure.series[0].row == [8.0, 8.0, 12.0, 12.0]


def test_crossed_axes_have_the_labels_of_their_own_sweeps(finished):
    figure = next(one for one in finished.figures().values() if one.kind == "heatmap" and not one.baseline)
    assert (figure.x.title, figure.rows.title) == ("Flows", "Network nodes")
    assert figure.title == "Goodput over flows and network nodes"


def test_an_axis_without_a_label_is_its_path_in_words():
    document = {"question": "?", "scenario": {}, "compare": {"cc": ["reno", "cubic"]}}
    vary = {"network.bottleneck.delay": ["5ms", "20ms"]}
    part = parse_spec({**document, "sweep": [{"vary": vary}]}).parts[0]
    assert part.sweeps[0].label == part.axis_label("network.bottleneck.delay") == "Network bottleneck delay"
    named = parse_spec({**document, "sweep": [{"vary": vary, "label": "One-way delay"}]}).parts[0]
    assert named.sweeps[0].label == "One-way delay"


def test_all_flows_of_a_run_share_a_panel(finished):
    figure = figures_of(finished)["series--cwnd--flows-all--newreno"]
    assert [one.flow for one in figure.series] == [0, 1] and [one.style for one in figure.series] == [0, 1]
    assert figure.series[0].label == "0: src0 → sink0"


def test_the_same_figure_twice_is_one_and_a_different_one_gets_a_number(finished):
    found = figures_of(finished)
    assert "bar--goodput_bps--2" not in found
    second = found["line--network-flows--goodput_bps--2"]
    assert second.title == "Goodput of the cell" and second.x.log and second.y.log


def rows(values):
    return pd.DataFrame(
        [
            {"algorithm": label, "seed": k + 1, "x": x, "goodput_bps": value}
            for (label, x), sample in values.items()
            for k, value in enumerate(sample)
        ]
    )


def request(values, labels=("a", "b"), **options):
    return Request("", rows(values), metric("goodput_bps"), list(labels), labels[0], Method(), **options)


def test_fewer_than_four_replicates_are_points_without_an_interval():
    three = {("a", 1): [1e6, 2e6, 6e6], ("b", 1): [2e6, 2e6, 2e6]}
    one = bar(request(three)).series[0]
    assert (one.low, one.high, one.points.y) == ([None], [None], [1.0, 2.0, 6.0])
    # Replicates that do not differ have nothing to show singly.
    assert bar(request(three)).series[1].points is None
    four = bar(request({("a", 1): [1e6, 2e6, 6e6, 3e6], ("b", 1): [2e6] * 4})).series[0]
    assert four.points is None and four.low[0] < 3 < four.high[0]
    assert (
        "single replicates" in bar(request(three)).caption and "interval over" not in bar(request({("a", 1): [1e6, 2e6]})).caption
    )


def test_single_differences_are_pairs_in_percent():
    made = difference_line(request({("a", 1): [1e6, 2e6], ("b", 1): [2e6, 3e6]}), SweptAxis("x", [1], "X"))
    assert made.series[0].points.y == pytest.approx([100.0, 50.0]) and made.baseline == "a"


def test_what_was_not_measured_is_null():
    made = line(request({("a", 1): [1e6] * 4, ("b", 1): [math.nan] * 4}), SweptAxis("x", [1], "X"))
    assert made.series[1].y == [None] and made.series[1].n == [0]


def test_the_colours_of_a_difference_have_zero_in_the_middle():
    values = {("a", 1): [1e6] * 4, ("b", 1): [2e6] * 4}
    table = rows(values).assign(r=5)
    asked = Request("", table, metric("goodput_bps"), ["a", "b"], "a", Method())
    axes = SweptAxis("x", [1], "X"), SweptAxis("r", [5], "R")
    assert heatmap(asked, *axes).series[1].y == [2.0]
    assert heatmap_difference(asked, *axes).series[0].y == [100.0]


def test_parts_whose_ids_look_alike_do_not_share_figures(study_document, tmp_path):
    study_document |= {"sweep": [], "figure": [{"kind": "bar", "y": ["goodput_bps"]}], "claim": [], "quick": {}}
    study_document["part"] = [{"id": id} for id in ("a b", "a-b", "A", "a", "α", "β", "x" * 300)]
    study = run(study_document, tmp_path, replicates=1)
    names = [figure.id for sections in sections_of(study).values() for one in sections for figure in one.figures]
    assert len({name.lower() for name in names}) == len(names) == 7 * 3
    assert max(len(name) for name in names) < 250 and all(name.isascii() for name in names)


@pytest.mark.parametrize(
    ("figure", "path", "words"),
    [
        ({"kind": "series", "y": ["cwnd"], "flow": "some"}, "figure[0].flow", "'some' is the name of no flow"),
        ({"kind": "series", "y": ["cwnd"], "flow": [0, True]}, "figure[0].flow[1]", "True is not a flow"),
        ({"kind": "series", "y": ["cwnd"], "flow": []}, "figure[0].flow", "is empty"),
        ({"kind": "series", "y": ["cwnd"], "flow": [1, 1]}, "figure[0].flow", "1 appears twice"),
        ({"kind": "series", "y": ["cwnd"], "flow": -1}, "figure[0].flow", "-1 is out of range"),
        ({"kind": "bar", "y": ["goodput_bps"], "flow": 1}, "figure[0].flow", "has no meaning for a bar figure"),
        ({"kind": "bar", "y": ["goodput_bps"], "log": "x"}, "figure[0].log", "has no meaning for a bar figure"),
        (
            {"kind": "line", "x": "network.flows", "y": ["goodput_bps"], "log": "z"},
            "figure[0].log",
            "'z' is unknown (allowed: x, y, xy)",
        ),
        ({"kind": "line", "x": "network.nodes", "y": ["goodput_bps"], "log": "x"}, "figure[0].log", "0 is not above zero"),
    ],
)
def test_wrong_keys_of_a_figure_name_their_place(study_document, figure, path, words):
    study_document |= {"sweep": [{"vary": {"network.flows": [2, 4]}}, {"vary": {"network.nodes": [8, 0]}}], "quick": {}}
    study_document |= {"figure": [figure], "claim": []}
    with pytest.raises(InputError) as caught:
        parse_spec(study_document)
    assert caught.value.path == path and words in str(caught.value)


def test_numbers_of_a_figure_as_csv(finished, tmp_path):
    found = figures_of(finished)
    write_figures(found.values(), tmp_path / "figures")
    names = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert names == set(found)
    drawn = pd.read_csv(tmp_path / "figures" / "line--network-flows--goodput_bps.csv")
    assert list(drawn.columns) == ["algorithm", "network.flows", "metric", "unit", "value", "low", "high", "n", "role"]
    assert drawn["network.flows"].dtype == "int64" and set(drawn["role"]) == {"estimate", "replicate"}
    rate = pd.read_csv(tmp_path / "figures" / "line--traffic-app-rate--goodput_bps.csv")
    assert rate["traffic.app.rate (packets/s)"].unique().tolist() == [400, 600]
    assert list(pd.read_csv(tmp_path / "figures" / "series--cwnd.csv").columns) == ["algorithm", "t_s", "cwnd (kB)"]
    flows = pd.read_csv(tmp_path / "figures" / "series--cwnd--flows-all--cubic.csv")
    assert flows["flow"].unique().tolist() == ["0: src0 → sink0", "1: src1 → sink1"]
    assert list(pd.read_csv(tmp_path / "figures" / "ecdf--goodput_bps.csv").columns) == [
        "algorithm",
        "goodput_bps (Mb/s)",
        "share",
    ]
    heat = pd.read_csv(tmp_path / "figures" / "heatmap--network-flows--network-nodes--goodput_bps.csv")
    assert len(heat) == 8 and list(heat.columns[:3]) == ["algorithm", "network.flows", "network.nodes"]


def test_labels_are_no_formulas_and_numbers_stay_numbers(tmp_path):
    labels = ("=1+2", "-b")
    made = line(Request("", rows({(label, "@a"): [-1e6] * 4 for label in labels}), metric("goodput_bps"), list(labels), "=1+2",
                        Method()), SweptAxis("x", ["@a"], "X"))  # fmt: skip
    lines = as_csv(made).splitlines()
    assert lines[1].startswith("'=1+2,'@a,goodput_bps,Mb/s,-1,,,4")
    assert lines[2].startswith("'-b,'@a,")
    table = pd.DataFrame({"algorithm": labels, "value": [-1.5, 2.0]})
    tables.write(table, tmp_path, "runs")
    assert (tmp_path / "runs.csv").read_text() == "algorithm,value\n'=1+2,-1.5\n'-b,2.0\n"
    assert pd.read_parquet(tmp_path / "runs.parquet")["algorithm"].tolist() == list(labels)


def test_no_figure_of_an_earlier_study_file_stays(finished, tmp_path):
    found, folder = figures_of(finished), tmp_path / "figures"
    write_figures(found.values(), folder)
    (folder / "bar-goodput-bps.pdf").write_text("of 0.5")
    (folder / "notes.txt").write_text("mine")
    write_figures([found["series--cwnd"]], folder)
    assert {path.name for path in folder.iterdir()} == {"series--cwnd.csv", "notes.txt"}
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


def test_a_failure_leaves_the_figures_as_they_were(finished, tmp_path, monkeypatch):
    found, folder = figures_of(finished), tmp_path / "figures"
    write_figures([found["series--cwnd"]], folder)
    monkeypatch.setattr(figure_files, "as_csv", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_figures(found.values(), folder)
    assert {path.name for path in folder.iterdir()} == {"series--cwnd.csv"}
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]


@pytest.fixture
def over_time():
    times = [float(t) for t in range(601)]
    series = [Series(label, i, times, [1 + t / 1e6 for t in times]) for i, label in enumerate(("newreno", "cubic"))]
    scale = FigureScale("throughput", "Throughput", "Mb/s")
    return FigureData(
        "series--throughput", "", "series", "Throughput", "", FigureAxis("t_s", "Time", "s"), scale, series, step="before"
    )


def test_time_is_counted_from_the_handover(over_time):
    first, second = around_handovers(over_time, "flow 0", [100.5, 300.0])
    assert (first.id, second.id) == ("handover--throughput--1", "handover--throughput--2")
    # A second more on both sides, so that lines reach the edges.
    assert first.series[1].x == [t - 100.5 for t in range(90, 122)]
    assert first.series[1].y[0] == pytest.approx(1.00009)
    assert first.marks[0].x == 0.0 and first.x.key == "since_s"
    assert "flow 0" in first.caption and "100.5 s" in first.title and "all 2" in first.caption


def test_only_the_first_handovers_have_panels(over_time):
    made = list(around_handovers(over_time, "flow 0", [50.0, 100.0, 150.0, 200.0, 250.0]))
    assert len(made) == 4 and "the first 4" in made[0].caption
    assert list(around_handovers(over_time, "flow 0", [])) == []


def test_what_is_measured_per_bin_is_drawn_over_its_bin():
    described = {one["const"]: one["description"] for one in json.loads(schema())["$defs"]["SeriesName"]["oneOf"]}
    for name, text in described.items():
        assert (step_of(name) == "before") == bool(re.search(r"per bin|since the last sample", text)), name
