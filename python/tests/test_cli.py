"""The command line: output, exit codes, and one message for each mistake."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.cli import main
from tonopah.scenario.document import load, to_toml


@pytest.fixture
def scenario(dumbbell, tmp_path):
    path = tmp_path / "dumbbell.toml"
    path.write_text(to_toml(dumbbell))
    return str(path)


def call(capsys, *arguments) -> tuple[int, str, str]:
    code = main.main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_run_prints_flows_network_and_bottleneck(capsys, scenario):
    code, out, err = call(capsys, "run", scenario)
    assert (code, err) == (0, "")
    for words in ("left0 → right0", "left1 → right1", "goodput", "Mb/s", "Network, 2 flows", "r0 → r1", "utilisation"):
        assert words in out


def test_run_prints_marks_only_if_there_are_any(capsys, scenario):
    assert "marked" not in call(capsys, "run", scenario)[1]
    changes = ("--set", "tcp.ecn=classic", "--set", "network.bottleneck.queue.mark_threshold=5")
    summary = json.loads(call(capsys, "run", scenario, "--json", *changes)[1])
    lines = call(capsys, "run", scenario, *changes)[1].splitlines()
    assert sum(line.count("marked") for line in lines) == 3
    bottleneck = next(link for link in summary["links"] if (link["from"], link["to"]) == ("r0", "r1"))
    last = [line.split()[-1] for line in lines if line.split()]
    for part in (*summary["flows"], summary["network"], bottleneck):
        assert part["marked_packets"] > 0 and f"{part['marked_packets']:,}" in last


def test_run_prints_json(capsys, scenario):
    code, out, _ = call(capsys, "run", scenario, "--json", "--seed", "3", "--set", "flow[1].cc=cubic")
    summary = json.loads(out)
    assert (code, summary["seed"], summary["flows"][1]["cc"]) == (0, 3, "cubic")


def test_run_writes_series(capsys, scenario, tmp_path):
    code, _, err = call(capsys, "run", scenario, "--series", str(tmp_path / "series"))
    assert code == 0
    assert "cwnd" in err
    assert (tmp_path / "series" / "cwnd.csv").read_text().startswith("t_s,flow,value\n")


def test_run_prints_events(capsys, scenario):
    code, out, _ = call(capsys, "run", scenario, "--events", "--set", "duration=150ms")
    assert code == 0
    assert len(out.splitlines()) > 1


def test_check_prints_ranges_by_rate_and_the_hops_of_flows(capsys, tmp_path):
    path = tmp_path / "line.toml"
    path.write_text("""
        duration = "1s"
        [network]
        kind = "adhoc"
        nodes = 3
        flows = 0
        placement = { kind = "line", spacing = "60m" }
        radio = { standard = "b" }
        [[flow]]
        from = "n0"
        to = "n2"
    """)
    told = call(capsys, "check", str(path))[1].splitlines()
    assert told[1:] == [
        "reach: 1 Mb/s 198 m, 2 Mb/s 157 m, 5.5 Mb/s 125 m, 11 Mb/s 99 m; carrier sense 314 m", "hops: n0 to n2 2",
    ]  # fmt: skip
    assert "Frames without response, by cause" in call(capsys, "run", str(path))[1]


def test_check_expands_to_a_scenario_that_is_accepted(capsys, scenario, tmp_path):
    assert call(capsys, "check", scenario)[1] == "ok: 6 nodes, 5 links, 2 flows\n"
    code, out, _ = call(capsys, "check", scenario, "--expand")
    (tmp_path / "graph.toml").write_text(out)
    assert code == 0
    assert load(tmp_path / "graph.toml")["network"]["kind"] == "graph"
    assert call(capsys, "check", str(tmp_path / "graph.toml"), "--json")[0] == 0


def test_study_commands(capsys, study_file, tmp_path):
    out = str(tmp_path / "out")
    code, printed, err = call(capsys, "study", "run", str(study_file), "--quick", "--out", out, "--json")
    facts = json.loads(printed)
    assert (code, facts["run_now"]) == (0, facts["runs"])
    assert "runs to do" in err
    code, printed, _ = call(capsys, "study", "report", out)
    assert code == 0
    assert "report.html" in printed
    assert "asran" in call(capsys, "study", "list")[1]
    assert "a study of" in call(capsys, "check", str(study_file))[1]


def test_an_interrupted_study_says_how_to_go_on(capsys, study_file, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tonopah.execution.runner.run_many", stop)
    code, _, err = call(capsys, "study", "run", str(study_file), "--out", str(tmp_path / "out"))
    assert code == 1
    assert "run the same command to continue" in err


def test_algorithms(capsys):
    assert "cubic" in call(capsys, "algorithms")[1]
    assert "RFC 9438" in call(capsys, "algorithms", "cubic")[1]
    assert json.loads(call(capsys, "algorithms", "cubic", "--json")[1])["name"] == "cubic"
    assert call(capsys, "algorithms", "nosuch")[0] == 2


MISTAKES = {
    "unknown key": ("network.bottelneck.rate=1Mbps", "bottelneck"),
    "wrong unit": ("network.bottleneck.rate=10ms", "network.bottleneck.rate"),
    "number for a unit": ("network.bottleneck.rate=10", "network.bottleneck.rate"),
    "missing end": ("flow.0.from=left9", "left9"),
    "queue of zero": ("network.bottleneck.queue.limit=0p", "network.bottleneck.queue.limit"),
    "too many flows": ("network.flows=1000000000", "network.flows"),
    "too many pairs": ("network.pairs=1000000000", "network.pairs"),
    "too large a number": ("network.pairs=100000000000000000000000000", "network.pairs"),
    "negative": ("network.pairs=-1", "network.pairs"),
    "unknown algorithm": ("tcp.cc=nosuch", "nosuch"),
    "not a number": ("tcp.dup_thresh=nan", "tcp.dup_thresh"),
    "endless": ("duration=inf", "duration"),
    "flow to itself": ("flow.0.to=left0", "flow"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_input_gives_one_message_and_exit_code_2(capsys, scenario, mistake):
    change, words = MISTAKES[mistake]
    code, out, err = call(capsys, "run", scenario, "--set", change)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {scenario}: ")
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_file_without_a_command_is_told_the_command(capsys, scenario):
    code, out, err = call(capsys, scenario)
    assert (code, out) == (2, "")
    assert "tonopah run FILE" in err


@pytest.mark.parametrize(
    ("option", "place"), [("--pcap", "a_file"), ("--parquet", "a_file"), ("--series", "a_file"), ("--qlog", "none/x.qlog")]
)
def test_what_cannot_be_written_is_refused_before_the_run(capsys, scenario, tmp_path, option, place):
    (tmp_path / "a_file").touch()
    code, out, err = call(capsys, "run", scenario, option, str(tmp_path / place))
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {option}: ")


def test_an_unreachable_destination_is_refused(capsys, tmp_path):
    world = {
        "duration": "1s",
        "network": {"kind": "graph"},
        "node": [{"name": name} for name in "abcd"],
        "link": [
            {"from": "a", "to": "b", "rate": "1Mbps", "delay": "1ms"},
            {"from": "c", "to": "d", "rate": "1Mbps", "delay": "1ms"},
        ],
        "flow": [{"from": "a", "to": "d"}],
    }
    (tmp_path / "island.toml").write_text(to_toml(world))
    code, _, err = call(capsys, "run", str(tmp_path / "island.toml"))
    assert code == 2
    assert "flow" in err


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"\xff\xfe", b"[network\n"])
def test_files_that_are_no_scenarios_are_refused(capsys, tmp_path, content):
    (tmp_path / "bad.toml").write_bytes(content)
    for command in (["run"], ["check"], ["study", "run"]):
        code, _, err = call(capsys, *command, str(tmp_path / "bad.toml"))
        assert code == 2
        assert err.startswith(f"error: {tmp_path / 'bad.toml'}: ")


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["nosuch"], ["run", "x.toml", "--seed", "-1"], ["study", "run", "asran", "--jobs", "0"], []],
)
def test_wrong_arguments_have_exit_code_2(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main.main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def commands_below(parser, name=()):
    """Yield every command that can be run, with its parser."""
    parser.load()
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield name, parser
    for below, inner in (entry for group in groups for entry in group.choices.items()):
        yield from commands_below(inner, (*name, below))


@pytest.mark.parametrize("command", main.COMMANDS)
def test_every_command_has_help_with_an_example(command, capsys):
    top = main.build_parser()
    found = {name: parser for name, parser in commands_below(top) if name[0] == command}
    assert found
    for name, parser in found.items():
        with pytest.raises(SystemExit) as caught:
            main.main([*name, "--help"])
        assert caught.value.code == 0
        assert "example" in parser.epilog and f"  tonopah {' '.join(name)}" in f"  {parser.epilog.split(': ')[-1]}"
        assert parser.epilog in capsys.readouterr().out


def test_the_first_steps_name_every_command():
    text = (Path(__file__).parents[2] / "docs" / "first-steps.md").read_text(encoding="utf-8").partition("## Command line")[2]
    named = {" ".join(name.split()) for name in re.findall(r"`([^`]+)`", text)}
    assert {" ".join(name) for name, _ in commands_below(main.build_parser())} <= named


START = "from tonopah.cli.main import main; main([{}])"
HEAVY = {"numpy", "pandas", "pydantic", "rich", "scipy", "matplotlib", "pyarrow", "jinja2", "tomli", "tomli_w", "distributed"}


@pytest.mark.parametrize("code", ["import tonopah", START.format("'--help'"), START.format("'study', '--help'")])
def test_a_start_loads_nothing_heavy(code):
    wrapped = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint(' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", wrapped], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert not HEAVY & {name.partition(".")[0] for name in loaded}
    # The package itself: the face, the engine and, for the command line, its errors.
    expected = {
        "tonopah",
        "tonopah._core",
        "tonopah.errors",
        "tonopah.cli",
        "tonopah.cli.main",
        "tonopah.cli.parser",
        "tonopah.cli.renamed",
    }
    expected |= {"tonopah.cli.study"} if "study" in code else set()
    assert {name for name in loaded if name.startswith("tonopah")} <= expected


def test_a_scenario_is_checked_without_what_studies_need(scenario):
    wrapped = f"import sys\n{START.format(repr('check') + ', ' + repr(str(scenario)))}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", wrapped], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("ok: ")
    assert not {"pandas", "scipy", "pydantic", "tonopah.study.study"} & set(done.stdout.split())


def test_public_names_are_loaded_at_their_first_use():
    # Nothing else is offered, whatever was loaded before.
    assert {name for name in dir(tp) if not name.startswith("__")} == set(tp.__all__) - {"__version__"}
    assert all(getattr(tp, name) is not None for name in tp.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = tp.nonsense


def test_a_reader_that_goes_away_is_no_error(scenario):
    command = f"{sys.executable} -m tonopah check {scenario} --expand | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
