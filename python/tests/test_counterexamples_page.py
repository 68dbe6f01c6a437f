"""The page of counterexamples: what it says of each algorithm, and that its natures belong to algorithms and classes."""

import tomllib
from pathlib import Path
from types import SimpleNamespace

import tonopah as tp
from tonopah.breaking.classes import NAMES
from tonopah.breaking.space import World, read_space
from tonopah.template import read_results, render, results_text
from tonopah_dev.pages import counterexamples as page

GENERATED = Path(__file__).parents[2] / "docs" / "generated"


def told(name, kind, axes):
    finding = SimpleNamespace(name=name, kind=kind, edge=False)
    return SimpleNamespace(finding=finding, confirmed=True, times="9 of 10", sentence="it fails", axes=axes)


def test_an_algorithm_has_its_findings_and_why():
    space = read_space()
    world = next(one for one in (space.world(1, k) for k in range(99)) if len(one.axes) == 2)
    axis, text = world.axes[1], space.text(world)
    some = [told("loss", "alone", text), told("delay", "shared", text), told("harm", "alone", text)]
    some.append(told("delay", "alone", space.text(World())))
    found = SimpleNamespace(findings=some, state=SimpleNamespace(worlds=9, runs=99))
    facts = page.facts_of(found, "cpu:5s")
    assert [row[0] for row in facts["alone"]] == ["loss", "harm", "delay"] and facts["shared"] == "delay"
    natures = {"bbr": {"loss": {axis: "nature: so"}, "harm": {"no_axis": "other"}, "delay": {"any": "nature: always"}}}
    joined = page.joined({"bbr": facts, "reno": {**facts, "engine": "0.9.0", "alone": []}}, natures)
    assert [row[-1] for row in joined["alone_of"]["bbr"]] == ["nature: so", page.OPEN, "nature: always"]
    assert joined["algorithms"] == ["reno", "bbr"] and joined["engine"] == "0.9.0"
    assert page.parted(joined)["bbr"] == facts
    text = render(page.TEMPLATE, **joined)
    assert "| bbr | " in text and "## bbr" in text and "## reno" not in text and "nature: so" in text


def test_the_stored_findings_have_what_the_natures_say():
    stored = read_results(GENERATED / page.NAME / "results.toml")
    natures = tomllib.loads(page.NATURES.read_text())
    assert page.joined(page.parted(stored), natures) == stored
    assert stored["algorithms"] == page.names()
    assert not [row for rows in stored["alone_of"].values() for row in rows if row[-1] == page.OPEN]


def test_natures_are_said_without_a_search(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "counterexamples", None)
    (tmp_path / page.NAME).mkdir()
    results = tmp_path / page.NAME / "results.toml"
    row = ["harm", "9 of 10", "it fails", 'rival = "cubic"', page.OPEN]
    one = {"budget": "cpu:5s", "engine": "0.9.0", "worlds": 9, "runs": 99, "shared": "", "alone": [row]}
    results.write_text(results_text(page.joined({"bbr": {**one, "alone": [row[:-1]]}}, {})))
    page.main(["no-folder", str(tmp_path), "--natures"])
    assert "nature: beside CUBIC" in read_results(results)["alone_of"]["bbr"][0][-1]


def test_natures_are_of_algorithms_classes_and_axes():
    known, axes = page.names(), {one.name for one in read_space().axes.values()} | {"any"}
    assert len(known) >= 28 and set(known) <= {one["name"] for one in tp.algorithms()}
    for name, classes in tomllib.loads(page.NATURES.read_text()).items():
        assert name in known and set(classes) <= set(NAMES), name
        assert all(
            set(table) <= axes and all(text.startswith(("nature", "ours", "open: ")) for text in table.values())
            for table in classes.values()
        )
