"""What algorithms show of themselves (`record.internals`): in Rust, Python, compiled, in C; as series, files, metrics, qlog."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import tonopah as tp
from tonopah.cli.main import main
from tonopah.examples.reno import Reno
from tonopah.metrics import metric
from tonopah.scenario.document import to_toml
from tonopah.spec.columns import columns

WORLD = {
    "duration": "6s",
    "network": {"kind": "dumbbell", "pairs": 1, "bottleneck": {"rate": "10Mbps", "delay": "20ms", "queue": "30p"}},
    "tcp": {"profile": "linux", "recovery": "rack"},
    "flow": [{"from": "left0", "to": "right0"}],
    "record": {"internals": "all", "every": "change"},
}
PLAIN = {key: value for key, value in WORLD.items() if key != "record"}


class Shows(Reno):
    """Shows what `shown` returns."""

    calls = 0
    strict = False
    observed = ()
    states = ("start", "avoidance")

    def observe(self):
        """Count the calls."""
        type(self).calls += 1
        return {"window_bytes": self.cwnd_bytes, "state": "start" if self.cwnd_bytes < self.ssthresh_bytes else "avoidance"}


def test_observe_is_called_if_and_only_if_it_is_recorded():
    Shows.calls = 0
    plain = tp.run({**PLAIN, "record": {"series": ["cwnd"], "every": "change"}}, cc=Shows)
    assert Shows.calls == 0 and plain.names == ["cwnd"]
    shown = tp.run(WORLD, cc=Shows, set={"record.series": ["cwnd"]})
    assert Shows.calls > 1000 and shown.names == ["cc.state", "cc.window_bytes", "cwnd"]
    assert plain.summary["flows"] == shown.summary["flows"]
    window, cwnd = shown.series("cc.window_bytes"), shown.series("cwnd")
    assert list(window["value"].astype(int)) == list(cwnd["value"].astype(int)) and len(window) > 100
    state = shown.series("cc.state")
    assert list(state["word"][:2]) == ["start", "avoidance"] and list(state["value"][:2]) == [0, 1]


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ('{"x": math.nan}', r'observe failed at \d\S* s: ValueError: "x": nan is not a finite number'),
        ('{"state": "asleep"}', r"'asleep' is not a finite number or a word of `states`"),
        ('{"two words": 1}', r'"two words" is one name too many, or no identifier'),
        ('{f"x{i}": 1 for i in range(65)}', r'"x64" is one name too many'),
        ("1 / 0", r"observe failed at \d\S* s: ZeroDivisionError"),
        ("[1]", r"observe failed at .*AttributeError"),
    ],
)
def test_what_observe_cannot_show_ends_a_run_that_records_it(tmp_path, shown, said):
    file = tmp_path / "mine.py"
    head = "import math\nfrom tonopah.examples.reno import Reno\n\nclass Mine(Reno):\n    observed = ()\n    states = ('on',)\n"
    file.write_text(f"{head}    def observe(self):\n        return {shown}\n")
    reference = f"{file}:Mine"
    assert tp.run(PLAIN, cc=reference).summary["flows"][0]["goodput_bps"] > 0
    with pytest.raises(tp.AlgorithmError, match=said) as raised:
        tp.run(WORLD, cc=reference)
    assert raised.value.method == "observe"


def test_attributes_are_shown_without_a_method_compiled_too_and_in_c(tmp_path):
    counted = tp.run(WORLD, cc=Reno).series("cc.counted_bytes")
    assert len(counted) > 100
    compiled = type("Compiled", (Reno,), {"__doc__": "Compiled."})
    pytest.importorskip("numba")
    assert tp.run(WORLD, cc=tp.compiled(compiled)).series("cc.counted_bytes").equals(counted)
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler (cc)")
    example = Path(__file__).parents[2] / "docs" / "examples" / "native" / "reno.c"
    library = tmp_path / "libreno.so"
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{tp.get_include()}", "-o", str(library)]
    subprocess.run([*command, str(example), "-lm"], check=True)
    assert tp.run(WORLD, cc=str(library)).series("cc.counted_bytes").equals(counted)


def test_a_class_that_says_wrongly_what_it_shows_is_refused():
    both = type("Both", (Shows,), {"observed": ("x",)})
    with pytest.raises(tp.InputError, match="has `observed` and `observe`"):
        tp.check(WORLD, set={"tcp.cc": both})
    named = type("Named", (Reno,), {"observed": ("no name",)})
    with pytest.raises(tp.InputError, match="is no list of names"):
        tp.check(WORLD, set={"tcp.cc": named})
    with pytest.raises(tp.InputError, match=r"record\.internals\[0\]: \"y\" is no variable .*they have counted_bytes"):
        tp.check(WORLD, set={"tcp.cc": Reno, "record.internals": ["y"]})


def test_files_have_the_variables(tmp_path, capsys):
    (tmp_path / "w.toml").write_text(to_toml({**WORLD, "tcp": {"cc": "bbr"}}))
    words = ["run", str(tmp_path / "w.toml"), "--series", str(tmp_path / "s"), "--parquet", str(tmp_path / "p")]
    assert main([*words, "--qlog", str(tmp_path / "x.sqlog")]) == 0
    table = pd.read_parquet(tmp_path / "p" / "cc.state.parquet")
    assert set(table["word"]) >= {"startup", "drain", "probe_bw"} and list(table) == ["t_s", "flow", "value", "word"]
    assert (tmp_path / "s" / "cc.bw_bps.csv").read_text().startswith("t_s,flow,value\n")
    events = [json.loads(part) for part in (tmp_path / "x.sqlog").read_text().split("\x1e")[2:]]
    metrics = [event["data"] for event in events if event["name"] == "recovery:metrics_updated"]
    seen = set().union(*metrics)
    assert seen >= {"min_rtt", "latest_rtt", "rtt_variance", "pto_count", "pacing_rate", "packets_in_flight", "delivery_rate"}
    assert {data["cc_state"] for data in metrics if "cc_state" in data} >= {"startup", "probe_bw"}
    states = [event["data"]["new"] for event in events if event["name"] == "recovery:congestion_state_updated"]
    assert states[0] == "startup" and set(states) >= {"startup", "drain", "probe_bw"}
    assert set(states) <= {"startup", "drain", "probe_bw", "probe_rtt", "recovery", "loss"}
    assert not main(["metrics", "--cc", "bbr3", "--json"])
    assert "cc.max_bw_bps" in {entry["name"] for entry in json.loads(capsys.readouterr().out.splitlines()[-1])}


def test_a_study_derives_metrics_of_variables_and_draws_them(tmp_path, capsys):
    study = {
        "question": "How much bandwidth does it see?", "baseline": "bbr", "replicates": 2,
        "scenario": {**PLAIN, "record": {"internals": ["bw_bps"], "every": "100ms"}},
        "compare": {"cc": ["bbr", "cubic"]},
        "figure": [{"kind": "series", "y": ["cc.bw_bps"]}, {"kind": "bar", "y": ["seen"]}],
        "derived": [{"name": "seen", "kind": "mean", "series": "cc.bw_bps"}],
    }  # fmt: skip
    (tmp_path / "s.toml").write_text(to_toml(study))
    assert main(["study", "run", str(tmp_path / "s.toml"), "--out", str(tmp_path / "o")]) == 0
    table = pd.read_csv(next((tmp_path / "o" / "tables").rglob("runs.csv")))
    seen = table.groupby("algorithm")["seen"].mean()
    assert 5e6 < seen["bbr"] < 11e6 and math.isnan(seen["cubic"])
    study["figure"][0]["y"] = ["cc.bw"]
    (tmp_path / "s.toml").write_text(to_toml(study))
    assert main(["check", str(tmp_path / "s.toml")]) == 2
    error = capsys.readouterr().err
    assert "figure[0].y[0]: 'cc.bw' is unknown" in error and "cc.bw_bps" in error


def test_every_new_number_is_defined():
    wanted = [
        "undone_count",
        "needless_retransmissions",
        *(f"{n}_limited_ratio" for n in ("app", "cwnd", "rwnd", "pacing", "recovery")),
    ]
    assert all(name in columns().flows and metric(name).definition for name in wanted)
    assert all(metric(name).definition for name in ("rttvar", "min_rtt", "pacing_rate", "delivery_rate", "timeouts", "limit"))
    assert metric("cc.max_bw_bps").unit == "Mb/s" and metric("cc.min_rtt_s").unit == "ms"
