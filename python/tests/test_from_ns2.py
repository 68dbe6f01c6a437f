"""What ns-2.35 measured with the Tcl scripts of the page from-ns2, beside the scenarios there: within 2 %.

The values are those of ns-2.35 itself; where it is installed the scripts run again. No example of from-ns3 has values of ns-3
but `RateErrorModel`'s, which others published.
"""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import tonopah as tp
from tonopah_dev.peers import ns2

PAGE = Path(__file__).parents[2] / "docs" / "from-ns2.md"
with_ns2 = pytest.mark.skipif(not ns2.is_installed(), reason=ns2.MISSING)
WINDOW = """
set ns [new Simulator]
foreach n {a b c d} { set $n [$ns node] }
$ns duplex-link $a $b 1Gb 1ms DropTail
$ns duplex-link $b $c 10Mb 98ms DropTail
$ns duplex-link $c $d 1Gb 1ms DropTail
set tcp [new Agent/TCP/Newreno]
$tcp set packetSize_ SIZE
$ns attach-agent $a $tcp
set sink [new Agent/TCPSink]
$ns attach-agent $d $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.0 "$ftp start"
$ns at 60.0 {puts [expr [$sink set bytes_] * SIZE / (SIZE + 40.0)]; exit 0}
$ns run
"""
"""`window_` is 20 packets unless set, whatever `packetSize_` is."""
RED = """
set ns [new Simulator]
Queue/RED set thresh_ 1000
Queue/RED set maxthresh_ 3000
foreach n {a b} { set $n [$ns node] }
$ns simplex-link $a $b 1Mb 10ms RED
$ns simplex-link $b $a 1Mb 10ms DropTail
$ns queue-limit $a $b 20
set mon [$ns monitor-queue $a $b ""]
set udp [new Agent/UDP]
$udp set packetSize_ 2000
$ns attach-agent $a $udp
set sink [new Agent/Null]
$ns attach-agent $b $sink
$ns connect $udp $sink
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ SIZE
$cbr set rate_ 2Mb
$cbr attach-agent $udp
$ns at 0.0 "$cbr start"
set most 0
proc look {} {
    global ns mon most
    if {[$mon set pkts_] > $most} {set most [$mon set pkts_]}
    $ns at [expr [$ns now] + 0.0005] look
}
$ns at 9.0001 look
$ns at 10.0 {puts $most; exit 0}
$ns run
"""


def printed(script: str) -> list[float]:
    """Return the numbers that ns-2 prints at the end of a script."""
    done = subprocess.run(["ns", "-"], input=script, capture_output=True, text=True, timeout=600, check=True)
    return [float(word) for word in done.stdout.split()]


@pytest.mark.parametrize(("size", "mbps"), [(200, 0.158), (552, 0.435), (1000, 0.788), (1448, 1.137)])
def test_the_window_is_twenty_packets_of_any_size(size, mbps):
    """One NewReno flow, 10 Mb/s, RTT 200 ms, `window_` and `packetSize_` as `Agent/TCP/Newreno` has them; payload."""
    bottleneck = {"rate": "10Mbps", "delay": "98ms", "queue": "50p"}
    found = tp.run({
        "duration": "60s",
        "network": {
            "kind": "dumbbell", "pairs": 1, "flows": 1, "access": {"rate": "1Gbps", "delay": "1ms"}, "bottleneck": bottleneck,
        },
        "tcp": {"profile": "ns2", "mss": f"{size}B", "cc": {"name": "newreno", "profile": "ns2"}},
    })  # fmt: skip
    assert found.summary["flows"][0]["goodput_bps"] == pytest.approx(mbps * 1e6, rel=0.02)


@pytest.mark.parametrize(("size", "waiting"), [(210, 48), (500, 20), (1000, 10)])
def test_reds_limit_is_of_packets_of_mean_size(size, waiting):
    """`limit_` 20 with `queue_in_bytes_` is 10,000 bytes: what finds as many is dropped. UDP at twice the link's rate."""
    queue = {"kind": "red", "profile": "ns2", "min_threshold": 1000, "max_threshold": 3000, "limit": "20p"}
    app = {"kind": "cbr", "rate": "2Mbps", "size": f"{size - 28}B", "transport": "udp"}
    found = tp.run({
        "duration": "10s", "network": {"kind": "graph"}, "node": [{"name": "a"}, {"name": "b"}],
        "link": [{"from": "a", "to": "b", "rate": "1Mbps", "delay": "10ms", "queue": queue}],
        "flow": [{"from": "a", "to": "b", "app": app}],
    })  # fmt: skip
    assert found.summary["links"][0]["queue_max_packets"] == waiting


