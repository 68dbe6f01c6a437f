"""Laws and published results: the cases, the verdict on known values, the command line."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tonopah.errors import InputError
from tonopah.template import RESULTS, read_results
from tonopah.validate.frame import compare, select
from tonopah_dev.published import comparison as published
from tonopah_dev.published import growth as published_growth
from tonopah_dev.published import page as published_page
from tonopah_dev.published import queues as published_queues
from tonopah_dev.published import worlds as published_worlds
from tonopah_dev.published.__main__ import main as published_command
from tonopah_dev.published.cases import all_cases

AGAINST = published.AgainstPublished()


def case(name):
    return select(AGAINST, name)[0]


def call(capsys, *arguments):
    code = published_command(arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_every_case_has_a_name_of_its_own_and_a_reference_within_its_range():
    cases = all_cases()
    assert len({one.name for one in cases}) == len(cases)
    assert all(one.low <= one.reference <= one.high and one.source for one in cases)


@pytest.mark.parametrize(
    ("values", "word"),
    [([14.0, 15.0, 14.5, 15.5], "agrees"), ([12.0, 15.0, 13.0, 11.0], "not shown"), ([18.0, 18.1, 18.2, 18.1], "DISAGREES")],
)
def test_the_whole_interval_has_to_lie_within_a_fifth_of_the_target_of_pie(values, word):
    found = published.judge(case("pie/15-ms-20-flows"), values)
    assert (found.word, found.met) == (word, word == "agrees")


def test_an_interval_stays_within_the_bounds_of_its_quantity():
    shares = published.judge(case("ledbat/beside-reno"), [0.001, 0.002, 0.09, 0.004]).estimate
    assert 0 < shares.low < shares.value < shares.high < 1
    percent = published.judge(case("bbr-loss/0.25"), [0.5, 1.0, 12.0, 2.0]).estimate
    assert 0 < percent.low < percent.high < 100


def test_a_family_on_one_side_of_its_references_is_said():
    cases = select(AGAINST, "bbr-cubic/*-bdp")
    above = [published.judge(one, [one.reference + 0.01, one.reference + 0.02] * 2) for one in cases]
    (bias,) = published.biases(above)
    assert (bias.above, bias.below) == (6, 0) and bias.p == pytest.approx(2 / 2**6)
    assert "6 of 6 above the reference" in AGAINST.notes(above)[-1]
    assert not published.biases(above[:3]), "three cases say nothing"


def test_shares_of_linux_are_of_what_both_flows_have_not_of_the_link():
    # The first trial at 1 BDP: 8.152 and 1.267 Mb/s on a link of 10.
    assert case("bbr-cubic/1-bdp").reference == pytest.approx(8.152325 / (8.152325 + 1.267275), abs=0.005)


def test_what_is_not_a_number_does_not_agree():
    assert not published.judge(case("backoff/2-s"), [math.nan]).met


def test_a_sender_that_breaks_the_law_disagrees():
    law = case("initial-window/3-of-30")
    assert compare(AGAINST, [law])[0].met
    world = replace(law.world, tcp={**law.world.tcp, "initial_window": "10p"})
    assert not compare(AGAINST, [replace(law, world=world)])[0].met


def test_the_ratio_to_pftk_is_that_of_equation_30():
    law = case("pftk/0.01")
    # p = 0.01, b = 2, RTT 0.1 s, T0 1 s: 1 / (0.1 sqrt(0.04 / 3) + 3 sqrt(0.0075) 0.01 1.0032) = 70.63 packets/s.
    flow = {"recovery_count": 9, "rto_count": 1, "sent_packets": 1000, "goodput_bps": 70.63 * 8 * 1448}
    assert published_worlds.pftk_ratio(law.world, {"flows": [flow]}, {}) == pytest.approx(1.0, rel=1e-3)


def test_the_exponent_is_one_where_rates_are_inverse_to_rtts():
    law = case("rtt-exponent/reno")
    flows = [{"goodput_bps": 4e6}] * 4 + [{"goodput_bps": 1e6}] * 4
    assert published_worlds.rtt_exponent(law.world, {"flows": flows}, {}) == pytest.approx(1.0)


def test_the_command_prints_json_and_fails_only_with_check(capsys, monkeypatch):
    code, out, _ = call(capsys, "--check", "--json", "--case", "backoff/2-s")
    row = json.loads(out)[0]
    assert code == 0 and row["met"] and row["ours"] == pytest.approx(3.0, abs=0.05)
    monkeypatch.setattr(published.PublishedResult, "met", property(lambda self: False))
    assert call(capsys, "--check", "--json", "--case", "backoff/2-s")[0] == 1
    assert call(capsys, "--json", "--case", "backoff/2-s")[0] == 0


def test_the_page_shows_every_case_and_counts_those_that_agree(tmp_path):
    results = [published.judge(case("pie/15-ms-20-flows"), [15.0, 15.2, 15.4]), published.judge(case("backoff/2-s"), [7.0])]
    page = published_page.write(results, tmp_path).read_text()
    assert "1 of 2 numbers agree" in page
    assert "| backoff/2-s | until heard, s | 3 | 2.9 … 3.2 | 7 | DISAGREES |" in page


def test_a_case_that_does_not_exist_is_an_error_with_the_groups():
    with pytest.raises(InputError, match="matches no case"):
        select(AGAINST, "nothing/*")


def test_every_case_that_disagrees_has_a_cause_and_no_other_case_has_one():
    results = Path(__file__).parents[2] / "docs" / "generated" / "validation-published" / RESULTS
    if not results.is_file():
        pytest.skip("no checkout")
    verdicts = {row[0]: row[published_page.COLUMNS.index("")] for row in read_results(results)["rows"]}
    assert list(verdicts) == [one.name for one in all_cases()]
    explained = {one.name for one in all_cases() if one.cause}
    assert {name for name, verdict in verdicts.items() if verdict == "DISAGREES"} <= explained
    assert explained & {name for name, verdict in verdicts.items() if verdict == "agrees"} == set()


def test_a_case_with_a_cause_disagrees():
    cases = [one for one in all_cases() if one.cause]
    assert [result.case.name for result in compare(AGAINST, cases) if result.met] == []


def test_the_page_shows_the_cause_only_of_what_disagrees(tmp_path):
    of = replace(case("backoff/2-s"), cause="The timer is late.")
    assert "- `backoff/2-s`: The timer is late." in published_page.text([published.judge(of, [7.0])])
    right = published_page.text([published.judge(of, [3.0])])
    assert "The timer is late" not in right and right.endswith("None.\n")
    assert "`backoff/2-s`: the cause is not known." in published_page.text([published.judge(case("backoff/2-s"), [7.0])])


QUICK = (
    "hystart/50-mbps", "codel-law/*", "dctcp-amplitude/2-flows", "ledbat/latecomer", "tail/*", "incast/16-servers-*",
    "access/atm-steps/*", "access/pppoe-goodput", "access/tbf-*", "access/policer/1400B", "access/docsis-mpu/1472",
    "lrwpan/ping*", "wifi-a/*", "wifi-b/anomaly", "starlink/*",
)  # fmt: skip


def test_a_part_of_the_laws_holds():
    cases = [one for glob in QUICK for one in select(AGAINST, glob)]
    assert [result.case.name for result in compare(AGAINST, cases) if not result.met] == []


def test_senders_that_break_a_law_disagree():
    tail, burst = case("tail/2-of-10"), case("incast/16-servers-1-ms")
    broken = [
        replace(tail, world=replace(tail.world, tcp={**tail.world.tcp, "tlp": False})),
        replace(burst, world=replace(burst.world, tcp={**burst.world.tcp, "rto_min": "200ms"})),
    ]
    assert [result.met for result in compare(AGAINST, broken)] == [False, False]


def test_the_laws_have_the_values_of_their_sources():
    # RFC 3649 §8 and Kelly 2003: Scalable has 0.08 / p at its peak; the mean of its swing is 0.93 of that.
    assert published_growth.scalable(1e-4) == pytest.approx(745, rel=1e-3)
    # Reno by the same formula: sqrt(3 / 2 / p).
    assert published_growth.aimd(1e-4, 1, 0.5) == pytest.approx(122.5, abs=0.1)
    # Compound follows p^(-1/(2 - k)) = p^-0.8 (Tan et al. 2006).
    assert published_growth.compound(1e-4) / published_growth.compound(1e-3) == pytest.approx(10**0.8)
    # Without the rests of sums: after t the law has dropped (t / 2 I)^2 of x R t, so that the queue is longest, (x R I)^2, after
    # 2 I^2 x R and empty after twice that.
    drops, peak = published_queues.codel_drops(60, 833.3, 0.1)
    assert peak == pytest.approx(69.4, abs=2)
    assert drops == pytest.approx(277.8, rel=0.03)


def test_the_amplitude_is_that_of_the_teeth():
    law = case("dctcp-amplitude/2-flows")
    times = np.arange(0.1, 0.5, 1e-5)
    # Teeth of 0.4 ms between 20 and 30 packets; another link's queue is not counted.
    values = (20 + 10 * ((times * 2500) % 1)) * 1500
    series = {"queue": {"t_s": np.append(times, 0.2), "id": np.append(np.zeros(len(times)), 1), "value": np.append(values, 9e9)}}
    assert published_worlds.queue_amplitude(law.world, {"flows": [{}] * 2}, series) == pytest.approx(10, abs=0.5)


def test_a_block_lasts_until_its_last_flow_is_done():
    law = case("incast/8-servers-1-ms")
    world = replace(law.world, seconds=2)
    own = 125_000
    rows = [(0.01, flow, own) for flow in range(8)] + [(1.01, flow, 2 * own) for flow in range(7)] + [(1.4, 7, 2 * own)]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    series = {"acked": dict(zip(("t_s", "id", "value"), columns, strict=True))}
    # 2 MB in 0.01 + 0.4 s
    assert published_worlds.block_gbps(world, {"flows": [{}] * 8}, series) == pytest.approx(16e6 / 0.41 / 1e9)
