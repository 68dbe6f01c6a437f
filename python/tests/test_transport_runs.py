"""Runs of flows over a whole transport in a shared library: stop and wait, every time of which can be reckoned."""

import re
import shutil
from pathlib import Path

import pytest
from test_transport import EXAMPLES, OPTIONS, build

import tonopah as tp
from tonopah._core import trace
from tonopah.cc import last_call
from tonopah.conform.api import conform
from tonopah.errors import AlgorithmError, InputError, LimitError
from tonopah.judge.traces import Breaker, Sharing
from tonopah.runs.simulation import engine_form, run_prepared

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler (cc)")
LAST_BYTE_S = 0.040048 + 199 * 0.0408488 + 0.0208248
"""Of 200 kB: SYN, SYN-ACK, 199 exchanges, the last datagram of data; stopwait.toml of the specification reckons it."""


@pytest.fixture(scope="module")
def stopwait(tmp_path_factory):
    return build(tmp_path_factory.mktemp("transport"))


def world(library, app=None, link=None, **flow):
    """Return one link a-b, 10 Mb/s both ways, 20 ms, and a flow over a transport."""
    line = {"from": "a", "to": "b", "rate": "10Mbps", "delay": "20ms", "queue": "100p", **(link or {})}
    one = {"from": "a", "to": "b", "transport": {"native": str(library)}, "app": app or {"kind": "bulk", "bytes": "200kB"}}
    nodes = [{"name": "a"}, {"name": "b"}]
    return {"duration": "10s", "network": {"kind": "graph"}, "node": nodes, "link": [line], "flow": [one | flow]}


def test_every_time_is_as_reckoned(stopwait):
    summary = tp.run(world(stopwait)).summary
    flow = summary["flows"][0]
    assert flow["completion_s"] == pytest.approx(LAST_BYTE_S, abs=1e-9) == pytest.approx(8.189784, abs=1e-9)
    assert flow["srtt_s"] == pytest.approx(0.0408488, abs=1e-12)
    assert flow["handshake_s"] == flow["connected_s"] == pytest.approx(0.040048, abs=1e-12)
    assert (flow["sent_packets"], flow["ack_packets"], flow["delivered_bytes"]) == (201, 201, 200_000)
    assert (flow["cc"], flow["transport"]) == ("stop and wait", "native")
    assert (flow["declared_lost_packets"], flow["transport_closed"]) == (0, 0)
    assert flow["retransmitted_packets"] is flow["rto_count"] is flow["recovery_count"] is None
    assert flow["cwnd_mean_bytes"] == 1000 and flow["rtt_s"] == pytest.approx((0.040048 + 0.0408488) / 2)
    assert tp.run(world(stopwait)).summary == summary


def test_a_loss_costs_a_time_out(stopwait):
    flow = tp.run(world(stopwait, link={"loss": {"kind": "nth", "data_packets": [4]}})).summary["flows"][0]
    assert flow["completion_s"] == pytest.approx(8.389784, abs=1e-9)
    assert (flow["declared_lost_packets"], flow["dropped_packets"], flow["needless_lost_packets"]) == (1, 1, 0)
    assert flow["retransmitted_packets"] == 1


def test_series_are_what_it_says_and_what_the_wire_has(stopwait):
    record = {"series": ["cwnd", "srtt", "pipe", "state", "wire_flight", "rto"], "every": "change"}
    result = tp.run(world(stopwait) | {"record": record})
    assert set(result.series("cwnd")["value"]) == {1000.0}
    assert set(result.series("state")["value"]) == {0.0, 1.0}
    assert {0.0, 1003.0} <= set(result.series("wire_flight")["value"]) and result.series("rto").empty


def test_what_the_sink_has_read_is_a_series_so_that_shares_are_known(stopwait):
    result = tp.run(world(stopwait) | {"record": {"series": ["acked", "retransmits"], "every": "1s"}})
    read = result.series("acked")
    assert read["value"].iloc[0] == 23_000 and read["value"].is_monotonic_increasing
    assert read["value"].iloc[-1] == result.summary["flows"][0]["delivered_bytes"]
    sampled = {"acked": read.rename(columns={"flow": "id"}), "retransmits": {"t_s": [], "id": [], "value": []}}
    assert Sharing(flows=(0,), least_bps=1e5).values(sampled)[:3] == (1.0, 1.0, 0.0)
    # Losses are not: what it sends again it does not tell.
    assert Breaker(flows=(0,)).values(sampled) == (None, None)


