"""`tonopah identify`: what is read of a trace, its link, the features, the answer."""

import json
import lzma
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tonopah as tp
from tonopah.cli import main
from tonopah.identification import check
from tonopah.identification.api import LITTLE, NONE, identify_sending
from tonopah.identification.features import BANDS, GROUPS, QUANTILES, WEIGHTS, episodes, features
from tonopah.identification.judging import Judge, logistic, probability
from tonopah.identification.link import UNKNOWN_QUEUE, PathOf, capacity_bps, estimate
from tonopah.identification.sending import Acking, Acks, Sending, acking_of, curve, read
from tonopah.identification.simulations import Simulated, candidates_of, drawn, receiver
from tonopah.scenario.document import to_toml
from tonopah.validate.trace.capture import ACK, CapturedPacket
from tonopah_dev.identify import CUBICS, Link, capture

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
    few = ["reno", "cubic", "bbr", "vegas", "htcp", "bic", "scalable", "veno", "compound"]
    return {name: tp.identify(DATA / f"{name}.pcapng.xz", candidates=few) for name in ("v1", "v2", "v3", "v4", "v5", "v6")}


@pytest.mark.parametrize("name", ["v1", "v2", "v3", "v4", "v5"])
def test_a_capture_is_named(answers, name):
    found = answers[name]
    assert found.answer == ANSWERS[name]["algorithm"] and found.captured_at == ANSWERS[name]["captured_at"]
    assert found.link["rate_bps"] == pytest.approx(1e6 * ANSWERS[name]["rate_mbps"], rel=0.02)
    assert found.link["delay_s"] == pytest.approx(ANSWERS[name]["rtt_ms"] / 2e3, rel=0.02)
    assert found.link["queue_packets"] == pytest.approx(ANSWERS[name]["queue_packets"], abs=1)
    assert found.confidence > 0.6 and found.ranking[0].distance <= found.ranking[1].distance


def test_a_sender_that_is_no_candidate_is_none_of_ours(answers):
    found = answers["v6"]
    assert found.answer == NONE and found.confidence > 0.7 and found.also == ()


def test_the_same_file_gives_the_same_answer(answers):
    few = ["reno", "cubic", "bbr", "vegas", "htcp", "bic", "scalable", "veno", "compound"]
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
    assert "What it could not tell" in page and "Whether short flows shared the link." in page
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


def test_where_a_receiver_begins_to_delay_its_acks():
    """The captures are of receivers whose window opens by two segments for each that arrives, up to 8 MiB."""
    for name in ("v1", "v2"):
        acking = read(DATA / f"{name}.pcapng.xz", 0, 300.0).sending.acking
        assert acking.every == 2 and acking.singly_bytes == pytest.approx(2**23 / 2, rel=0.01)
    steps = np.r_[np.ones(300), np.full(200, 3)]
    acked = curve(0.01 * np.arange(500), MSS * np.cumsum(steps))
    assert acking_of(acked, sent([0, 1])) == Acking(300 * MSS, 3)
    assert acking_of(acked[:300], sent([0, 1])) == Acking()
    # What follows a retransmission says nothing: a receiver acknowledges what arrives out of order at once.
    lost = replace(sent([0, 1], [3.5]), rtt=curve([0.0], [0.5]))
    steps = np.r_[np.ones(300), np.full(60, 2), np.ones(70), np.full(70, 2)]
    assert acking_of(curve(acked[:, 0], MSS * np.cumsum(steps)), lost) == Acking(300 * MSS, 2)


def test_a_receiver_that_nobody_has_tuned_delays_acks_before_its_window_opens(tmp_path):
    """HyStart sees no train of ACKs there; beside receivers that acknowledge each segment CUBIC was taken for one without it."""
    steps = np.r_[np.ones(26), np.full(6, 2), np.ones(400), np.full(200, 2)]
    assert acking_of(curve(0.01 * np.arange(len(steps)), MSS * np.cumsum(steps)), sent([0, 1])) == Acking(438 * MSS, 2, True)
    assert receiver(LINE, Acking(438 * MSS, 2, True), 1e6) == {"buffers": "stock", "ack_every": 2}
    made = capture(Link(10, 40, 33, 20), {"name": "cubic", "profile": "linux"}, 1, tmp_path)
    for path in made.values():
        assert read(path, 0, 20.0).sending.acking.is_stock
        found = tp.identify(path, candidates=CUBICS)
        assert (found.answer, found.ranking[0].candidate, found.ranking[0].profile) == ("cubic", "cubic", "linux")


def test_a_simulated_receiver_delays_its_acks_where_that_of_the_trace_did():
    assert receiver(LINE, Acking(5_000_000, 3), 1e6) == {
        "recv_buffer": f"{65_535 + 10_000_000}B", "initial_recv_window": "65535B", "ack_every": 3
    }  # fmt: skip
    assert receiver(LINE, Acking(), 1e6)["initial_recv_window"] == "65535B"
    assert receiver(LINE, None, 3e6)["recv_buffer"] == f"{65_535 + 6_000_000}B"
    # It delays before a window has opened that is enough for the path: it was open from the start.
    enough = int(4 * (LINE.bdp_bytes + 40 * MSS))
    assert receiver(LINE, Acking(0.0, 2), 1e6) == {
        "recv_buffer": f"{enough}B", "initial_recv_window": f"{enough}B", "ack_every": 2
    }  # fmt: skip


