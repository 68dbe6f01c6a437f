"""Two flows recorded several times: reading, the rank test on made-up numbers, goals, the command line."""

import gzip
import itertools
import json

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.validate.frame import as_json, select
from tonopah.validate.linux import comparison as linux
from tonopah.validate.linux import flow_track as tracks
from tonopah.validate.linux import measures, worlds
from tonopah.validate.linux import two_flows as beside
from tonopah.validate.linux.flow_track import FlowTrack
from tonopah.validate.linux.recordings import LinuxCase, LinuxLibrary, shipped
from tonopah_dev import case_log
from tonopah_dev.converters import linux as convert
from tonopah_dev.pages import validation as page

AGAINST = linux.AgainstLinux(shipped())


def chosen(pattern):
    """The recorded cases that match."""
    return select(AGAINST, pattern)


SAMPLE = (
    "t_s,ca_state,cwnd_pkts,ssthresh_pkts,srtt_us,rttvar_us,min_rtt_us,unacked,sacked,lost,retrans,total_retrans,reordering,"
    "delivered,bytes_acked,pacing_Bps,delivery_Bps,rto_us"
)


def record(folder, **changes):
    """Write a folder as recorded: one algorithm beside CUBIC with two starts, flow 0 three times as fast."""
    folder.mkdir()
    entries = []
    for start in (1300, 100):
        name = f"tiny-beside-cubic-{start}ms"
        entries.append({"name": name, "cc": "vegas,cubic", "mbps": 10, "owd_ms": 20, "queue": 66, "secs": 2, "flows": 2})
        entries[-1] |= {"stagger_ms": start}
        for flow, rate in ((0, 3000), (1, 1000)):
            times = np.arange(0.04 + flow * start / 1000, 2, 0.05)
            rows = [f"{t:.6f},0,10,2147483647,1,1,1,1,0,0,0,{start},3,10,{1 + rate * i},0,0,1" for i, t in enumerate(times)]
            (folder / f"{name}.flow{flow}.csv.gz").write_bytes(gzip.compress("\n".join([SAMPLE, *rows]).encode()))
    entries[0] |= changes
    (folder / "index.json").write_text(json.dumps({"kernel": "6.1.192, virtual", "mss_bytes": 1448, "cases": entries}))
    return folder


def test_recordings_that_differ_in_the_start_become_one_case(tmp_path):
    library = LinuxLibrary(tmp_path / "made")
    assert convert.convert([record(tmp_path / "recorded")], library.folder) == 1
    (case,) = library.cases
    assert (case.id, case.kind, case.starts_ms, case.flows) == ("6.1/tiny-beside-cubic", "beside", (100, 1300), 2)
    assert [(one.name, one.kind, one.stagger_ms) for one in case.recorded] == [
        ("tiny-beside-cubic-100ms", "shared", 100), ("tiny-beside-cubic-1300ms", "shared", 1300),
    ]  # fmt: skip
    found = linux.recorded_tracks(library, case)
    # Sorted by start: the first has the later start in the index.
    assert [run[1].t_s[0] for run in found] == pytest.approx([0.14, 1.34])
    assert [run[0].retransmits[-1] for run in found] == [100, 1300]
    side = beside.side([[run] for run in found])
    assert np.ravel(side.shares) == pytest.approx(0.75, abs=0.02)
    with pytest.raises(ValueError, match="unpack"):
        linux.kernel_tracks(library, case)


def test_recordings_that_differ_in_more_than_the_start_are_refused(tmp_path):
    with pytest.raises(ValueError, match="more than the start"):
        convert.convert([record(tmp_path / "recorded", queue=33)], tmp_path / "made")


def test_what_is_left_out_is_not_converted(tmp_path):
    assert convert.convert([record(tmp_path / "recorded")], tmp_path / "made", without="*-100ms") == 1
    (case,) = LinuxLibrary(tmp_path / "made").cases
    assert case.starts_ms == (1300,)


