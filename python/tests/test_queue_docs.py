"""The page of queues: it names every kind, and its examples are what a scenario takes."""

import json

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
