"""Applications over the streams of a transport in a library, and libraries that depend on the machine."""

import json
import shutil
from pathlib import Path

import pytest
from test_transport import EXAMPLES, build
from test_transport_runs import world

import tonopah as tp
from tonopah.cc.last_call import VIRTUAL
from tonopah.cli.main import main
from tonopah.export import pcapng
from tonopah.runs.twice import run_twice
from tonopah.scenario.document import to_toml

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler (cc)")
SOURCE = Path(__file__).parent / "programs" / "streams.c"


@pytest.fixture(scope="module")
def streams(tmp_path_factory):
    return build(tmp_path_factory.mktemp("streams"), "streams", source=SOURCE.read_text(encoding="utf-8"))


def flow_of(library, app, **more):
    return tp.run(world(library, app, **more)).summary["flows"][0]


def test_a_bulk_transfer_ends_its_stream(streams):
    flow = flow_of(streams, {"kind": "bulk", "bytes": "50500B"})
    # A SYN after 1 ms, the handshake 40.0544 ms later; then 51 datagrams, one each ms, and the last takes 20.4272 ms.
    assert flow["completion_s"] == pytest.approx(0.0410544 + 0.050 + 0.0204272, abs=1e-9)
    assert (flow["delivered_bytes"], flow["transport_closed"], flow["sent_packets"]) == (50_500, 1, 52)
    stopped = flow_of(streams, {"kind": "bulk"}, stop="1s")
    assert 900_000 < stopped["delivered_bytes"] < 1_000_000 and stopped["transport_closed"] == 1


@pytest.mark.parametrize(
    ("app", "wanted"),
    [
        (
            {"kind": "transfer", "direction": {"kind": "both", "up": "30kB", "down": "20kB"}},
            {"size_bytes": 30_000, "reverse_size_bytes": 20_000},
        ),
        ({"kind": "transfer", "direction": "down", "size": "20kB"}, {"delivered_bytes": 20_000}),
        ({"kind": "request_response", "requests": 20, "response": "5kB"}, {"requests": 20, "connections_opened": 1}),
        ({"kind": "request_response", "requests": 4, "per_connection": 1}, {"requests": 4, "connections_opened": 1}),
        ({"kind": "page", "protocol": "h2", "objects": 30, "object_size": "2kB"}, {"objects": 31, "connections_opened": 1}),
        ({"kind": "page", "objects": 30, "object_size": "2kB"}, {"objects": 31, "connections_opened": 1}),
        ({"kind": "incast", "rounds": 2, "total": "20kB"}, {"rounds": 2}),
    ],
    ids=["both", "down", "requests", "connections", "h2", "h1", "incast"],
)
def test_messages_have_streams_of_their_own(streams, app, wanted):
    flow = flow_of(streams, app)
    assert {key: flow[key] for key in wanted} == wanted
    assert flow["completion_s"] is not None and flow["transport_closed"] == 1


def test_captures_have_the_bytes(streams, tmp_path):
    given = world(streams, {"kind": "bulk", "bytes": "5kB"})
    result = pcapng.run(given, None, 1, tmp_path)
    assert result.summary["flows"][0]["completion_s"] == flow_of(streams, {"kind": "bulk", "bytes": "5kB"})["completion_s"]
    content = (tmp_path / "a.pcapng").read_bytes()
    stream = bytes((31 * at + 17 * 2) % 256 for at in range(1000))
    assert content.count(stream) == 5 or stream in content


