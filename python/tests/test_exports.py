"""Runs as files for other programs: pcapng, qlog, Parquet, JSON lines."""

import json
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tonopah as tp
from tonopah import _core
from tonopah.cli import main
from tonopah.export import pcapng, qlog
from tonopah.scenario.document import to_toml

LOSSY = {
    "duration": "3s",
    "network": {
        "kind": "dumbbell",
        "pairs": 2,
        "bottleneck": {
            "rate": "5Mbps",
            "delay": "18ms",
            "queue": {"kind": "red", "limit": "40p", "ecn": True},
            "loss": {"kind": "packet", "p": 0.01},
        },
    },
    "flow": [{"from": "left0", "to": "right0"}, {"from": "left1", "to": "right1", "cc": "reno"}],
}
WORLDS: dict[str, dict[str, Any]] = {
    "wired, linux": {**LOSSY, "tcp": {"cc": "cubic", "profile": "linux"}},
    "ECN": {**LOSSY, "tcp": {"cc": "cubic", "ecn": "accecn"}},
    "drop-tail": {"duration": "3s", "network": {"kind": "dumbbell", "pairs": 1, "flows": 1, "bottleneck": {"rate": "5Mbps"}}},
    "Wi-Fi": {"duration": "3s", "network": {"kind": "infrastructure", "cells": 1, "stations_per_cell": 3, "flows": 2}},
    "ad hoc": {"duration": "3s", "network": {"kind": "adhoc", "nodes": 12, "flows": 3, "radio": {"profile": "ns2"}}},
    "LEO": {
        "duration": "3s",
        "tcp": {"cc": "cubic", "timestamps": True},
        "network": {"kind": "constellation", "preset": "starlink", "terminals": ["London", "New York"], "flows": 1},
    },
}
needs_tshark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield kind and body of each block; their lengths agree."""
    data = path.read_bytes()
    while data:
        kind, length = struct.unpack_from("<II", data)
        assert length % 4 == 0 and struct.unpack_from("<I", data, length - 4) == (length,)
        yield kind, data[8 : length - 4]
        data = data[length:]


def packets(path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield interface, time in ns, original length and headers of each packet."""
    for kind, body in blocks(path):
        if kind == pcapng.PACKET:
            interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
            yield interface, high << 32 | low, length, body[20 : 20 + captured]


def word_sum(data: bytes) -> int:
    """Return the ones' complement sum of 16-bit words: all ones over what a checksum covers."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize("name", WORLDS)
def test_hosts_see_what_their_transports_send_and_receive(name, tmp_path):
    result = pcapng.run(dict(WORLDS[name]), None, 1, tmp_path)
    assert result.summary["flows"] == tp.run(WORLDS[name]).summary["flows"]
    outbound, inbound = Counter(), Counter()
    addresses = {pcapng.file_name(node, {}): bytes([10, 0, 0, i + 1]) for i, node in enumerate(result.nodes["node"])}
    for path in tmp_path.iterdir():
        seen = list(packets(path))
        assert [t for _, t, _, _ in seen] == sorted(t for _, t, _, _ in seen)
        for _, _, length, head in seen:
            assert head[0] == 0x45 and struct.unpack_from(">H", head, 2) == (length,)
            assert word_sum(head[:20]) == 0xFFFF
            covered = head[12:20] + struct.pack(">BBH", 0, head[9], length - 20) + head[20:]
            assert word_sum(covered) == 0xFFFF
            assert addresses[path.stem] in (head[12:16], head[16:20])
            (outbound if head[12:16] == addresses[path.stem] else inbound)[head[12:16]] += 1
    kept = result.summary["conservation"]
    assert (outbound.total(), inbound.total()) == (kept["sent"], kept["delivered"])


def test_captures_on_links_have_an_interface_for_each_direction(tmp_path):
    result = pcapng.run(WORLDS["drop-tail"], None, 1, tmp_path, "links")
    kinds = Counter(kind for kind, _ in blocks(tmp_path / "r0-r1.pcapng"))
    assert (kinds[pcapng.SECTION], kinds[pcapng.INTERFACE]) == (1, 2)
    seen = Counter(interface for interface, _, _, _ in packets(tmp_path / "r0-r1.pcapng"))
    sent = {(link["from"], link["to"]): link["sent_packets"] for link in result.summary["links"]}
    # The one that is transmitted when the run ends counts as sent when its last bit has left.
    assert abs(seen[0] - sent["r0", "r1"]) <= 1 and abs(seen[1] - sent["r1", "r0"]) <= 1


def test_names_of_files_are_plain():
    taken = {"a/b": pcapng.Capture("a_b")}
    assert pcapng.file_name("a b", taken) == "a_b-1"
    assert pcapng.file_name("../x", taken) == ".._x"


def tshark(path: Path, wanted: str, *fields: str) -> list[list[str]]:
    """Return fields of the packets that are wanted as tshark reads them; it has nothing to complain about."""
    command = ["tshark", "-n", "-r", str(path), "-Y", wanted, "-T", "fields"]
    command += ["-o", "ip.check_checksum:TRUE", *(word for field in fields for word in ("-e", field))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    complaints = [line for line in done.stderr.splitlines() if "Running as user" not in line]
    assert not complaints
    return [line.split("\t") for line in done.stdout.splitlines()]


def duplicate_acks(scenario: dict[str, Any]) -> Counter[int]:
    """Return for each flow the duplicate ACKs that reached its source: RFC 5681 §2, data still being outstanding aside."""
    found: Counter[int] = Counter()
    last: dict[int, tuple[int, int]] = {}
    for line in map(json.loads, _core.trace(json.dumps(scenario), 1, json=True).splitlines()):
        if line["event"] == "delivered" and line["towards"] == "source" and line["flags"] != ["syn", "ack"]:
            state = line["ack"], line["window_bytes"]
            found[line["flow"]] += last.get(line["flow"]) == state and line["payload_bytes"] == 0
            last[line["flow"]] = state
    return found


@needs_tshark
@pytest.mark.parametrize("name", WORLDS)
def test_tshark_reads_the_files_and_counts_as_we_do(name, tmp_path):
    result = pcapng.run(dict(WORLDS[name]), None, 1, tmp_path)
    duplicates = duplicate_acks(WORLDS[name])
    for flow in result.summary["flows"]:
        # A host may have several flows; each has a port of its own.
        wanted = f"tcp.port == {49152 + flow['flow']}"
        fields = ("_ws.malformed", "tcp.checksum.status", "tcp.srcport", "tcp.analysis.ack_lost_segment")
        analysis = ("tcp.analysis.retransmission", "tcp.analysis.out_of_order", "tcp.analysis.duplicate_ack")
        rows = tshark(tmp_path / f"{flow['from']}.pcapng", wanted, *fields, *analysis)
        assert rows and all(row[0] == row[3] == "" for row in rows)
        outbound = [row for row in rows if row[2] != "5001"]
        # What a source sends is never out of order: tshark takes a retransmission within the first RTT for that.
        assert sum(bool(row[4] or row[5]) for row in outbound) == flow["retransmitted_packets"]
        assert sum(bool(row[6]) for row in rows if row[2] == "5001") == duplicates[flow["flow"]]


def read_qlog(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSON text sequence (RFC 7464)."""
    text = path.read_text()
    assert text.startswith("\x1e") and text.endswith("\n")
    return [json.loads(part) for part in text.split("\x1e")[1:]]


