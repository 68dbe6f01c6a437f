"""Figures for papers: fonts, text, size, colours, log axes; the same bytes wherever they are drawn; and their command."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import pandas as pd
import pytest

import tonopah as tp
from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Mark, Points, Series
from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.plot import style
from tonopah.plot.chart import drawn
from tonopah.plot.look import PALETTES, Look, parse_font, parse_length, parse_size
from tonopah.plot.picture import make_look, picture, tex

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def figure():
    series = [
        Series(label, i, [5.0, 20.0, 80.0], [1.0 + i, 10.0, None], [0.5, 9.0, None], [1.5, 11.0, None], [9, 9, 0])
        for i, label in enumerate(("newreno", "my_cubic 100%"))
    ]
    axis = FigureAxis("delay", "Delay", "ms", [5.0, 20.0, 80.0], ["5", "20", "80"])
    return FigureData(
        "line--delay--goodput_bps", "", "line", "Goodput", "Goodput.", axis, FigureScale("g", "Goodput", "Mb/s"), series
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    from conftest import STUDY, toml

    folder = tmp_path_factory.mktemp("papers")
    (folder / "small.toml").write_text(toml(STUDY))
    study = tp.Study.load(folder / "small.toml")
    study.run(quiet=True, replicates=2, out=folder / "results" / "small")
    return study


def all_kinds(finished):
    by_kind = {(one.kind, bool(one.baseline)): one for one in finished.figures().values()}
    assert {kind for kind, _ in by_kind} == {"line", "difference", "bar", "scatter", "ecdf", "heatmap", "series"}
    return by_kind.values()


def test_pdf_has_type_42_fonts_and_svg_has_text(figure):
    pdf = picture(figure, Look(), "pdf")
    assert b"/Type3" not in pdf and b"/FontFile2" in pdf
    texts = ["".join(text.itertext()) for text in ET.fromstring(picture(figure, Look(), "svg")).iter(f"{SVG}text")]
    assert {"newreno", "my_cubic 100%", "Delay (ms)", "Goodput (Mb/s)", "20"} <= set(texts)


@pytest.mark.parametrize(("width", "points"), [("3.5in", 252.0), ("89mm", 252.28), ("516pt", 514.07)])
def test_a_figure_has_the_width_that_is_asked_for(figure, width, points):
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", picture(figure, make_look("pdf", width=width), "pdf"))
    assert float(box[1]) == pytest.approx(points, abs=0.01)


def test_every_format_is_written(figure):
    for form, start in (("pdf", b"%PDF"), ("svg", b"<?xml"), ("pgf", b"%% Creator"), ("png", b"\x89PNG")):
        assert picture(figure, Look(3.5), form).startswith(start), form
        assert picture(figure, Look(3.5), form) == picture(figure, Look(3.5), form)


def test_every_kind_is_drawn_within_its_frame(finished):
    for one in all_kinds(finished):
        assert picture(one, Look(3.5), "pgf").startswith(b"%% Creator"), one.id
        with drawn(one, Look(3.5)) as made:
            made.draw_without_rendering()
            width, height = made.get_size_inches()
            box = made.get_tightbbox()
            assert box.x0 >= -0.02 and box.x1 <= width + 0.02 and box.y0 >= -0.02 and box.y1 <= height + 0.02, one.id


def test_log_axes_bounds_and_gaps(figure):
    logged = replace(figure, x=replace(figure.x, log=True), y=replace(figure.y, log=True))
    with drawn(logged, Look()) as made:
        axes = made.axes[0]
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        low, high = axes.get_ylim()
        assert 0 < low < 0.5 and high > 11
        assert [text.get_text() for text in axes.get_xticklabels()] == ["5", "20", "80"]
    with drawn(figure, Look()) as made:
        assert (made.axes[0].get_xscale(), made.axes[0].get_yscale()) == ("linear", "linear")


def test_a_common_scale_is_used_only_if_asked_for(figure):
    common = replace(figure, y=replace(figure.y, min=0.0, max=100.0))
    with drawn(common, Look()) as made:
        assert made.axes[0].get_ylim()[1] < 13
    with drawn(common, Look(common_scale=True)) as made:
        assert made.axes[0].get_ylim()[1] == pytest.approx(105)


def test_ticks_that_would_touch_are_left_out(figure):
    values = [1.0, 2.0, 5.0, 1000.0]
    series = [replace(one, x=values, y=[1.0] * 4, low=[None] * 4, high=[None] * 4, n=[1] * 4) for one in figure.series]
    crowded = replace(figure, x=replace(figure.x, values=values, ticks=["1", "2", "5", "1000"]), series=series)
    with drawn(crowded, Look(3.5)) as made:
        assert [text.get_text() for text in made.axes[0].get_xticklabels()] == ["1", "1000"]


def test_single_replicates_and_marks_are_drawn(figure):
    one = replace(figure.series[0], low=[None] * 3, high=[None] * 3, points=Points([5.0, 5.0], [0.8, 1.2]))
    with drawn(replace(figure, series=[one], marks=[Mark(20.0, "handover")]), Look()) as made:
        drawn_y = [list(line.get_ydata()) for line in made.axes[0].get_lines()]
        assert [0.8, 1.2] in drawn_y
        assert "handover" in [text.get_text() for text in made.legends[0].get_texts()]


def test_palettes_are_applied(figure):
    for name, colours in PALETTES.items():
        with drawn(figure, Look(palette=name)) as made:
            assert made.axes[0].get_lines()[0].get_color() == colours[0]
    black = picture(figure, Look(palette="black"), "svg").decode().lower()
    assert "#0072b2" not in black and "#d55e00" not in black


def test_text_for_latex_is_escaped_and_needs_no_latex(figure, monkeypatch):
    monkeypatch.setenv("PATH", "")
    text = picture(replace(figure, x=replace(figure.x, label="100 % of a_b → µ")), Look(3.5), "pgf").decode()
    assert r"my\_cubic 100\%" in text and r"100 \% of a\_b $\rightarrow$ $\mu$ (ms)" in text
    assert r"\setmainfont" not in text and r"\providecommand{\mathdefault}" in text
    assert tex("\\{}$&#~^") == r"\textbackslash{}\{\}\$\&\#\textasciitilde{}\textasciicircum{}"


def test_a_value_of_a_look_that_is_wrong_says_what_is_allowed():
    for call, words in (
        (lambda: parse_length("3in"), None),
        (lambda: parse_length("3 feet"), "like 3.5in"),
        (lambda: parse_length("0.1in"), "from 1in to 40in"),
        (lambda: parse_length("1e9in"), "is not a length"),
        (lambda: parse_size("90"), "4 to 40 points"),
        (lambda: parse_font("Dejavu San"), "near names: DejaVu Sans"),
        (lambda: make_look("tiff"), "allowed: pdf, svg, pgf, png"),
        (lambda: make_look("pdf", palette="okabe"), "did you mean okabe-ito?"),
        (lambda: make_look("pdf", colour="red"), "colour: is unknown (allowed: width"),
    ):
        if words is None:
            assert call() == 3.0
            continue
        with pytest.raises(InputError, match=re.escape(words)):
            call()
    assert parse_font("dejavu serif") == "DejaVu Serif"


DRAW = """
import locale, sys
from dataclasses import replace
locale.setlocale(locale.LC_ALL, "")
import matplotlib
matplotlib.rcParams["lines.linewidth"] = 9
from test_pictures import figure
from tonopah.plot.look import Look
from tonopah.plot.picture import picture
for form in ("svg", "pdf"):
    sys.stdout.buffer.write(picture(figure.__wrapped__(), Look(), form))
