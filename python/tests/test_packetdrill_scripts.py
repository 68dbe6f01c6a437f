"""Scripts as others write them: the whole grammar, and what Linux does where the endpoint did not. The scripts are our own."""

from pathlib import Path

import pytest
from test_packetdrill import HANDSHAKE, verdict

from tonopah.packetdrill.interpreter import ScriptVerdict, run_file

CASES = {
    "spaces.pkt": """
 0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+ 0  bind(3, ..., ...) = 0
+0   listen(3, 1) = 0
+0   < S 0:0(0) win 32792 <mss 1460,sackOK>
+0 ~ +.01 > S. 0:0(0) ack 1 <...>
+.1  < . 1:1(0) ack 1 win 257
+0   accept(3, ..., ...) = 4
+.1  < F . 1:1(0) ack 1 win 257
+0~ +.1  > . 1:1(0) ack 2
""",
    "define.pkt": """--define=MSS=1460
 0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   bind(3, ..., ...) = 0
+0   listen(3, 1) = 0
+0   < S 0:0(0) win 32792 <mss 1000,sackOK>
+0   > S. 0:0(0) ack 1 <mss MSS,nop,nop,sackOK>
""",
    "state.pkt": HANDSHAKE
    + """
+0 shutdown(4, SHUT_WR) = 0
+0 > F. 1:1(0) ack 1
+0 %{ assert tcpi_state == TCP_FIN_WAIT1, tcpi_state }%
+.1 < . 1:1(0) ack 2 win 257
+0 %{ assert tcpi_state == 5 }%
""",
    "dsack.pkt": """
 0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   bind(3, ..., ...) = 0
+0   listen(3, 1) = 0
+0   < S 0:0(0) win 32792 <mss 1460,sackOK>
+0   > S. 0:0(0) ack 1 <...>
+.1  < . 1:1(0) ack 1 win 32792
+0   accept(3, ..., ...) = 4
+.1  < . 1:101(100) ack 1 win 32792
+0   > . 1:1(0) ack 101
+.1  < . 201:301(100) ack 1 win 32792
+0   > . 1:1(0) ack 101 <nop,nop,sack 201:301>
+.1  < . 1:401(400) ack 1 win 32792
+0   > . 1:1(0) ack 401 <nop,nop,sack 1:101>
""",
    "syn.pkt": """
 0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0   connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0   > S 0:0(0) <...>
+1~+1.1  > S 0:0(0) <...>
+1~+1.1  > S 0:0(0) <...>
+1~+1.1  > S 0:0(0) <...>
+1~+1.1  > S 0:0(0) <...>
+1~+1.1  > S 0:0(0) <...>
+2~+2.2  > S 0:0(0) <...>
""",
}
"""Valid scripts that 0.17 read wrongly, or in which its endpoint did something else than Linux."""


@pytest.mark.parametrize("name", CASES)
def test_scripts_of_others_pass(name):
    assert verdict(CASES[name]).verdict == "pass", verdict(CASES[name])


@pytest.mark.parametrize(("alike", "wanted"), [(4, "differs"), (5, "pass"), (6, "differs")])
def test_four_linear_time_outs_of_a_syn_make_five_intervals_alike(alike, wanted):
    """tcp_syn_linear_timeouts = 4: Linux counts a time-out, then doubles above 4 (ip-sysctl: 1, 1, 1, 1, 1, 2)."""
    one = "+1~+1.1  > S 0:0(0) <...>\n"
    assert CASES["syn.pkt"].count(one) == 5
    assert verdict(CASES["syn.pkt"].replace(5 * one, alike * one)).verdict == wanted


@pytest.mark.parametrize(("window", "wanted"), [("65535", "pass"), ("1023", "differs")])
def test_windows_are_scaled_only_if_both_ends_offer_it(window, wanted):
    """RFC 7323 section 2.2."""
    found = verdict(f"""
 0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0   connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0   > S 0:0(0) <mss 1460,nop,wscale 6,sackOK,TS val 100 ecr 0>
+.1  < S. 0:0(0) ack 1 win 32767 <mss 1460,sackOK>
+0   > . 1:1(0) ack 1 win {window}
""")
    assert found.verdict == wanted, found


def test_a_symbol_without_a_value_is_not_applicable_and_a_wrong_definition_is_unreadable(tmp_path):
    assert "the symbol MSS" in (verdict_of_text(tmp_path, CASES["define.pkt"].replace("--define=MSS=1460", "")).reason or "")
    assert verdict_of_text(tmp_path, "--define=3=4\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3").verdict == "unreadable"


FREEBSD = """ 0.00 `sysctl -w net.inet.tcp.rfc1323=1`
+0.00 `sysctl -w net.inet.tcp.sack.enable=1`
+0.00 `sysctl -w net.inet.tcp.insecure_rst=0`
+0.00 `sysctl -w net.inet.tcp.hostcache.purgenow=1`
+0.00 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0.00 bind(3, ..., ...) = 0
+0.00 listen(3, 1) = 0
+0.00 < S   0:0(0) win 65535 <mss 1460,sackOK,eol,eol>
+0.00 > S.  0:0(0) ack 1 win 65535 <mss 1460,sackOK,eol,eol>
+0.01 <  .  1:1(0) ack 1 win 65535
+0.00 accept(3, ..., ...) = 4
+0.00 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
#ifdef FreeBSD
+0.00 read(4, ..., 10) = 99
#endif
+0.00 read(4, ..., 10) = -1 EWOULDBLOCK (Operation would block)
+0.00 <  .   1:100(99)  ack 1 win 65535
+0.00 <  . 200:300(100) ack 1 win 65535
+0.00 >  .   1:1(0)     ack 100 win 65535 <nop,nop,sack 200:300>
"""