DATA = {
    "transport:packet_sent": {"header", "frames", "raw"},
    "transport:packet_received": {"header", "frames", "raw"},
    "recovery:packet_lost": {"header", "trigger"},
    "recovery:metrics_updated": {
        "congestion_window", "ssthresh", "bytes_in_flight", "packets_in_flight", "smoothed_rtt", "latest_rtt", "rtt_variance",
        "min_rtt", "pto_count", "pacing_rate", "delivery_rate",
    },
    "recovery:congestion_state_updated": {"old", "new", "trigger"},
    "recovery:parameters_set": {"reordering_threshold", "tonopah_cc", "tonopah_cc_profile", "tonopah_initial_window"},
}  # fmt: skip
"""Fields of the drafts that may stand in each event."""


def test_qlog_has_the_form_of_the_drafts_and_our_counts(tmp_path):
    result = qlog.run(dict(WORLDS["wired, linux"]), None, 1, tmp_path / "x.sqlog")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x-0.sqlog", "x-1.sqlog"]
    for flow in result.summary["flows"]:
        head, *events = read_qlog(tmp_path / f"x-{flow['flow']}.sqlog")
        assert list(head)[:2] == ["qlog_version", "qlog_format"] and head["qlog_version"] == "0.3"
        assert head["file_schema"] == "urn:ietf:params:qlog:file:sequential"
        assert head["serialization_format"] == "application/qlog+json-seq"
        assert set(head["trace"]) == {"title", "vantage_point", "event_schemas", "common_fields"}
        assert [event["time"] for event in events] == sorted(event["time"] for event in events)
        for event in events:
            assert set(event) == {"time", "name", "data"} and set(event["data"]) <= DATA[event["name"]]
        data = [event for event in events if event["name"] == "transport:packet_sent" and event["data"]["frames"]]
        numbers = [event["data"]["header"]["packet_number"] for event in events if event["name"] == "transport:packet_sent"]
        assert numbers == list(range(len(numbers)))
        assert len(data) == flow["sent_packets"]
        offsets = Counter(event["data"]["frames"][0]["offset"] for event in data)
        assert sum(offsets.values()) - len(offsets) == flow["retransmitted_packets"] > 0
        got = [
            n
            for event in events
            if event["name"] == "transport:packet_received"
            for f in event["data"]["frames"]
            for n in spread(f)
        ]
        # Every packet is acknowledged once at most, and none that was not sent.
        assert len(got) == len(set(got)) and set(got) <= set(numbers)
        first = next(event["data"] for event in events if event["name"] == "recovery:metrics_updated")
        assert first["congestion_window"] == 10 * 1448
        assert events[0]["name"] == "recovery:parameters_set" and events[0]["data"]["tonopah_cc"] == flow["cc"]
        states = [event["data"] for event in events if event["name"] == "recovery:congestion_state_updated"]
        assert states[0] == {"new": "slow_start"} and {"recovery"} < {state["new"] for state in states}
        assert all(before["new"] == after["old"] for before, after in pairwise(states))


