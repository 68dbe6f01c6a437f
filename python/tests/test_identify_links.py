"""`tonopah identify`: who shared the link, what it carries, few candidates, and what the developers' command counts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tonopah as tp
from tonopah.identification.api import NONE, Identification
from tonopah.identification.features import features
from tonopah.identification.judging import Judge
from tonopah.identification.link import BESIDE, PathOf, company_of, crowd, estimate
from tonopah.identification.page import untold
from tonopah.identification.sending import Seen, Sending, curve, read
from tonopah.identification.simulations import Drawn, Simulated, candidates_of, others_than, world
from tonopah_dev import identify as measured
from tonopah_dev.identify import Link, Trial, alike, capture, missed

DATA = Path(__file__).parent / "data" / "identify"
MSS = 1448
PACKET_S = 0.0012
"""A packet of 1500 B at 10 Mb/s."""
FEW = ["reno", "cubic", "bbr", "vegas", "htcp", "bic", "scalable", "veno"]


def acked_at(times, rtt=0.05):
    """A sender whose packets are acknowledged at some times, each after a wait."""
    total = MSS * np.arange(1, len(times) + 1)
    waits = np.full(len(times), rtt) if np.isscalar(rtt) else rtt
    outstanding = curve(times, np.full(len(times), 60 * MSS))
    return Sending(outstanding, curve(times, total), curve(times, waits), np.array([5.0]), MSS, float(times[-1]))


def line(sending):
    return estimate(sending, None, 0.02, None, None, "x")


def test_the_rate_is_that_at_which_packets_leave_that_wait():
    """Half of each second nothing waits, and packets leave at half the rate: the mean is no rate of the link."""
    gaps = np.concatenate([np.r_[np.full(417, PACKET_S), np.full(208, 2 * PACKET_S)] for _ in range(30)])
    waits = np.where(gaps == PACKET_S, 0.06, 0.0412)
    found = estimate(acked_at(np.cumsum(gaps), waits), None, None, None, None, "x")
    assert found.rate_bps == pytest.approx(10e6, rel=1e-3)


def with_others(share, noise_s=0.0):
    """Packets that leave at the rate, but for bursts of fourteen packets of others in between."""
    rng = np.random.default_rng(1)
    gaps = np.full(40_000, PACKET_S)
    bursts = rng.choice(len(gaps), round(share * len(gaps) / 14), replace=False)
    gaps[bursts] += 14 * PACKET_S
    times = np.cumsum(gaps)
    return acked_at(np.sort(times + rng.normal(0, noise_s, len(times))) if noise_s else times)


@pytest.mark.parametrize("share", [0.01, 0.03])
def test_what_others_took_is_seen(share):
    sending = with_others(share)
    company, rate = company_of(Seen(sending, "", 1, "sender"), line(sending), "auto")
    assert company.kind == "short" and company.load == pytest.approx(share, rel=0.15)
    assert rate == pytest.approx(10e6, rel=1e-3)


def test_a_flow_alone_has_no_company():
    for noise_s in (0.0, 1e-4, 5e-4):
        sending = with_others(0.0, noise_s)
        assert crowd(sending, line(sending))[0] == 0.0
    # Samples are read at times of their own.
    seen = Seen(with_others(0.01), "", 1, "sender", sampled=True)
    assert company_of(seen, line(seen.sending), "auto")[0].kind == "none"
    assert [company_of(seen, line(seen.sending), name)[0].kind for name in BESIDE[1:]] == ["none", "cubic", "short"]


def test_short_flows_are_simulated_where_they_were_seen():
    one = Drawn(1.0, 1.0, 0.0, 4e6, 0.5, True, 1.2, 2e4)
    path, company = (
        PathOf(10e6, 0.02, 33, MSS, ()),
        company_of(Seen(with_others(0.01), "", 1, "s"), line(with_others(0.01)), "auto"),
    )
    made = world(path, "reno", 20.0, one, company[0], 0, None)
    assert made["network"]["pairs"] == 2 and len(made["flow"]) == 1
    assert made["workload"][0]["arrivals"]["load"] == pytest.approx(1.2 * company[0].load)
    assert "workload" not in world(path, "reno", 20.0, one, replace(company[0], kind="none"), 0, None)


def test_a_queue_moves_by_a_packet_at_least():
    path, company = PathOf(10e6, 0.02, 8, MSS, ()), company_of(Seen(with_others(0.0), "", 1, "s"), line(with_others(0.0)), "none")
    limits = [
        world(path, "reno", 20.0, Drawn(1.0, 1.0, place, 4e6, 0.5, True, 1.0, 2e4), company[0], 0, None)
        for place in (-0.9, 0.0, 0.9)
    ]
    assert [one["network"]["bottleneck"]["queue"]["limit"] for one in limits] == ["7p", "8p", "9p"]


def test_a_sender_beside_short_flows_is_named(tmp_path):
    """With the candidates alone on the link it is none of ours: losses come when others' packets do."""
    link = Link(5, 40, 20, 30)
    flows = {
        "name": "short", "from": ["left1"], "to": ["right1"], "size": {"kind": "constant", "bytes": "20kB"},
        "arrivals": {"kind": "poisson", "load": 0.01, "link": ["r0", "r1"]},
    }  # fmt: skip
    made = capture(link, {"name": "cubic", "profile": "linux"}, 1, tmp_path, pairs=2, workload=[flows])
    found = tp.identify(made["sender"], candidates=FEW)
    assert found.answer == "cubic" and found.beside == "short" and any("short flows" in note for note in found.notes)
    assert "taken for such" in " ".join(untold(found))


