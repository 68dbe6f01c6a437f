"""AccECN in packetdrill scripts: the counter among the flags, the option, its handshake. The scripts are our own."""

import pytest

from tonopah.packetdrill.interpreter import Interpreter, ScriptVerdict
from tonopah.packetdrill.syntax import ScriptPacket, read_script

SERVER = """
`sysctl -q net.ipv4.tcp_ecn=3`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < SEWA 0:0(0) win 32792 <mss 1100,nop,nop,sackOK,nop,wscale 8>
+0 > SW. 0:0(0) ack 1 <mss 1460,ECN e1b 1 ceb 0 e0b 1,nop,nop,nop,sackOK,nop,wscale 8>
+.1 < [ect0] W. 1:1(0) ack 1 win 300 <ECN e0b 1 ceb 0 e1b 1,nop>
+0 accept(3, ..., ...) = 4
"""
CLIENT = """
`sysctl -q net.ipv4.tcp_ecn=3`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 ... 0.1 connect(3, ..., ...) = 0
+0 > SEWA 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>
"""


def verdict(text: str, folder) -> ScriptVerdict:
    return Interpreter(read_script("script.pkt", text), folder).run()


def test_the_counter_is_a_digit_or_three_flags():
    script = read_script("x.pkt", "+0 > P.5 1:1(0) ack 1\n+0 > EAP. 1:1(0) ack 1\n+0 > .6 1:1(0) ack 1\n")
    packets = [event.body for event in script.events]
    assert all(isinstance(packet, ScriptPacket) for packet in packets)
    assert [sorted(packet.flags) for packet in packets] == [list(".AEP"), list(".AEP"), list(".AW")]


def test_a_server_counts_what_arrives_and_answers_with_the_option(tmp_path):
    text = """
    +.1 < [ce] P.5 1:1001(1000) ack 1 win 300 <ECN e0b 1 ceb 0 e1b 1,nop>
    +0 > [ect0] .6 1:1(0) ack 1001 <ECN e1b 1 ceb 1000 e0b 1,nop>
    +0 read(4, ..., 1000) = 1000
    +.1 write(4, ..., 500) = 500
    +0 > [ect0] P.6 1:501(500) ack 1001 <ECN e1b 1 ceb 1000 e0b 1,nop>
    """
    assert verdict(SERVER + text, tmp_path).verdict == "pass"
    assert verdict(SERVER + text.replace("ceb 1000 e0b 1,", "ceb 999 e0b 1,", 1), tmp_path).verdict == "differs"


@pytest.mark.parametrize(("field", "answer"), [("noecn", "W."), ("ect1", "EW."), ("ect0", "A."), ("ce", "WA.")])
def test_the_first_ack_of_a_client_tells_how_the_syn_ack_arrived(tmp_path, field, answer):
    text = f"""
    +.1 < [{field}] SW. 0:0(0) ack 1 win 32767 <mss 1460,ECN e0b 1 ceb 0 e1b 1,nop,nop,nop,sackOK,nop,wscale 8>
    +0 > [ect0] {answer} 1:1(0) ack 1 <ECN e1b 1 ceb 0 e0b 1,nop>
    """
    assert verdict(CLIENT + text, tmp_path).verdict == "pass"


def test_the_option_begins_when_the_other_end_has_sent_it(tmp_path):
    text = """
    +.1 < SW. 0:0(0) ack 1 win 32767 <mss 1460,nop,nop,sackOK,nop,wscale 8>
    +0 > [ect0] W. 1:1(0) ack 1
    +0 write(3, ..., 100) = 100
    +0 > [ect0] P.5 1:101(100) ack 1
    +.1 < [ect0] .5 1:1(0) ack 101 win 256 <ECN e0b 101 ceb 0 e1b 1,nop>
    +0 write(3, ..., 100) = 100
    +0 > [ect0] P.5 101:201(100) ack 1 <ECN e1b 1 ceb 0 e0b 1,nop>
    """
    assert verdict(CLIENT + text, tmp_path).verdict == "pass"


def test_the_sysctl_turns_the_option_off(tmp_path):
    text = SERVER.replace("tcp_ecn=3`", "tcp_ecn=3\nsysctl -q net.ipv4.tcp_ecn_option=0`").replace(
        "ECN e1b 1 ceb 0 e0b 1,nop,nop,nop,sackOK", "nop,nop,sackOK"
    )
    assert verdict(text + "+.1 write(4, ..., 100) = 100\n+0 > [ect0] P.5 1:101(100) ack 1", tmp_path).verdict == "pass"
