"""qlogs of other stacks: one connection in their dialects, damaged ones, and our own as qvis wants them (docs/files.md)."""

import gzip
import json
import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory import memory_taken

import tonopah as tp
from tonopah.cli.main import main
from tonopah.qlog.trace import Trace, read
from tonopah.validate.trace import comparison

LOGS = Path(__file__).parent / "data" / "qlog"
DIALECTS = ("quinn.sqlog", "ngtcp2.sqlog", "picoquic.qlog", "mvfst.qlog", "quic-go-delta.sqlog")
FORMS = {
    "quinn.sqlog": ("0.3, JSON-SEQ", "s"), "ngtcp2.sqlog": ("0.3, JSON-SEQ", "ms"), "picoquic.qlog": ("draft-00, JSON", "us"),
    "mvfst.qlog": ("0.4, JSON", "ms"), "quic-go-delta.sqlog": ("0.3, JSON-SEQ", "ms"),
}  # fmt: skip
SECONDS = "RTTs are in seconds, not in milliseconds as the schema says"


def log(name: str) -> Trace:
    """Read a log."""
    return read(LOGS / f"{name}.gz")


@pytest.mark.parametrize("name", DIALECTS)
def test_one_connection_reads_the_same_in_every_dialect(name: str) -> None:
    trace = log(name)
    assert (trace.form, trace.rtt_unit) == FORMS[name]
    assert trace.notes == ([SECONDS] if name == "quinn.sqlog" else [])
    assert (len(trace.data), trace.lost_packets, len(trace.rtt)) == (351, 22, 319)
    rtts = sorted(rtt for _, rtt in trace.rtt)
    assert rtts[0] == pytest.approx(0.046232832, rel=1e-3)
    assert rtts[len(rtts) // 2] == pytest.approx(0.102, rel=1e-3)
    windows = [value for _, value in trace.metrics["congestion_window"]]
    # The first one of quinn is that before anything is sent.
    assert (windows[0], windows[-1], max(windows)) == (14720 if name == "quinn.sqlog" else 14480, 14480, 56472)
    assert max(value for _, value in trace.metrics["bytes_in_flight"]) == 56472
    assert trace.metrics["smoothed_rtt"][-1][1] == pytest.approx(0.092788875, rel=1e-3)
    if name != "mvfst.qlog":
        assert [packet.number for _, packet, _, _ in trace.lost[:8] if packet] == [30, 32, 34, 36, 38, 40, 42, 44]
    assert sum(bool(packet.payload) for _, packets in trace.acks for packet in packets) == (0 if name == "quinn.sqlog" else 319)
    # 2^64 - 1 is no threshold.
    assert max(value for _, value in trace.metrics.get("ssthresh", [(0, 0)])) < 30_000


@pytest.mark.parametrize("name", DIALECTS)
def test_the_link_is_found_from_every_dialect(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "trace", str(LOGS / f"{name}.gz"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["link"]["rate_bps"] == pytest.approx(2e6, rel=0.01)
    assert found["link"]["delay_s"] == pytest.approx(0.02, rel=0.03)
    assert abs(found["link"]["queue_packets"] - 12) <= 1
    seen = found["trace"]
    assert (seen["form"], seen["rtt_unit"]) == FORMS[name]
    assert (seen["data_segments"], seen["lost_packets"], seen["rtt_samples"]) == (351, 22, 319)
    assert (seen["cwnd_max_bytes"], seen["cwnd_last_bytes"]) == (56472, 14480)
    # Of packets where the log names them, else by its metric.
    assert seen["in_flight_max_bytes"] == (56472 if name in ("quinn.sqlog", "mvfst.qlog") else 57408)


def written(folder: Path, text: str | bytes) -> Path:
    """Write a log."""
    path = folder / "x.qlog"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_rows_with_other_names_lines_and_traces_of_a_file(tmp_path: Path) -> None:
    # Drafts 00 and 01: rows, upper case, times and numbers as text, a column that says nothing.
    sent = {"frame_type": "stream", "stream_id": "0", "offset": "0", "length": "1000"}
    acked = {"frame_type": "ack", "acked_ranges": [["7", "7"]]}
    header = {"packet_number": "7", "packet_size": 1200}
    rows = [
        ["0", "TRANSPORT", "PACKET_SENT", "DEFAULT", {"type": "1RTT", "header": header, "frames": [sent]}],
        ["30", "TRANSPORT", "PACKET_RECEIVED", "DEFAULT", {"type": "1RTT", "header": {}, "frames": [acked]}],
        ["30", "RECOVERY", "METRIC_UPDATE", "DEFAULT", {"current_cwnd": 14000, "latest_rtt": 30, "min_rtt": float("1e400")}],
        ["31", "RECOVERY", "PACKETS_LOST", "DEFAULT", {"lost_packets": 3, "lost_bytes": 3600, "largest_lost_packet_num": 9}],
    ]
    one = {"event_fields": ["relative_time", "CATEGORY", "EVENT_TYPE", "TRIGGER", "DATA"], "events": rows}
    text = json.dumps({"qlog_version": "draft-01", "traces": [{**one, "events": []}, one]}).replace("Infinity", "1e400")
    trace = read(written(tmp_path, text), 1)
    assert (trace.form, trace.rtt, trace.lost_packets) == ("draft-01, JSON", [(pytest.approx(0.03), pytest.approx(0.03))], 3)
    assert trace.metrics["congestion_window"] == [(pytest.approx(0.03), 14000)] and "min_rtt" not in trace.metrics
    assert not read(written(tmp_path, text), 0).data
    with pytest.raises(tp.InputError, match="--trace: 2 is not there"):
        read(written(tmp_path, text), 2)
    lines = '{"qlog_version":"0.3","trace":{}}\n{"time":1,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT",' \
        '"packet_number":1},"frames":[],"raw":{"length":50}}}\n'  # fmt: skip
    assert read(written(tmp_path, lines)).form == "0.3, NDJSON"


def test_what_is_wrong_is_said_with_its_byte(tmp_path: Path) -> None:
    head = '\x1e{"qlog_version":"0.3","trace":{}}\n'
    sent = '\x1e{"time":1,"name":"quic:packet_sent","data":{"header":{"packet_number":1},"frames":[]}}\n'
    for text, said in (
        ("", "no qlog"),
        ('{"a":1}', "s2n-quic, msquic and lsquic write none"),
        (head + "\x1e{]\n" + sent, "at byte 36: no JSON"),
        (head + '\x1e{"time":"x","name":"quic:packet_sent"}\n', "at byte 36: an event quic:packet_sent"),
        (head + sent.replace('"frames":[]', '"frames":7').replace("1}", "1e99}"), "at byte 36"),
        (head + '\x1e{"name":"a","data":' + "[" * 65 + "]" * 65 + "}\n" + sent, "nested in more than 64 levels"),
        (head + sent.replace("sent", "received").replace("[]", '[{"frame_type":"ack","acked_ranges":[[0,9999999]]}]'),
         "a range of 9,999,999 packets"),
        (head + sent.replace("sent", "received").replace("[]", '[{"frame_type":"ack","acked_ranges":[[]]}]'), "at byte 36"),
    ):  # fmt: skip
        with pytest.raises(tp.InputError, match=said):
            read(written(tmp_path, text))
    trace = read(written(tmp_path, head + sent + '\x1e{"time":2,"na'))
    assert (len(trace.sent), trace.notes) == (1, ["its last record is cut off and left out"])
    whole = gzip.decompress((LOGS / "mvfst.qlog.gz").read_bytes())
    trace = read(written(tmp_path, whole[: len(whole) // 2]))
    assert trace.data and trace.notes == ["its last record is cut off and left out"]


def test_a_log_of_the_receiver_says_so(tmp_path: Path) -> None:
    text = gzip.decompress((LOGS / "ngtcp2.sqlog.gz").read_bytes()).decode()
    turned = (
        text.replace("packet_sent", "packet_X").replace("packet_received", "packet_sent").replace("packet_X", "packet_received")
    )
    own = '\x1e{"time":0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":999999},' \
        '"frames":[{"frame_type":"stream","length":10}],"raw":{"length":40}}}\n'  # fmt: skip
    head, rest = turned.split("\n", 1)
    found = comparison.read_trace(written(tmp_path, f"{head}\n{own}{rest}"))
    assert found.taken_at == "receiver" and any("made at the receiver" in note for note in found.notes)


def damaged(data: bytes, draw: random.Random) -> bytes:
    """Return a log with bytes flipped, a piece left out, nested, or with a huge number."""
    kind, at = draw.randrange(4), draw.randrange(len(data))
    if kind == 0:
        changed = bytearray(data)
        for _ in range(draw.randint(1, 30)):
            changed[draw.randrange(len(changed))] = draw.choice((0, 1, 30, 34, 44, 91, 123, 125, 127, 255, draw.randrange(256)))
        return bytes(changed)
    if kind == 1:
        return data[:at] + data[at + draw.randrange(2000) :]
    if kind == 2:
        return data[:at] + b"[" * draw.choice((3, 70, 100_000)) + data[at:]
    digits = [place for place in range(at, min(at + 500, len(data))) if chr(data[place]).isdigit()]
    place = draw.choice(digits) if digits else at
    return data[:place] + draw.choice((b"9" * 400, b"-1", b"1e999", b"18446744073709551615", b"NaN")) + data[place + 1 :]


def test_damaged_logs_give_an_answer_or_a_sentence(tmp_path: Path) -> None:
    """200 of them; `make mutate` tries 10,000 (TONOPAH_DAMAGED_LOGS)."""
    draw = random.Random(5)
    whole = [gzip.decompress((LOGS / f"{name}.gz").read_bytes()) for name in (*DIALECTS, "own-0.17.0.sqlog")]
    answers = 0
    with memory_taken() as taken:
        for number in range(int(os.environ.get("TONOPAH_DAMAGED_LOGS", "200"))):
            file = written(tmp_path, damaged(whole[number % len(whole)], draw))
            began = time.process_time()
            try:
                comparison.estimate(comparison.read_trace(file), {"rate": "1Mbps", "delay": "1ms"}, "a log")
                answers += 1
            except tp.InputError as error:
                assert str(error)
            assert time.process_time() - began < 10
    assert answers
    # With what is loaded this stays below 1 GiB.
    assert taken.bytes < 800_000_000


def test_recordings_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def compared(one: str, *more: str) -> tuple[int, dict]:
        code = main(["compare-trace", one, *more, "--json"])
        return code, json.loads(capsys.readouterr().out)

    own = str(LOGS / "own-0.17.0.sqlog.gz")
    code, same = compared(own, own)
    assert code == 0 and {*same["metrics"]} == {"cwnd", "in_flight", "srtt", "delivered"}
    assert all((one["largest"], one["within"], one["first_outside_s"]) == (0, 1, None) for one in same["metrics"].values())
    for name in DIALECTS:
        code, other = compared(own, str(LOGS / f"{name}.gz"), "--metric", "cwnd", "--tolerance", "0.1")
        assert code == 0 and other["metrics"]["cwnd"]["largest"] < 1e-3, name
    world = {
        "duration": "6s", "network": {"kind": "dumbbell", "bottleneck": {"rate": "5Mbps", "delay": "20ms", "queue": "30p"}},
        "flow": [{"from": "left0", "to": "right0"}],
    }  # fmt: skip
    file = tmp_path / "world.json"
    file.write_text(json.dumps(world), encoding="utf-8")
    files = []
    for beta in ("0.7", "0.5"):
        changes = ["--set", f'tcp.cc={{ name = "cubic", profile = "rfc", beta = {beta} }}', "--set", "record.every=change"]
        files.append(str(tmp_path / f"{beta}.sqlog"))
        (tmp_path / "world.toml").write_text(_toml(world), encoding="utf-8")
        assert main(["run", str(tmp_path / "world.toml"), *changes, "--qlog", files[-1], "--json"]) == 0
        capsys.readouterr()
    code, found = compared(*files, "--metric", "cwnd", "--out", str(tmp_path / "x.html"))
    cwnd = found["metrics"]["cwnd"]
    log = read(Path(files[0]))
    start = log.data[0].t_s
    first = next(t_s for t_s, state in log.states if state in ("recovery", "loss")) - start
    assert code == 1 and abs(cwnd["first_outside_s"] - first) < 0.3 and cwnd["events"]
    assert "<svg" in (tmp_path / "x.html").read_text(encoding="utf-8")
    assert main(["compare-trace", own, own, "--metric", "speed"]) == 2
    assert "cwnd" in capsys.readouterr().err
    assert main(["compare-trace", own, own, "--from", "100s"]) == 2


def _toml(world: dict) -> str:
    from tonopah.scenario.document import to_toml

    return to_toml(world)


def test_a_folder_of_series_and_a_capture_are_recordings_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = {
        "duration": "3s", "network": {"kind": "dumbbell", "bottleneck": {"rate": "5Mbps", "delay": "20ms", "queue": "30p"}},
        "flow": [{"from": "left0", "to": "right0"}],
        "record": {"every": "change", "series": ["cwnd", "pipe", "srtt", "acked"]},
    }  # fmt: skip
    file = tmp_path / "world.toml"
    file.write_text(_toml(world), encoding="utf-8")
    out = [str(tmp_path / name) for name in ("series", "run.sqlog", "pcap")]
    for option, place in zip(("--series", "--qlog", "--pcap"), out, strict=True):
        assert main(["run", str(file), option, place, "--json"]) == 0
        capsys.readouterr()
    assert main(["compare-trace", out[0], out[1], "--metric", "cwnd,srtt", "--tolerance", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["cwnd"]["largest"] < 0.01
    main(["compare-trace", out[1], str(tmp_path / "pcap" / "left0.pcapng"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["lacking"]["left0.pcapng"] == ["cwnd", "srtt"]
    assert found["metrics"]["delivered"]["first_outside_s"] is None


def test_our_qlog_has_what_qvis_wants(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bottleneck = {"rate": "10Mbps", "delay": "20ms", "queue": "60p", "loss": {"kind": "nth", "data_packets": [900]}}
    world = {
        "duration": "4s", "network": {"kind": "dumbbell", "bottleneck": bottleneck}, "tcp": {"profile": "linux", "cc": "bbr3"},
        "flow": [{"from": "left0", "to": "right0"}], "record": {"every": "change"},
    }  # fmt: skip
    (tmp_path / "world.toml").write_text(_toml(world), encoding="utf-8")
    target = tmp_path / "x.sqlog"
    assert main(["run", str(tmp_path / "world.toml"), "--qlog", str(target), "--qlog-internals", "--json"]) == 0
    data = target.read_bytes()
    assert b'"qlog_version":"0.3"' in data[:1024] and b'"qlog_format":"JSON-SEQ"' in data[:1024]
    rows = [json.loads(text) for text in data.split(b"\x1e") if text.strip()]
    assert {"trace", "qlog_version", "qlog_format", "file_schema"} <= {*rows[0]}
    assert isinstance(rows[0]["trace"]["common_fields"]["reference_time"], dict)
    assert "time_format" not in rows[0]["trace"]["common_fields"]
    names = {row["name"] for row in rows[1:]}
    assert names == {
        "transport:packet_sent", "transport:packet_received", "recovery:packet_lost", "recovery:metrics_updated",
        "recovery:congestion_state_updated", "recovery:parameters_set",
    }  # fmt: skip
    assert rows[1]["name"] == "recovery:parameters_set"
    shown = {key for row in rows if row.get("name") == "recovery:metrics_updated" for key in row["data"]}
    assert {
        "min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance", "pto_count", "congestion_window", "bytes_in_flight", "ssthresh",
        "packets_in_flight", "pacing_rate", "cc_state", "cc_max_bw_bps",
    } <= shown  # fmt: skip
    trace = read(target)
    assert trace.rtt_unit == "ms" and not trace.notes and trace.headers == 0
    assert np.median([rtt for _, rtt in trace.rtt]) > 0.04


def test_the_state_says_why_it_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A loss that SACK repairs, and a time-out that the longer way alone brings: F-RTO undoes it (RFC 5682)."""
    bottleneck = {
        "rate": "10Mbps", "delay": "20ms", "queue": "1000p", "loss": {"kind": "nth", "data_packets": [300]},
        "changes": [{"at": "6s", "delay": "600ms"}, {"at": "6.5s", "delay": "20ms"}],
    }  # fmt: skip
    world = {
        "duration": "9s", "network": {"kind": "dumbbell", "bottleneck": bottleneck}, "tcp": {"profile": "linux", "cc": "cubic"},
        "flow": [{"from": "left0", "to": "right0"}], "record": {"every": "change"},
    }  # fmt: skip
    (tmp_path / "world.toml").write_text(_toml(world), encoding="utf-8")
    assert main(["run", str(tmp_path / "world.toml"), "--qlog", str(tmp_path / "x"), "--json"]) == 0
    rows = [json.loads(text) for text in (tmp_path / "x").read_bytes().split(b"\x1e") if text.strip()]
    data = [row["data"] for row in rows[1:] if row["name"] == "recovery:congestion_state_updated"]
    assert [(row.get("old"), row["new"], row.get("trigger")) for row in data] == [
        (None, "slow_start", None), ("slow_start", "congestion_avoidance", "ssthresh"),
        ("congestion_avoidance", "recovery", "rack"), ("recovery", "congestion_avoidance", "recovery_end"),
        ("congestion_avoidance", "loss", "timeout"), ("loss", "congestion_avoidance", "undo"),
    ]  # fmt: skip
    assert json.loads(capsys.readouterr().out)["flows"][0]["undone_count"] == 1
    # Every loss has its cause, and the one that the link took is the 302nd segment: a SYN and an ACK come first.
    lost = [(row["data"]["header"]["packet_number"], row["data"].get("trigger")) for row in rows if row.get("name") == LOST]
    assert lost[0] == (301, "time_threshold") and {trigger for _, trigger in lost[1:]} == {"pto_expired"}


LOST = "recovery:packet_lost"


@pytest.mark.parametrize(
    ("tcp", "cause", "why"),
    [
        ({"profile": "rfc", "recovery": "newreno", "sack": False}, "dup_ack", "reordering_threshold"),
        ({"profile": "rfc", "recovery": "sack"}, "sack", "reordering_threshold"),
        ({"profile": "rfc", "recovery": "rack"}, "rack", "time_threshold"),
        ({"profile": "ns2", "recovery": "tahoe"}, "dup_ack", "reordering_threshold"),
        ({"profile": "ns2", "cc": "vegas"}, "dup_ack", "reordering_threshold"),
    ],
)
def test_each_recovery_says_by_what_it_knows_a_loss(tmp_path: Path, tcp: dict[str, Any], cause: str, why: str) -> None:
    world = {
        "duration": "4s", "network": {"kind": "dumbbell", "bottleneck": {
            "rate": "10Mbps", "delay": "20ms", "queue": "1000p", "loss": {"kind": "nth", "data_packets": [300]}}},
        "tcp": {"cc": "reno", **tcp}, "flow": [{"from": "left0", "to": "right0"}], "record": {"every": "change"},
    }  # fmt: skip
    (tmp_path / "world.toml").write_text(_toml(world), encoding="utf-8")
    assert main(["run", str(tmp_path / "world.toml"), "--qlog", str(tmp_path / "x"), "--json"]) == 0
    rows = [json.loads(text) for text in (tmp_path / "x").read_bytes().split(b"\x1e") if text.strip()][1:]
    lost = [row for row in rows if row["name"] == LOST]
    assert lost[0]["data"]["trigger"] == why
    sent = [row for row in rows if row["name"] == "transport:packet_sent" and row["time"] >= lost[0]["time"]]
    offsets = {row["data"]["header"]["packet_number"]: row["data"]["frames"][0]["offset"] for row in rows if is_data(row)}
    assert sent[0]["data"]["frames"][0]["offset"] == offsets[lost[0]["data"]["header"]["packet_number"]]
    changes = [row["data"].get("trigger") for row in rows if row["name"] == "recovery:congestion_state_updated"]
    assert cause in changes


def is_data(row: dict[str, Any]) -> bool:
    """Tell if a record is the transmission of data."""
    return row["name"] == "transport:packet_sent" and bool(row["data"]["frames"])
