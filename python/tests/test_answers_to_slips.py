"""Inputs that people get wrong have an answer that says what to write instead."""

import copy

import pytest
from conftest import STUDY, toml

import tonopah as tp
from tonopah._core import units as engine_units
from tonopah.cli.main import main
from tonopah.errors import InputError
from tonopah.near_units import OTHER_NAMES, near_units
from tonopah.plot.look import parse_length
from tonopah.scenario.document import parse
from tonopah.spec.reader import parse_spec

SCENARIO = """duration = "1s"
[network]
kind = "dumbbell"
pairs = 1
flows = 1
bottleneck = { rate = "4Mbps", delay = "5ms", queue = "20p" }
"""


def study(**changes):
    return {**copy.deepcopy(STUDY), **changes}


def refused(document) -> str:
    with pytest.raises(InputError) as error:
        parse_spec(document)
    return str(error.value)


def test_a_baseline_that_no_part_compares_is_refused():
    parts = [{"id": one, "scenario": STUDY["scenario"]} for one in ("a", "b")]
    said = refused(study(part=parts, baseline="newrino"))
    assert "baseline: " in said and "newrino" in said and "newreno" in said
    assert parse_spec(study(part=parts, baseline="cubic", claim=[])).parts[1].baseline == "cubic"


def test_an_entry_has_the_label_that_it_is_given():
    entry = {"name": "cubic", "profile": "linux", "label": "CUBIC"}
    part = parse_spec(study(compare={"cc": ["newreno", entry]}, claim=[])).parts[0]
    assert part.labels == ["newreno", "CUBIC"]
    assert part.variants[1].changes == {"tcp.cc": {"name": "cubic", "profile": "linux"}}
    assert "is no label" in refused(study(compare={"cc": ["newreno", {"name": "cubic", "label": 3}]}, claim=[]))


def test_an_axis_that_is_nearly_right_is_proposed():
    figures = [{"kind": "line", "x": "network.flws", "y": ["goodput_bps"]}]
    assert "did you mean network.flows" in refused(study(figure=figures, claim=[]))


@pytest.mark.parametrize("text", ["3.5", "89", "0.1in", "3 5in", "in"])
def test_a_length_needs_its_unit(text):
    with pytest.raises(InputError, match=r"3\.5in, 89mm"):
        parse_length(text)


@pytest.mark.parametrize(
    ("path", "written", "meant"),
    [
        ("network.bottleneck.rate", "10mbps", "10Mbps"),
        ("network.bottleneck.rate", "10 Mbit/s", "10Mbps"),
        ("network.bottleneck.rate", "2.5M", "2.5Mbps"),
        # Bytes per second, as other tools have them.
        ("network.bottleneck.rate", "1.25MB/s", "10Mbps"),
        ("network.bottleneck.delay", "5MS", "5ms"),
        ("network.bottleneck.delay", "5 µs", "5us"),
        ("duration", "2 minutes", "2min"),
        ("tcp.mss", "1448bytes", "1448B"),
        ("network.bottleneck.queue", "1.5BDP", "1.5bdp"),
        ("network.bottleneck.queue", "30 pkts", "30p"),
        ("network.bottleneck.queue", "100kb", "100kB"),
        ("record.every", "10msec", "10ms"),
    ],
)
def test_a_quantity_in_another_spelling_is_answered_with_ours(path, written, meant):
    with pytest.raises(InputError, match=rf"did you mean {meant}\?\)$"):
        tp.run(parse(SCENARIO), set={path: written})
    sweep = {path: [meant, written]}
    with pytest.raises(InputError, match=rf"did you mean {meant}\?"):
        tp.Study(question="Q?", scenario=parse(SCENARIO), compare=["cubic", "reno"], sweep=sweep, replicates=2).run()


@pytest.mark.parametrize("written", ["10frogs", "5s30", "1.5 packets and more", "Mbps"])
def test_what_is_no_quantity_in_any_spelling_is_answered_with_the_units_alone(written):
    with pytest.raises(InputError, match="units: ") as error:
        tp.run(parse(SCENARIO), set={"network.bottleneck.rate": written})
    assert "did you mean" not in str(error.value)


