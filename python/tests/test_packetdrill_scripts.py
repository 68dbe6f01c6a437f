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


def verdict_of_text(folder: Path, text: str) -> ScriptVerdict:
    (folder / "x.pkt").write_text(text, encoding="utf-8")
    return run_file(folder / "x.pkt")
