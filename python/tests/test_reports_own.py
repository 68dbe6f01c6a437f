"""An author's network with any algorithm: single runs, what they count, their export, and numbers of one's own beside them."""

import json

import pytest

import tonopah as tp
from tonopah._core import fingerprint, trace
from tonopah.cli.main import main
from tonopah.errors import InputError
from tonopah.reports.networks import NETWORKS
from tonopah.scenario.document import load, to_json
from tonopah.spec.source import sourced
from tonopah.study.study import Study

MINE = """
from tonopah import CongestionControl

class Mine(CongestionControl):
    def on_ack(self, ack, view): self.cwnd_bytes = 2 * view.mss_bytes
    def on_congestion(self, event, view): self.ssthresh_bytes = self.cwnd_bytes = 2 * view.mss_bytes
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


@pytest.mark.parametrize("one", NETWORKS, ids=lambda one: one.name)
def test_a_network_takes_any_algorithm(one, mine):
    """The engine accepts each, and where the script has the name, it is the script's."""
    key = next(key for key, parameter in one.parameters.items() if parameter.is_algorithm)
    for value in ("bbr", "vegas", {"name": "cubic", "beta": 0.5}, f"{mine}/mine.py:Mine"):
        assert tp.check(f"reports:{one.name}", set={f"script.{key}": value})["graph"]["flow"]
    with pytest.raises(InputError, match=rf"script\.{key}: 'renno' is unknown \(of the script: .*tonopah algorithms"):
        tp.check(f"reports:{one.name}", set={f"script.{key}": "renno"})


def test_own_code_is_counted_as_the_script_counts(mine):
    study = Study.load(
        {
            "question": "Is mine slower?", "replicates": 2, "baseline": "newreno", "scenario": {"source": "reports:tcp-fr-hosts"},
            "compare": {"variant": [
                {"label": "newreno", "set": {"script.algorithm": "newreno"}},
                {"label": "mine", "set": {"script.algorithm": f"{mine}/mine.py:Mine"}},
            ]},
            "figure": [{"kind": "bar", "y": ["tcp_fr_hosts.throughput_bps", "tcp_fr_hosts.throughput_kibps"]}],
        }
    )  # fmt: skip
    study.run(quiet=True, out=mine / "out")
    table = study.part_table(study.spec.parts[0]).set_index("algorithm")
    assert set(table.index) == {"newreno", "mine"}
    assert (table.loc["mine", "tcp_fr_hosts.delay_s"] < table.loc["newreno", "tcp_fr_hosts.delay_s"].min()).all()
    # The script's own unit stands beside the SI one, and its name says which.
    assert (table["tcp_fr_hosts.throughput_kibps"] * 1024 == table["tcp_fr_hosts.throughput_bps"]).all()
    assert study.spec.parts[0].metric("tcp_fr_hosts.throughput_kibps").unit == "kb/s of 1024 bit"


def test_a_single_run_has_series_packets_and_what_the_script_counts(mine, monkeypatch, capsys):
    monkeypatch.chdir(mine)
    words = "run reports:tcp-fr-hosts --set script.algorithm=mine.py:Mine --series series --pcap packets --qlog log.qlog --json"
    assert main(words.split()) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["flows"][0]["cc"] == "mine.py:Mine"
    assert summary["observed"]["tcp_fr_hosts.throughput_kibps"] > 100
    assert (
        (mine / "series" / "cwnd.csv").is_file() and (mine / "packets" / "a.pcapng").is_file() and (mine / "log.qlog").is_file()
    )
    with pytest.warns(tp.ScenarioWarning, match=r"script\.speed has no effect: the script moves stations"):
        result = tp.run("reports:hystart-lrwpan", set={"script.speed": 25.0, "script.nodes": 10, "script.flows": 2})
    assert result.summary["observed"]["hystart_script.sent_packets"] > 0


def test_what_a_script_does_not_have_is_refused_in_a_single_run(capsys):
    for path in ("tcp.cc=bbr", "script.floor=2", "script.nosuch=1", "script.nodes=30"):
        assert main(["run", "reports:tcp-fr-hosts", "--set", path]) == 2
        assert path.partition("=")[0].partition(".")[0] in capsys.readouterr().err


