"""ASCII traces of ns-2 and ns-3 have the metrics of a run: goodput of new payload, one-way delay, losses, retransmissions."""

import json

import pytest

from tonopah.cli.main import main

# Two packets of 1000 B and one again that was dropped; the ACKs are no data.
WIRED = """+ 0 0 2 tcp 1040 ------- 1 0.0 3.0 0 1
- 0 0 2 tcp 1040 ------- 1 0.0 3.0 0 1
r 0.01 0 2 tcp 1040 ------- 1 0.0 3.0 0 1
+ 0.01 2 3 tcp 1040 ------- 1 0.0 3.0 0 1
r 0.03 2 3 tcp 1040 ------- 1 0.0 3.0 0 1
+ 0.03 3 2 ack 40 ------- 1 3.0 0.0 0 2
+ 0.1 0 2 tcp 1040 ------- 1 0.0 3.0 1 3
d 0.11 2 3 tcp 1040 ------- 1 0.0 3.0 1 3
+ 0.2 0 2 tcp 1040 ------- 1 0.0 3.0 1 4
+ 0.2 1 2 cbr 210 ------- 2 1.0 3.1 7 5
r 0.25 2 3 tcp 1040 ------- 1 0.0 3.0 1 4
r 1 2 3 cbr 210 ------- 2 1.0 3.1 7 5
"""
WIRELESS = """s 0.0 _0_ AGT  --- 0 cbr 512 [0 0 0 0] ------- [0:0 1:1 32 0] [0] 0 0
r 0.0 _0_ RTR  --- 0 cbr 512 [0 0 0 0] ------- [0:0 1:1 32 0] [0] 0 0
s 0.1 _0_ RTR  --- 9 AODV 48 [0 0 0 0] ------- [0:255 -1:255 30 0] [0x2 1 1 [1 0] [0 4]] (REQUEST)
r 0.5 _1_ AGT  --- 0 cbr 532 [13a 1 0 800] ------- [0:0 1:1 30 1] [0] 1 0
s 0.6 _0_ AGT  --- 1 cbr 512 [0 0 0 0] ------- [0:0 1:1 32 0] [1] 0 0
D 1.0 _0_ IFQ  ARP 1 cbr 532 [0 0 0 800] ------- [0:0 1:1 30 1] [1] 0 0
"""
HEAD = "-Hs {n} -Hd -2 -Ni {n} -Nx 5.00 -Ny 2.00 -Nz 0.00 -Ne -1.000000 -Nl {layer} -Nw --- -Ma 0 -Md 0 -Ms 0 -Mt 0"
TAIL = "-Is 0.0 -Id 1.1 -It cbr -Il {size} -If 0 -Ii {uid} -Iv 32 -Pn cbr -Pi {uid} -Pf 0 -Po 16777215 "
NEW_WIRELESS = "\n".join(
    f"{event} -t {at} {HEAD.format(n=n, layer=layer)} {TAIL.format(size=size, uid=uid)}"
    for event, at, n, layer, size, uid in [
        ("s", "0.000000000", 0, "AGT", 512, 0), ("r", "0.000000000", 0, "RTR", 512, 0), ("r", "0.500000000", 1, "AGT", 532, 0),
        ("s", "0.600000000", 0, "AGT", 512, 1), ("d", "1.000000000", 0, "IFQ", 532, 1),
    ]
) + (
    "\ns -t 0.1 -Hs 0 -Hd -1 -Ni 0 -Nx 5.00 -Ny 2.00 -Nz 0.00 -Ne -1.000000 -Nl RTR -Nw --- -Ma 0 -Md 0 -Ms 0 -Mt 0 -Is 0.255"
    " -Id -1.255 -It AODV -Il 48 -If 0 -Ii 0 -Iv 30 -P aodv -Pt 0x2 -Ph 1 -Pb 1 -Pd 1 -Pds 0 -Ps 0 -Pss 4 -Pc REQUEST \n"
)  # fmt: skip
"""The same with `$ns use-newtrace`."""
IP = "ns3::PppHeader (Point-to-Point Protocol: IP (0x0021)) ns3::Ipv4Header (tos 0x0 DSCP Default ECN Not-ECT ttl {ttl} id {id} protocol 6 offset (bytes) 0 flags [none] length: 576 10.1.1.1 > 10.1.2.2) ns3::TcpHeader (49153 > 9 [ ACK ] Seq={seq} Ack=1 Win=32768) Payload (size=536)"  # noqa: E501
QUEUE = "/NodeList/{node}/DeviceList/0/$ns3::PointToPointNetDevice/{what}"