def test_few_candidates_are_no_reason_to_name_one():
    """BBR is neither Reno nor CUBIC."""
    assert tp.identify(DATA / "v3.pcapng.xz", candidates=["reno", "cubic"], seconds=20).answer == NONE
    alone = tp.identify(DATA / "v3.pcapng.xz", candidates=["vegas"], seconds=20)
    assert alone.answer == NONE and [one.candidate for one in alone.ranking] == ["vegas"]
    assert tp.identify(DATA / "v3.pcapng.xz", candidates=["bbr", "cubic"], seconds=20).answer == "bbr"


def test_what_was_not_read_is_said():
    """A capture of 1 Gb/s is cut at 256 MB of data, as any is at `--seconds`."""
    notes = read(DATA / "v3.pcapng.xz", 0, 5.0).notes
    assert any(" s the first 4.9" in note and "are compared" in note for note in notes), notes
    assert read(DATA / "v3.pcapng.xz", 0, 300.0).notes == ()


def test_a_twin_left_in_is_no_example_of_a_stranger():
    """Reno and BIC do the same where nothing is lost: one without the other present is known all the same."""
    rows = np.zeros((12, 3))
    rows[:, 0] = [5.0, 5.1, 5.2, 5.3, 5.0, 5.1, 5.2, 5.3, 20.0, 20.1, 20.2, 20.3]
    owner, draw = np.divmod(np.arange(12), 4)
    judge = Judge(Simulated(candidates_of(["reno", "bic", "vegas"]), rows, owner, draw))
    assert judge.twin[0, 1] and judge.judge(np.array([5.15, 0.0, 0.0])).unknown < 0.05


def test_others_are_no_kin_of_few_candidates():
    assert [one.name for one in others_than(candidates_of(["lp", {"name": "cubic", "profile": "rfc"}]))] == [
        "bbr", "vegas", "htcp", "westwood"
    ]  # fmt: skip
    assert others_than(candidates_of(FEW)) == []


def test_a_queue_without_end_hides_no_difference():
    """What fills it is far from the trace, and no further: the spread of simulations is what distances are measured in."""
    times = np.linspace(0, 60, 6001)
    path = PathOf(10e6, 0.02, 10_000, MSS, ())
    full = replace(acked_at(times), outstanding=curve(times, np.full(6001, 1e9)))
    assert full.below(2e5).outstanding[:, 1].max() == 2e5 and full.below(2e5).outstanding[-1, 0] == 60
    assert features(full.below(2e5), path)[:7].max() < 10 < features(full, path)[:7].max()


def test_parameters_of_a_cubic():
    found = tp.identify(DATA / "v1.pcapng.xz", candidates=["cubic", "reno"], parameters=True).parameters
    assert found.beta == pytest.approx(0.7, abs=0.05) and found.c_low <= 0.4 <= found.c_high and found.hystart


def test_what_is_no_cubic_has_no_parameters():
    found = tp.identify(DATA / "v4.pcapng.xz", candidates=["vegas", "cubic"], parameters=True, seconds=20)
    assert found.parameters is None and any("no form of CUBIC" in note for note in found.notes)


def identification(answer, confidence=0.9):
    return Identification("x", "x", 1, "sender", 1.0, {"estimated": []}, "none", answer, (), confidence, 0.1, (), None, (), "0")


def test_what_does_not_hold_is_said():
    assert ("reno", "linux") in alike("lp") and alike("bic") == (("bic", "linux"),)
    assert ("cubic", "rfc") in alike("cubic", kin=True) and ("cubic", "rfc") not in alike("cubic")
    stranger = Trial("x", (), identification(NONE), 1.0)
    wrong = Trial("x", (), identification("reno", 0.99), 1.0)
    assert stranger.is_right and not wrong.is_right
    assert list(missed("strangers", [stranger])) == [] and len(list(missed("strangers", [stranger, wrong]))) == 1
    assert any("0.98" in text for text in missed("fresh", [wrong]))
    assert any("60 s" in text for text in missed("fast", [replace(stranger, took_s=61.0)]))
    assert set(measured.PARTS) >= {"captures", "sides", "fresh", "beside", "parameters", "cubics", "fast"}