def test_every_other_name_of_a_unit_is_of_a_unit_that_the_engine_has():
    known = {unit for names in engine_units().values() for unit in names}
    assert set(OTHER_NAMES) <= known
    for kind, names in engine_units().items():
        for unit in names:
            for other in OTHER_NAMES.get(unit, "").split():
                assert other in names or near_units(other, names)[0] in names, (kind, other)


def test_a_path_of_windows_in_double_quotes_is_told_how_to_be_written():
    with pytest.raises(InputError, match="single quotes"):
        parse('file = "C:\\data\\d.toml"')


def test_files_of_a_run_have_names_that_fit(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.toml").write_text(SCENARIO)
    for option, name, said in (("--series", "out.csv", "a folder"), ("--plot", "out.txt", ".svg, .pdf, .png")):
        assert main(["run", "d.toml", option, name]) == 2
        assert said in capsys.readouterr().err and not (tmp_path / name).exists()
    assert main(["run", "d.toml", "--plot", "windows.svg"]) == 0
    text = (tmp_path / "windows.svg").read_text()
    assert "<svg" in text and "Congestion window (kB)" in text and "Throughput (Mb/s)" in text
    assert tp.run("d.toml", set={"record.series": ["cwnd"]}).plot().save("new/folder/x.svg").is_file()
    with pytest.raises(InputError, match="cannot be written"):
        tp.run("d.toml", set={"record.series": ["cwnd"]}).plot().save("d.toml/x.svg")


def test_a_file_of_algorithms_is_answered_with_its_classes(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gentle.py").write_text(
        "from tonopah import CongestionControl\nfrom tonopah.examples import cubic\nclass Gentle(CongestionControl): pass\n"
        "class Other: pass\n"
        "class Mine(cubic.Cubic): pass\nclass Free:\n    def on_ack(self, ack, view): pass\n"
    )
    assert main(["algorithms", "gentle.py"]) == 2
    said = capsys.readouterr().err
    assert "(gentle.py:Gentle, gentle.py:Mine, gentle.py:Free)" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from;to;start\nleft0;right0;0s\n", "flows.csv: line 1: columns are separated by ; (by commas: from,to,start)"),
        ("src,dst\nleft0,right0\n", "flows.csv: line 1: column 'src' is no key of a flow (from)"),
        ("from,to,strat\nleft0,right0,0s\n", "flows.csv: line 1: column 'strat' is no key of a flow (start)"),
    ],
)
def test_a_table_of_flows_that_is_written_otherwise_names_its_line_and_column(text, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flows.csv").write_text(text)
    (tmp_path / "world.toml").write_text(
        'duration = "1s"\nflow = { file = "flows.csv" }\n[network]\nkind = "dumbbell"\npairs = 1\n'
    )
    assert main(["check", "world.toml"]) == 2 and said in capsys.readouterr().err


def test_a_report_is_found_by_the_name_of_its_study(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(toml(study(replicates=2, claim=[])))
    assert main(["study", "run", "small.toml"]) == 0
    for name in ("small", "small.toml"):
        assert main(["study", "report", name]) == 0
        assert "results/small/report.html" in capsys.readouterr().out
    assert main(["study", "table", "small.toml", "--latex"]) == 0


def test_an_object_in_place_of_a_class_and_a_class_in_place_of_a_name_say_what_to_write():
    class Mine(tp.CongestionControl):
        def on_ack(self, ack, view):
            pass

    with pytest.raises(InputError, match=r"FILE\.py:Mine"):
        tp.Study(question="Q?", scenario=parse(SCENARIO), compare=[Mine, "cubic"])


def test_a_class_in_javascript_runs_in_the_page_alone(tmp_path, capsys):
    (tmp_path / "a.toml").write_text(SCENARIO)
    assert main(["run", str(tmp_path / "a.toml"), "--set", "tcp.cc=mine.js:Reno"]) == 2
    assert "tcp.cc: 'mine.js:Reno' is a class in JavaScript, which runs in the lab as a page alone" in capsys.readouterr().err
