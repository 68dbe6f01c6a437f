"""The page of counterexamples: what it says of each algorithm, and that its natures belong to algorithms and classes."""

import tomllib
from types import SimpleNamespace

import tonopah as tp
from tonopah.breaking.classes import NAMES
from tonopah.breaking.space import World, read_space
from tonopah.template import render
from tonopah_dev.pages import counterexamples as page


def told(name, kind, world, **more):
    finding = SimpleNamespace(name=name, kind=kind, where=World.of(world), edge=False)
    return SimpleNamespace(finding=finding, confirmed=True, times="9 of 10", sentence="it fails", axes=world, **more)


def test_an_algorithm_has_its_findings_and_why():
    world = read_space().world(1, 7)
    axis = world.axes[0]
    some = [told("loss", "alone", world.id), told("delay", "shared", world.id), told("harm", "alone", world.id)]
    found = SimpleNamespace(findings=some, state=SimpleNamespace(worlds=9, runs=99))
    facts = page.facts_of(found, {"bbr": {"loss": {axis: "nature: so"}, "harm": {"no_axis": "other"}}}, "bbr", "cpu:5s")
    assert [row[0] for row in facts["alone"]] == ["loss", "harm"] and facts["shared"] == "delay"
    assert [row[-1] for row in facts["alone"]] == ["nature: so", page.OPEN]
    joined = page.joined({"bbr": facts, "reno": {**facts, "engine": "0.9.0", "alone": []}})
    assert joined["algorithms"] == ["reno", "bbr"] and joined["engine"] == "0.9.0"
    assert page.parted(joined)["bbr"] == facts
    text = render(page.TEMPLATE, **joined)
    assert "| bbr | " in text and "## bbr" in text and "## reno" not in text and "nature: so" in text


def test_natures_are_of_algorithms_classes_and_axes():
    known, axes = page.names(), {one.name for one in read_space().axes.values()} | {"any"}
    assert len(known) >= 28 and set(known) <= {one["name"] for one in tp.algorithms()}
    for name, classes in tomllib.loads(page.NATURES.read_text()).items():
        assert name in known and set(classes) <= set(NAMES), name
        assert all(
            set(table) <= axes and all("nature" in text or "ours" in text for text in table.values())
            for table in classes.values()
        )
