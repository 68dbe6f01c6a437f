"""Parts with the network of a report's script: its parameters, its columns, printed numbers beside ours, and mechanisms."""

import json

import pytest
import tomli

import tonopah as tp
from tonopah.analysis.printed import published_points, reproduced, runs_of
from tonopah.errors import InputError
from tonopah.spec.reader import parse_spec

STUDY = """
question = "What did the figure measure?"
compare.variant = [
    { label = "Vegas", set = { "author.algorithm" = "vegas" } },
    { label = "tahoe", set = { "author.algorithm" = "tahoe" } },
]
scenario.author = { network = "000-wired", nodes = 4, flows = 4 }

[[part]]
id = "wired"
sweep = [{ vary = { "author.flows" = [1, 4] } }]
figure = [{ kind = "line", x = "author.flows", y = ["author_000_wired.delay_s"] }]

[[part]]
id = "header"
scenario.author = { network = "000-wired", nodes = 4, flows = 4, header = true }
figure = [{ kind = "bar", y = ["author_000_wired.throughput_bps"], beside = ["wired"] }]

[[published]]
id = "by hand"
caption = "One of each kind: near enough, too far, nothing allowed"
part = "wired"
over = "author.flows"
columns = [
    { name = "algorithm" }, { name = "flows" },
    { name = "sent", unit = "packets", metric = "author_000_wired.sent_packets", within = 1 },
    { name = "throughput", unit = "kb/s", metric = "author_000_wired.throughput_bps", within_percent = 1 },
    { name = "delay", unit = "ms", metric = "author_000_wired.delay_s" },
]
rows = [["vegas", 1, 463, 100, 10], ["Tahoe", "1", 464, "204.13", ""], ["Tahoe", 3, 1, 1, 1]]

[[mechanism]]
id = "Missing id"
text = "The delay is the time since any packet."
part = "wired"
metric = "author_000_wired.delay_s"
without = { metric = "author_000_wired.all_delay_s" }
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
    assert sorted(zip(runs["algorithm"], runs["author.flows"], strict=True)) == [
        ("Vegas", 1), ("Vegas", 4), ("tahoe", 1), ("tahoe", 4)
    ]  # fmt: skip
    one = runs[(runs["algorithm"] == "tahoe") & (runs["author.flows"] == 1)].iloc[0]
    # 18.5 s of 25 segments of 1000 B a second, and a SYN.
    assert one["author_000_wired.sent_packets"] == 464
    assert one["author_000_wired.throughput_bps"] == pytest.approx(204.13e3, rel=1e-3)
    assert one["goodput_bps"] > 0
    assert part.metric("author_000_wired.throughput_bps").unit == "kb/s"
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
    points = published_points(part, part.metric("author_000_wired.throughput_bps"), "author.flows")
    assert [(one.label, one.x, one.y) for one in points] == [
        ("Vegas, printed", [1.0], [100.0]),
        ("tahoe, printed", [1.0], [204.13]),
    ]


@pytest.mark.parametrize(
    ("record", "path"), [("5", "record"), ("{ series = 5 }", "record.series"), ("{ series = [{}] }", "record.series")]
)
def test_what_a_script_is_to_record_is_checked(record, path):
    text = STUDY.replace("scenario.author = {", f"scenario.record = {record}\nscenario.author = {{", 1)
    with pytest.raises(InputError) as error:
        tp.Study.load(tomli.loads(text))
    assert error.value.path.endswith(path)


def test_a_printed_number_is_held_against_its_own_sweep():
    """A sweep of the packet rate has the nominal number of flows at each of its points."""
    sweeps = 'sweep = [{ vary = { "author.packets_per_s" = [100, 400] } }, { vary = { "author.flows" = [1, 4] } }]'
    study = tp.Study.load(tomli.loads(STUDY.replace('sweep = [{ vary = { "author.flows" = [1, 4] } }]', sweeps)))
    part, plan = study.spec.part("wired"), study.plan.parts["wired"]
    rates, flows = plan.sweeps
    assert part.printed and not rates & flows
    assert all(runs_of(part, plan, printed) == flows for printed in part.printed)


def test_the_report_and_its_json_say_what_was_measured(finished):
    _, out = finished
    page = (out / "report.html").read_text()
    assert "What the figures measured" in page and "Ours reproduces 3 of 4 numbers" in page
    verdicts = json.loads((out / "verdicts.json").read_text())
    assert verdicts["published"] == {"by hand": {"reproduced": 3, "judged": 4}}
    (mechanism,) = verdicts["mechanisms"]
    slip, true = (mechanism["numbers"][1][side]["value"] for side in ("with", "without"))
    assert mechanism["numbers"][1]["with"]["of"] == "tahoe"
    assert slip < true


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
        ('network = "000-wired"', 'network = "000-wire"', "scenario.author.network", "000-wired"),
        ("nodes = 4, flows", "node = 4, flows", "scenario.author.node", "nodes"),
        ("nodes = 4, flows", "nodes = 0, flows", "scenario.author.nodes", "1 to 200"),
        ("[1, 4]", "[1, 400]", "scenario.author.flows", "1 to 200"),
        ('part = "wired"', 'part = "wire"', "published[0].part", "wired"),
        ('over = "author.flows"', 'over = "author.nodes"', "published[0].over", "author.flows"),
        ('["vegas", 1', '["reno", 1', "published[0].rows[0][0]", "tahoe"),
        ('metric = "author_000_wired.sent_packets"', 'metric = "author_000_wired.sent"', "columns[2].metric", "sent_packets"),
        ("without = { metric", "without = { part", "mechanism[0].without.part", "wired"),
        ('without = { metric = "author_000_wired.all_delay_s" }', "without = {}", "mechanism[0].without", "metric"),
    ],
)
def test_mistakes_are_named(old, new, path, hint):
    assert old in STUDY
    with pytest.raises(InputError) as refused:
        study = tp.Study.load(tomli.loads(STUDY.replace(old, new)))
        assert study.plan
    assert path in str(refused.value)
    assert hint in str(refused.value)


def test_shipped_numbers_fill_a_table():
    head = STUDY[: STUDY.index("[[published]]")].replace(", nodes = 4, flows = 4", "").replace("[1, 4]", "[10, 50]")
    table = {"id": "stored", "caption": "As stored", "part": "wired", "over": "author.flows", "numbers": "author"}
    spec = parse_spec(tomli.loads(head) | {"published": [table]})
    (filled,) = spec.published
    names = [column.name for column in filled.columns]
    row = next(row for row in filled.rows if row[:2] == ("tahoe", "10"))
    assert row[names.index("throughput")] == "1428.89"
    throughput = filled.columns[names.index("throughput")]
    assert (throughput.unit, throughput.allowed) == ("kb/s", "±1 %")
    assert {(number.label, number.at["author.flows"]) for number in spec.part("wired").printed} == {
        (label, flows) for label in ("Vegas", "tahoe") for flows in (10, 50)
    }
