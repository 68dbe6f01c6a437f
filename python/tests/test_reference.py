"""The generated pages of the manual."""

import json
import re
from pathlib import Path

import pytest

from tonopah import Endpoint, _core
from tonopah_dev.pages import reference, studies
from tonopah_dev.pages.markdown import grouped_rows

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


def test_the_page_of_the_scenario_has_every_table_once_and_an_anchor_for_every_link():
    schema, page = json.loads(_core.schema()), reference.scenario_page()
    assert set(reference.ROOT_ORDER) == set(schema["properties"])
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == [*reference.CHAPTERS, "Values"]
    shown = re.findall(r"^### (\w+)$|^\| <a id=\"[a-z0-9]+\"></a>\**(\w+)", page, re.MULTILINE)
    assert sorted(first or second for first, second in shown) == sorted(schema["$defs"])
    anchors = [
        *re.findall(r'<a id="([^"]+)"', page),
        *(heading.lower() for heading in re.findall(r"^### (\w+)$", page, re.MULTILINE)),
    ]
    assert len(anchors) == len(set(anchors))
    documents = [page, *(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))]
    links = set(re.findall(r"\]\((?:(?:generated/)?scenario\.md)?#([a-z0-9_-]+)\)", page)) | {
        link for text in documents for link in re.findall(r"scenario\.md#([a-z0-9_-]+)", text)
    }
    assert links - set(anchors) == set()


def test_a_key_that_means_the_same_in_an_earlier_table_is_only_named():
    rate, size = ["`rate`", "text", "required", "Rate."], ["`size`", "text", "", "Size."]
    other = ["`size`", "text", "", "Another size."]
    rows = grouped_rows(
        [("`a`", "The first.", [rate, size]), ("`b`", "", [rate, size]), ("`c`", "The third.", [rate, other])], "app"
    )
    assert [row[0] for row in rows] == [
        *('<a id="app-a"></a>**`a`**', "`rate`", "`size`", '<a id="app-b"></a>**`b`**', '<a id="app-c"></a>**`c`**', "`size`"),
    ]
    assert [rows[3][3], rows[4][3]] == ["Also `rate`, `size` of `a`.", "The third. Also `rate` of `a`."]