@pytest.mark.parametrize(
    ("app", "metric", "value"),
    [
        ({"kind": "transfer", "size": "5kB"}, "completion_s", 0.040048 + 4 * 0.0408488 + 0.0208248),
        ({"kind": "request_response", "requests": 3, "request": "1000B", "response": "2kB"}, "requests", 3),
        ({"kind": "page", "objects": 4, "object_size": "1kB", "html": "2kB"}, "objects", 5),
        ({"kind": "cbr", "rate": "10pps", "size": "500B"}, "app_delay_s", None),
        ({"kind": "video", "chunks": 2, "ladder": ["40kbps"], "start": 0, "rule": {"kind": "fixed", "level": 0}}, "chunks", 2),
    ],
    ids=["transfer", "request_response", "page", "cbr", "video"],
)
def test_applications_go_over_one_stream(stopwait, app, metric, value):
    flow = tp.run(world(stopwait, app)).summary["flows"][0]
    assert flow[metric] == pytest.approx(value, rel=1e-9) if value else flow[metric] > 0.02
    assert flow.get("connections_opened", 1) == 1


def test_our_tcp_beside_it_keeps_its_bits(stopwait):
    tcp, native = {"from": "a", "to": "b", "app": {"kind": "bulk"}}, world(stopwait)["flow"][0]
    given = world(stopwait) | {"duration": "2s"}
    given["node"] += [{"name": "c"}, {"name": "d"}]
    given["link"] += [{**given["link"][0], "from": "c", "to": "d"}]

    def events(*flows):
        return engine_form(given | {"flow": list(flows)}).call(trace, 1, json=True).splitlines()

    alone = [line for line in events(tcp) if '"transport":"tcp"' in line]
    beside = events(tcp, native | {"from": "c", "to": "d"})
    assert [line for line in beside if '"transport":"tcp"' in line] == alone and len(beside) > len(alone) > 1000
    assert sum('"transport":"native"' in line for line in beside) == sum('"transport"' in line for line in beside) - len(alone)
    both = tp.run(given | {"flow": [tcp, native]}).summary["flows"]
    assert both[0]["goodput_bps"] > 1e6 and both[1]["delivered_bytes"] > 0


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("CREATE", r"^flow\[0\]\.transport\.native: libfault\.so: create gave NULL for a client"),
        ("ABI", r"^flow\[0\]\.transport\.native: libfault\.so has version 7 of the interface, the engine has 1"),
        ("SIZE", r"whose struct has 160 bytes, the engine's has 168"),
        ("THREAD", r"libfault\.so has started 1 thread: what it does would depend on the machine"),
    ],
)
def test_a_fault_before_anything_runs(tmp_path, fault, said):
    with pytest.raises(tp.InputError, match=said):
        tp.check(world(build(tmp_path, "fault", f"-DFAULT_{fault}")))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("CRASH=1000000000ull", "ended the process of the run: SIGABRT (Aborted), in on_datagram of b at 1.000395 s"),
        ("PAST", ": poll_transmit failed at "),
        ("FLOOD", ": 65,536 datagrams at 0.020024 s without an end"),
        ("BYTES", r": byte "),
    ],
)
def test_a_fault_in_a_run(tmp_path, fault, said):
    with pytest.raises(tp.AlgorithmError) as raised:
        tp.run(world(build(tmp_path, "fault", f"-DFAULT_{fault}")))
    message = str(raised.value)
    assert message.startswith("flow[0].transport: libfault.so") and said in message
    if fault == "PAST":
        assert message.endswith("departs 1 ns before the call")
    if fault == "BYTES":
        assert re.search(r"byte [\d,]+ of stream 0 read by b is 0x[0-9a-f]{2}, 0x[0-9a-f]{2} was written$", message)


def test_a_call_that_does_not_return(tmp_path, monkeypatch):
    monkeypatch.setattr(last_call, "CPU_LIMIT_S", 2.0)
    with pytest.raises(tp.AlgorithmError, match=r"has not returned from on_datagram of b at 1\.000395 s for 2 s"):
        tp.run(world(build(tmp_path, "fault", "-DFAULT_HANG=1000000000ull")))


def test_a_datagram_too_big_for_the_link_vanishes_and_counts(tmp_path):
    flow = tp.run(world(build(tmp_path, "big", "-DFAULT_BIG"))).summary["flows"][0]
    assert (flow["too_big_packets"], flow["drops"]["too_long"]) == (1, 1)
    assert flow["completion_s"] == pytest.approx(8.389784, abs=1e-9)
    wide = world(tmp_path / "libbig.so")
    wide["flow"][0]["transport"]["mtu"] = "1629B"
    # Behind the data are bytes that nobody wrote.
    with pytest.raises(tp.AlgorithmError, match=r"byte 5,000 of stream 0 read by b is 0x00, 0x78 was written"):
        tp.run(wide)


