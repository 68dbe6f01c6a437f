"""`tonopah identify`: what is read of a trace, its link, the features, the answer."""

import json
import lzma
import random
from pathlib import Path

import numpy as np
import pytest

import tonopah as tp
from tonopah.cli import main
from tonopah.identification.api import LITTLE, NONE, identify_sending
from tonopah.identification.features import GROUPS, WEIGHTS, episodes, features
from tonopah.identification.judging import logistic, probability
from tonopah.identification.link import UNKNOWN_QUEUE, PathOf, capacity_bps, estimate
from tonopah.identification.sending import Acks, Sending, curve, read
from tonopah.scenario.document import to_toml
from tonopah.validate.trace.capture import ACK, CapturedPacket

DATA = Path(__file__).parent / "data" / "identify"
ANSWERS = json.loads((DATA / "answers.json").read_text())
MSS = 1000
LINE = PathOf(8.416e6, 0.02, 40, MSS, ())
"""A link on which 1000 segments of 1000 B and their headers pass in a second."""


def sent(outstanding, retransmissions=(), seconds=60.0):
    times = np.linspace(0, seconds, len(outstanding))
    delivered = np.linspace(0, 1e6 * seconds, len(outstanding))
    return Sending(
        curve(times, outstanding), curve(times, delivered), curve(times, np.full(len(times), 0.05)),
        np.asarray(retransmissions, float), MSS, seconds,
    )  # fmt: skip


@pytest.fixture(scope="module")
def answers():
    """Judgements of the captures, with fewer candidates so that a test takes seconds."""
    few = ["reno", "cubic", "bbr", "vegas", "htcp", "bic", "scalable", "veno"]
    return {name: tp.identify(DATA / f"{name}.pcapng.xz", candidates=few) for name in ("v1", "v2", "v3", "v4", "v6")}


@pytest.mark.parametrize("name", ["v1", "v2", "v3", "v4"])
def test_a_capture_is_named(answers, name):
    found = answers[name]
    assert found.answer == ANSWERS[name]["algorithm"] and found.captured_at == ANSWERS[name]["captured_at"]
    assert found.link["rate_bps"] == pytest.approx(1e6 * ANSWERS[name]["rate_mbps"], rel=0.02)
    assert found.link["delay_s"] == pytest.approx(ANSWERS[name]["rtt_ms"] / 2e3, rel=0.02)
    assert found.link["queue_packets"] == pytest.approx(ANSWERS[name]["queue_packets"], abs=1)
    assert found.confidence > 0.9 and found.ranking[0].distance <= found.ranking[1].distance


def test_a_sender_that_is_no_candidate_is_none_of_ours(answers):
    found = answers["v6"]
    assert found.answer == NONE and found.confidence > 0.7 and found.also == ()


def test_the_same_file_gives_the_same_answer(answers):
    few = ["reno", "cubic", "bbr", "vegas", "htcp", "bic", "scalable", "veno"]
    assert tp.identify(DATA / "v1.pcapng.xz", candidates=few).json == answers["v1"].json
    assert set(answers["v1"].json) == {
        "file", "connection", "connections", "captured_at", "seconds", "link", "beside", "answer", "also", "confidence",
        "unknown", "ranking", "parameters", "notes", "version",
    }  # fmt: skip


def test_company_is_seen():
    found = tp.identify(DATA / "v7.pcapng.xz", candidates=["reno", "cubic", "bic", "vegas"])
    assert found.beside == "cubic" and "cubic" in [one.candidate for one in found.ranking[:3]]
    assert any("CUBIC flow beside" in note for note in found.notes)


def test_both_sides_show_the_same_window():
    """What the receiver's timestamps say of the sender's window is what the sender's own capture says."""
    sides = [read(DATA / f"{name}.pcapng.xz", 0, 300.0).sending for name in ("v1", "v2")]
    assert [read(DATA / f"{name}.pcapng.xz", 0, 300.0).captured_at for name in ("v1", "v2")] == ["sender", "receiver"]
    # Reno's window at the receiver: it falls by half at each loss.
    found = episodes(sides[1], estimate(sides[1], None, None, None, None, "v2"))
    assert len(found.drops) >= 3 and found.drops.mean() == pytest.approx(0.5, abs=0.05)


