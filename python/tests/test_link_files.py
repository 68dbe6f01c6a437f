"""Files that links name: traces, rates, distributions of delays."""

import gzip
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tonopah as tp
from tonopah.errors import InputError
from tonopah.scenario import link_files
from tonopah.scenario.link_files import inline_link_files, read_quantiles, read_rates, read_trace

SCENARIO = """
duration = "1s"
[network]
kind = "dumbbell"
pairs = 1
[network.bottleneck]
service = { kind = "trace", file = "cell.down" }
[[flow]]
from = "left0"
to = "right0"
"""


def test_a_scenario_is_served_as_its_trace_says(tmp_path):
    content = b"".join(b"%d\n" % (i // 2) for i in range(1, 201))
    (tmp_path / "cell.down").write_bytes(content)
    (tmp_path / "cell.toml").write_text(SCENARIO)
    summary = tp.run(tmp_path / "cell.toml", seed=1).summary
    bottleneck = next(link for link in summary["links"] if "opportunities" in link)
    assert bottleneck["opportunities"] == 2000
    assert bottleneck["opportunity_bytes"] == 1504
    assert bottleneck["capacity_bps"] == pytest.approx(2000 * 1504 * 8)
    assert bottleneck["used_bytes"] <= 2000 * 1504
    service = summary["resolved"]["network"]["bottleneck"]["service"]
    assert service["times"] == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_a_missing_trace_is_looked_for_beside_its_scenario_and_the_message_says_so(tmp_path):
    (tmp_path / "cell.toml").write_text(SCENARIO)
    (tmp_path / "cells.down").write_bytes(b"1\n")
    with pytest.raises(InputError) as refusal:
        tp.check(tmp_path / "cell.toml")
    assert f"looked in {tmp_path}; did you mean cells.down?" in str(refusal.value)


def test_a_compressed_trace_is_the_same(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"1\n2\n"))
    (tmp_path / "b").write_bytes(b"1\r\n2\r\n")
    both = []
    for name in ("a.gz", "b"):
        scenario = {"link": [{"service": {"kind": "trace", "file": name}}]}
        inline_link_files(scenario, tmp_path)
        both.append(scenario["link"][0]["service"]["times"].split()[1:])
    assert both == [["1", "2"], ["1", "2"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "is empty"),
        (b"1\n\n2\n", "line 2: '' is not a whole number"),
        (b"\n1\n", "line 1: '' is not a whole number"),
        (b"1\n\n", "line 2: '' is not a whole number"),
        (b"1\n2\nx\n", "line 3: 'x' is not a whole number"),
        (b"1\n2.5\n", "line 2: '2.5' is not a whole number"),
        (b"1\n-2\n", "line 2: '-2' is not a whole number"),
        (b"5\n9\n8\n", r"line 3: '8' is below the time before it \(times do not decrease\)"),
        (b"0\n0\n", "line 2: the last time is 0"),
        (b"1\n4294967296\n", "line 2: '4294967296' is above 4294967295 ms"),
        (b"1\n" + b"9" * 5000 + b"\n", "line 2: '9999"),
        (b"1\n\xff\n", "line 2: "),
        # Lines are counted before any of them is looked at.
        (b"x\n" + b"1\n" * 50_000_000, "has 50,000,001 lines"),
    ],
)
def test_a_wrong_trace_names_its_line(text, words):
    with pytest.raises(InputError, match=words):
        read_trace(text, "cell.down")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "line 1: '' is not the header"),
        (b"t,rate\n0,1\n", "line 1: 't,rate' is not the header"),
        (b"t_s,rate_bps\n0,1e6\n1\n", "line 3: '1' has 1 cells"),
        (b"t_s,rate_bps\n0,nan\n", "line 2: '0,nan' has no number in column 2"),
        (b"t_s,rate_bps\n1,1e6\n", "line 2: the time 1 is wrong"),
        (b"t_s,rate_bps\n0,1e6\n0,2e6\n", "line 3: the time 0 is wrong"),
        (b"t_s,rate_bps\n0,1\n1e300,1\n", "line 3: the time 1e\\+300 is wrong"),
        (b"t_s,rate_bps\n0,-1\n", "line 2: the rate -1 is wrong"),
        # Rounded to 0 it was "the last rate is 0".
        (b"t_s,rate_bps\n0,0.4\n", "line 2: the rate 0.4 is wrong \\(bit/s: 0, or from 1 to 1e15\\)"),
        (b't_s,rate_bps\n0,"' + b"1" * 200_000, "line 2: is no row of a table"),
    ],
)
def test_a_wrong_table_of_rates_names_its_line(text, words):
    with pytest.raises(InputError, match=words):
        read_rates(text, "drive.csv")


