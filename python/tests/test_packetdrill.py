"""`tonopah packetdrill`: the reader, the verdicts, and what each kind of event is compared with. The scripts are our own."""

import json
from pathlib import Path

import pytest

from tonopah.cli.main import main
from tonopah.packetdrill.interpreter import Interpreter, Verdict
from tonopah.packetdrill.syntax import Call, Code, Packet, Shell, read_script

HANDSHAKE = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
"""


def verdict(text: str, folder: Path = Path()) -> Verdict:
    return Interpreter(read_script("script.pkt", text), folder).run()


def server(text: str) -> Verdict:
    return verdict(HANDSHAKE + text)


def test_a_script_is_read_with_times_packets_calls_code_and_commands():
    script = read_script(
        "x.pkt",
        """--tolerance_usecs=9000
        // a comment with > S 0:0(0)
        `sysctl -q net.ipv4.tcp_sack=0`
        0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0   /* another
        comment */
        +.1...0.3 read(4, ..., 1000) = -1 EAGAIN (Resource temporarily unavailable)
        0.5~0.6 > [ect0] P. 1:1001(1000) ack 1 win 5 <nop,nop,TS val 3 ecr 4>
        * < F. 1:1(0) ack 1001 win 257 <sack 1:2 5:6,nop,nop>
        +0 %{ assert tcpi_snd_cwnd == 10 }%
        +0 > . 1:1(0) ack 2 <...>
        """,
    )
    assert script.options == {"tolerance_usecs": "9000"}
    shell, call, read, sent, fin, code, last = (event.body for event in script.events)
    assert shell == Shell("sysctl -q net.ipv4.tcp_sack=0")
    assert call == Call("fcntl", (3, "F_SETFL", "O_RDWR|O_NONBLOCK"), 0, None)
    assert read == Call("read", (4, ..., 1000), -1, "EAGAIN")
    assert sent == Packet(True, "P.", 1, 1000, 1, 5, "ect0", {"TS": (3, 4)})
    assert isinstance(fin, Packet) and fin.options == {"sack": ((1, 2), (5, 6))} and fin.window == 257
    assert isinstance(code, Code) and isinstance(last, Packet) and last.options is None
    times = [(event.when.kind, event.when.start_s, event.when.latest_s, event.when.until_s) for event in script.events]
    assert times[2:5] == [("after", 0.1, None, 0.3), ("at", 0.5, 0.6, None), ("any", 0.0, None, None)]
    assert [event.line for event in script.events] == [3, 4, 6, 7, 8, 9, 10]


def test_slow_start_passes():
    found = server(
        """
        +0 write(4, ..., 20000) = 20000
        +0 > P. 1:10001(10000) ack 1
        +0 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd
              acked = 2 }%
        +.1 < . 1:1(0) ack 2001 win 257
        +0 %{ assert tcpi_snd_cwnd == 10 + acked }%
        +0 > . 10001:14001(4000) ack 1
        """
    )
    assert (found.verdict, found.seen) == ("pass", None)
    # SYN-ACK, two packets, two assertions, the results of socket, listen, accept and write
    assert found.checks == 9


@pytest.mark.parametrize(
    ("text", "expected", "seen"),
    [
        ("+0 write(4, ..., 1000) = 1000\n+0 > P. 2:1002(1000) ack 1", "2:1002(1000)", "1:1001(1000)"),
        ("+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 2", "ack 2", "ack 1"),
        ("+0 write(4, ..., 1000) = 1000\n+1 > P. 1:1001(1000) ack 1", "at 1.1", "at 0.1"),
        ("+0 > P. 1:1001(1000) ack 1", "1:1001(1000)", "nothing until"),
        ("+0 %{ assert tcpi_snd_cwnd == 11 }%", "tcpi_snd_cwnd == 11", "tcpi_snd_cwnd = 10"),
        ("+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n+0 read(4, ..., 10) = 5", "read = 5", "-1 EAGAIN"),
        ("+0...0.2 read(4, ..., 10) = 5", "read returns", "still blocks"),
        ("+0 < . 1:1001(1000) ack 1 win 257\n+0 ioctl(4, SIOCINQ, [999]) = 0", "ioctl = 0", "1000"),
    ],
)
def test_a_difference_is_shown_with_what_was_expected_and_seen(text, expected, seen):
    found = server(text)
    assert found.verdict == "differs"
    assert expected in found.expected
    assert seen in found.seen
    assert found.line == HANDSHAKE.count("\n") + text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("+0 setsockopt(4, SOL_SOCKET, SO_RCVBUF, [5000], 4) = 0", "SO_RCVBUF"),
        ("+0 sendto(4, ..., 10, MSG_MORE, ..., ...) = 10", "MSG_MORE"),
        ("+0 write(4, ..., 9000) = 100", "send buffer"),
        ("+0 `ip route change default mtu 1200`", "route"),
        ("+0 `reboot`", "the command reboot"),
        ("+0 < icmp unreachable", "ICMP"),
        ("+0 %{ import os }%", "Import"),
        ("+0 %{ __import__('os') }%", "__import__"),
        ("+0 %{ while True: pass }%", "While"),
        ("+0 frobnicate(4) = 0", "frobnicate"),
        ("+0 nonsense", "expected: a packet"),
    ],
)
def test_what_is_not_modelled_is_not_applicable_with_the_reason(tmp_path, capsys, text, reason):
    path = tmp_path / "script.pkt"
    path.write_text(HANDSHAKE + text)
    assert main(["packetdrill", str(path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "not applicable"
    assert reason in found["reason"]


def test_nothing_of_a_script_is_executed(tmp_path):
    path = tmp_path / "gone"
    path.write_text("")
    verdict(f"`rm {path}`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3", tmp_path)
    assert path.exists()


def test_settings_come_from_sysctls_of_the_script_and_of_files_beside_it(tmp_path):
    (tmp_path / "defaults.sh").write_text("sysctl -q net.ipv4.tcp_timestamps=0\nsysctl -q net.ipv4.tcp_sack=0\n")
    text = """
    `./defaults.sh
    sysctl -q net.ipv4.tcp_rmem="4096 87380 $((65535*16))"`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
    +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
    +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
    +0 > S 0:0(0) <mss 1460,nop,wscale 4>
    """
    assert verdict(text, tmp_path).verdict == "pass"
    assert verdict(text).verdict == "differs"


def test_fields_that_the_endpoint_does_not_know_are_named():
    found = server("+0 %{ assert tcpi_pacing_rate > 0 }%")
    assert (found.verdict, found.unchecked) == ("pass", ["tcpi_pacing_rate"])


def test_timestamps_of_the_script_stand_for_those_of_the_endpoint():
    text = """
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
    +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
    +.5 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
    +0 > S 0:0(0) <mss 1460,sackOK,TS val 4711 ecr 0,nop,wscale 8>
    +.1 < S. 0:0(0) ack 1 win 5792 <mss 1460,sackOK,TS val 700 ecr 4711,nop,wscale 7>
    +0 > . 1:1(0) ack 1 <nop,nop,TS val 4811 ecr 700>
    +0 %{ assert tcpi_rtt == 100000 }%
    """
    assert verdict(text).verdict == "pass"


def test_the_command_shows_counts_and_exit_code(tmp_path, capsys):
    (tmp_path / "good.pkt").write_text(HANDSHAKE)
    assert main(["packetdrill", str(tmp_path)]) == 0
    (tmp_path / "wrong.pkt").write_text(HANDSHAKE + "+0 > . 1:1(0) ack 5")
    assert main(["packetdrill", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "1 pass, 1 differ, 0 are not applicable" in out
    assert "expected: . 1:1(0) ack 5" in out
    assert main(["packetdrill", str(tmp_path / "none.pkt")]) == 2