def test_options_are_checked(tmp_path):
    plain = (EXAMPLES / "stopwait.c").read_text(encoding="utf-8")
    at = plain.index("static const char *const STATES")
    source = (plain[:at] + OPTIONS + plain[at:]).replace("17, 1, NULL, 0, STATES", "17, 1, OPTIONS, 2, STATES")
    given = world(build(tmp_path, "options", source=source))

    def resolved(**options):
        given["flow"][0]["transport"]["options"] = options
        return tp.check(given)["resolved"]["flow"][0]["transport"]

    assert resolved()["options"] == {"cc": "newreno", "initial_rtt_ms": 333.0} and resolved()["mtu"] == "1500B"
    assert resolved(cc="cubic", initial_rtt_ms="0.2s")["options"] == {"cc": "cubic", "initial_rtt_ms": 200.0}
    assert tp.run(given).summary["flows"][0]["cc"] == "stop and wait cubic"
    for options, said in (
        ({"cc": "vegas"}, r'options\.cc: "vegas" is unknown, known: cubic, newreno'),
        ({"cc": 1}, r"options\.cc: is one of the words cubic, newreno"),
        ({"initial_rtt_ms": 0}, r"options\.initial_rtt_ms: 0 ms is not a number from 1 to 10000"),
        ({"initial_rtt_ms": "5kB"}, r"options\.initial_rtt_ms: "),
        ({"ecn": True}, r"options\.ecn: unknown option, known: cc, initial_rtt_ms"),
    ):
        with pytest.raises(tp.InputError, match=r"flow\[0\]\.transport\." + said):
            resolved(**options)


@pytest.mark.parametrize(
    ("beside", "path"),
    [
        ({"cc": "reno"}, "flow[0].cc"),
        ({"tcp": {"mss": "1000B"}}, "flow[0].tcp"),
        ({"silent": True}, "flow[0].silent"),
        ({"sink_agent": "x"}, "flow[0].sink_agent"),
        ({"app": {"kind": "cbr", "rate": "1pps", "size": "100B", "transport": "udp"}}, "flow[0].app.transport"),
        ({"app": {"kind": "voice"}}, "flow[0].app"),
        ({"app": {"kind": "responsiveness"}}, "flow[0].app"),
    ],
)
def test_what_does_not_go_with_a_transport(stopwait, beside, path):
    with pytest.raises(tp.InputError) as raised:
        tp.check(world(stopwait, **beside))
    assert raised.value.path == path


def test_other_wrong_transports(stopwait):
    def refused(transport, **more):
        with pytest.raises(tp.InputError) as raised:
            tp.check(world(stopwait) | {"flow": [{"from": "a", "to": "b", "transport": transport, **more}]})
        return raised.value.path

    assert refused({"native": str(stopwait), "mtu": "500B"}) == "flow[0].transport.mtu"
    assert refused({"native": "nothing.so"}) == "flow[0].transport.native"
    assert refused({"native": "reno"}) == "flow[0].transport.native"
    assert refused({"native": str(stopwait), "sink": {"native": "nothing.so"}}) == "flow[0].transport.sink.native"
    assert refused({"options": {}}).startswith("flow[0].transport")
    assert refused({"native": str(stopwait)}, count=1001) == "flow"


def test_all_generated_flows_have_one(stopwait):
    network = {"kind": "dumbbell", "pairs": 2, "flows": 2, "bottleneck": {"rate": "10Mbps", "delay": "20ms"}}
    given = {"duration": "2s", "network": network, "traffic": {"transport": {"native": str(stopwait)}}}
    result = run_prepared(given, None, 1, threads=2)
    assert [flow["transport"] for flow in result.summary["flows"]] == ["native", "native"]
    assert result.undivided == "a transport in a library runs in one part"
    assert all(flow["delivered_bytes"] > 10_000 for flow in result.summary["flows"])
    sink = {"native": str(stopwait), "sink": {"native": str(Path(stopwait))}}
    assert tp.run(given | {"traffic": {"transport": sink}}).summary["flows"] == result.summary["flows"]
    with pytest.raises(tp.InputError, match=r"^traffic\.app: times handshakes of new connections"):
        tp.check(given | {"traffic": {"transport": sink, "app": {"kind": "responsiveness"}}})


def coming_and_going(library, arrivals, duration="10s", **more):
    """Return flows that come and go over the link of `world`, 5 kB each."""
    workload = {"name": "w", "from": ["a"], "to": ["b"], "arrivals": arrivals, "size": {"kind": "constant", "bytes": "5kB"}}
    given = world(library) | {"duration": duration, "workload": [workload | more]}
    del given["flow"]
    return given


