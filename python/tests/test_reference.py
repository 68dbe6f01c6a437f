"""The generated pages of the manual."""

from pathlib import Path

import pytest

from tonopah import reference

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", sorted(reference.PAGES))
def test_generated_pages_are_fresh(name):
    assert (DOCS / name).read_text(encoding="utf-8") == reference.PAGES[name](), "run `make docs`"


def test_a_schema_becomes_tables():
    entry = {
        "properties": {"a": {"type": ["string", "null"], "description": "what\nfor", "default": "x|y"}},
        "required": [],
    }
    assert reference.properties_table(entry).splitlines()[2] == '| `a` | text | `"x\\|y"` | what for |'
    assert reference.kind_of({"anyOf": [{"$ref": "#/$defs/Queue"}, {"type": "null"}]}) == "[Queue](#queue)"
    assert reference.kind_of({"type": "array", "items": {"type": "integer"}}) == "array of integer"
