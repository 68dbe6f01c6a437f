"""The examples of docs/studies.md are studies that the engine accepts."""

import re
from pathlib import Path

import pytest

from tonopah.scenario.document import parse
from tonopah.spec.derived import KINDS
from tonopah.spec.figure import FIGURE_KINDS
from tonopah.spec.plan import make_plan
from tonopah.spec.published import QUANTITIES
from tonopah.spec.reader import parse_spec
from tonopah.spec.schema import json_schema

TEXT = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_is_a_study(number):
    spec = parse_spec(parse(EXAMPLES[number]))
    assert make_plan(spec).runs


def test_every_key_is_described():
    schema = json_schema()
    tables = [schema, *schema["$defs"].values()]
    for key in (*(key for table in tables for key in table["properties"]), *KINDS, *FIGURE_KINDS, *QUANTITIES):
        assert re.search(rf"\b{re.escape(key)}\b", TEXT), key