def test_scripts_of_freebsd_run_on_a_host_like_it():
    """Its sysctls have a meaning, it delays the first ACK too, its windows are not compared, and EWOULDBLOCK is EAGAIN."""
    found = verdict(FREEBSD)
    assert (found.verdict, found.unchecked) == ("pass", ["FreeBSD's windows"]), found
    assert verdict(FREEBSD.replace("insecure_rst=0", "insecure_rst=1")).reason == "sysctl net.inet.tcp.insecure_rst = 1"
    assert verdict(FREEBSD.replace("sack.enable=1", "sack.enable=0")).verdict == "differs"
    assert verdict(FREEBSD.replace("rfc1323", "no_such")).reason == "sysctl net.inet.tcp.no_such = 1"


def test_lines_that_hold_if_a_symbol_is_defined():
    """As packetdrill of nplab has them; `#endif` on a line of its own keeps the count of lines."""
    found = verdict("--define=FreeBSD=1\n" + FREEBSD)
    assert (found.verdict, found.line, found.expected) == ("differs", 15, "read = 99")
    assert verdict(FREEBSD.replace("EWOULDBLOCK", "ENOENT")).line == 16


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("+0 > S. 0:0(0) ack 1 <...>/udp(9811 > 1)", "TCP over UDP"),
        ("+0 > R. 0:0(0)! ack 1 win 0", "absolute sequence numbers"),
        ("+0 > sctp: INIT[flgs=0, tag=1, a_rwnd=..., os=1, is=1, tsn=0, ...]", "SCTP packets"),
        ("+0 < addr[caddr0] > addr[saddr0] S 0:0(0) win 1", "packets between addresses of several paths"),
    ],
)
def test_packets_that_are_not_those_of_one_tcp_connection(tmp_path, text, reason):
    assert verdict_of_text(tmp_path, OPENED + text).reason == reason


def verdict_of_text(folder: Path, text: str) -> ScriptVerdict:
    (folder / "x.pkt").write_text(text, encoding="utf-8")
    return run_file(folder / "x.pkt")


OPENED = """0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
"""
ACCEPTED = f"""{OPENED}+0 < S 0:0(0) win 1000 <mss 1000>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
"""
ODD = {
    "digits of other scripts": f"{OPENED}+0 < S 0:0(0) win 1 <mss ²>",
    "a result in other digits": "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 0٣",
    "an option in other digits": f"--tolerance_usecs=²\n{OPENED}",
    "a setting in other digits": f"0 `sysctl -q net.ipv4.tcp_ecn=²`\n{OPENED}",
    "a scale that is a word": f"{OPENED}+0 < S 0:0(0) win 1 <wscale 1>\n+0 > S. 0:0(0) ack 1 <wscale x>",
    "a scale of gigabytes": f"{OPENED}+0 < S 0:0(0) win 1 <wscale 1>\n+0 > S. 0:0(0) ack 1 <wscale 99999999999>",
    "5000 digits": f"{OPENED}+0 < S 0:0(0) win {'9' * 5000}",
    "5000 brackets": f"{OPENED}+0 setsockopt(3, {'[' * 5000}, 4) = 0",
    "3000 factors": '0 `sysctl -q net.ipv4.tcp_rmem="$((9' + "*9" * 900 + '))"`',
    "a list for a name": f"{ACCEPTED}+0 setsockopt(4, SOL_TCP, =, [1], 4) = 0",
    "a number for a list": f"{ACCEPTED}+0 poll(1, 1, 3) = 0",
    "a length below zero": f"{ACCEPTED}+0 read(4, ..., -5) = 0",
    "an ellipsis in code": f"{ACCEPTED}+0 %{{ a = ...\nassert 1 + a }}%",
    "text of gigabytes": f"{ACCEPTED}+0 %{{ assert 'a' * 99999999999 }}%",
    "powers of powers": f"{ACCEPTED}+0 %{{ a = 9\n" + "a = a * a\n" * 99 + "assert a }%",
    "sums of sums": f"{ACCEPTED}+0 %{{ assert {'1+' * 50000}1 }}%",
    "comments in comments": "/*a" * 300_000,
    "code in code": "%{a" * 300_000,
    "quotes": '"\\' * 300_000,
    "a time of digits": "9" * 300_000 + "x",
    "flags": f"{OPENED}+0 < {'S' * 300_000}x",
    "blanks": f"{OPENED}+0 <{' ' * 300_000}x",
    "blanks after a time": f"0~{' ' * 300_000}x",
    "queues in a line": f"0 `{'tc qdisc a ' * 80_000}`",
    "definitions": "".join(f"--define=A{i}=1\n" for i in range(50_000)),
}
"""What nobody writes: each has a verdict, soon, and none is an error of this program."""


@pytest.mark.parametrize("name", ODD)
def test_odd_scripts_have_a_verdict(tmp_path, name):
    found = verdict_of_text(tmp_path, ODD[name])
    assert found.verdict in ("unreadable", "not applicable", "differs") and (found.reason or found.seen), found


def test_numbers_are_read_as_packetdrill_reads_them(tmp_path):
    """Decimal, whatever they begin with, and hexadecimal after 0x; what is printed is not computed."""
    code = "+0 %{ print('cwnd %d' % tcpi_snd_cwnd)\nassert tcpi_snd_cwnd == 10, 'cwnd %d' % tcpi_snd_cwnd }%\n"
    assert verdict_of_text(tmp_path, ACCEPTED.replace("= 4", "= 004") + "+0 close(0x4) = 0\n").verdict == "pass"
    assert verdict_of_text(tmp_path, ACCEPTED + code).verdict == "pass"
