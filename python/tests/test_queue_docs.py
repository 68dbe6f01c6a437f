"""The page of queues: it names every kind, and its examples are what a scenario takes."""

import json
import tomllib
from pathlib import Path

from tonopah._core import schema
from tonopah.runs.simulation import check
from tonopah_dev.pages import queues


def test_every_kind_has_an_example() -> None:
    kinds = [
        form["properties"]["kind"]["const"] for form in json.loads(schema())["$defs"]["Queue"]["oneOf"] if "properties" in form
    ]
    assert sorted(kinds) == sorted(queues.EXAMPLES)


def test_every_example_is_taken_and_is_of_its_kind() -> None:
    for kind, example in queues.EXAMPLES.items():
        resolved = check(queues.scenario(queues.queue_of(example)))["resolved"]
        assert resolved["link"][0]["queue"]["kind"] == kind


def test_every_queue_beside_a_tc_line_is_taken() -> None:
    page = (Path(__file__).parents[2] / "docs" / "from-flent-mahimahi.md").read_text(encoding="utf-8")
    section = page.partition("## Shapers of operators")[2].partition("\n## ")[0]
    found = [row.split("`")[-2] for row in section.splitlines() if row.startswith("|") and "{ kind" in row]
    assert len(found) == 6
    for queue in found:
        check(queues.scenario(tomllib.loads(f"queue = {queue}")["queue"]))
