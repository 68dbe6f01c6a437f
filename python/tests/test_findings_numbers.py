"""Numbers in the text of a page of findings: each is in a table, a study or the stored numbers, but for those counted here.

A number is read with its digits: 12.4 is any that rounds to it, in the unit in which it stands there or by powers of ten.
"""

import bisect
import re
from pathlib import Path

import pytest

from tonopah.reports.numbers import REPORTS, rows

ROOT = Path(__file__).parents[2]
FIVE = ("asran", "ewphcc", "hystart", "netsim", "tcp-fr")
PAGES = sorted((ROOT / "docs" / "findings").glob("*.md"))
NUMBER = re.compile(r"(?<![\w.`/-])[-+]?(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\w/`]|\.\d|:\d)")
MADE = re.compile(r"measured runs| judged again: ")
"""In lines that are made with the tables."""
FEWEST = 3
"""Digits from which on a number is no count of sentences, flows or seconds."""
UNBACKED = {
    "asran": 25, "datacenter": 2, "ewphcc": 8, "home": 4, "hystart": 2, "l4s": 1, "netsim": 18, "pantheon": 6, "tcp-fr": 6,
}  # fmt: skip
"""Numbers of a page that no table has yet: the runs that gave them are not kept. They may become fewer."""


def digits(text):
    """Return how many significant digits a number has."""
    return len(text.replace(",", "").replace(".", "").lstrip("0"))


def in_tables(path):
    """Return all numbers that tables have: those of the page, its study, and what its report printed or stock simulators gave."""
    text = path.read_text(encoding="utf-8")
    tables = "\n".join(line for line in text.splitlines() if line.startswith(("|", "Of ")) or MADE.search(line))
    study = (ROOT / "studies" / f"{path.stem}.toml").read_text(encoding="utf-8")
    found = [float(one[1].replace(",", "")) for one in NUMBER.finditer(f"{tables}\n{study}")]
    found += [abs(float(one)) for one in re.findall(r"[\d.]+\d", f"{tables}\n{study}") if one.count(".") <= 1]
    found += [abs(float(row["number"])) for row in rows() if REPORTS[row["seed"]] == path.stem]
    return sorted(found)


def is_there(text, found):
    """Tell whether a number with these digits is among those that are known."""
    value = float(text.replace(",", ""))
    half = 0.5 * 10.0 ** -(len(text.partition(".")[2])) * (1 + 1e-9)
    for factor in (1.0, 1e3, 1e-3, 1e2, 1e-2, 1e6, 1e-6):
        low, high = (value - half) * factor, (value + half) * factor
        place = bisect.bisect_left(found, low)
        if place < len(found) and found[place] <= high:
            return True
    return False


def unbacked(path):
    """Return the numbers of the prose of a page that no table has, with their sentences."""
    lines = path.read_text(encoding="utf-8").splitlines()
    prose = [line for line in lines if not line.startswith(("|", "#", "<", "    ", "![")) and " judged again: " not in line]
    known = in_tables(path)
    plain = re.sub(r"\d{4}-\d\d-\d\d|\d+\.\d+\.\d+|\(\S+\)|`[^`]*`", "", " ".join(prose))
    sentences = re.split(r"(?<=[.:;]) ", plain)
    return [
        (one[1], sentence)
        for sentence in sentences
        for one in NUMBER.finditer(sentence)
        if digits(one[1]) >= FEWEST and not is_there(one[1], known)
    ]


def wrong_replicates(text):
    """Return how many replicates the prose of a page says would decide a claim, where no row of its table says so."""
    prose = " ".join(line for line in text.splitlines() if not line.startswith("|"))
    told = set(re.findall(r"About ([\d,]+) replicates? would decide", text))
    return [number for number in re.findall(r"([\d,]+) replicates? would decide", prose) if number not in told]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_replicates_that_would_decide_are_those_of_the_table(page):
    assert wrong_replicates(page.read_text(encoding="utf-8")) == []


def test_other_replicates_than_those_of_the_table_are_found():
    row = "| D2 Flows | undecided | 0.6 % | Undecided. About 553 replicates would decide. |\n"
    assert wrong_replicates(f"{row}(D2: 75 replicates would decide)") == ["75"]
    assert wrong_replicates(f"{row}(D2: about 553 replicates would decide)") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_numbers_in_the_text_are_in_a_table(page):
    found = unbacked(page)
    listed = "\n".join(f"{number}: {sentence}" for number, sentence in found)
    assert len(found) <= UNBACKED.get(page.stem, 0), f"numbers that no table has:\n{listed}"
    assert len(found) >= UNBACKED.get(page.stem, 0), f"write {len(found)} for {page.stem}"


def wrong_shares(text):
    """Return which "17 of 54" the prose of a page has, beside a number of tables that has another count of the same."""
    lines = text.splitlines()
    told = dict.fromkeys(re.findall(r"^\| [^|]+ \| (\d+ of \d+) \|$", text, re.MULTILINE))
    prose = " ".join(line for line in lines if not line.startswith("|"))
    found = re.search(r"(\d+ of \d+), (\d+ of \d+) and (\d+ of \d+) are\s+reproduced", prose)
    return [share for share in (found.groups() if found else ()) if share not in told]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_shares_that_are_reproduced_are_those_of_the_table(page):
    assert wrong_shares(page.read_text(encoding="utf-8")) == []


def test_other_shares_than_those_of_the_table_are_found():
    table = "| six | 17 of 54 |\n| twelve | 62 of 144 |\n| fast | 12 of 36 |\n"
    assert wrong_shares(f"{table}\nOf all 16 of 54, 12 of 36 and 62 of 144 are\nreproduced.") == ["16 of 54"]


def test_the_runs_of_the_reports_add_up():
    text = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    runs = [re.search(r"([\d,]+) measured runs", page.read_text(encoding="utf-8")) for page in PAGES if page.stem in FIVE]
    assert f"{sum(int(found[1].replace(',', '')) for found in runs if found):,} measured runs" in text


def test_a_number_that_no_table_has_is_found():
    known = sorted([332.7, 0.0172, 8803.0])
    assert is_there("333", known) and is_there("17.2", known) and is_there("8,803", known)
    assert not is_there("325", known) and not is_there("332.8", known) and not is_there("8,037", known)
