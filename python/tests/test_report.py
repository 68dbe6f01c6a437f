"""Figures, pictures and reports from a small real study."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest

import tonopah as tp
from tonopah import metrics, units
from tonopah.cli.main import main
from tonopah.plot.network import abbreviate, describe, draw
from tonopah.report.paper_tables import latex

SVG = "{http://www.w3.org/2000/svg}svg"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    from conftest import STUDY, toml

    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(toml(STUDY))
    study = tp.Study.load(folder / "small.toml")
    study.run(quiet=True, out=folder / "out")
    return study, study.report(quiet=True)


def test_the_report_stands_alone(finished):
    text = finished[1].read_text()
    page = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert links
    assert all(link.startswith(("data:", "#")) for link in links)
    assert "@import" not in text
    assert re.findall(r"<script[^>]*\ssrc=", text) == []


def test_the_report_says_what_was_asked_and_found(finished):
    text = finished[1].read_text()
    expected = [
        "Does the number of flows matter?", "Throughput rises with the number of flows", "not testable", "How to repeat",
        "large enough to be seen in 2 s", "packets sent = delivered + dropped + in flight", "tcp.mss",
    ]  # fmt: skip
    for words in expected:
        assert words in text, words


def test_every_kind_of_figure_is_in_the_page_once_and_beside_it(finished):
    folder, carried = finished[1].parent / "figures", page_figures(finished[1])
    kinds = (
        "line--network-flows--goodput_bps", "difference--network-flows--delay_s", "bar--goodput_bps", "ecdf--goodput_bps",
        "heatmap--network-flows--network-nodes--goodput_bps", "series--cwnd", "series--queue",
        "scatter--delay_p95_s--goodput_bps", "scatter--network-flows--2--delay_p95_s--goodput_bps",
    )  # fmt: skip
    for kind in kinds:
        assert kind in carried
    assert {path.stem for path in folder.iterdir()} == set(carried)
    for path in folder.iterdir():
        assert path.suffix == ".csv" and len(pd.read_csv(path)) > 0
    shown = re.findall(r'data-figure="([^"]*)"', finished[1].read_text())
    hidden = re.findall(r'data-difference="([^"]*)"', finished[1].read_text())
    assert set(shown) | set(hidden) == set(carried)


def page_figures(report):
    """Return the data of the figures that a page carries."""
    return json.loads(re.search(r'id="figures-data">(.*?)</script>', report.read_text(), re.DOTALL)[1])


def test_anchors_are_those_of_names_and_each_is_used_once(finished):
    page = re.sub(r"<script.*?</script>", "", finished[1].read_text(), flags=re.DOTALL)
    ids = re.findall(r'\sid="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in re.findall(r'href="(#[^"]*)"', page)} <= set(ids)


def test_pages_ask_nobody_for_anything(finished):
    """Also from a disk, where no server adds the policy: scripts, styles and pictures are those of the page."""
    head = finished[1].read_text().partition("</head>")[0]
    assert """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'""" in head
    templates = [path for path in Path(tp.__file__).parent.rglob("*.html.j2") if "<head>" in path.read_text()]
    assert len(templates) > 4 and all('{% include "policy.html.j2" %}' in path.read_text() for path in templates)


def test_a_report_is_small(finished):
    # Half a megabyte is the script; 20 MB was what pictures needed.
    assert finished[1].stat().st_size < 900_000


def test_figures_show_what_the_table_holds(finished):
    study, report = finished
    drawn = pd.read_csv(report.parent / "figures" / "line--network-flows--goodput_bps.csv")
    table = study.table()
    mine = table[(table["algorithm"] == "cubic") & (table["network.flows"] == 6) & (table["network.nodes"] == 8)]
    row = drawn[(drawn["algorithm"] == "cubic") & (drawn["network.flows"] == 6)].iloc[0]
    assert row["value"] == pytest.approx(mine["goodput_bps"].mean() / 1e6)
    assert row["n"] == 3


def test_tables_are_written_as_csv_and_parquet(finished):
    study, report = finished
    for name, level in (("runs", "run"), ("flows", "flow")):
        csv, parquet = (report.parent / "tables" / f"{name}.{ending}" for ending in ("csv", "parquet"))
        assert len(pd.read_csv(csv)) == len(pd.read_parquet(parquet)) == len(study.table(level))


def test_reports_of_the_same_results_are_the_same(finished):
    study, report = finished
    before = report.read_bytes()
    assert tp.Study.open(study.folder).report().read_bytes() == before


def test_a_shipped_study_runs_at_its_quick_size(tmp_path):
    # The studies of the five reports have tests of their own: their quick sizes take a minute.
    study = tp.Study.load("leo")
    study.run(quick=True, quiet=True, out=tmp_path)
    text = study.report().read_text()
    for claim in study.spec.claims:
        assert claim.id in text


@pytest.mark.parametrize(
    "network",
    [
        {"kind": "star", "nodes": 100, "flows": 4},
        {"kind": "dumbbell", "pairs": 3, "flows": 3},
        {"kind": "lan", "flows": 4},
        {"kind": "random_wired", "nodes": 50, "flows": 4},
    ],
)
def test_every_wired_network_has_a_picture(network):
    graph = tp.check({"duration": "1s", "network": network})["graph"]
    assert ET.fromstring(draw(graph)).tag == SVG
    assert describe(graph).startswith(f"{len(graph['node'])} nodes")


def test_long_columns_are_thinned_out():
    assert abbreviate(list("abcdef")) == list("abcdef")
    assert abbreviate(list("abcdefgh")) == ["a", "b", "c", "d", None, "h"]


def test_numbers_for_people():
    shown = [metrics.show(value) for value in (0, 0.99883, 12345.6, 1.5e-7, None, float("nan"), -3.14159)]
    assert shown == ["0", "0.9988", "12,346", "1.5e-07", "–", "–", "-3.142"]
    assert metrics.metric("marked_packets").axis == "Packets marked (packets)"
    assert metrics.metric("drops.aqm").axis == "Dropped: AQM (packets)"
    assert metrics.metric("weird_thing_bps").axis == "Weird thing (Mb/s)"


def test_axis_values_become_numbers_in_one_unit():
    assert units.numbers(["100pps", "200pps"]) == ([100.0, 200.0], "packets/s")
    assert units.numbers(["900kbps", "1Mbps"]) == ([900e3, 1e6], "b/s")
    assert units.numbers([1, 2.5]) == ([1.0, 2.5], "")
    assert units.numbers(["a", "b"]) is None
    assert units.positions(["a", "b"]) == ([0.0, 1.0], "")


def test_tables_of_a_study_are_latex_with_an_interval_and_a_difference_below_it(finished, capsys):
    study, page = finished
    for table in study.tables("goodput_bps", "delay_s"):
        lines = latex(table).splitlines()
        widths = {line.count("&") for line in lines if "&" in line}
        assert widths == {len(table.head) - 1} and len(lines[1].split("{")[2].rstrip("}")) == len(table.head)
        assert not [line for line in lines if re.search(r"(?<!\\\\)%(?! )", line) or "±" in line]
    assert {table.head[-2] for table in study.tables("goodput_bps", "delay_s")} == {"Delay (ms)"}
    assert main(["study", "table", str(page.parent), "--metric", "goodput_bps", "--latex"]) == 0
    assert capsys.readouterr().out.startswith("% ")
    assert main(["study", "table", str(page.parent), "--metric", "goodput"]) == 2
    assert "did you mean goodput_bps" in capsys.readouterr().err
