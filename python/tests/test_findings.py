"""The tables of docs/findings: made from verdicts.json of full runs, and those of the criteria as they are."""

import json
import re
from pathlib import Path

import pytest

from tonopah.errors import InputError
from tonopah.study.study import Study
from tonopah_dev.pages import again
from tonopah_dev.pages.findings import BLOCK, findings_page, main, mark_changed

PAGES = sorted((Path(__file__).parents[2] / "docs" / "findings").glob("*.md"))
EFFECT = {"value": 3.25, "low": 1.0, "high": 5.5, "unit": "%", "n": 10}
CLAIMS = [
    {"id": "C1", "text": "More | better.", "verdict": "supported", "sentence": "It is so.", "effect": EFFECT},
    {"id": "C2", "text": "A matter of taste", "verdict": "not testable", "sentence": "No test.", "effect": None},
]
FACTS = {
    "format": 2, "study": "small", "quick": False, "runs": 1102, "replicates": {"a": 10, "b": 50, "c": 10}, "tonopah": "9.9.9",
    "finished": "2026-11-22T10:00:00+00:00", "criteria": {"hash": "f00", "date": "2026-11-21"},
    "title": "Small", "question": "How small?", "answer": [], "counts": {"supported": 1, "not testable": 1}, "claims": CLAIMS,
}  # fmt: skip
PAGE = "# Title\n\nBefore.\n\n<!-- verdicts: small -->\nold\n<!-- end -->\n\nAfter.\n"


@pytest.fixture
def studies(tmp_path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "verdicts.json").write_text(json.dumps(FACTS))
    return tmp_path


def test_the_table_is_made_anew_and_the_prose_stays(studies):
    page = findings_page(PAGE, studies)
    assert page.startswith("# Title\n\nBefore.\n") and page.endswith("\n\nAfter.\n") and "old" not in page
    assert "engine 9.9.9, 2026-11-22:\n1,102 measured runs, 10 replicates, 50 of part `b`.\n" in page
    assert "Criteria of 2026-11-21, hash `f00`.\n" in page
    assert "Of 2 claims: 1 supported, 1 not testable, 0 undecided, 0 no effect, 0 contradicted.\n" in page
    assert "| C1 More \\| better | supported | 3.25 [1.00, 5.50] %, n = 10 | It is so. |\n" in page
    assert "| C2 A matter of taste | not testable |  | No test. |\n" in page
    assert findings_page(page, studies) == page


def test_slips_and_printed_numbers_stand_below_the_claims(studies):
    side = {"of": "vegas", "value": 11.712, "unit": "J"}
    slip = {"id": "Energy", "text": "The time.", "numbers": [{"with": side, "without": side | {"value": 1.0, "unit": ""}}]}
    held = {"wired": {"reproduced": 3, "judged": 4}, "no goal": {"reproduced": 0, "judged": 0}}
    (studies / "small" / "verdicts.json").write_text(json.dumps(FACTS | {"published": held}))
    (studies / "small" / "mechanisms.json").write_text(json.dumps([slip]))
    page = findings_page(PAGE, studies)
    assert "| Energy | vegas 11.71 J | vegas 1.000 | The time. |\n" in page
    assert "| wired | 3 of 4 |\n" in page and "no goal" not in page


def test_only_full_runs_have_verdicts(studies, tmp_path):
    (studies / "findings").mkdir()
    (studies / "findings" / "small.md").write_text(PAGE)
    main(str(studies), str(studies))
    assert "9.9.9" in (studies / "findings" / "small.md").read_text()
    (studies / "small" / "verdicts.json").write_text(json.dumps(FACTS | {"quick": True}))
    with pytest.raises(InputError, match="is a quick run"):
        findings_page(PAGE, studies)
    with pytest.raises(InputError, match=r"nosuch: has no verdicts\.json"):
        findings_page(PAGE.replace("small", "nosuch"), studies)