def test_draws_fill_their_ranges():
    found = drawn(6, 1)
    assert found == drawn(6, 1) != drawn(6, 2)
    for name, middle, share in (("rate", 1, 0.01), ("rtt", 1, 0.02), ("queue", 0, 1)):
        parts = sorted(int(3 * (1 + (getattr(one, name) - middle) / share)) for one in found)
        assert parts == [0, 1, 2, 3, 4, 5]


def test_a_rhythm_a_little_faster_is_nearly_the_same():
    """A queue of a packet more moves all losses of a minute by a few per cent: that is no other algorithm."""

    def rhythm(teeth):
        times = np.linspace(0, 60, 6001)
        start = len(QUANTILES)
        return features(sent(40_000 + 40_000 * (times * teeth / 60 % 1)), LINE)[start : start + len(BANDS)]

    own, near, far = rhythm(25), rhythm(25.6), rhythm(16)
    assert np.abs(near - own).sum() < 0.25 * np.abs(far - own).sum()


def test_recordings_of_linux_reduce_to_what_is_compared():
    """The smoothed RTT shows the queue: 33 and 200 packets wait, and one more is in transmission."""
    for case in check.recordings():
        if case.kernel == "6.1" and case.cc[0] in ("reno", "cubic", "bic", "scalable"):
            facts = check.curves(case)
            first, rtt = facts["rtt"][0], facts["rtt"][1:]
            seen = Sending(
                curve(facts["t_s"], facts["outstanding_bytes"]), curve(facts["t_s"], facts["delivered_bytes"]), rtt,
                facts["retransmissions_s"], 1448, float(facts["t_s"][-1]),
            )  # fmt: skip
            found = estimate(seen, None, None, None, first[1], "x")
            assert first[0] == 0 and found.rate_bps == pytest.approx(1e6 * case.mbps, rel=0.002)
            assert found.delay_s == pytest.approx(case.owd_ms / 1e3, rel=0.005)
            assert found.queue_packets == pytest.approx(case.queue, rel=0.025)


def test_a_recording_is_checked(tmp_path):
    case = next(one for one in check.recordings() if one.id == "6.1/highspeed-10mbit-40ms-1bdp")
    found = check.checked(case, ["highspeed", "reno", "cubic", "bic", "vegas"])
    assert found.right and found.place == 0 and found.in_set and found.unknown_without and found.found.answer == "highspeed"
    assert [one for one in check.missed([found]) if "none of ours" in one] == []
    wrong = [replace(found, right=False, place=4, in_set=False, unknown_without=False)]
    assert len(list(check.missed(wrong))) >= 4
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- check -->\nold\n<!-- /check -->\nb\n")
    check.write_table(page, check.table([found]))
    assert "| 10 Mb/s, 40 ms | 1 | 1 | 1 | 0 | 1 |" in page.read_text() and "old" not in page.read_text()
    with pytest.raises(tp.InputError, match="checkout"):
        check.curves(case, tmp_path)


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
    # All are right: without a gap it is one of two all the same.
    gaps = np.linspace(0.1, 2, 100)[:, None]
    sure = np.append(logistic(gaps, np.ones(100), constant=False), 0.0)
    assert probability(sure, [0.0]) == 0.5 and probability(sure, [0.1]) < 0.9 < probability(sure, [2.0])


def judge_of(rows, names=("reno", "vegas", "bic"), draws=4):
    """A judge of simulations whose first feature is given for each candidate and drawn link."""
    owner, draw = np.divmod(np.arange(len(names) * draws), draws)
    table = np.zeros((len(owner), 3))
    table[:, 0] = np.asarray(rows, float).ravel()
    return Judge(Simulated(candidates_of(names), table, owner, draw))


def test_simulations_are_judged_by_those_over_other_links():
    """What two candidates do over the same drawn link is alike for that reason: a trace has a link of its own."""
    judge = judge_of([[0, 1, 2, 3], [0.01, 1.01, 2.01, 3.01], [20, 21, 22, 23]])
    unit = judge.standard.scale[0] * 3
    assert judge.left_out[0][0] == pytest.approx((1 + 2 + 3) / 3 / unit)
    assert judge.left_out[0][1] == pytest.approx((1.01 + 2.01 + 3.01) / 3 / unit)
    assert judge.twin[0, 1] and not judge.twin[0, 2]


def test_a_sender_that_does_the_same_over_every_link_is_judged():
    """A window that no loss ends is the same for each draw: distances are 0."""
    judge = judge_of([[5, 5, 5, 5], [0, 1, 2, 3], [20, 21, 22, 23]])
    found = judge.judge(np.array([5.0, 0.0, 0.0]))
    assert found.order[0] == 0 and found.confidence > 0.9 and 0 <= found.unknown < 0.5


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
        ([], "FILE"),
        (["--check", "--seconds", "3"], "--seconds: has no effect with --check"),
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
