"""The page of evaluations: what it says of words that another engine had."""

from tonopah_dev.pages.evaluations import with_changes

ROWS = [["C1", "1", "within bounds"], ["C3", "3", "like CUBIC"], ["C5", "5", "worse"]]


def test_words_of_another_engine_are_named_and_stay_when_the_same_engine_makes_them_again():
    before = {
        "engine": "0.9.0",
        "rows": [["C1", "1", "within bounds"], ["C3", "3", "worse, at E2, 2 flows"]],
        "since": "",
        "changed": [],
    }
    made = with_changes({"engine": "0.24.0", "rows": ROWS}, before)
    assert (made["since"], made["changed"]) == ("0.9.0", ["C3: *worse*, now *like CUBIC*"])
    again = with_changes({"engine": "0.24.0", "rows": ROWS[:1]}, made)
    assert (again["since"], again["changed"]) == (made["since"], made["changed"])
    first = with_changes({"engine": "0.24.0", "rows": ROWS}, None)
    assert (first["since"], first["changed"]) == ("", [])