def ns3(event, at, node, what, packet, seq):
    place = QUEUE.format(node=node, what={"+": "TxQueue/Enqueue", "r": "MacRx", "d": "TxQueue/Drop"}[event])
    return f"{event} {at} {place} {IP.format(ttl=64 - node, id=packet, seq=seq)}"


NS3 = "\n".join([
    ns3("+", 0, 0, "+", 0, 1), ns3("r", 0.01, 1, "r", 0, 1), ns3("+", 0.01, 1, "+", 0, 1), ns3("r", 0.03, 2, "r", 0, 1),
    ns3("+", 0.1, 0, "+", 1, 537), ns3("r", 0.11, 1, "r", 1, 537), ns3("d", 0.11, 1, "d", 1, 537),
    ns3("+", 0.2, 0, "+", 2, 537), ns3("r", 0.21, 1, "r", 2, 537), ns3("+", 0.21, 1, "+", 2, 537), ns3("r", 1.0, 2, "r", 2, 537),
])  # fmt: skip


def read(tmp_path, capsys, text):
    (tmp_path / "out.tr").write_text(text)
    assert main(["trace", str(tmp_path / "out.tr"), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_wired_trace(tmp_path, capsys):
    tcp, cbr = read(tmp_path, capsys, WIRED)
    assert (tcp["from"], tcp["to"]) == ("0.0", "3.0")
    assert tcp["goodput_bps"] == pytest.approx(16_000) and tcp["delay_s"] == pytest.approx(0.04)
    assert (tcp["sent_packets"], tcp["received_packets"], tcp["dropped_packets"], tcp["retransmitted_packets"]) == (3, 2, 1, 1)
    # The size of a datagram is that of the whole packet there.
    assert cbr["goodput_bps"] == pytest.approx(8 * 182 / 0.8) and cbr["delivery_ratio"] == 1


@pytest.mark.parametrize("text", [WIRELESS, NEW_WIRELESS])
def test_a_wireless_trace_of_either_format_counts_at_agents(tmp_path, capsys, text):
    (flow,) = read(tmp_path, capsys, text)
    assert (flow["from"], flow["to"]) == ("0.0", "1.1")
    assert flow["goodput_bps"] == pytest.approx(8 * 484) and flow["delay_s"] == pytest.approx(0.5)
    assert (flow["sent_packets"], flow["received_packets"], flow["dropped_packets"]) == (2, 1, 1)


def test_a_trace_of_ns3_follows_packets_over_their_hops(tmp_path, capsys):
    (flow,) = read(tmp_path, capsys, NS3)
    assert (flow["from"], flow["to"]) == ("10.1.1.1:49153", "10.1.2.2:9")
    assert flow["goodput_bps"] == pytest.approx(8 * 1072) and flow["delay_s"] == pytest.approx(0.415)
    assert (flow["sent_packets"], flow["received_packets"], flow["dropped_packets"], flow["retransmitted_packets"]) == (
        3,
        2,
        1,
        1,
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello\n", "out.tr: has no line of an ASCII trace (wired or wireless"),
        ("", "has no line of an ASCII trace"),
        (WIRED + "+ 0.3 0 2 tcp\n", "out.tr: line 13: '+ 0.3 0 2 tcp' is no line of this trace (12 fields"),
        (WIRED.replace("+ 0.1 ", "+ x "), "line 7: the time 'x' is no number of seconds"),
        ("+ 0 0 2 ack 40 ------- 1 0.0 3.0 0 1\n", "has no data packet"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_line(tmp_path, capsys, text, words):
    (tmp_path / "out.tr").write_text(text)
    assert main(["trace", str(tmp_path / "out.tr")]) == 2
    assert words in capsys.readouterr().err


def test_the_table_has_units(tmp_path, capsys):
    (tmp_path / "out.tr").write_text(WIRED)
    assert main(["trace", str(tmp_path / "out.tr")]) == 0
    out = capsys.readouterr().out
    assert "Mb/s" in out and "0.01600" in out
