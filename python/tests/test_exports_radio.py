"""Frames on radio channels as pcapng files, read back and held against what the summary counts."""

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_exports import blocks, needs_tshark, packets, tshark, word_sum

import tonopah as tp
from tonopah.cli import main
from tonopah.export import pcapng
from tonopah.scenario.document import to_toml

RADIOTAP, IEEE802_15_4_NOFCS = 127, 230
MANAGEMENT, CONTROL, DATA = range(3)
BLOCK_ACK, RTS, CTS, ACK = 9, 11, 12, 13
HEADER, QOS_HEADER, SNAP = 24, 26, 8
RETRY, TO_DS, FROM_DS = 8, 1, 2


def infrastructure(**radio: Any) -> dict[str, Any]:
    cell = {"kind": "infrastructure", "cells": 1, "stations_per_cell": 3, "flows": 2, "beacons": "airtime", "radio": radio}
    return {"duration": "1s", "network": cell}


def adhoc(protocol: str, **radio: Any) -> dict[str, Any]:
    mesh = {"kind": "adhoc", "nodes": 10, "flows": 2, "radio": radio, "routing": {"kind": protocol}}
    return {"duration": "3s", "network": mesh}


WORLDS = {
    "802.11b, RTS": infrastructure(standard="b", rts_threshold="500B"),
    "802.11n, A-MPDU": infrastructure(standard="n", aggregation=True),
    "AODV": adhoc("aodv"),
    "DSDV of ns-2": adhoc("dsdv", profile="ns2"),
}
NS2_HEADER = 20
"""What ns-2's DSDV adds to packets: a second IP header."""
LRWPAN = adhoc("aodv", standard="802.15.4")
LRWPAN["network"]["area"] = {"x": "50m", "y": "50m"}


def interfaces(path: Path) -> list[int]:
    """Return the link type of each interface."""
    return [struct.unpack_from("<H", body)[0] for kind, body in blocks(path) if kind == pcapng.INTERFACE]