def test_the_first_example_of_the_page_gives_what_its_tcl_gives():
    """ns-2.35: 4.78 and 4.76 Mb/s of payload, 100 and 98 retransmissions."""
    text = next(text for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL) if "33p" in text)
    flows = tp.run(tomllib.loads(text)).summary["flows"]
    assert [flow["goodput_bps"] for flow in flows] == pytest.approx([4.78e6, 4.76e6], rel=0.02)
    assert all(80 < flow["retransmitted_packets"] < 120 for flow in flows)


@with_ns2
def test_the_first_example_of_the_page_is_the_same_world_in_ns2():
    text = PAGE.read_text(encoding="utf-8")
    script = re.search(r"```tcl\n(.*?)```", text, re.DOTALL)[1]
    script = script.replace("$ns connect $tcp $sink\n", "$ns connect $tcp $sink\n lappend sinks $sink\n")
    script = script.replace('"exit 0"', "{foreach sink $sinks {puts [$sink set bytes_]}; exit 0}")
    # `bytes_` counts the 40 bytes of headers.
    theirs = [8 * count * 1448 / 1488 / 30 for count in printed(script)]
    world = next(one for one in re.findall(r"```toml\n(.*?)```", text, re.DOTALL) if "33p" in one)
    ours = [flow["goodput_bps"] for flow in tp.run(tomllib.loads(world)).summary["flows"]]
    assert len(theirs) == 2 and ours == pytest.approx(theirs, rel=0.02)


@with_ns2
@pytest.mark.parametrize(("size", "mbps"), [(200, 0.158), (552, 0.435), (1000, 0.788), (1448, 1.137)])
def test_the_stored_values_of_the_window_are_those_of_ns2(size, mbps):
    assert printed(WINDOW.replace("SIZE", str(size))) == pytest.approx([mbps * 1e6 * 60 / 8], rel=0.02)


@with_ns2
@pytest.mark.parametrize(("size", "waiting"), [(210, 48), (500, 20), (1000, 10)])
def test_the_stored_values_of_red_are_those_of_ns2(size, waiting):
    """The most that waits, as above; at 10 s itself a departure of 500 or 1000 B has just made it one fewer."""
    assert printed(RED.replace("SIZE", str(size))) == [waiting]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_error_model_of_ns3_counts_bytes(seed):
    """`ErrorRate` 1e-5, 10 Mb/s, RTT 180 ms, segments of 536 B: 0.229 Mb/s were published, 5.4 come of packets."""
    loss, access = {"kind": "byte", "rate": 1e-5}, {"rate": "100Mbps", "delay": "20ms", "queue": "250000B", "overhead": "2B"}
    link = [
        {"from": "h1", "to": "r1", **access, "loss": loss},
        {"from": "r1", "to": "r2", "rate": "10Mbps", "delay": "50ms", "queue": "62500B", "overhead": "2B"},
        {"from": "h4", "to": "r2", **access, "loss": loss},
    ]
    app = {"kind": "cbr", "rate": "40Mbps", "size": "1331B", "on_full": "drop"}
    found = tp.run({
        "duration": "273s", "network": {"kind": "graph"}, "link": link, "tcp": {"profile": "ns3"},
        "node": [{"name": "h1"}, {"name": "r1", "role": "router"}, {"name": "r2", "role": "router"}, {"name": "h4"}],
        "flow": [{"from": "h1", "to": "h4", "cc": {"name": "newreno", "profile": "ns3"}, "app": app, "stop": "266.2s"}],
    }, seed=seed)  # fmt: skip
    # The sum over a run is random: a tenth.
    assert found.summary["flows"][0]["goodput_bps"] == pytest.approx(0.229e6, rel=0.1)


def test_a_link_is_never_used_more_than_whole(tmp_path):
    """A packet under way counts whole, however little of it a rate of 11 bit/s has carried."""
    (tmp_path / "mbps.csv").write_text("t_s,rate_bps\n0,10\n1,20\n2,5\n", encoding="utf-8")
    bottleneck = {"delay": "20ms", "queue": "100p", "service": {"kind": "rate_trace", "file": str(tmp_path / "mbps.csv")}}
    network = {"kind": "dumbbell", "access": {"rate": "10Gbps", "delay": "0s"}, "bottleneck": bottleneck}
    with pytest.warns(tp.ScenarioWarning, match="the mean rate is 11bps"):
        found = tp.run({"duration": "20s", "network": network, "flow": [{"from": "left0", "to": "right0", "cc": "cubic"}]})
    assert max(link["utilisation"] for link in found.summary["links"]) == 1.0