def test_rows_become_points():
    assert read_rates(b"t_s,rate_bps\n0,1e6\n\n0.5,0\n", "x") == [["0ns", "1000000bps"], ["500000000ns", "0bps"]]
    assert read_quantiles(b"q,delay_s\n0,0\n1,0.004\n", "x") == [[0.0, "0ns"], [1.0, "4000000ns"]]
    with pytest.raises(InputError, match="line 2: 2,0 is wrong"):
        read_quantiles(b"q,delay_s\n2,0\n", "x")


def test_tables_of_rates_and_delays_are_read_where_they_stand(tmp_path):
    (tmp_path / "drive.csv").write_text("t_s,rate_bps\n0,1e6\n0.5,0\n0.6,2e6\n")
    (tmp_path / "delays.csv").write_text("q,delay_s\n0,0\n0.5,0.001\n1,0.004\n")
    text = SCENARIO.replace('{ kind = "trace", file = "cell.down" }', '{ kind = "rate_trace", file = "drive.csv" }')
    jitter = 'jitter = { kind = "file", file = "delays.csv" }\n[[flow]]'
    (tmp_path / "drive.toml").write_text(text.replace("[[flow]]", jitter))
    bottleneck = tp.run(tmp_path / "drive.toml", seed=1).summary["resolved"]["network"]["bottleneck"]
    for table, name in ((bottleneck["service"], "drive.csv"), (bottleneck["jitter"], "delays.csv")):
        assert table["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert len(table["points"]) == 3


def test_what_is_no_such_file_is_refused_with_its_key(tmp_path, monkeypatch):
    path = tmp_path / "cell.toml"
    path.write_text(SCENARIO)
    with pytest.raises(InputError, match=r"network\.bottleneck\.service\.file: .*cell\.down cannot be read"):
        tp.check(path)
    (tmp_path / "cell.down").mkdir()
    with pytest.raises(InputError, match="is a folder, not a file of a scenario"):
        tp.check(path)
    (tmp_path / "cell.down").rmdir()
    (tmp_path / "cell.down").write_text("7\n6\n")
    with pytest.raises(InputError, match=r"cell\.down: line 2: "):
        tp.check(path)
    (tmp_path / "cell.down").write_text("6\n7\n")
    with pytest.raises(InputError, match="is not the file that sha256 or times stands for"):
        tp.check(path, set={"network.bottleneck.service.times": "sha256:00"})
    (tmp_path / "cell.gz").write_bytes(gzip.compress(b"1\n" * 100)[:-9])
    with pytest.raises(InputError, match="is not a whole gzip file"):
        tp.check(path, set={"network.bottleneck.service.file": "cell.gz"})
    (tmp_path / "cell.gz").write_bytes(b"1\n")
    with pytest.raises(InputError, match="is not a gzip file"):
        tp.check(path, set={"network.bottleneck.service.file": "cell.gz"})
    (tmp_path / "cell.gz").write_bytes(gzip.compress(b"1\n" * 100))
    monkeypatch.setattr(link_files, "MAX_FILE_BYTES", 150)
    with pytest.raises(InputError, match="too large when decompressed"):
        tp.check(path, set={"network.bottleneck.service.file": "cell.gz"})


TABLE = "when,signal,down,rtt/2\n1700000.5,-80,10.5,20\n1700001.5,-81,0,25\n1700002.5,-79,2,25\n"
COLUMNS = {"time": "when", "rate": "down", "delay": "rtt/2", "rate_unit": "Mbps", "delay_unit": "ms"}


def drive(**service):
    network = {"kind": "dumbbell", "pairs": 1, "bottleneck": {"service": {"kind": "rate_trace", **service}}}
    return {"duration": "3s", "network": network, "flow": [{"from": "left0", "to": "right0"}]}


def test_columns_have_names_and_units_and_a_delay_beside_the_rate(tmp_path, monkeypatch):
    (tmp_path / "drive.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    resolved = tp.check(drive(file="drive.csv", columns=COLUMNS))["resolved"]
    link = resolved["network"]["bottleneck"]
    assert link["service"]["points"] == [["0s", "10500kbps"], ["1s", "0bps"], ["2s", "2Mbps"]]
    assert [link["delay"], *((change["at"], change["delay"]) for change in link["changes"])] == [
        "20ms", ("0s", "20ms"), ("1s", "25ms"),
    ]  # fmt: skip
    # What was resolved is the same when it is read again.
    assert tp.check(resolved)["resolved"] == resolved


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"rate": "up"}, r"drive\.csv: line 1: there is no column 'up' \(columns: "),
        ({"rate_unit": "Mb/s"}, r"columns\.rate_unit: 'Mb/s' is unknown \(one of bps, kbps"),
        ({"rate": 3}, "columns: names those of time and rate, as text"),
        ({"delay_unit": "s"}, None),
        ({"delay_unit": "s", "delay": "signal"}, "line 2: the delay of -80 s is wrong"),
        ({"time": "signal"}, "line 3: the time -1 is wrong"),
        ({"speed": "x"}, "unknown key `speed`, known: `time`, `rate`, `delay`"),
    ],
)
def test_wrong_columns_are_named(tmp_path, monkeypatch, columns, words):
    (tmp_path / "drive.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    scenario = drive(file="drive.csv", columns=COLUMNS | columns)
    if words is None:
        assert tp.check(scenario)["resolved"]["network"]["bottleneck"]["delay"] == "20s"
        return
    with pytest.raises(InputError, match=words):
        tp.check(scenario)


def test_columns_stand_beside_a_file_and_delays_beside_no_changes(tmp_path, monkeypatch):
    (tmp_path / "drive.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"columns: has no effect without file"):
        tp.check(drive(points=[["0s", "1Mbps"]], columns=COLUMNS))
    scenario = drive(file="drive.csv", columns=COLUMNS)
    scenario["network"]["bottleneck"]["changes"] = [{"at": "1s", "delay": "1ms"}]
    with pytest.raises(InputError, match="stands beside changes of the link"):
        tp.check(scenario)
    scenario = drive(points=[["0s", "1Mbps"]])
    scenario["network"]["bottleneck"]["reverse"] = drive(file="drive.csv", columns=COLUMNS)["network"]["bottleneck"]
    with pytest.raises(InputError, match="a delay is of both directions"):
        tp.check(scenario)


def test_many_rows_are_text_that_its_digest_stands_for(tmp_path, monkeypatch):
    rows = "".join(f"{i * 1e-5:.5f},{1000000 + i % 2}\n" for i in range(120_000))
    (tmp_path / "long.csv").write_text(f"t_s,rate_bps\n{rows}")
    monkeypatch.chdir(tmp_path)
    result = tp.run(drive(file="long.csv"), set={"duration": "1200ms"})
    link = result.summary["links"][0]
    assert link["capacity_bps"] == pytest.approx(1e6, rel=1e-5)
    digest = hashlib.sha256((tmp_path / "long.csv").read_bytes()).hexdigest()
    assert result.summary["resolved"]["network"]["bottleneck"]["service"]["points"] == f"sha256:{digest}"


CASES = {
    "t_s,rate_bps\n0,10\n1,20\n2,5\n": "the mean rate is 11bps: is the unit of the file another one?",
    "t_s,rate_bps\n0,0\n5,1e6\n": "nothing is served before 5s, and the run ends at 3s",
}


@pytest.mark.parametrize("text", CASES)
def test_what_nobody_means_is_warned_of(tmp_path, monkeypatch, text):
    (tmp_path / "x.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    (warning,) = tp.check(drive(file="x.csv"))["warnings"]
    assert warning["path"] == "network.bottleneck.service.points" and CASES[text] in warning["message"]


def test_a_trace_of_later_is_warned_of_and_an_end_at_0_names_the_way_out(tmp_path, monkeypatch):
    (tmp_path / "offset.trace").write_text("".join(f"{i}\n" for i in range(60_001, 60_061)))
    (tmp_path / "zeroend.csv").write_text("t_s,rate_bps\n0,10e6\n1,20e6\n2,0\n")
    monkeypatch.chdir(tmp_path)
    (warning,) = tp.check(drive() | {"network": {"kind": "dumbbell", "bottleneck": {
        "service": {"kind": "trace", "file": "offset.trace"}}}})["warnings"]  # fmt: skip
    assert "nothing is served before 60001ms, and the run ends at 3s" in warning["message"]
    with pytest.raises(InputError, match=r"the last rate is 0.*loop = true"):
        tp.check(drive(file="zeroend.csv"))
    assert tp.check(drive(file="zeroend.csv", loop=True))["warnings"] == []


PIECES = st.lists(
    st.sampled_from([b"1", b"20", b"300", b"\n", b"\n", b"\r\n", b",", b".", b"-", b"e", b"t_s", b"q", b"\xff", b" "])
)


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
@given(PIECES.map(b"".join), st.sampled_from([read_trace, read_rates, read_quantiles]))
def test_any_bytes_are_read_or_refused(data, read):
    header = {read_rates: b"t_s,rate_bps\n", read_quantiles: b"q,delay_s\n"}.get(read, b"")
    for content in (data, header + data):
        try:
            read(content, "any")
        except InputError as error:
            assert error.message