def test_shipped_recordings_beside_cubic():
    cases = chosen("*-beside-cubic")
    assert sorted(case.algorithm(0) for case in cases) == ["cubic", "hybla", "lp", "vegas", "westwood", "yeah"]
    for case in cases:
        assert (case.kind, case.starts_ms, case.algorithm(1)) == ("beside", (100, 600, 1300, 2100, 3700), "cubic")
        recorded = linux.recorded_tracks(shipped(), case)
        for run, start in zip(recorded, case.starts_ms, strict=True):
            assert run[0].t_s[0] < 0.05
            # Once the SYN met a full queue and was repeated a second later.
            assert start / 1000 < run[1].t_s[0] < start / 1000 + 1.3
            assert all(flow.t_s[-1] > 59.8 for flow in run)
            # The link carries 10 Mb/s of IP packets with 1448 bytes of payload in 1500.
            assert 0.97 < sum(flow.acked[-1] for flow in run) * 8 / 60e6 / 10 * 1500 / 1448 <= 1.0


def test_a_job_repeats_one_recording():
    (case,) = chosen("6.1/vegas-beside-cubic")
    jobs = linux.repetitions(case)
    assert len(jobs) == len(case.starts_ms) * worlds.REPLICATES
    firsts = [json.loads(job.text)["flow"][1]["start"] for job in jobs if job.seed == 1]
    assert firsts == ["100000us", "600000us", "1300000us", "2100000us", "3700000us"]
    later = [worlds.starts(case.recorded[1], seed)[1] - 600_000 for seed in range(2, 200)]
    # Within five base RTTs of 40 ms, of which one would not do.
    assert 0 <= min(later) < 10_000
    assert 190_000 < max(later) < 200_000


def test_one_block_is_the_test_of_mann_and_whitney():
    draw = np.random.default_rng(1)
    for shift in (0.0, 1.0, 3.0):
        a, b = draw.normal(size=5) + shift, draw.normal(size=9)
        expected = mannwhitneyu(a, b, method="exact").pvalue
        assert beside.blocked_rank_p([list(a)], [list(b)]) == pytest.approx(expected)


def test_p_is_the_part_of_all_arrangements():
    """Against a count of all of them; ties included, and two values of `a` in a block."""
    a, b = [[1.0, 4.0], [2.0, 2.0]], [[1.0, 3.0, 5.0], [0.5, 2.0, 7.0]]
    # Twice the mean ranks, by hand.
    ranks = [[3, 8, 3, 6, 10], [6, 6, 2, 6, 10]]
    sums = [sum(x) + sum(y) for x, y in itertools.product(*(itertools.combinations(block, 2) for block in ranks))]
    found = 3 + 8 + 6 + 6
    expected = 2 * min(sum(s <= found for s in sums), sum(s >= found for s in sums)) / len(sums)
    assert beside.blocked_rank_p(a, b) == pytest.approx(min(1.0, expected))


def blocks(draw, count, shift=0.0):
    """Five starts, each with a level of its own, `count` shares in each."""
    return [[level + shift + 0.02 * draw.standard_normal() for _ in range(count)] for level in (0.3, 0.5, 0.4, 0.7, 0.6)]


def test_a_planted_difference_is_found_and_none_between_equal_ones():
    draw = np.random.default_rng(7)
    found = [beside.blocked_rank_p(blocks(draw, 1, 0.06), blocks(draw, 10)) for _ in range(400)]
    # Even after multiplication by six, Holm's factor for the least p. The levels differ far more than the two sides.
    assert np.mean([6 * p < 0.05 for p in found]) > 0.95
    equal = [beside.blocked_rank_p(blocks(draw, 1), blocks(draw, 10)) for _ in range(2000)]
    assert 0.025 < np.mean([p < 0.05 for p in equal]) < 0.055
    assert beside.blocked_rank_p([[0.5]] * 5, [[0.5] * 10] * 5) == 1.0
    with pytest.raises(ValueError, match="different sizes"):
        beside.blocked_rank_p([[1.0], [2.0]], [[1.0], [2.0, 3.0]])


def flow(rate_bps, start_s=0.0):
    # A sixteenth of a second has no rounding.
    times = np.arange(start_s, 60, 1 / 16)
    zero = np.zeros_like(times)
    return FlowTrack(times, zero, zero, zero, zero, rate_bps / 8 * times)


def result(name, shares, kernel, goodput_bps=9e6):
    """A case with these shares of ours and of the kernel, by start."""
    ours = [[[flow(s * goodput_bps), flow((1 - s) * goodput_bps, 1.0)] for s in block] for block in shares]
    theirs = [[flow(s * 9e6), flow((1 - s) * 9e6, 1.0)] for (s,) in kernel]
    case = LinuxCase(name, "6.1", (name, "cubic"), 10, 20, 66, 60, flows=2, starts_ms=(100, 600, 1300, 2100, 3700))
    return measures.LinuxResult(case, beside=beside.compare(ours, theirs))