@pytest.mark.parametrize("one", NETWORKS, ids=lambda one: one.name)
def test_an_export_is_the_same_run(one, tmp_path, capsys):
    assert main(["check", f"reports:{one.name}", "--write", str(tmp_path / "own.toml")]) == 0
    text = (tmp_path / "own.toml").read_text()
    assert "# Not in this file: what the script counts" in text and ("second scenario" in text) == bool(one.beside)
    found = sourced(f"reports:{one.name}", {})
    exported = load(tmp_path / "own.toml")
    assert exported == found.run_of()
    if one.name in ("tcp-fr-hosts", "asran-fairness"):
        assert fingerprint(to_json(exported)) == fingerprint(to_json(found.run_of()))


def test_an_export_still_finds_code_beside_it(mine, monkeypatch, capsys):
    monkeypatch.chdir(mine)
    (mine / "far").mkdir()
    words = ["check", "reports:tcp-fr-hosts", "--set", "script.algorithm=mine.py:Mine", "--write", "far/own.toml"]
    assert main(words) == 0 and load("far/own.toml")["tcp"]["cc"] == "../mine.py:Mine"
    assert main(["run", "far/own.toml"]) == 0
    (mine / "far" / "named.toml").write_text('source = "reports:tcp-fr-hosts"\nscript = { algorithm = "../mine.py:Mine" }\n')
    assert main(["run", "far/named.toml"]) == 0


ROWS = """
[[published]]
id = "mine"
caption = "From a file"
part = "hosts"
over = "script.packets_per_s"
columns = [
    { name = "algorithm" }, { name = "rate" }, { name = "throughput", unit = "Kib/s", metric = "tcp_fr_hosts.throughput_bps" },
]
rows = { file = "mine.csv" }
"""
STUDY = """
question = "Mine beside ours"
scenario = { source = "reports:tcp-fr-hosts" }
compare.variant = [{ label = "newreno", set = { "script.algorithm" = "newreno" } }]
[[part]]
id = "hosts"
sweep = [{ vary = { "script.packets_per_s" = [100, 200] } }]
figure = [{ kind = "line", x = "script.packets_per_s", y = ["tcp_fr_hosts.throughput_bps"] }]
"""


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("rate,algorithm,throughput\n100,newreno,305\n200,newreno,310.50\n", None),
        ("rate,algorithm\n100,newreno\n", "has no column 'throughput'"),
        ("rate,algorithm,throughput,more\n100,newreno,305,1\n", "column 'more' of .* is none of the table's"),
        ("rate,algorithm,throughput\n100,newreno\n", "line 2: has 2 cells"),
        (None, "mine.csv"),
    ],
)
def test_printed_numbers_may_stand_in_a_file(tmp_path, table, said):
    (tmp_path / "own.toml").write_text(STUDY + ROWS)
    if table is not None:
        (tmp_path / "mine.csv").write_text(table)
    if said is None:
        (found,) = Study.load(tmp_path / "own.toml").spec.published
        assert found.rows == (("newreno", "100", "305"), ("newreno", "200", "310.50"))
    else:
        with pytest.raises(InputError, match=said) as refused:
            Study.load(tmp_path / "own.toml")
        assert "mine.csv" in str(refused.value)


def test_an_observer_runs_the_code_of_its_run_again(mine):
    """The trace that a script reads is that of the run: with the same algorithm in it, and nothing left of the first run."""
    found = sourced("reports:tcp-fr-hosts", {"script.algorithm": f"{mine}/mine.py:Mine"})
    result = tp.run("reports:tcp-fr-hosts", set={"script.algorithm": f"{mine}/mine.py:Mine"})
    bound = tp.runs.simulation.engine_form(found.run_of())
    lines = trace(bound.text, 1, bound.algorithms, json=True).splitlines()
    assert result.summary["observed"]["tcp_fr_hosts.sent_packets"] == sum('"event":"sent"' in line for line in lines)
