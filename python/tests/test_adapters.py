"""The transports of docs/examples: quinn-proto and smoltcp, where `make adapters` has built them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import toml
from test_transport_runs import world

import tonopah as tp
from tonopah.cli.main import main
from tonopah.conform.api import conform
from tonopah.export import pcapng
from tonopah.runs.twice import run_twice

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
LINE = {"rate": "20Mbps", "delay": "50ms", "queue": "167p"}
"""20 Mb/s and 100 ms there and back, one bandwidth-delay product of queue."""


def built(folder: str, name: str) -> Path:
    """Return the library of an adapter; skip the test if it is not there."""
    library = EXAMPLES / folder / "target" / "release" / f"lib{name}.so"
    if not library.is_file():
        pytest.skip(f"{library.name} is not built (make adapters)")
    return library


@pytest.fixture
def quinn() -> Path:
    return built("quinn-endpoint", "quinn_endpoint")


def newreno(library: Path, **options: object) -> str:
    """Return quinn-proto with NewReno and without encryption, as a command line names it."""
    words = {"transport": str(library), "cc": "newreno", "crypto": "none", **options}
    return f"{{ {', '.join(f'{key} = {json.dumps(value)}' for key, value in words.items())} }}"


@pytest.fixture
def smoltcp() -> Path:
    return built("smoltcp", "smoltcp_endpoint")


def over(library: Path, app: dict, link: dict | None = None, duration: str = "30s", **options: object) -> dict:
    """Return one flow over a line of 20 Mb/s."""
    transport = {"native": str(library), "options": options}
    return world(library, app, LINE | (link or {}), transport=transport) | {"duration": duration}


def flow_of(*arguments: object, **options: object) -> dict:
    return tp.run(over(*arguments, **options)).summary["flows"][0]


def test_each_adapter_has_the_same_interface() -> None:
    one, other = ((EXAMPLES / name / "src" / "tonopah.rs").read_text() for name in ("quinn-endpoint", "smoltcp"))
    assert one == other
    header = Path(tp.get_include(), "tonopah_transport.h").read_text()
    table = header[header.index("struct tonopah_transport {") :]
    assert re.findall(r"\(\*(\w+)\)\(", table)[:12] == re.findall(r"pub (\w+): unsafe extern", one)


def test_quinn_fills_a_line(quinn: Path) -> None:
    flow = flow_of(quinn, {"kind": "bulk", "bytes": "20MB"}, crypto="none")
    assert 17.5e6 < flow["goodput_bps"] < 18.5e6 and flow["delivered_bytes"] == 20_000_000
    # One round trip of QUIC, whose first datagrams have 1200 bytes.
    assert flow["handshake_s"] == pytest.approx(0.101, abs=5e-4)
    assert flow["cc"] == "quinn-proto 0.11.19 cubic none" and flow["transport_closed"] == 1
    assert flow["declared_lost_packets"] == flow["dropped_packets"] > 0 == flow["needless_lost_packets"]
    assert flow["rtt_s"] > 0.1 and flow["min_rtt_s"] == pytest.approx(0.1, abs=2e-3)


@pytest.mark.parametrize("crypto", ["tls", "none"])
def test_quinn_gives_the_same_bytes_twice(quinn: Path, crypto: str) -> None:
    given = over(quinn, {"kind": "bulk", "bytes": "1MB"}, crypto=crypto)
    sent = {run_twice(given, None, seed).summary["flows"][0]["delivered_bytes"] for seed in (1, 2)}
    assert sent == {1_000_000}


@pytest.mark.parametrize("name", ["quinn-endpoint", "smoltcp"])
def test_every_application_is_answered(name: str) -> None:
    library = built(name, f"{name.removesuffix('-endpoint')}_endpoint")
    asked = flow_of(library, {"kind": "request_response", "requests": 20, "request": "1kB", "response": "50kB"})
    assert (asked["requests"], asked["connections_opened"], asked["transport_closed"]) == (20, 1, 1)
    page = flow_of(library, {"kind": "page", "objects": 30, "object_size": "20kB"})
    assert (page["objects"], page["connections_opened"], page["transport_closed"]) == (31, 1, 1)
    assert flow_of(library, {"kind": "transfer", "size": "100kB"})["delivered_bytes"] == 100_000


def test_the_qlog_of_quinn_is_what_the_engine_records(quinn: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = over(quinn, {"kind": "bulk", "bytes": "20MB"}) | {"record": {"series": ["cwnd", "srtt"], "every": "change"}}
    (tmp_path / "world.toml").write_text(toml(given))
    logs, series = str(tmp_path / "logs"), str(tmp_path / "series")
    assert main(["run", str(tmp_path / "world.toml"), "--transport-logs", logs, "--series", series, "--json"]) == 0
    capsys.readouterr()
    log = f"{logs}/flow0-source.sqlog"
    assert main(["compare-trace", log, series, "--metric", "cwnd", "--tolerance", "2%", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["cwnd"]["largest"] < 0.02
    assert main(["validate", "trace", log, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["link"]["rate_bps"] == pytest.approx(20e6, rel=0.01)


def test_pages_and_transfers_that_come_and_go_are_complete(quinn: Path) -> None:
    one = {"from": ["a"], "to": ["b"], "size": {"kind": "exponential", "mean": "50kB"}, "transport": {"native": str(quinn)}}
    pages = one | {"name": "pages", "app": {"kind": "page", "objects": 5, "protocol": "h2"}}
    arrivals = {"arrivals": {"kind": "poisson", "rate": "5/s"}, "stop": "10s"}
    given = over(quinn, {"kind": "bulk"}, {"loss": {"kind": "packet", "p": 0.01}}, "30s")
    given = given | {"flow": [], "workload": [one | {"name": "transfers"} | arrivals, pages | arrivals]}
    for workload in run_twice(given, None, 1).summary["workloads"]:
        assert (workload["finished"], workload["aborted"]) == (workload["started"], 0)
        assert workload["started"] > 30 and workload["fct_p50_s"] > 0.2


def test_marks_reduce_the_window_of_quinn(quinn: Path) -> None:
    link = {"queue": {"kind": "codel", "ecn": True, "limit": "1000p"}}
    given = over(quinn, {"kind": "bulk"}, link, "10s", crypto="none") | {"record": {"series": ["cwnd"], "every": "change"}}
    result = tp.run(given)
    flow, windows = result.summary["flows"][0], result.series("cwnd")["value"]
    assert (flow["dropped_packets"], flow["declared_lost_packets"]) == (0, 0)
    assert sum(windows.diff() < -1000) >= 3 and flow["goodput_bps"] > 15e6


def test_quinn_shares_with_our_cubic(quinn: Path) -> None:
    network = {"kind": "dumbbell", "pairs": 2, "flows": 0, "bottleneck": {"rate": "20Mbps", "delay": "20ms", "queue": "1bdp"}}
    flows = [
        {"from": "left0", "to": "right0", "transport": {"native": str(quinn), "options": {"crypto": "none"}}},
        {"from": "left1", "to": "right1", "cc": "cubic"},
    ]
    both = tp.run({"duration": "30s", "network": network, "flow": flows}).summary["flows"]
    assert all(flow["goodput_bps"] > 4e6 for flow in both)


@pytest.mark.skipif(not shutil.which("tshark"), reason="there is no tshark")
def test_tshark_decrypts_a_capture(quinn: Path, tmp_path: Path) -> None:
    pcapng.run(over(quinn, {"kind": "bulk", "bytes": "1MB"}), None, 1, tmp_path)
    command = [
        "tshark",
        "-r",
        str(tmp_path / "a.pcapng"),
        "-Y",
        "udp.length > 1200",
        "-T",
        "fields",
        "-e",
        "quic.stream.stream_id",
    ]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(shown) > 700 and sum(bool(line.strip()) for line in shown) > 0.9 * len(shown)


def test_smoltcp_ends_what_it_sends(smoltcp: Path) -> None:
    flow = flow_of(smoltcp, {"kind": "bulk", "bytes": "5MB"})
    assert flow["delivered_bytes"] == 5_000_000 and flow["transport_closed"] == 1
    assert flow["handshake_s"] == pytest.approx(0.10004, abs=1e-5) and flow["cwnd_mean_bytes"] is None
    given = over(smoltcp, {"kind": "bulk", "bytes": "1MB"}, cc="reno")
    assert run_twice(given, None, 1).summary["flows"][0]["cc"] == "smoltcp 0.14.0 reno"


def test_quinn_and_rfc_9002(quinn: Path) -> None:
    """What deviates is explained in docs/conform.md."""
    found = {one.case.id: one for one in conform(newreno(quinn), "rfc9002").outcomes}
    assert {name for name, one in found.items() if one.verdict == "deviates"} == {"q6", "q13", "q17"}
    assert {one.verdict for one in found.values()} == {"deviates", "holds"} and len(found) == 17
    assert found["q17"].measures[0].value == 1, "it closes by itself"


@pytest.mark.parametrize(
    ("option", "value", "case"),
    [
        ("packet_threshold", 10, "q2"), ("time_threshold", 2.0, "q3"), ("persistent_congestion_threshold", 1, "q8"),
        ("initial_rtt_ms", 100, "q5"), ("initial_window", 64, "q12"),
    ],
)  # fmt: skip
def test_a_wrong_constant_of_quinn_deviates(quinn: Path, option: str, value: float, case: str) -> None:
    outcome = conform(newreno(quinn, **{option: value}), "rfc9002", case=[case]).outcomes[0]
    assert outcome.verdict == "deviates" and outcome.packets


def test_quinn_is_not_held_up_by_its_own_windows(quinn: Path) -> None:
    """Where a window took part of what was written, nobody asked for the rest: the stream stopped for ever."""
    for window in ("1250000B", "67108864B"):
        flow = flow_of(quinn, {"kind": "bulk", "bytes": "20MB"}, crypto="none", receive_window=window)
        assert flow["delivered_bytes"] == 20_000_000


def test_bbr_of_quinn_and_the_draft(quinn: Path) -> None:
    subject = f'{{ transport = {json.dumps(str(quinn))}, cc = "bbr", crypto = "none" }}'
    report = conform(subject, "bbr-draft", case=["01", "03", "11", "11b", "12", "13", "14", "16", "18"])
    # 01: over one round trip, an ACK for two datagrams is 3 % of what passes.
    assert [one.verdict for one in report.outcomes] == ["deviates"] + ["holds"] * 8
    assert {one.form for one in report.outcomes} == {"outside"}