def frames(path: Path) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the part of each frame that is not stored in bytes, its radiotap header and its bytes."""
    for _, _, length, data in packets(path):
        start = struct.unpack_from("<H", data, 2)[0]
        assert length >= len(data) > start
        yield length - len(data), data[:start], data[start:]


@pytest.mark.parametrize("name", WORLDS)
def test_frames_of_802_11_are_those_that_the_summary_counts(name, tmp_path):
    result = pcapng.run(dict(WORLDS[name]), None, 1, tmp_path, "channels")
    assert result.summary == tp.run(WORLDS[name]).summary
    (path,) = tmp_path.iterdir()
    assert (path.name, interfaces(path)) == ("channel0.pcapng", [RADIOTAP])
    macs = {bytes([2, 0, 10, 0, 0, i + 1]) for i in range(len(result.summary["nodes"]))}
    found: Counter[str] = Counter()
    kinds: Counter[tuple[int, int]] = Counter()
    sent: set[tuple[bytes, bytes, int]] = set()
    for rest, radiotap, frame in frames(path):
        kind, subtype = frame[0] >> 2 & 3, frame[0] >> 4
        kinds[kind, subtype] += 1
        assert frame[4:10] in macs or frame[4:10] == b"\xff" * 6
        assert frame[1] & RETRY == 0 or kind != CONTROL
        if kind == CONTROL:
            found["control"] += 1
            assert rest == 0 and (len(frame) == 10) == (subtype in (CTS, ACK))
            continue
        found["data"] += 1
        assert frame[10:16] in macs
        start = QOS_HEADER if frame[0] == 0x88 else HEADER
        number = frame[4:10], frame[10:16], struct.unpack_from("<H", frame, 22)[0] >> 4
        if frame[4] != 0xFF:
            assert (number in sent) == bool(frame[1] & RETRY)
            sent.add(number)
        found["retries"] += bool(frame[1] & RETRY)
        found["aggregated"] += bool(struct.unpack_from("<I", radiotap, 4)[0] & 1 << 20)
        if kind == MANAGEMENT:
            found["messages"] += 1
            continue
        assert frame[1] & 3 in ((TO_DS, FROM_DS) if "beacons" in WORLDS[name]["network"] else (0,))
        ethertype, body = struct.unpack_from(">H", frame, start + 6)[0], frame[start + SNAP :]
        assert ethertype != 0x0800 or word_sum(body[:20]) == 0xFFFF
        is_user = ethertype == 0x0800 and 5001 in struct.unpack_from(">HH", body, 20)
        if ethertype == 0x0800:
            added = NS2_HEADER if is_user and name == "DSDV of ns-2" else 0
            assert struct.unpack_from(">H", body, 2)[0] == len(body) + rest - added
        found["packets" if is_user else "messages"] += 1
    counted = result.summary["network"]
    assert found["data"] == counted["mac_data_frames"] and found["control"] == counted["mac_control_frames"]
    assert found["messages"] == counted["message_count"] and found["packets"] > 100
    # In the world of ns-2 collisions are those of RTS, which has no retry bit.
    assert (found["retries"] > 0) == (name != "DSDV of ns-2")
    assert (found["aggregated"] > 0) == (name == "802.11n, A-MPDU") == (kinds[CONTROL, BLOCK_ACK] > 0)
    assert (kinds[CONTROL, RTS] >= kinds[CONTROL, CTS] > 0) == (name in ("802.11b, RTS", "DSDV of ns-2"))
    assert (kinds[MANAGEMENT, 8] == 9) == ("beacons" in WORLDS[name]["network"])


@needs_tshark
def test_tshark_reads_them(tmp_path):
    result = pcapng.run(dict(WORLDS["802.11n, A-MPDU"]), None, 1, tmp_path, "channels")
    fields = ("_ws.malformed", "wlan.fcs.status", "wlan.fc.type", "frame.protocols", "tcp.dstport", "wlan_radio.data_rate")
    rows = tshark(tmp_path / "channel0.pcapng", "frame", *fields)
    assert all(row[:2] == ["", ""] and row[3].startswith("radiotap:wlan_radio:wlan") for row in rows)
    assert sum(row[2] == "1" for row in rows) == result.summary["network"]["mac_control_frames"]
    assert {row[5] for row in rows if row[4] == "5001"} == {"65"}


def test_frames_of_802_15_4_are_those_that_the_summary_counts(tmp_path):
    result = pcapng.run(dict(LRWPAN), None, 1, tmp_path, "channels")
    (path,) = tmp_path.iterdir()
    assert interfaces(path) == [IEEE802_15_4_NOFCS]
    seen = [(length, data) for _, _, length, data in packets(path)]
    data = [(length, frame) for length, frame in seen if frame[0] & 7 == 1]
    assert len(data) == result.summary["network"]["mac_data_frames"] > 100
    assert len(seen) - len(data) == result.summary["network"]["mac_control_frames"] > 100
    assert all(len(frame) == 9 <= length <= 125 for length, frame in data)
    # An acknowledgment has the number of the frame before it, or of one before that if others came in between.
    numbers = [frame[2] for _, frame in seen]
    acks = [i for i, (_, frame) in enumerate(seen) if frame[0] == 2]
    assert all(numbers[i] in numbers[max(0, i - 5) : i] for i in acks)


def test_a_network_without_radio_has_no_channels(tmp_path, dumbbell, capsys):
    scenario = tmp_path / "d.toml"
    scenario.write_text(to_toml(dumbbell))
    assert main.main(["run", str(scenario), "--pcap", str(tmp_path / "p"), "--pcap-at", "channels"]) == 2
    assert "network: has no radio channels to capture at" in capsys.readouterr().err
    assert not (tmp_path / "p").exists()
    assert main.main(["run", str(scenario), "--pcap-at", "links"]) == 2
    assert "--pcap-at: has no effect without --pcap (--pcap DIR)" in capsys.readouterr().err