assert matplotlib.rcParams["lines.linewidth"] == 9
"""


def test_no_matplotlibrc_locale_or_program_changes_a_figure(tmp_path):
    rc = "font.size: 30\naxes.facecolor: red\npdf.fonttype: 3\nsvg.fonttype: path\naxes.formatter.use_locale: True\n"
    (tmp_path / "with").mkdir()
    (tmp_path / "with" / "matplotlibrc").write_text(rc + "axes.prop_cycle: cycler('color', ['red'])\nxtick.major.size: 20\n")
    (tmp_path / "without").mkdir()
    made = []
    for name, language in (("without", "C.UTF-8"), ("with", "C")):
        path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
        environment = os.environ | {"PYTHONPATH": path, "LC_ALL": language, "MPLCONFIGDIR": str(tmp_path / name)}
        done = subprocess.run(
            [sys.executable, "-c", DRAW], cwd=tmp_path / name, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        made.append(done.stdout)
    assert made[0] == made[1] and len(made[0]) > 5000


def test_pictures_of_networks_are_the_same_with_another_style():
    import matplotlib as mpl

    with mpl.rc_context({"axes.facecolor": "red", "font.size": 30}), style.settings() as plt:
        assert plt.rcParams["axes.facecolor"] == "white" and plt.rcParams["font.size"] == 9


def command(monkeypatch, finished, *words):
    monkeypatch.chdir(finished.folder.parent.parent)
    return main.main(["study", "figure", *words])


def test_the_command_lists_and_draws(finished, monkeypatch, capsys, tmp_path):
    assert command(monkeypatch, finished, "small", "line--*", "--list") == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[0].split("  ")[0] == "line--network-flows--goodput_bps" and len(listed) == 4
    names = ["bar--goodput_bps", "line--network-flows--delay_s"]
    wanted = ["--format", "svg", "--format", "pdf", "--log", "xy", "--out", str(tmp_path / "out"), "--json"]
    assert command(monkeypatch, finished, "results/small", *names, *wanted) == 0
    written = json.loads(capsys.readouterr().out)
    assert sorted(written) == sorted(str(tmp_path / "out" / f"{name}.{form}") for name in names for form in ("svg", "pdf"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {f"{n}.{e}" for n in names for e in ("svg", "pdf", "csv")}
    assert len(pd.read_csv(tmp_path / "out" / "bar--goodput_bps.csv")) > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["small", "line--network-flow--delay_s"], "near names: line--network-flows--delay_s"),
        (["small", "cwnd"], "near names: series--cwnd"),
        (["smal"], "smal: has no results (in results/: small; did you mean small?)"),
    ],
)
def test_a_name_that_is_wrong_gets_the_near_ones(finished, monkeypatch, capsys, words, message):
    assert command(monkeypatch, finished, *words) == 2
    assert message in capsys.readouterr().err


def test_a_wrong_option_is_an_error_of_input(finished, monkeypatch, capsys):
    for option in (["--width", "3parsecs"], ["--font", "Dejavu San"], ["--font-size", "200"], ["--palette", "rainbow"]):
        with pytest.raises(SystemExit) as caught:
            command(monkeypatch, finished, "small", *option)
        assert caught.value.code == 2
    assert "near names: DejaVu Sans" in capsys.readouterr().err


def test_a_figure_from_python(finished, tmp_path):
    path = finished.figure("series--cwnd", "pdf", tmp_path, width="3.5in", font="serif", palette="tol-bright")
    assert path == tmp_path / "series--cwnd.pdf" and path.read_bytes().startswith(b"%PDF")
    assert (tmp_path / "series--cwnd.csv").is_file()
    with pytest.raises(InputError, match="near names: series--cwnd"):
        finished.figure("series-cwnd")