def test_a_claim_whose_criteria_have_changed_has_no_verdict():
    spec = Study.load("hystart").spec
    row = "| H1 {} | supported | 1 % | It is so. |\n| H4 {} | contradicted | 2 % | It is not. |\n"
    rows = row.format(*(spec.claims[i].text for i in (0, 3)))
    counts = "1 supported, 0 undecided, 0 no effect, {}"
    page = f"<!-- verdicts: hystart -->\nHash, hash `{{}}`.\nOf 2 claims: {counts}.\n\n{rows}<!-- end -->\n"
    same = page.format(spec.criteria, "1 contradicted")
    assert mark_changed(same) == same
    found = mark_changed(page.format("1303aefdab0714ab", "1 contradicted"))
    assert counts.format("0 contradicted, 1 to be judged again") in found
    assert "| supported | 1 % |" in found and "contradicted" not in found.split("H4")[1].split("|")[1]
    assert "| to be judged again |  | 2026-11-29: How often HyStart leaves slow start is counted" in found
    with pytest.raises(InputError, match="never had"):
        mark_changed(page.format("abcdef0123456789", ""))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_page_has_the_verdicts_of_the_criteria_as_they_are(page):
    found = BLOCK.search(page.read_text(encoding="utf-8"))
    assert found and found[2] == page.stem
    spec = Study.load(page.stem).spec
    assert mark_changed(found[0]) == found[0], "python -m tonopah_dev.pages.findings docs"
    claims = re.split(r"^\| (?:in the script|numbers of) \|", found[0], flags=re.MULTILINE)[0]
    assert re.findall(r"^\| (\w+) ", claims, re.MULTILINE)[1:] == [claim.id for claim in spec.claims]


AGAIN = {
    "study": "hystart", "engine": "9.9.9", "date": "2026-12-01", "hash": "499df05f4e728fec", "runs": 758,
    "replicates": {"a": 10, "b": 50}, "seeds": 101,
    "claims": [{"id": "H4", "text": "Better.", "verdict": "no effect", "sentence": "Nil.", "effect": None}],
}  # fmt: skip


def test_a_claim_may_be_judged_again_without_a_full_run():
    row = "| H1 One | supported | 1 % | It is so. |\n| H4 Better | contradicted | 2 % | It is not. |\n"
    head = "Criteria, hash `1303aefdab0714ab`.\nOf 2 claims: 1 supported, 0 undecided, 0 no effect, 1 contradicted.\n"
    page = mark_changed(f"<!-- verdicts: hystart -->\n{head}\n{row}<!-- end -->\n")
    assert "H4" in page and "to be judged again |" in page
    found = again.judged_page(page, AGAIN)
    assert "| H4 Better | no effect |  | Nil. |\n" in found and "to be judged again" not in found
    assert "Of 2 claims: 1 supported, 0 undecided, 1 no effect, 0 contradicted.\n" in found
    assert (
        "H4 judged again: engine 9.9.9, 2026-12-01, 758 runs that its tests read, 10 replicates, 50 of part `b`, "
        "seeds from 101 on; criteria hash `499df05f4e728fec`.\n\n| H1 One"
    ) in found
    assert mark_changed(found) == found and again.judged_page(found, AGAIN) == found
    older = again.judged_page(page, AGAIN | {"hash": "0afcc635c8a65b91"})
    assert "to be judged again |" in mark_changed(older)
    assert again.judged_page(page, AGAIN | {"study": "tcp-fr"}) == page


def test_only_the_runs_that_the_claims_read_are_made(tmp_path):
    study = Study.load("tcp-fr")
    study.resize(replicates=4, seeds=7)
    with pytest.raises(InputError, match="F99 is unknown"):
        again.judge_again(study, ["F4", "F99"], tmp_path / "store")
    found = again.judge_again(study, ["F4"], tmp_path / "store", jobs=1)
    assert (found["runs"], found["seeds"], found["replicates"]) == (20, 7, {"wifi-author": 4})
    assert [claim["id"] for claim in found["claims"]] == ["F4"]
    assert found["hash"] == study.spec.criteria