def test_flows_of_workloads_have_one(stopwait):
    transport = {"native": str(stopwait)}
    given = coming_and_going(stopwait, {"kind": "list", "at": ["0s", "1s"]}, transport=transport)
    result = run_prepared(given, None, 1, threads=2)
    assert result.undivided == "a transport in a library runs in one part"
    summary = result.summary
    took = pytest.approx(0.040048 + 4 * 0.0408488 + 0.0208248, abs=1e-9)
    for number, flow in enumerate(summary["flows"]):
        assert (flow["cc"], flow["transport"], flow["start_s"]) == ("stop and wait", "native", number)
        assert flow["fct_s"] == flow["completion_s"] == took
        assert flow["handshake_s"] == pytest.approx(0.040048, abs=1e-12) and flow["slowdown"] is None
        assert (flow["transport_closed"], flow["declared_lost_packets"]) == (0, 0)
    workload = summary["workloads"][0]
    assert (workload["finished"], workload["rto_count"], workload["retransmitted_packets"]) == (2, None, None)
    # The same where an algorithm is named, and as the common transport.
    named = coming_and_going(stopwait, {"kind": "list", "at": ["0s", "1s"]}, cc=str(stopwait))
    assert tp.run(named).summary == summary
    common = coming_and_going(stopwait, {"kind": "list", "at": ["0s", "1s"]}) | {"traffic": {"transport": transport}}
    assert tp.run(common).summary["flows"] == summary["flows"]


def test_flows_of_workloads_leave_their_slots_also_where_packets_are_lost(stopwait):
    arrivals = {"kind": "poisson", "rate": "50/s"}
    given = coming_and_going(stopwait, arrivals, "30s", transport={"native": str(stopwait)})
    given["link"][0]["loss"] = {"kind": "packet", "p": 0.05}
    workload = tp.run(given).summary["workloads"][0]
    assert workload["arrived"] > 1400 and workload["finished"] > workload["started"] - 50 and workload["alive_max"] < 60
    assert workload["retransmitted_packets"] > 0


def test_more_of_them_at_once_than_a_process_keeps_end_the_run(stopwait):
    given = coming_and_going(stopwait, {"kind": "list", "at": ["0s"] * 1001}, transport={"native": str(stopwait)})
    with pytest.raises(LimitError, match="1000 flows with a transport in a library exist at once at 0 s"):
        tp.run(given)
    given["workload"][0]["arrivals"] = {"kind": "list", "at": ["0s"] * 500 + ["5s"] * 501}
    given["link"][0] |= {"rate": "1Gbps", "queue": "10000p"}
    assert tp.run(given).summary["workloads"][0]["finished"] == 1001


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"transport": {"native": "nothing.so"}}, "workload[0].transport.native"),
        ({"transport": {"native": "nothing.so"}, "cc": "reno"}, "workload[0].transport.native"),
        ({"cc": "reno"}, "workload[0].cc"),
        ({"tcp": {"mss": "1000B"}}, "workload[0].tcp"),
        ({"stop": "0s"}, "workload[0].stop"),
    ],
)
def test_what_does_not_go_with_a_transport_of_a_workload(stopwait, more, path):
    given = coming_and_going(stopwait, {"kind": "poisson", "rate": "1/s"}, **{"transport": {"native": str(stopwait)}} | more)
    with pytest.raises(tp.InputError) as raised:
        tp.check(given)
    assert raised.value.path == path


def test_a_transport_is_held_against_specifications(stopwait, tmp_path, capsys):
    """By its datagrams alone: it has no log."""
    subject = str(stopwait)
    report = conform(subject, "rfc9002", case=["q1", "q5", "q6", "q9", "q15"], out=tmp_path / "out", qlogs=tmp_path / "logs")
    found = {one.case.id: one for one in report.outcomes}
    assert {name: one.verdict for name, one in found.items()} == {
        "q1": "not observable", "q5": "deviates", "q6": "holds", "q9": "not applicable", "q15": "holds",
    }  # fmt: skip
    # Its time-out is 200 ms from the start, that of RFC 9002 999 ms.
    assert found["q5"].measures[0].value == pytest.approx(200) and found["q5"].packets
    for name, asked in (("q5", tp.run(tmp_path / "out" / "worlds" / "q5.toml")), ("q15", None)):
        assert (tmp_path / "logs" / name).is_dir() and (asked is None or asked.summary == found[name].run.summary)
    with pytest.raises(InputError, match="which is a whole transport"):
        conform(subject, "rfc9438")
    with pytest.raises(InputError, match="rfc9002 has no cases for CUBIC, which is an algorithm"):
        conform("cubic", "rfc9002")


def test_a_transport_that_crashes_in_a_case_is_an_error_with_its_place(tmp_path):
    library = build(tmp_path, "crash", "-DFAULT_CRASH")
    with pytest.raises(AlgorithmError, match="ended the process of the run: SIG"):
        conform(str(library), "rfc9002", case=["q5"])
