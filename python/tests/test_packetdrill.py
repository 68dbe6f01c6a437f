"""`tonopah packetdrill`: the reader, the verdicts, and what each kind of event is compared with. The scripts are our own."""

import json
from pathlib import Path

import pytest

from tonopah.cli.main import main
from tonopah.packetdrill import calls
from tonopah.packetdrill.interpreter import Interpreter, ScriptVerdict
from tonopah.packetdrill.syntax import Call, Code, ScriptPacket, Shell, read_script

HANDSHAKE = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
"""


def verdict(text: str, folder: Path = Path()) -> ScriptVerdict:
    return Interpreter(read_script("script.pkt", text), folder).run()


def server(text: str) -> ScriptVerdict:
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
    assert sent == ScriptPacket(True, "P.", 1, 1000, 1, 5, "ect0", {"TS": (3, 4)})
    assert isinstance(fin, ScriptPacket) and fin.options == {"sack": ((1, 2), (5, 6))} and fin.window == 257
    assert isinstance(code, Code) and isinstance(last, ScriptPacket) and last.options is None
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
        ("+0 setsockopt(4, SOL_TCP, TCP_KEEPIDLE, [1], 4) = 0", "keep-alive"),
        ("+0 setsockopt(4, SOL_TCP, TCP_MAXSEG, [500], 4) = 0", "TCP_MAXSEG at this time"),
        ("+0 send(4, ..., 10, MSG_EOR) = 10", "MSG_EOR"),
        ("+0 recv(4, ..., 10, MSG_WAITALL) = 10", "MSG_WAITALL"),
        ("+0 < [tos 0x4] . 1:1(0) ack 1 win 257", "IP header"),
        ("+0 < . 1:1(0) ack 1 win 257 <ECN e1b 1 ceb 0,nop>", "AccECN's option with fewer"),
        ("+0 < . 1:1(0) ack 1 win 257 <ECN e1b 1 e1b 0,nop>", "AccECN's option in another form"),
        ("+0 write(4, ..., 9000) = 100", "send buffer"),
        ("+0 `ip route change default mtu 1200`", "route"),
        ("+0 `reboot`", "the command reboot"),
        ("+0 < icmp unreachable", "ICMP"),
        ("+0 > ipv4 192.168.0.1 > 192.0.2.1: gre: . 1:1(0) ack 1", "IPV4"),
        ("+0 %{ import os }%", "Import"),
        ("+0 %{ __import__('os') }%", "__import__"),
        ("+0 %{ while True: pass }%", "While"),
        ("+0 frobnicate(4) = 0", "frobnicate"),
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


@pytest.mark.parametrize(
    ("command", "applies"),
    [
        ("tc qdisc replace dev tun0 root fq", True),
        ("tc qdisc add dev tun0 root pfifo", True),
        ("sysctl -q net.core.rmem_max=10000000", True),
        ("tc qdisc replace dev tun0 root netem delay 10ms", False),
        ("tc qdisc replace dev tun0 root fq maxrate 1mbit", False),
        ("tc filter add dev tun0 parent 1: matchall", False),
        ("sysctl -q net.ipv4.ip_no_pmtu_disc=1", False),
        ("sysctl -q net.ipv4.tcp_recovery=5", False),
    ],
)
def test_words_of_tc_and_sysctls_that_may_matter_are_not_passed_over(command, applies, tmp_path):
    text = f"`{command}`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3"
    assert (verdict(text, tmp_path).verdict == "pass") == applies


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


def test_push_ends_a_write_and_an_empty_segment_has_none():
    wrong = server("+0 write(4, ..., 400) = 400\n+0 > . 1:401(400) ack 1")
    assert (wrong.verdict, wrong.expected, wrong.seen.split(" win")[0]) == (
        "differs",
        ". 1:401(400) ack 1",
        "P. 1:401(400) ack 1",
    )
    assert server("+0 write(4, ..., 400) = 400\n+0 > P. 1:401(400) ack 1").verdict == "pass"
    wrong = server("+0 < . 1:1001(1000) ack 1 win 257\n+0 > P. 1:1(0) ack 1001")
    assert wrong.verdict == "differs"
    # Within a write PSH depends on how a kernel divides it; a difference there is named.
    within = server("+0 write(4, ..., 20000) = 20000\n+0 > . 1:10001(10000) ack 1")
    assert (within.verdict, within.unchecked) == ("pass", ["PSH within a write"])


def test_what_a_retransmission_ends_has_push_too():
    found = server(
        """
        +0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0
        +0 write(4, ..., 400) = 400
        +0 > P. 1:401(400) ack 1
        +0 write(4, ..., 500) = 500
        +0 > P. 401:901(500) ack 1
        +.05 < . 1:1(0) ack 1 win 257 <sack 401:901,nop,nop>
        +.012~+.017 > P. 1:401(400) ack 1
        """
    )
    assert (found.verdict, found.seen) == ("pass", None)


def test_more_waits_for_the_rest_for_an_ack_or_for_a_time_out():
    found = server(
        """
        +0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0
        +0 send(4, ..., 100, MSG_MORE) = 100
        +.05 sendmsg(4, {msg_name(...)=..., msg_iov(2)=[{..., 100}, {..., 50}], msg_flags=0}, 0) = 150
        +0 > P. 1:251(250) ack 1
        +.1 < . 1:1(0) ack 251 win 257
        +0 send(4, ..., 40, MSG_MORE) = 40
        +.3~+.305 > P. 251:291(40) ack 1
        """
    )
    assert (found.verdict, found.seen) == ("pass", None)
    assert server("+0 send(4, ..., 100, MSG_MORE) = 100\n+0 > P. 1:101(100) ack 1").verdict == "differs"


def test_a_user_time_out_ends_the_connection_with_an_error():
    found = server(
        """
        +0 setsockopt(4, SOL_TCP, TCP_USER_TIMEOUT, [2000], 4) = 0
        +0 write(4, ..., 1000) = 1000
        +0 > P. 1:1001(1000) ack 1
        +.3~+.31 > P. 1:1001(1000) ack 1
        +.3~+.31 > P. 1:1001(1000) ack 1
        +.6~+.61 > P. 1:1001(1000) ack 1
        +1.2~+1.21 > P. 1:1001(1000) ack 1
        +1.5 write(4, ..., 10) = -1 ETIMEDOUT (Connection timed out)
        +0 write(4, ..., 10) = -1 EPIPE (Broken pipe)
        +0 read(4, ..., 10) = 0
        """
    )
    assert (found.verdict, found.seen) == ("pass", None)


@pytest.mark.parametrize(
    "text",
    [
        # SO_LINGER of zero: close sends a RST.
        "+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0\n+0 close(4) = 0\n+0 > R. 1:1(0) ack 1",
        # The peer's RST: the error once, then the end of the stream.
        "+0 < R. 1:1(0) ack 1 win 257\n+0 read(4, ..., 10) = -1 ECONNRESET\n+0 read(4, ..., 10) = 0",
        "+0 < R. 1:1(0) ack 1 win 257\n+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [ECONNRESET], [4]) = 0\n"
        "+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [0], [4]) = 0",
        # A read that looks only, and what waits.
        "+0 < P. 1:1001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 1001\n+0 recv(4, ..., 400, MSG_PEEK) = 400\n"
        "+0 ioctl(4, SIOCINQ, [1000]) = 0\n+0 recv(4, ..., 2000, 0) = 1000\n+0 %{ assert tcpi_bytes_received == 1000 }%",
        "+0 write(4, ..., 12000) = 12000\n+0 > P. 1:10001(10000) ack 1\n+0 ioctl(4, SIOCOUTQ, [12000]) = 0\n"
        "+0 ioctl(4, SIOCOUTQNSD, [2000]) = 0",
        # TCP_INQ counts the end of the stream as a byte.
        "+0 < F. 1:1001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 1002\n"
        "+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 400}], msg_flags=0, msg_control=[{cmsg_level=SOL_TCP, "
        "cmsg_type=TCP_CM_INQ, cmsg_data=600}]}, 0) = 400\n"
        "+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 600}], msg_flags=0, msg_control=[{cmsg_level=SOL_TCP, "
        "cmsg_type=TCP_CM_INQ, cmsg_data=1}]}, 0) = 600",
        # The socket that listens has no peer.
        "+0 read(3, ..., 10) = -1 ENOTCONN (Transport endpoint is not connected)",
        # The cork holds back what is not a full segment.
        "+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n+0 write(4, ..., 1100) = 1100\n+0 > . 1:1001(1000) ack 1\n"
        "+.01 setsockopt(4, SOL_TCP, TCP_CORK, [0], 4) = 0\n+0 < . 1:1(0) ack 1001 win 257\n+0 > P. 1001:1101(100) ack 1",
    ],
)
def test_calls_give_what_a_socket_gives(text):
    found = server(text)
    assert (found.verdict, found.seen, found.reason) == ("pass", None, None)


def test_a_wrong_control_message_or_error_differs():
    text = "+0 < P. 1:1001(1000) ack 1 win 257\n+0 > . 1:1(0) ack 1001\n+0 recvmsg(4, {msg_iov(1)=[{..., 400}], \
            msg_control=[{cmsg_type=TCP_CM_INQ, cmsg_data=601}]}, 0) = 400"
    assert "TCP_CM_INQ 600" in server(text.replace("\\\n", "")).seen
    assert "SO_ERROR 0" in server("+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [ETIMEDOUT], [4]) = 0").seen


def test_a_failing_call_has_no_effect_and_is_named():
    found = server("+0 write(4, NULL, 1000) = -1 EFAULT (Bad address)\n+0 %{ assert tcpi_unacked == 0 }%")
    assert (found.verdict, found.unchecked) == ("pass", ["calls that fail with EFAULT"])


def test_a_refused_connection_has_an_error():
    text = """
    0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3
    +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
    +0 > S 0:0(0) <...>
    +.1 < R. 0:0(0) ack 1 win 0
    +0 connect(3, ..., ...) = -1 ECONNREFUSED (Connection refused)
    """
    assert verdict(text).verdict == "pass"
    assert verdict(text.replace("REFUSED", "RESET")).verdict == "differs"


def test_joined_segments_arrive_as_one_and_the_head_sets_sizes():
    text = HANDSHAKE + "+0 < . 1:6001(6000) ack 1 win 257\n+0 > . 1:1(0) ack 6001\n+0 %{ assert tcpi_rcv_mss == 7 }%"
    found = verdict("--mss=1000\n" + text)
    assert (found.verdict, found.unchecked) == ("pass", ["segments joined by receive offload", "tcpi_rcv_mss"])
    assert verdict(text).verdict == "differs"
    for head, size in (
        ("--ip_version=ipv6", 1440),
        ("--mtu=1280 --ip_version=ipv4", 1240),
        ("--ip_version=ipv4_mapped_ipv6", 1460),
    ):
        assert verdict(head + HANDSHAKE.replace("mss 1460", f"mss {size}")).verdict == "pass"


def test_two_connections_of_one_socket_that_listens():
    closed = "+0 < R. 1:1(0) ack 1 win 257\n+0 close(4) = 0\n"
    again = "\n".join(line for line in HANDSHAKE.splitlines()[4:])
    assert server(closed + again).verdict == "pass"


def test_a_file_that_is_no_script_is_an_error_with_line_and_column(tmp_path, capsys):
    path = tmp_path / "script.pkt"
    path.write_text(HANDSHAKE + "+0 write(4, ..., 10) = 10\n+0 nonsense\n")
    (tmp_path / "good.pkt").write_text(HANDSHAKE)
    assert main(["packetdrill", str(tmp_path), "--json"]) == 2
    good, found = json.loads(capsys.readouterr().out)
    assert (good["verdict"], found["verdict"], found["line"]) == ("pass", "unreadable", HANDSHAKE.count("\n") + 2)
    assert f"script.pkt:{HANDSHAKE.count(chr(10)) + 2}:4: cannot read 'nonsense'" in found["reason"]
    assert main(["packetdrill", str(tmp_path)]) == 2
    assert "1 pass, 0 differ, 0 are not applicable, 1 cannot be read" in capsys.readouterr().out


def test_what_python_2_printed_is_left_out():
    assert server("+0 %{ print tcpi_rtt\nassert tcpi_snd_cwnd == 10 }%").verdict == "pass"
    assert server("+0 %{ print tcpi_rtt\nassert tcpi_snd_cwnd == 11 }%").verdict == "differs"


@pytest.mark.parametrize(("value", "verdict_is"), [("6", "pass"), ("7", "differs"), ("2", "differs")])
def test_the_options_that_both_sides_offer_are_those_of_tcp_info(value, verdict_is):
    assert server(f"+0 %{{ assert tcpi_options == {value}, tcpi_options }}%").verdict == verdict_is


def test_an_option_that_is_not_known_is_named():
    found = server("+0 setsockopt(4, SOL_TCP, TCP_THIN_DUPACK, [1], 4) = 0")
    assert (found.verdict, found.unchecked) == ("pass", ["setsockopt TCP_THIN_DUPACK"])


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("+0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1", None),
        ("+0 poll([{fd=4, events=POLLIN, revents=0}], 1, 0) = 0", None),
        ("+0...0.2 poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 1000) = 1\n+.1 < P. 1:11(10) ack 1 win 257", None),
        ("+0 < R. 1:1(0) ack 1 win 257\n+0 poll([{fd=4, events=0, revents=POLLERR|POLLHUP}], 1, 0) = 1", None),
        ("+0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLIN}], 1, 0) = 1", "1 fd 4: POLLOUT"),
        ("+0 poll([{fd=4, events=POLLIN, revents=0}], 1, 0) = 1", "0"),
    ],
)
def test_poll_shows_what_is_ready(text, seen):
    assert server(text).seen == seen


def test_one_script_that_this_program_fails_on_hides_no_other_verdict(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.pkt").write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n")
    (tmp_path / "b.pkt").write_text("0 listen(3, 1) = 0\n")
    monkeypatch.setitem(calls.CALLS, "listen", lambda *_: 1 / 0)
    assert main(["packetdrill", str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert "1 pass" in out and "b.pkt" in out and "1 cannot be read" in out


@pytest.mark.parametrize("text", ["/*a", "%{a"])
def test_what_never_ends_is_read_once(tmp_path, text):
    # Looked for anew at each of 200,000 beginnings, the end took hours.
    (tmp_path / "c.pkt").write_text(text * 200_000)
    assert main(["packetdrill", str(tmp_path)]) == 2