def test_qlog_has_the_names_of_the_draft_if_asked(tmp_path, dumbbell):
    (tmp_path / "d.toml").write_text(to_toml(dumbbell))
    words = ["run", str(tmp_path / "d.toml"), "--qlog-names", "quic"]
    assert main.main([*words, "--json", "--qlog", str(tmp_path / "q.sqlog")]) == 0
    names = {event["name"] for event in read_qlog(next(tmp_path.glob("q*.sqlog")))[1:]}
    assert names >= {"quic:packet_sent", "quic:packet_received", "quic:recovery_metrics_updated"}
    assert all(name.startswith("quic:") for name in names)
    assert main.main(words) == 2


def spread(frame: dict[str, Any]) -> Iterator[int]:
    """Yield the packet numbers of a frame `ack`."""
    for part in frame["acked_ranges"]:
        yield from range(part[0], part[-1] + 1)


def test_a_sender_of_qlog_knows_what_was_lost_and_acknowledged():
    sender = qlog.QlogSender()

    def line(event, towards, seq=0, length=0, ack=None, sack=()):
        found = {"t_s": 0.0, "event": event, "towards": towards, "seq": seq, "payload_bytes": length, "ack": ack}
        return [e[1:] for e in sender.events({**found, "sack": sack, "flags": [], "size_bytes": 40})]

    for i in range(4):
        line("sent", "sink", 1 + 100 * i, 100)
    [(_, received)] = line("delivered", "source", ack=101, sack=[(201, 401)])
    assert received["frames"] == [{"frame_type": "ack", "acked_ranges": [[0], [2, 3]]}]
    # Bytes 101 to 200 go again, with some that are acknowledged already: only packet 1 was lost.
    (name, lost), (_, sent) = line("sent", "sink", 101, 150)
    assert (name, lost["header"]["packet_number"], sent["header"]["packet_number"]) == ("packet:lost", 1, 4)
    [(_, received)] = line("delivered", "source", ack=401)
    assert received["frames"][0]["acked_ranges"] == [[4]]


def test_the_command_line_writes_every_form(tmp_path, capsys, dumbbell):
    scenario = tmp_path / "d.toml"
    scenario.write_text(to_toml({**dumbbell, "record": {"series": ["cwnd"]}}))
    folder = tmp_path / "out"
    words = ["run", str(scenario), "--json", "--pcap", str(folder / "p"), "--parquet", str(folder / "t")]
    assert main.main(words) == 0
    summary = json.loads(capsys.readouterr().out)
    assert sorted(path.stem for path in (folder / "p").iterdir()) == ["left0", "left1", "right0", "right1"]
    flows = pd.read_parquet(folder / "t" / "flows.parquet")
    assert list(flows["goodput_bps"]) == [flow["goodput_bps"] for flow in summary["flows"]]
    assert set(path.stem for path in (folder / "t").iterdir()) == {"flows", "links", "nodes", "cwnd"}
    assert main.main(["run", str(scenario), "--qlog", str(tmp_path / "q.sqlog"), "--json"]) == 0
    assert (tmp_path / "q-1.sqlog").is_file()


def test_a_run_without_tcp_has_no_qlog(tmp_path, dumbbell):
    dumbbell["flow"] = [
        {"from": "left0", "to": "right0", "app": {"kind": "cbr", "rate": "1Mbps", "size": "500B", "transport": "udp"}}
    ]
    with pytest.raises(tp.InputError, match="no flow uses TCP"):
        qlog.run(dumbbell, None, 1, tmp_path / "x")


def test_summaries_are_tables_and_dataclasses(dumbbell):
    result = tp.run(dumbbell)
    assert list(result.flows["flow"]) == [0, 1] and "forward.received_bytes" in result.flows
    flow, link = result.flow(1), result.link(0)
    assert (flow.from_, flow.to, flow.goodput_bps) == ("left1", "right1", result.summary["flows"][1]["goodput_bps"])
    assert link.sent_packets == result.links["sent_packets"][0] > 0
    # Each field has a value of the summary behind it, but for those of flows of workloads, or with an end, which are not there.
    of_others = {
        "unfinished_s",
        "workload",
        "serial",
        "size_bytes",
        "class",
        "fct_s",
        "ideal_fct_s",
        "slowdown",
        "handshake_s",
        "first_byte_s",
        "resumed",
        "jump_bytes",
        "retreats",
        "application",
    }
    for kind, entry in ((flow, result.summary["flows"][1]), (link, result.summary["links"][0])):
        absent = {name for name in vars(kind) if name.rstrip("_") not in entry}
        assert {name.rstrip("_") for name in absent} <= of_others
        assert all(getattr(kind, name) in (None, {}) for name in absent)
    with pytest.raises(tp.InputError, match="no flow 2"):
        result.flow(2)