def test_two_runs_are_equal(streams, tmp_path, capsys):
    (tmp_path / "world.toml").write_text(to_toml(world(streams, {"kind": "bulk", "bytes": "20kB"})))
    assert main(["run", str(tmp_path / "world.toml"), "--twice", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["flows"][0]["delivered_bytes"] == 20_000


@pytest.mark.parametrize("fault", ["RANDOM", "CLOCK"])
def test_what_depends_on_the_machine_does_not(tmp_path, monkeypatch, fault):
    given = world(build(tmp_path, "fault", f"-DFAULT_{fault}"), {"kind": "bulk", "bytes": "20kB"})
    monkeypatch.setenv("TONOPAH_VIRTUAL", "0")
    with pytest.raises(
        tp.AlgorithmError, match=r"^flow\[0\]\.transport: libfault\.so gives two different runs: datagram 2 of a"
    ) as raised:
        run_twice(given, None, 1)
    assert " leaves at 0.04" in str(raised.value) and " s, then at 0.04" in str(raised.value)
    monkeypatch.delenv("TONOPAH_VIRTUAL")
    if not VIRTUAL.is_file():
        pytest.skip("virtual.so is not built")
    assert run_twice(given, None, 1).summary["flows"][0]["delivered_bytes"] == 20_000


def test_a_transport_stands_where_an_algorithm_is_named(streams, tmp_path):
    network = {"kind": "dumbbell", "pairs": 2, "flows": 2, "bottleneck": {"rate": "10Mbps", "delay": "20ms"}}
    given = {"duration": "2s", "network": network, "traffic": {"app": {"kind": "bulk", "bytes": "20kB"}}}
    for cc in (str(streams), {"transport": str(streams), "label": "mine"}):
        flows = tp.run(given, cc=cc).summary["flows"]
        assert [flow["transport"] for flow in flows] == ["native", "native"]
    app = given["traffic"]["app"]
    beside = [
        {"from": "left0", "to": "right0", "cc": str(streams), "app": app},
        {"from": "left1", "to": "right1", "cc": "cubic", "app": app},
    ]
    flows = tp.run(given | {"flow": beside}).summary["flows"]
    assert [flow["cc"] for flow in flows[:2]] == ["streams", "cubic"]
    with pytest.raises(tp.InputError, match=r"flow\[0\]\.transport\.options\.beta: unknown option"):
        tp.run(given | {"flow": [beside[0] | {"cc": {"transport": str(streams), "beta": 1}}]})


def test_a_study_compares_it_and_outlives_its_crash(streams, tmp_path, capsys):
    shutil.copy(streams, tmp_path)
    build(tmp_path, "crash", "-DFAULT_CRASH=1000000000ull")
    network = {"kind": "dumbbell", "pairs": 1, "flows": 1, "bottleneck": {"rate": "10Mbps", "delay": "20ms"}}
    study = {
        "question": "Which is faster?", "replicates": 2, "scenario": {"duration": "2s", "network": network},
        "compare": {"cc": ["cubic", {"transport": "libstreams.so", "label": "mine"}, "libcrash.so"]},
    }  # fmt: skip
    (tmp_path / "study.toml").write_text(to_toml(study))
    command = ["study", "run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), "--jobs", "2"]
    assert main(command) == 1
    error = capsys.readouterr().err
    said = "traffic.transport: libcrash.so ended the process of the run: SIGABRT (Aborted), in on_datagram of "
    assert said in error and "[with libcrash.so, seed" in error and "Traceback" not in error
    build(tmp_path, "crash")
    assert main(command) == 0


def test_what_the_ends_log_is_in_files(tmp_path, capsys):
    plain = (EXAMPLES / "stopwait.c").read_text(encoding="utf-8")
    at = plain.index("{", plain.index("create(const struct tonopah_transport_setup")) + 1
    logged = 'if (s->logs & 1) s->functions->log(s->host, 0, "K 1\\n", 4);s->functions->log(s->host, 2, "hello\\n", 6);'
    library = build(tmp_path, "logs", source=plain[:at] + logged + plain[at:])
    (tmp_path / "world.toml").write_text(to_toml(world(library, {"kind": "bulk", "bytes": "5kB"})))
    command = ["run", str(tmp_path / "world.toml"), "--json"]
    assert main([*command, "--transport-logs", str(tmp_path / "logs"), "--pcap", str(tmp_path)]) == 0
    files = {file.name: file.read_text() for file in (tmp_path / "logs").iterdir()}
    ends = [f"flow0-{end}" for end in ("sink", "source")]
    assert files == {f"{end}.keys": "K 1\n" for end in ends} | {f"{end}.txt": "hello\n" for end in ends}
    assert (tmp_path / "logs" / "flow0-sink.keys").stat().st_mode & 0o777 == 0o600
    # The keys are in the capture: block type 10, kind TLSK, length.
    assert b"\x0a\0\0\0\x1c\0\0\0KSLT\x08\0\0\0K 1\nK 1\n" in (tmp_path / "a.pcapng").read_bytes()
    capsys.readouterr()
    (tmp_path / "ours.toml").write_text(to_toml({"duration": "1s", "network": {"kind": "dumbbell", "pairs": 1, "flows": 1}}))
    assert main(["run", str(tmp_path / "ours.toml"), "--transport-logs", str(tmp_path / "none")]) == 2
    assert "--transport-logs: no flow has a transport in a library" in capsys.readouterr().err
