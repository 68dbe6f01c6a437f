"""`tonopah validate trace`: what a capture that we wrote gives back, the link that is found, and files that are no capture."""

import json
import random
import struct

import pytest

import tonopah as tp
from tonopah.cli.main import main
from tonopah.scenario.document import to_toml
from tonopah.validate.trace import comparison as trace
from tonopah.validate.trace import connection as trace_connection
from tonopah.validate.trace.capture import ACK, SYN, CapturedPacket, packets, survey

WORLD = {
    "duration": "8s",
    "network": {
        "kind": "dumbbell", "pairs": 1, "flows": 0, "access": {"rate": "1Gbps", "delay": "0s"},
        "bottleneck": {"rate": "6Mbps", "delay": "15ms", "queue": "25p", "loss": {"kind": "packet", "p": 0.002}},
    },
    "tcp": {"profile": "linux"},
    "record": {"series": ["rtt"]},
    "flow": [{"from": "left0", "to": "right0", "cc": "cubic"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trace")
    (folder / "world.toml").write_text(to_toml(WORLD), encoding="utf-8")
    assert main(["run", str(folder / "world.toml"), "--pcap", str(folder), "--qlog", str(folder / "run.qlog"), "--json"]) == 0
    return folder


@pytest.fixture(scope="module")
def result():
    return tp.run(WORLD)


@pytest.mark.parametrize("name", ["left0.pcapng", "run.qlog"])
def test_a_capture_gives_back_our_counts_and_rtt(recorded, result, name):
    found = trace.read_trace(recorded / name)
    flow, numbers = result.summary["flows"][0], found.seen.numbers()
    assert (
        found.connections == 1
        and found.taken_at == "sender"
        and numbers["retransmitted_segments"] == flow["retransmitted_packets"] > 5
    )
    assert numbers["data_segments"] > 3000
    # ACKs that are on their way when the run ends are the difference.
    assert abs(numbers["goodput_bps"] - flow["goodput_bps"]) < 0.01 * flow["goodput_bps"]
    # The sender has samples by timestamps too, and of ACKs that cover segments sent again; its series is one of 0.1 s.
    own = result.series("rtt")["value"]
    assert abs(numbers["rtt_median_s"] - own.median()) < 0.05 * own.median()
    assert numbers["rtt_min_s"] == pytest.approx(0.03 + 8 * (1500 + 52) / 6e6, rel=0.02)


def test_the_link_is_found(recorded):
    found = trace.estimate(trace.read_trace(recorded / "left0.pcapng"), {}, "left0.pcapng")
    assert found.estimated == ("rate", "delay", "queue")
    assert found.rate_bps == pytest.approx(6e6, rel=0.02) and found.delay_s == pytest.approx(0.015, rel=0.02)
    assert abs(found.queue_packets - 25) <= 3


def test_with_the_link_given_a_run_without_chance_is_simulated_again(recorded, tmp_path, capsys):
    bottleneck = {key: value for key, value in WORLD["network"]["bottleneck"].items() if key != "loss"}
    world = {**WORLD, "network": {**WORLD["network"], "bottleneck": bottleneck}}
    (tmp_path / "world.toml").write_text(to_toml(world), encoding="utf-8")
    assert main(["run", str(tmp_path / "world.toml"), "--pcap", str(tmp_path), "--json"]) == 0
    capsys.readouterr()
    page = tmp_path / "page.html"
    given = ["--rate", "6Mbps", "--delay", "15ms", "--queue", "25", "--out", str(page), "--json"]
    assert main(["validate", "trace", str(tmp_path / "left0.pcapng"), *given]) == 0
    found = json.loads(capsys.readouterr().out)
    # Data that is sent at the end differs: the simulated flow has no more to send.
    for key, value in found["trace"].items():
        assert found["simulation"][key] == pytest.approx(value, rel=1e-3), key
    assert found["trace"]["retransmitted_segments"] > 0 and found["link"]["estimated"] == []
    assert [note[:35] for note in found["notes"]] == ["taken at the sender of the data: 0 "]
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text and "Retransmitted segments" in text and "<script" not in text


def test_a_capture_away_from_the_sender_is_noted(recorded):
    compared = trace.compare(recorded / "right0.pcapng", {"rate": "6Mbps", "delay": "15ms"}, {})
    assert compared["taken_at"] == "receiver" and compared["notes"][0].startswith("taken at the receiver of the data: 32.1 ms")
    # Both are seen at the receiver, where data is acknowledged at once.
    assert compared["simulation"]["rtt_median_s"] < 0.001 > compared["trace"]["rtt_median_s"]


def whole_blocks(data):
    """Return how many bytes of a capture its whole blocks have."""
    at = 0
    while at + 8 <= len(data) and at + struct.unpack_from("<I", data, at + 4)[0] <= len(data):
        at += struct.unpack_from("<I", data, at + 4)[0]
    return at


def old_format(data, order=">", ticks=10**6):
    """Return a capture as a pcap file of another byte order."""
    magic = 0xA1B2C3D4 if ticks == 10**6 else 0xA1B23C4D
    made, at = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, 1), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            _, high, low, captured, size = struct.unpack_from("<5I", data, at + 8)
            seconds, ns = divmod(high << 32 | low, 10**9)
            made += struct.pack(f"{order}IIII", seconds, ns * ticks // 10**9, captured + 14, size + 14)
            made += bytes(12) + b"\x08\x00" + data[at + 28 : at + 28 + captured]
        at += length
    return made


def read_packets(path, data):
    """Return the packets of the connection with the most data of a capture."""
    path.write_bytes(data)
    return packets(survey(path), 0, 10**12, 10**9)


def test_pcap_files_of_both_byte_orders_hold_the_same(recorded, tmp_path):
    data = (recorded / "left0.pcapng").read_bytes()[:200_000]
    cut = data[: whole_blocks(data)]
    found = read_packets(tmp_path / "x", cut)
    for order, ticks in (("<", 10**6), (">", 10**9)):
        again = read_packets(tmp_path / "x", old_format(cut, order, ticks))
        assert [packet._replace(t_ns=0) for packet in again] == [packet._replace(t_ns=0) for packet in found]
        assert all(abs(a.t_ns - b.t_ns) < 10**9 // ticks for a, b in zip(again, found, strict=True))
    assert len(found) > 500 and found[0].mss == 1460 and any(p.sack for p in found)


def wrong_files(data):
    """Yield files that are no capture, each with what is said."""
    yield b"", "begins like neither pcap nor pcapng"
    yield b"GIF89a" * 10, "begins like neither"
    yield data[:20], "at byte 0: a block of more than the 20 bytes"
    yield data[:4] + struct.pack("<I", 2**31 - 4) + data[8:], r"at byte 0: a block of 2,147,483,644 bytes"
    yield data[:4] + struct.pack("<I", 0) + data[8:], r"at byte 0: a block of 0 bytes"
    yield data[:8] + b"abcd" + data[12:], "without the mark of its byte order"
    yield struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 105), "no TCP segment"
    yield (
        struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + struct.pack("<IIII", 1, 0, 2**32 - 1, 60),
        "a packet of 4,294",
    )
    yield struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1), "no TCP segment"
    yield b"\x1e{not json", "at byte 1: no JSON"
    yield b'\x1e{"trace":{}}\n\x1e{"name":"quic:packet_sent","time":"x","data":{}}', r"at byte 15: an event quic:packet_sent"
    yield b'\x1e{"trace":{}}', "no packet with data"


def test_files_that_are_no_capture_get_one_sentence(recorded, tmp_path, capsys):
    for number, (content, said) in enumerate(wrong_files((recorded / "left0.pcapng").read_bytes())):
        file = tmp_path / f"{number}.pcapng"
        file.write_bytes(content)
        assert main(["validate", "trace", str(file), "--json"]) == 2, said
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and error.startswith(f"error: {file}: "), error
        with pytest.raises(tp.InputError, match=said):
            trace.read_trace(file)
    for option in ("--rate=fast", "--delay=3", "--connection=7", "--connection=-1", "--set=tcp.cc=nothing"):
        assert main(["validate", "trace", str(recorded / "left0.pcapng"), "--json", option]) == 2, option
        assert capsys.readouterr().err.count("\n") == 1
    assert main(["validate", "trace", str(tmp_path / "none.pcapng")]) == 2


def test_changed_bytes_give_a_trace_or_a_sentence(recorded, tmp_path):
    data, draw = (recorded / "left0.pcapng").read_bytes()[:30_000], random.Random(7)
    qlog = (recorded / "run.qlog").read_bytes()[:30_000]
    for number in range(200):
        changed = bytearray(qlog if number % 4 == 0 else data[: whole_blocks(data)])
        for _ in range(draw.randint(1, 30)):
            changed[draw.randrange(len(changed))] = draw.choice((0, 1, 127, 255, draw.randrange(256)))
        file = tmp_path / "changed"
        file.write_bytes(changed)
        try:
            trace.estimate(trace.read_trace(file), {"rate": "1Mbps", "delay": "1ms"}, "a capture")
        except tp.InputError as error:
            assert str(error)


def test_a_figure_of_a_trace_without_losses(tmp_path, capsys):
    bottleneck = {"rate": "10Mbps", "delay": "10ms", "queue": "5000p"}
    network = {"kind": "dumbbell", "pairs": 1, "bottleneck": bottleneck}
    world = {"duration": "500ms", "network": network, "flow": [{"from": "left0", "to": "right0"}]}
    (tmp_path / "world.toml").write_text(to_toml(world), encoding="utf-8")
    assert main(["run", str(tmp_path / "world.toml"), "--pcap", str(tmp_path), "--json"]) == 0
    capsys.readouterr()
    figure = tmp_path / "x.svg"
    assert main(["validate", "trace", str(tmp_path / "left0.pcapng"), "--out", str(figure), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trace"]["retransmitted_segments"] == 0 and found["link"]["queue_packets"] < 600
    # The queue holds what was in flight, and nothing is lost in the simulation either.
    assert found["simulation"]["retransmitted_segments"] == 0 and "held to the" in found["notes"][1]
    assert "<svg" in figure.read_text(encoding="utf-8")


def test_segments_that_the_network_card_cuts_later():
    a, b = ("10.0.0.1", 1), ("10.0.0.2", 2)
    packets = [
        CapturedPacket(0, a, b, 2**32 - 1, 0, SYN, 0, 60, mss=1460),
        CapturedPacket(10**7, b, a, 7, 0, SYN | ACK, 0, 60, mss=1460),
        CapturedPacket(10**7, a, b, 0, 8, ACK, 4344, 4396), CapturedPacket(10**7 + 1, a, b, 4344, 8, ACK, 4344, 4396),
        CapturedPacket(2 * 10**7, b, a, 8, 4344, ACK, 0, 52), CapturedPacket(2 * 10**7, a, b, 4344, 8, ACK, 4344, 4396),
        CapturedPacket(3 * 10**7, b, a, 8, 8688, ACK, 0, 52),
    ]  # fmt: skip
    seen = trace_connection.observe(packets, "test", 100.0, 10**9)
    assert seen.sender.mss_bytes == 1448 and seen.flight[:, 1].tolist() == [4344, 8688, 4344, 4344, 0]
    # The second ACK covers a segment that was sent twice.
    assert seen.rtt.tolist() == [[0.02, 0.01]] and seen.retransmissions_s.tolist() == [0.02]
    link = trace.estimate(trace.Trace(seen), {}, "a capture")
    assert link.packet_bytes == 1500 and link.delay_s == pytest.approx((0.01 - 8 * 1552 / link.rate_bps) / 2)