def test_goals_of_several_recordings():
    draw = np.random.default_rng(3)
    same, other = blocks(draw, 10), blocks(draw, 10, 0.1)
    kernel = blocks(draw, 1)
    found = [result("vegas", same, kernel), result("yeah", other, kernel), result("lp", same, kernel, goodput_bps=8.8e6)]
    measures.adjust_for_number(found)
    assert [[check.met for check in one.checks] for one in found] == [[True, True], [False, True], [True, False]]
    assert [one.met for one in found] == [True, False, False]
    compared = found[1].beside
    assert compared.p_adjusted == pytest.approx(3 * compared.p)
    assert compared.difference.value == pytest.approx(np.mean(other) - np.mean(kernel))
    assert compared.difference.low < 0.1 < compared.difference.high
    assert (compared.ours.count, compared.kernel.count) == (50, 5)
    assert compared.ours.mean_goodput_bps == pytest.approx(9e6)
    assert json.loads(json.dumps(as_json(AGAINST, found[1])))["beside"]["p_adjusted"] == compared.p_adjusted
    text = page.text(shipped(), found)
    assert "fixed before our runs" in text
    assert text.index("Mann and Whitney") < text.index("| case | share %, ours")
    assert "yeah misses a goal, share of yeah" in text
    assert "1 of 3 cases with several recordings agree" in text


def test_payload_counts_while_both_flows_are_there():
    payload, seconds = tracks.moved([flow(8e6), flow(4e6, 10.0)])
    assert seconds == pytest.approx(50 - 1 / 16)
    assert payload == pytest.approx([1e6 * seconds, 0.5e6 * seconds])


def test_command_compares_several_recordings(capsys, monkeypatch, tmp_path):
    """One quick case: two runs for each start, 8 s. Its verdict is not the point, its way from the files to page and JSON is."""
    monkeypatch.setattr(worlds, "REPLICATES", 2)
    whole = worlds.scenario
    monkeypatch.setattr(worlds, "scenario", lambda case, seed=1: whole(case, seed) | {"duration": "8s"})
    page.main([str(tmp_path), "--case", "vegas-beside-cubic", "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["case"], found["kind"], found["recordings"]) == ("6.1/vegas-beside-cubic", "beside", 5)
    ours, kernel = (found["beside"][side]["shares"] for side in ("ours", "kernel"))
    assert [len(block) for block in ours] == [2] * 5
    assert [len(block) for block in kernel] == [1] * 5
    # Each start gives another share; two runs of one start may give the same.
    assert len({share for block in ours for share in block}) >= 5
    assert [goal["name"][:5] for goal in found["goals"]] == ["share", "goodp"]
    text = (tmp_path / "validation.md").read_text()
    assert "| vegas-beside-cubic |" in text
    assert (tmp_path / page.FIGURES / page.SHARES).stat().st_size > 3000
    assert not (tmp_path / page.FIGURES / "linux-6.1.svg").exists()


def test_a_single_recording_of_two_flows_is_called_one_draw(capsys, monkeypatch):
    monkeypatch.setattr(worlds, "REPLICATES", 2)
    monkeypatch.setenv("COLUMNS", "160")
    main.main(["validate", "linux", "--check", "--case", "6.1/vegas-two-flows"])
    printed = capsys.readouterr().out
    assert "1 case with two flows: one recording each, that is one draw of many." in printed
    assert "(one draw)" in printed


def test_logs_of_several_recordings(capsys, tmp_path):
    assert case_log.main(["vegas-beside-cubic", str(tmp_path)]) == 0
    assert len(list(tmp_path.glob("6.1-vegas-beside-cubic-*ms.flow*.txt"))) == 10
    with pytest.raises(InputError, match="no packet log"):
        shipped().packets(chosen("vegas-beside-cubic")[0])


def test_80_columns_cut_no_number(capsys, monkeypatch):
    monkeypatch.setattr(worlds, "REPLICATES", 2)
    monkeypatch.setenv("COLUMNS", "80")
    main.main(["validate", "linux", "--check", "--case", "6.1/vegas-two-flows"])
    linux = capsys.readouterr().out
    main.main(["validate", "queues", "--check", "--case", "codel-5m-40ms-1cubic"])
    for printed in (linux, capsys.readouterr().out):
        assert "pass" in printed and "…" not in printed
        assert max(map(len, printed.splitlines())) <= 80