def test_the_page_says_what_was_found(answers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["identify", str(DATA / "v1.pcapng.xz"), "--candidates", "cubic,reno,vegas"]
    assert main.main(command) == 0
    said = capsys.readouterr()
    assert "answer: cubic" in said.out and "wrote v1-identify.html" in said.err
    page = (tmp_path / "v1-identify.html").read_text()
    assert "answer: cubic" in page and "<svg" in page and "falls to" in page
    assert main.main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "cubic"


def test_a_receiver_without_timestamps_says_why_nothing_is_seen(tmp_path):
    from tonopah.identification.sending import at_receiver

    one, two = ("a", 1), ("b", 2)
    packets = [CapturedPacket(0, one, two, 1, 1, ACK, 100, 152), CapturedPacket(10, two, one, 1, 101, ACK, 0, 52)]
    with pytest.raises(tp.InputError, match="without timestamps"):
        at_receiver(packets, "x")


def test_what_a_receiver_had_acknowledged_by_timestamp():
    acks = Acks()
    for t_ns, ack, value in ((0, 0, 100), (5, 1000, 101), (6, 2000, 101), (9, 3000, 104)):
        acks.add(CapturedPacket(t_ns, ("b", 2), ("a", 1), 1, ack, ACK, 0, 52, stamp=(value, 1)), 0)
    assert acks.before(99) == (0, None, False)
    assert acks.before(101) == (2000, 5, True) and acks.before(102) == (2000, 5, False) and acks.before(104) == (3000, 9, True)


def test_features_of_a_sawtooth():
    times = np.linspace(0, 60, 6001)
    saw = 40_000 + 40_000 * (times % 5) / 5
    found = sent(saw, np.arange(5, 60, 5))
    seen = episodes(found, LINE)
    assert len(seen.starts_s) == 11 and np.allclose(np.diff(seen.starts_s), 5)
    assert seen.drops == pytest.approx(np.full(10, 0.51), abs=0.05)
    row = features(found, LINE)
    assert len(row) == len(WEIGHTS) == sum(count for _, count, _ in GROUPS) and np.isfinite(row).all()
    level = row[:7] / 2
    assert level[3] == pytest.approx(60_000 / LINE.bdp_bytes, rel=0.02)


def test_the_link_of_a_trace():
    times = np.arange(0, 30, 0.01)
    rtt = 0.0410 + 0.02 * (times % 5) / 5
    link = Sending(curve(times, 1e4 + times), curve(times, 1e6 * times), curve(times, rtt), np.array([5.0]), MSS, 30.0)
    found = estimate(link, None, None, None, None, "x")
    assert found.rate_bps == pytest.approx(8 * 1e6 * 1.052, rel=0.01)
    assert found.queue_packets == pytest.approx(20, abs=1)
    quiet = Sending(link.outstanding, link.delivered, link.rtt, np.zeros(0), MSS, 30.0)
    assert estimate(quiet, None, None, None, None, "x").queue_packets == UNKNOWN_QUEUE
    assert capacity_bps(link) == pytest.approx(8 * 1e6 * 1.052, rel=0.03)


def test_regression():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2000, 1))
    y = (rng.random(2000) < 1 / (1 + np.exp(-(2 * x[:, 0] - 1)))).astype(float)
    weights = logistic(x, y)
    assert probability(weights, [0.5]) == pytest.approx(0.5, abs=0.06)
    assert probability(weights, [3.0]) > 0.95


def test_too_little_data_has_its_reason():
    found = identify_sending([0, 1, 2], [0, 2000, 0], [0, 0, 2000], [(1.0, 0.04)], [], MSS, rate="8Mbps")
    assert found.answer == LITTLE and "round trips" in found.notes[-1] and found.confidence is None


def test_an_application_that_limits_is_not_judged(tmp_path):
    scenario = {
        "duration": "20s",
        "network": {
            "kind": "dumbbell", "pairs": 1, "flows": 0, "bottleneck": {"rate": "10Mbps", "delay": "20ms", "queue": "33p"},
        },
        "tcp": {"profile": "linux", "cc": "cubic"},
        "flow": [{"from": "left0", "to": "right0", "app": {"kind": "cbr", "rate": "5Mbps", "size": "1448B"}}],
    }  # fmt: skip
    file = tmp_path / "cbr.toml"
    file.write_text(to_toml(scenario))
    assert main.main(["run", str(file), "--pcap", str(tmp_path / "caps")]) == 0
    captures = sorted((tmp_path / "caps").glob("*"))
    capture = next(one for one in captures if "left0" in one.name)
    found = tp.identify(capture, candidates=["reno", "cubic"])
    assert found.answer == LITTLE and "application" in found.notes[-1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.pcap"], "nothing.pcap"),
        ([str(DATA / "v1.pcapng.xz"), "--candidates", "cubik"], "did you mean cubic?"),
        ([str(DATA / "v1.pcapng.xz"), "--beside", "bbr"], "known: auto, none, cubic"),
        ([str(DATA / "v1.pcapng.xz"), "--connection", "3"], "is not there"),
        ([str(DATA / "v1.pcapng.xz"), "--rate", "fast"], "--rate"),
        ([str(DATA / "v1.pcapng.xz"), "--seconds", "-1"], "is no time"),
    ],
)
def test_wrong_input_is_one_sentence(arguments, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main.main(["identify", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error


def test_a_capture_that_is_cut_anywhere_raises_nothing_else(tmp_path):
    whole, rng = lzma.decompress((DATA / "v3.pcapng.xz").read_bytes()), random.Random(1)
    for _ in range(20):
        cut = tmp_path / "cut.pcapng"
        cut.write_bytes(whole[: rng.randrange(len(whole) // 8)])
        try:
            found = tp.identify(cut, candidates=["reno", "vegas"], seconds=5.0)
        except tp.InputError:
            continue
        assert found.answer
