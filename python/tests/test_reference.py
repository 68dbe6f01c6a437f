"""The generated pages of the manual."""

import json
from pathlib import Path

import pytest

from tonopah import Endpoint, _core
from tonopah_dev.pages import reference, studies

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", sorted(reference.PAGES))
def test_generated_pages_are_fresh(name):
    assert (DOCS / "generated" / name).read_text(encoding="utf-8") == reference.PAGES[name](), "run `make docs`"


def test_the_tables_of_studies_are_fresh():
    page = (DOCS / "studies.md").read_text(encoding="utf-8")
    assert page == studies.studies_page(page), "run `make docs`"


def test_a_schema_becomes_tables():
    entry = {
        "properties": {"a": {"type": ["string", "null"], "description": "what\nfor", "default": "x|y"}},
        "required": [],
    }
    assert reference.properties_table(entry).splitlines()[2] == '| `a` | text | `"x\\|y"` | what for |'
    assert reference.kind_of({"anyOf": [{"$ref": "#/$defs/Queue"}, {"type": "null"}]}) == "[Queue](#queue)"
    assert reference.kind_of({"type": "array", "items": {"type": "integer"}}) == "array of integer"


def test_the_profiles_of_tcp_are_shown_as_the_engine_resolves_them():
    text = reference.profiles_text(json.loads(_core.schema()))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == ["key", "`rfc`", "`linux`", "`ns2`", "`ns3`", "`netsim12`"]
    for column, profile in enumerate(rows[0][1:], start=1):
        settings = Endpoint.connect(tcp={"profile": profile.strip("`"), "cc": "cubic"}).settings
        assert {row[0].strip("`") for row in rows[2:]} == set(settings) - {"profile"}
        assert all(row[column] == reference.setting(settings[row[0].strip("`")]) for row in rows[2:])


def test_a_setting_is_shown_as_it_is_written():
    values = ["1460B", True, 3, {"name": "cubic", "profile": "linux", "beta": 0.7}]
    assert [reference.setting(value) for value in values] == ["1460B", "true", "3", "cubic (linux)"]
