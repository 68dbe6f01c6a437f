"""Names that are almost right: attributes and methods of algorithms, metrics, commands, keys of the study file."""

import json
import os

import pytest

import tonopah as tp
from tonopah.cli import main
from tonopah.scenario.document import to_toml
from tonopah.spec import reader
from tonopah.spec.plan import make_plan


def call(capsys, *arguments):
    code = main.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def algorithm(body, base="tp.CongestionControl"):
    """Define a class with this body."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    space = {"tp": tp}
    exec(f"class Mine({base}):\n{lines}\n", space)
    return space["Mine"]


WINDOW = "def on_congestion(self, event, view):\n    self.cwnd_bytes = 1460.0\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def on_ack(self, ack, view):\n    self.cwnd_byts = 5.0", "Mine.on_ack sets self.cwnd_byts .* did you mean cwnd_bytes"),
        ("def on_ack(self, ack, view):\n    self.cwnd_byte += ack.delivered_bytes", "did you mean cwnd_bytes"),
        ("def on_ack(self, ack, view):\n    self.cwnd = 5.0", "did you mean cwnd_bytes"),
        ("def on_ack(self, ack, view):\n    self.sstresh_bytes = 5.0", "did you mean ssthresh_bytes"),
        ("def on_congestoin(self, event, view):\n    pass", "Mine.on_congestoin is never called: did you mean on_congestion"),
    ],
)
def test_a_mistyped_output_of_an_algorithm_is_an_error_when_the_class_is_defined(body, words):
    with pytest.raises(AttributeError, match=words):
        algorithm(WINDOW + body)


@pytest.mark.parametrize(
    "body",
    [
        "def on_ack(self, ack, view):\n    self.cwnd_bytes += 5.0\n    self.max_cwnd_bytes = 5.0\n    self.prior_cwnd = 1.0",
        "def __init__(self, setup):\n    self.cwnd = 1.0\ndef on_ack(self, ack, view):\n    self.cwnd = 2.0",
        "def __init__(self, setup):\n    self.reset()\ndef reset(self):\n    self.cwnd = 1.0",
        "cwnd: float = 3.0\ndef on_ack(self, ack, view):\n    self.cwnd = 2.0",
        "def window(self):\n    return self.cwnd, None\ndef on_ack(self, ack, view):\n    self.cwnd = 2.0",
        "def on_ack(self, ack, view):\n    other = ack\n    other.cwnd = 2.0",
        "def on_phase(self):\n    pass",
    ],
)
def test_attributes_of_its_own_are_not_mistaken_for_slips(body):
    assert algorithm(WINDOW + body)


def test_a_slip_in_a_file_is_an_error_of_check_with_its_line(capsys, tmp_path, dumbbell):
    (tmp_path / "d.toml").write_text(to_toml(dumbbell))
    (tmp_path / "slip.py").write_text(
        "import tonopah as tp\n\n\nclass Mine(tp.CongestionControl):\n"
        "    def on_ack(self, ack, view):\n        self.cwnd_byts = 9.0\n"
    )
    code, _, err = call(capsys, "check", tmp_path / "d.toml", "--set", "tcp.cc=slip.py:Mine")
    assert code == 2 and "line 6" in err and "did you mean cwnd_bytes" in err


@pytest.mark.parametrize(
    ("figure", "path", "words"),
    [
        ({"kind": "bar", "y": ["goodput", "delay"]}, "figure[0].y[0]", "did you mean goodput_bps"),
        ({"kind": "bar", "y": ["delay_s", "dleay_p95_s"]}, "figure[0].y[1]", "did you mean delay_p95_s"),
        ({"kind": "line", "x": "network.flows", "y": ["hops"]}, "figure[0].y[0]", "a metric of flows, not a metric of runs"),
        ({"kind": "ecdf", "y": ["jain"]}, "figure[0].y[0]", "a metric of runs, not a metric of flows"),
        ({"kind": "bar", "y": ["srtt"]}, "figure[0].y[0]", "a time series"),
        ({"kind": "table", "y": ["own"]}, "figure[0].y[0]", "unknown"),
    ],
)
def test_a_figure_of_what_is_not_measured_is_refused(study_document, figure, path, words):
    study_document["figure"] = [figure]
    study_document["derived"] = [{"kind": "jain", "name": "own"}]
    with pytest.raises(tp.ScenarioError) as caught:
        reader.parse_spec(study_document)
    assert caught.value.path == path and words in str(caught.value)


@pytest.mark.parametrize(("flow", "names"), [(8, "no flow 8"), ([0, 2], "no flow 2"), (1, "")])
def test_a_figure_of_a_flow_that_does_not_exist_is_refused(study_document, flow, names):
    study_document["figure"] = [{"kind": "bar", "y": ["jain"]}, {"kind": "series", "y": ["cwnd"], "flow": flow}]
    spec = reader.parse_spec(study_document)
    if not names:
        assert make_plan(spec).parts
        return
    with pytest.raises(tp.ScenarioError, match=f"{names}: the scenario has 2 flows .0 to 1.") as caught:
        make_plan(spec)
    assert caught.value.path == "figure[1].flow"


def test_metrics_of_claims_and_of_derived_metrics_have_to_exist(study_document):
    study_document["claim"][0]["test"]["metric"] = ["goodput_bps", "dleay_s"]
    with pytest.raises(tp.ScenarioError, match=r"claim\[0\]\.test\[0\]\.metric: 'dleay_s' is unknown \(did you mean delay_s"):
        reader.parse_spec(study_document)
    study_document["claim"][0]["test"]["metric"] = "own"
    study_document["derived"] = [{"kind": "average", "name": "own", "metric": "completion_s"}]
    assert reader.parse_spec(study_document)
    study_document["derived"][0]["metric"] = "completion"
    with pytest.raises(tp.ScenarioError, match=r"derived\[0\]\.metric: 'completion' is unknown \(did you mean completion_s"):
        reader.parse_spec(study_document)


def test_figures_of_flows_and_of_derived_metrics_are_accepted(study_document):
    study_document["derived"] = [{"kind": "mean", "name": "queued", "series": "queue", "carrying": ["0s", "1s"]}]
    study_document["figure"] = [
        {"kind": "ecdf", "y": ["completion_s", "cwnd_mean_bytes", "app_jitter_s"]},
        {"kind": "bar", "y": ["queued", "queued.carried", "jain", "forward.received_bytes", "energy_power_w"]},
    ]
    assert reader.parse_spec(study_document)


def test_what_only_some_links_and_receivers_measure_can_be_shown_too(study_document):
    study_document["derived"] = [{"kind": "average", "name": "reordered", "metric": "reordered_ratio"}]
    study_document["claim"][0]["test"]["metric"] = "reordered"
    study_document["figure"] = [
        {"kind": "table", "y": ["reordered_ratio", "reorder_late_p95_s", "duplicated_packets", "undelivered_bytes"]},
        {"kind": "bar", "y": ["reordered"]},
    ]
    assert reader.parse_spec(study_document)


def test_the_metric_of_until_has_to_exist(capsys, study_file, tmp_path):
    out = tmp_path / "out"
    code, _, err = call(capsys, "study", "run", study_file, "--until", "5%", "--metric", "goodput_mbps", "--out", out)
    assert code == 2 and "--metric: 'goodput_mbps' is unknown (did you mean goodput_bps" in err
    assert not out.exists()


def test_a_study_and_a_scenario_name_each_others_command(capsys, study_file, tmp_path, dumbbell):
    scenario = tmp_path / "my dumbbell.toml"
    scenario.write_text(to_toml(dumbbell))
    code, _, err = call(capsys, "run", study_file)
    assert code == 2 and f"is a study, not a scenario (tonopah study run {study_file})" in err
    code, _, err = call(capsys, "check", study_file, "--picture", tmp_path / "x.svg")
    assert code == 2 and "--picture: is for a scenario" in err
    code, _, err = call(capsys, "study", "run", scenario)
    assert code == 2 and f"is a scenario, not a study (tonopah run '{scenario}')" in err


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("duration = 30s", 'a value with a unit needs quotes: duration = "30s"'),
        ('network = { kind = "dumbbell", bottleneck = { rate = 10Mbps } }', 'needs quotes: rate = "10Mbps"'),
        ("[tcp]\ncc = cubic # the usual one", 'text needs quotes: cc = "cubic"'),
    ],
)
def test_a_value_without_quotes_is_named(capsys, tmp_path, text, hint):
    (tmp_path / "bare.toml").write_text(f"{text}\n")
    code, _, err = call(capsys, "check", tmp_path / "bare.toml")
    assert code == 2 and hint in err and "line" in err


def test_other_mistakes_of_toml_get_no_such_hint(capsys, tmp_path):
    for text in ("duration = ", "a = [1, 2", "x = true false", "= 3"):
        (tmp_path / "bare.toml").write_text(f"{text}\n")
        assert "quotes" not in call(capsys, "check", tmp_path / "bare.toml")[2]


def test_a_missing_file_is_named_by_the_key_and_with_its_neighbour(capsys, study_document, tmp_path, dumbbell):
    (tmp_path / "dumbbell.toml").write_text(to_toml(dumbbell))
    study_document["scenario"] = {"file": "dumbel.toml"}
    (tmp_path / "delay.toml").write_text(to_toml(study_document))
    code, _, err = call(capsys, "check", tmp_path / "delay.toml")
    assert code == 2 and "delay.toml: scenario.file: " in err and "did you mean dumbbell.toml?" in err
    assert "did you mean dumbbell.toml?" in call(capsys, "run", tmp_path / "dumbel.toml")[2]
    study_document["part"] = [{"id": "a", "scenario": {"file": "dumbel.toml"}}]
    del study_document["scenario"]
    (tmp_path / "delay.toml").write_text(to_toml(study_document))
    assert "delay.toml: part[0].scenario.file: " in call(capsys, "check", tmp_path / "delay.toml")[2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("tcp.cc=CUBIC", "did you mean cubic?"),
        ("tcp.cc=bbrv3", "did you mean bbr3?"),
        ("tcp.cc=bbr3:draft", '{ name = "bbr3", profile = "draft" }'),
        ('network.pairs="two"', '"two" is not a whole number'),
        ('record.series=["ssrtt"]', "did you mean srtt?"),
        ("network.bottleneck.queue=20", '20 is not a queue; it is a text such as "20p", or a table'),
        ("network.bottleneck.queue=1BDP", 'unknown unit "BDP"; write a number and a unit such as "1bdp"'),
        ("network.bottleneck.queue=1B", "1B holds no packet"),
        ("network.bottlenek.rate=1Mbps", "did you mean bottleneck?"),
    ],
)
def test_mistakes_of_new_users_are_answered_in_their_words(capsys, tmp_path, dumbbell, change, words):
    (tmp_path / "d.toml").write_text(to_toml(dumbbell))
    code, _, err = call(capsys, "check", tmp_path / "d.toml", "--set", change)
    assert code == 2 and words in err
    assert not any(word in err for word in ("u64", "variant", "ModuleNotFoundError"))


def test_a_network_without_satellites_is_drawn_as_it_is(capsys, tmp_path, dumbbell, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.toml").write_text(to_toml(dumbbell))
    assert call(capsys, "check", tmp_path / "d.toml", "--picture", tmp_path / "d.svg")[0] == 0
    assert "left0" in next(tmp_path.glob("*.svg")).read_text()


def test_an_unknown_algorithm_or_study_is_answered_with_the_nearest(capsys):
    assert "did you mean cubic?" in call(capsys, "algorithms", "cubik")[2]
    assert "did you mean asran?" in call(capsys, "study", "run", "asra")[2]


def test_events_are_json_lines(capsys, tmp_path, dumbbell):
    (tmp_path / "d.toml").write_text(to_toml({**dumbbell, "duration": "300ms"}))
    text = call(capsys, "run", tmp_path / "d.toml", "--events")[1].splitlines()
    lines = [json.loads(line) for line in call(capsys, "run", tmp_path / "d.toml", "--events", "--json")[1].splitlines()]
    assert len(lines) == len(text) > 100
    for line, shown in zip(lines, text, strict=True):
        at, event, *rest = shown.split()
        assert (f"{line['t_s']:.9f}", line["event"]) == (at, event)
        assert f"flow={line['flow']}" in rest
        if line["event"] in ("lost", "congestion"):
            assert rest[-1] == line.get("trigger", line.get("cause"))
            continue
        assert f"{line['size_bytes']}B" in rest
        assert (line["towards"] == "sink") == (">" in rest) and (f"link={line.get('link')}" in rest) == ("link" in line)
    first = lines[0]
    assert (first["flags"], first["seq"], first["ack"], first["transport"]) == (["syn"], 0, None, "tcp")


def test_a_report_says_that_the_study_was_edited(capsys, study_file, tmp_path):
    out = tmp_path / "out"
    assert call(capsys, "study", "run", study_file, "--quick", "--out", out)[0] == 0
    assert "edited" not in call(capsys, "study", "report", out)[2]
    text = study_file.read_text()
    study_file.write_text(text.replace("number of flows matter", "number of flows really matter"))
    code, _, err = call(capsys, "study", "report", out)
    assert code == 0 and "was edited" in err and f"tonopah study run {study_file}" in err
    os.remove(study_file)
    assert "removed" in call(capsys, "study", "report", out)[2]


@pytest.mark.parametrize(
    ("command", "successor"),
    [
        (["bench", "--only", "wifi40"], "python -m tonopah_dev.bench"),
        (["map", "leo.toml"], "tonopah check --picture FILE"),
        (["validate", "ns2"], "python -m tonopah_dev.ns2"),
        (["validate", "published", "--check"], "python -m tonopah_dev.published"),
        (["validate", "linux", "--out", "docs"], "python -m tonopah_dev.pages.validation DIR"),
        (["validate", "linux", "--case", "6.1/reno-drop-one", "--log", "logs"], "python -m tonopah_dev.case_log CASE DIR"),
        (["validate", "queues", "--out", "docs"], "python -m tonopah_dev.pages.validation_queues DIR"),
    ],
)
def test_a_command_of_a_former_version_names_its_successor(capsys, command, successor):
    code, _, err = call(capsys, *command)
    assert code == 2 and successor in err


def test_help_groups_the_commands_by_what_people_do(capsys):
    with pytest.raises(SystemExit):
        call(capsys, "--help")
    printed = capsys.readouterr().out
    groups = ["run a network:", "compare algorithms:", "hold against reality:", "look and show:", "know:"]
    assert [line for line in printed.splitlines() if line in groups] == groups
    assert all(f"\n  {name} " in printed for name in main.COMMANDS)
