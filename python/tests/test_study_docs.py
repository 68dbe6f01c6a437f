"""The examples of docs/studies.md are studies that the engine accepts."""

import re
from pathlib import Path

import pytest

from tonopah.scenario.document import parse
from tonopah.spec.claim import CONDITIONS, PERCENTS
from tonopah.spec.measures import KINDS
from tonopah.spec.part import FIGURE_KINDS, PART_KEYS
from tonopah.spec.plan import make_plan
from tonopah.spec.published import QUANTITIES
from tonopah.spec.reader import TOP_KEYS, parse_spec

TEXT = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_is_a_study(number):
    spec = parse_spec(parse(EXAMPLES[number]))
    assert make_plan(spec).runs


def test_every_key_is_described():
    for key in (*TOP_KEYS, *PART_KEYS, *CONDITIONS, *PERCENTS, *KINDS, *FIGURE_KINDS, *QUANTITIES):
        assert re.search(rf"\b{re.escape(key)}\b", TEXT), key
