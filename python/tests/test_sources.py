"""Parts whose scenario is from a source: parameters and columns, printed numbers beside ours, mechanisms, and what is refused."""

import copy
import json
import os
import subprocess
import sys

import pytest
import tomli
from conftest import DUMBBELL

import tonopah as tp
from tonopah.analysis.reproduction import published_points, reproduced, runs_of
from tonopah.errors import InputError
from tonopah.reports.counters import other_tools
from tonopah.reports.mechanisms import __main__ as mechanisms
from tonopah.reports.mechanisms import pictures
from tonopah.reports.mechanisms.model import read

STUDY = """
question = "What did the figure measure?"
compare.variant = [
    { label = "Vegas", set = { "script.algorithm" = "vegas" } },
    { label = "tahoe", set = { "script.algorithm" = "tahoe" } },
]
scenario = { source = "reports:ewphcc-wired", script = { nodes = 4, flows = 4 } }

[[part]]
id = "wired"
sweep = [{ vary = { "script.flows" = [1, 4] } }]
figure = [{ kind = "line", x = "script.flows", y = ["ewphcc_wired.delay_s"] }]

[[part]]
id = "header"
scenario = { source = "reports:ewphcc-wired", script = { nodes = 4, flows = 4, header = true } }
figure = [{ kind = "bar", y = ["ewphcc_wired.throughput_bps"], beside = ["wired"] }]

[[published]]
id = "by hand"
caption = "One of each kind: near enough, too far, nothing allowed"
part = "wired"
over = "script.flows"
columns = [
    { name = "algorithm" }, { name = "flows" },
    { name = "sent", unit = "packets", metric = "ewphcc_wired.sent_packets", within = 1 },
    { name = "throughput", unit = "kb/s", metric = "ewphcc_wired.throughput_bps", within_percent = 1 },
    { name = "delay", unit = "ms", metric = "ewphcc_wired.delay_s" },
]
rows = [["vegas", 1, 463, 100, 10], ["Tahoe", "1", 464, "204.13", ""], ["Tahoe", 3, 1, 1, 1]]
"""
MECHANISM = """
[[mechanism]]
id = "Missing id"
text = "The delay is the time since any packet."
part = "wired"
metric = "ewphcc_wired.delay_s"
without = { metric = "ewphcc_wired.all_delay_s" }
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("script")
    study = tp.Study.load(tomli.loads(STUDY))
    study.run(quiet=True, out=out)
    study.report()
    return study, out


def test_what_a_script_counts_is_a_column_of_its_runs(finished):
    study, _ = finished
    part = study.spec.part("wired")
    runs = study.part_table(part)
    # Nothing is random: one run for each of two points and two algorithms, and none of its own for the nominal point.
    assert sorted(zip(runs["algorithm"], runs["script.flows"], strict=True)) == [
        ("Vegas", 1), ("Vegas", 4), ("tahoe", 1), ("tahoe", 4)
    ]  # fmt: skip
    one = runs[(runs["algorithm"] == "tahoe") & (runs["script.flows"] == 1)].iloc[0]
    # 18.5 s of 25 segments of 1000 B a second, and a SYN.
    assert one["ewphcc_wired.sent_packets"] == 464
    assert one["ewphcc_wired.throughput_bps"] == pytest.approx(204.13e3, rel=1e-3)
    assert one["goodput_bps"] > 0
    assert part.metric("ewphcc_wired.throughput_bps").unit == "kb/s"
    assert "EWPHCC-Congestion-Control" in part.text["network"]


def test_printed_numbers_stand_beside_ours(finished):
    study, _ = finished
    part, plan = study.spec.part("wired"), study.plan.parts["wired"]
    runs = study.part_table(part)
    found = {(one.printed.label, one.printed.column.name): one.agrees for one in reproduced(part, plan, runs)}
    assert found == {
        ("Vegas", "sent"): True, ("Vegas", "throughput"): False, ("Vegas", "delay"): None, ("tahoe", "sent"): True,
        ("tahoe", "throughput"): True,
    }  # fmt: skip
    points = published_points(part, part.metric("ewphcc_wired.throughput_bps"), "script.flows")
    assert [(one.label, one.x, one.y) for one in points] == [
        ("Vegas, printed", [1.0], [100.0]),
        ("tahoe, printed", [1.0], [204.13]),
    ]


@pytest.mark.parametrize(
    ("record", "path"), [("5", "record"), ("{ series = 5 }", "record.series"), ("{ series = [{}] }", "record.series")]
)
def test_what_a_script_is_to_record_is_checked(record, path):
    text = STUDY.replace("scenario = {", f"scenario = {{ record = {record},", 1)
    with pytest.raises(InputError) as error:
        tp.Study.load(tomli.loads(text))
    assert error.value.path.endswith(path)


def test_a_printed_number_is_held_against_its_own_sweep():
    """A sweep of the packet rate has the nominal number of flows at each of its points."""
    sweeps = 'sweep = [{ vary = { "script.packets_per_s" = [100, 400] } }, { vary = { "script.flows" = [1, 4] } }]'
    study = tp.Study.load(tomli.loads(STUDY.replace('sweep = [{ vary = { "script.flows" = [1, 4] } }]', sweeps)))
    part, plan = study.spec.part("wired"), study.plan.parts["wired"]
    rates, flows = plan.sweeps
    assert part.printed and not rates & flows
    assert all(runs_of(part, plan, printed) == flows for printed in part.printed)


def test_the_report_and_its_json_say_what_was_measured(finished):
    _, out = finished
    page = (out / "report.html").read_text()
    assert "Ours reproduces 3 of 4 numbers" in page
    verdicts = json.loads((out / "verdicts.json").read_text())
    assert verdicts["published"] == {"by hand": {"reproduced": 3, "judged": 4}}


def test_a_mechanism_shows_a_number_with_a_slip_and_without_it(finished, tmp_path, capsys):
    _, out = finished
    file = tmp_path / "mechanisms.toml"
    file.write_text(MECHANISM)
    assert mechanisms.main([str(out), "--file", str(file), "--json"]) == 0
    (mechanism,) = json.loads(capsys.readouterr().out)
    slip, true = (mechanism["numbers"][1][side]["value"] for side in ("with", "without"))
    assert mechanism["numbers"][1]["with"]["of"] == "tahoe"
    assert slip < true
    assert json.loads((out / "mechanisms.json").read_text()) == [mechanism]
    assert mechanisms.main([str(out), "--file", str(file)]) == 0
    assert "Missing id" in capsys.readouterr().out


def test_a_slip_has_a_picture_with_what_was_printed(finished, tmp_path, capsys):
    study, out = finished
    file = tmp_path / "mechanisms.toml"
    file.write_text(MECHANISM)
    assert mechanisms.main([str(out), "--file", str(file), "--pictures"]) == 0
    assert "slip-missing-id.svg" in capsys.readouterr().err
    text = (out / "slips" / "slip-missing-id.csv").read_text()
    assert "Vegas, with" in text and "tahoe, without" in text and (out / "slips" / "slip-missing-id.svg").is_file()
    # A number that was printed of the nominal point is a cross; those of other points are none.
    (one,) = mechanisms.measured(study, str(file))
    assert pictures.figure(one, study.spec).published == []
    printed = tp.Study.load(tomli.loads(STUDY.replace('["Tahoe", 3, 1, 1, 1]', '["Tahoe", 4, 1, 1, 10.5]'))).spec
    (cross,) = pictures.figure(one, printed).published
    assert (cross.label, cross.y) == ("tahoe, printed", [10.5])
    assert pictures.figure(one, study.spec).title == "Missing id, n = 1: wired"


@pytest.mark.parametrize(
    ("old", "new", "path", "hint"),
    [
        ("without = { metric", "without = { part", "mechanism[0].without.part", "wired"),
        ('without = { metric = "ewphcc_wired.all_delay_s" }', "without = {}", "mechanism[0].without", "metric"),
    ],
)
def test_mistakes_of_mechanisms_are_named(finished, tmp_path, old, new, path, hint):
    study, _ = finished
    file = tmp_path / "mechanisms.toml"
    assert old in MECHANISM
    file.write_text(MECHANISM.replace(old, new))
    with pytest.raises(InputError) as refused:
        read("mine", study.spec, file)
    assert path in str(refused.value)
    assert hint in str(refused.value)


def test_a_figure_shows_parts_beside_each_other(finished):
    _, out = finished
    (figure,) = [name for name in out.glob("figures/*.csv") if "parts" in name.name]
    rows = [line.split(",") for line in figure.read_text().splitlines()[1:]]
    assert [row[:2] for row in rows] == [[label, part] for label in ("Vegas", "tahoe") for part in ("header", "wired")]
    # Vegas has 4 % more with a header, Tahoe the same.
    with_header, without, tahoe, as_before = (float(row[4]) for row in rows)
    assert with_header == pytest.approx(without * 1020 / 980, rel=1e-3) and tahoe == as_before


@pytest.mark.parametrize(
    ("old", "new", "path", "hint"),
    [
        ('beside = ["wired"]', 'beside = ["wires"]', "beside[0].part", "wired"),
        ("reports:ewphcc-wired", "reports:ewphcc-wire", "scenario.source", "ewphcc-wired"),
        ("reports:ewphcc-wired", "reports:000-wired", "scenario.source", "write ewphcc-wired"),
        ("reports:ewphcc-wired", "report:ewphcc-wired", "scenario.source", "did you mean reports?"),
        ("reports:ewphcc-wired", "ewphcc-wired", "scenario.source", "PLUGIN:NAME"),
        ("script = { nodes = 4, flows = 4 } }", 'observer = "os:system" }', "scenario.observer", "allowed: script, record"),
        ("script = { nodes = 4, flows = 4 } }", "script = 4 }", "scenario.script", "nodes = 40"),
        ("nodes = 4, flows", "node = 4, flows", "scenario.script.node", "nodes"),
        ("nodes = 4, flows", "nodes = 0, flows", "scenario.script.nodes", "2 to 200"),
        ("[1, 4]", "[1, 400]", "scenario.script.flows", "1 to 200"),
        ('vary = { "script.', 'vary = { "author.', "sweep[0].vary", "write script.flows"),
        ("script = { nodes = 4, flows = 4 } }", "author = { nodes = 4 } }", "scenario.author", 'source = "reports:'),
        ("[[published]]", "[[mechanism]]\nid = 'a'\n[[published]]", "mechanism", "tonopah.reports.mechanisms"),
        ('part = "wired"\nover', 'numbers = "stock"\npart = "wired"\nover', "published[0].numbers", "columns and rows"),
        ('y = ["ewphcc_wired.delay_s"]', 'y = ["author_000_wired.delay_s"]', "figure[0].y", "write ewphcc_wired.delay_s"),
        ('part = "wired"', 'part = "wire"', "published[0].part", "wired"),
        ('over = "script.flows"', 'over = "script.nodes"', "published[0].over", "script.flows"),
        ('["vegas", 1', '["reno", 1', "published[0].rows[0][0]", "tahoe"),
        ('metric = "ewphcc_wired.sent_packets"', 'metric = "ewphcc_wired.sent"', "columns[2].metric", "sent_packets"),
    ],
)
def test_mistakes_are_named(old, new, path, hint):
    assert old in STUDY
    with pytest.raises(InputError) as refused:
        study = tp.Study.load(tomli.loads(STUDY.replace(old, new)))
        assert study.plan
    assert path in str(refused.value)
    assert hint in str(refused.value)


def test_a_scenario_of_ones_own_is_counted_as_other_tools_count(tmp_path):
    """Every number is a division of counts that the summary has."""
    scenario = copy.deepcopy(DUMBBELL) | {"source": "reports:counted", "warmup": "700ms"}
    document = {
        "question": "What do others count?", "scenario": scenario, "compare": {"cc": ["newreno"]}, "replicates": 1,
        "derived": [{"name": "mean_rate", "kind": "average", "metric": "netsim.throughput_bps"}],
        "figure": [{"kind": "bar", "y": ["flowmonitor.throughput_bps"]}, {"kind": "table", "y": ["netsim.throughput_bps"]}],
    }  # fmt: skip
    study = tp.Study.load(document)
    study.run(quiet=True, out=tmp_path / "out")
    run, flows = study.table().iloc[0], study.table("flow")
    for one in (run, *(row for _, row in flows.iterrows())):
        active_s = one["forward.last_received_s"] - one["forward.first_sent_s"]
        assert one["flowmonitor.throughput_bps"] == pytest.approx(8 * one["forward.received_bytes"] / active_s, rel=1e-12)
        counted = one["received_bytes"] + 20 * one["received_packets"]
        assert one["ns2_awk.throughput_bps"] == pytest.approx(8 * counted / active_s, rel=1e-12)
        assert one["flowmonitor.delivery_ratio"] == one["forward.received_packets"] / one["forward.sent_packets"]
        assert one["netsim.throughput_bps"] == 8 * one["delivered_bytes"] / 2.3
        assert (one["ns2_awk.delay_s"], one["flowmonitor.jitter_s"]) == (one["delay_s"], one["jitter_s"])
    assert run["mean_rate"] == pytest.approx(flows["netsim.throughput_bps"].mean())
    assert study.spec.parts[0].metric("netsim.delay_s").axis == "Delay [netsim] (ms)"


def test_what_is_not_counted_is_undefined_not_zero():
    counts = dict.fromkeys(("delay_s", "jitter_s", "delivery_ratio", "loss_ratio", "app_delay_s", "app_jitter_s"))
    counts |= dict.fromkeys(("received_bytes", "received_packets", "delivered_bytes"), 0)
    forward = {"first_sent_s": None, "last_received_s": None, "sent_packets": 0, "received_packets": 0, "dropped_packets": 0}
    nothing = other_tools.measures(counts | {"forward": forward | {"received_bytes": 0}}, 0.0)
    assert set(nothing.values()) == {None}
    # As the report on NetSim prints it: 9,101,640 B in 10 s.
    assert other_tools.measures(counts | {"delivered_bytes": 9_101_640, "forward": forward | {"received_bytes": 0}}, 10.0)[
        "netsim.throughput_bps"
    ] == pytest.approx(7_281_312)


def test_an_observer_is_named_by_its_source_alone():
    """No code is imported by a name that stands in a study file; a run without a source has no observer."""
    study = tp.Study.load(tomli.loads(STUDY))
    assert {run.observer for run in study.plan.runs.values() if run.observer} == {"tonopah.reports.networks.ewphcc:WIRED.observe"}
    plain = {"question": "?", "scenario": copy.deepcopy(DUMBBELL), "compare": {"cc": ["newreno"]}}
    assert not any(run.observer for run in tp.Study.load(plain).plan.runs.values())
    with pytest.raises(InputError):
        assert tp.Study.load(plain | {"scenario": {**DUMBBELL, "observer": "os:system"}}).plan


def test_the_package_does_not_know_the_reports():
    code = "import sys, tonopah.spec.plan, tonopah.study, tonopah.execution.worker, tonopah.cli.study_run; "
    code += "print([name for name in sys.modules if name.startswith('tonopah.reports')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert found.stdout.strip() == "[]"
