"""Laws and published results: the cases, the verdict on known values, the command line."""

import json
import math
from dataclasses import replace

import pytest

from tonopah.cli import main
from tonopah.errors import InputError
from tonopah.validate import published, published_page, published_worlds
from tonopah.validate.published import Result
from tonopah.validate.published_cases import all_cases


def case(name):
    return published.select(name)[0]


def call(capsys, *arguments):
    code = main.main(["validate", "published", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_every_case_has_a_name_of_its_own_and_a_reference_within_its_range():
    cases = all_cases()
    assert len({one.name for one in cases}) == len(cases)
    assert all(one.low <= one.reference <= one.high and one.source for one in cases)


@pytest.mark.parametrize(("values", "agrees"), [([13.0, 11.0], True), ([11.9, 12.0], False), ([18.0, 18.1], False)])
def test_the_mean_has_to_lie_within_a_fifth_of_the_target_of_pie(values, agrees):
    assert Result(case("pie/15-ms-20-flows"), values).agrees is agrees


def test_what_is_not_a_number_does_not_agree():
    assert not Result(case("backoff/2-s"), [math.nan]).agrees


def test_a_sender_that_breaks_the_law_disagrees():
    law = case("initial-window/3-of-30")
    assert published.validate([law])[0].agrees
    world = replace(law.world, tcp={**law.world.tcp, "initial_window": "10p"})
    assert not published.validate([replace(law, world=world)])[0].agrees


def test_the_ratio_to_pftk_is_that_of_equation_30():
    law = case("pftk/0.01")
    # p = 0.01, b = 2, RTT 0.1 s, T0 1 s: 1 / (0.1 sqrt(0.04 / 3) + 3 sqrt(0.0075) 0.01 1.0032) = 70.63 packets/s.
    flow = {"recovery_count": 9, "rto_count": 1, "sent_packets": 1000, "goodput_bps": 70.63 * 8 * 1448}
    assert published_worlds.pftk_ratio(law.world, {"flows": [flow]}) == pytest.approx(1.0, rel=1e-3)


def test_the_exponent_is_one_where_rates_are_inverse_to_rtts():
    law = case("rtt-exponent/reno")
    flows = [{"goodput_bps": 4e6}] * 4 + [{"goodput_bps": 1e6}] * 4
    assert published_worlds.rtt_exponent(law.world, {"flows": flows}) == pytest.approx(1.0)


def test_the_command_prints_json_and_fails_only_with_check(capsys, monkeypatch):
    code, out, _ = call(capsys, "--check", "--json", "--case", "backoff/2-s")
    row = json.loads(out)[0]
    assert code == 0 and row["agrees"] and row["ours"] == pytest.approx(3.0, abs=0.05)
    monkeypatch.setattr(Result, "agrees", property(lambda self: False))
    assert call(capsys, "--check", "--json", "--case", "backoff/2-s")[0] == 1
    assert call(capsys, "--json", "--case", "backoff/2-s")[0] == 0


def test_the_page_shows_every_case_and_counts_those_that_agree(tmp_path):
    results = [Result(case("pie/15-ms-20-flows"), [15.0, 15.2, 15.4]), Result(case("backoff/2-s"), [7.0])]
    page = published_page.write(results, tmp_path).read_text()
    assert "1 of 2 numbers agree" in page
    assert "| backoff/2-s | until heard, s | 3 | 2.9 … 3.2 | 7 | DISAGREES |" in page


def test_a_case_that_does_not_exist_is_an_error_with_the_groups():
    with pytest.raises(InputError, match="no case matches"):
        published.select("nothing/*")
