"""Pictures of wired networks: labels beside their links, no empty frame, colours of the page, names as text."""

import itertools
import re
import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

import tonopah as tp
from tonopah.plot.network import describe, draw
from tonopah.plot.sketch import Sketch

SVG = "{http://www.w3.org/2000/svg}"
ROUTERS = [{"name": "R1", "role": "router"}, {"name": "R2", "role": "router"}]


def picture(network, **more):
    return ET.fromstring(draw(tp.check({"duration": "1s", "network": network, **more})["graph"]))


def texts(root):
    return {text.text: (float(text.get("x")), float(text.get("y"))) for text in root.iter(f"{SVG}text")}


def lines(root):
    return [[float(line.get(key)) for key in ("x1", "y1", "x2", "y2")] for line in root.iter(f"{SVG}line")]


def test_labels_stand_just_above_their_links():
    found = texts(picture({"kind": "dumbbell", "pairs": 3, "flows": 3}))
    x, y = found["10 Mb/s, 10 ms"]
    assert x == pytest.approx((found["r0"][0] + found["r1"][0]) / 2)
    assert 5 < found["r0"][1] - y < 20


@pytest.mark.parametrize(
    "network",
    [
        {"kind": "dumbbell", "pairs": 3, "flows": 3},
        {"kind": "star", "nodes": 100, "flows": 4},
        {"kind": "star", "nodes": 4, "flows": 2},
    ],
)
def test_no_label_crosses_a_line_and_the_frame_is_full(network):
    root = picture(network)
    _, top, width, height = (float(value) for value in root.get("viewBox").split())
    for text, (x, y) in texts(root).items():
        if "b/s" not in text:
            continue
        half = len(text) * 3.5
        for x0, y0, x1, y1 in lines(root):
            for place in (x - half, x, x + half):
                if min(x0, x1) < place < max(x0, x1):
                    assert abs(y0 + (y1 - y0) * (place - x0) / (x1 - x0) - (y - 4)) > 4, text
    ys = [y for _, y in texts(root).values()]
    assert min(ys) - top < 30 and top + height - max(ys) < 30 and width > height


def test_hosts_with_links_of_their_own_have_their_labels_beside_them():
    hosts = [{"name": name} for name in ("a0", "a1", "b0")]
    rates = {"a0": "1Gbps", "a1": "100Mbps"}
    links = [{"from": name, "to": "R1", "rate": rate, "delay": "1ms"} for name, rate in rates.items()]
    links += [{"from": one, "to": "R2", "rate": "20Mbps", "delay": "5ms"} for one in ("R1", "b0")]
    root = picture({"kind": "graph"}, node=hosts + ROUTERS, link=links, flow=[{"from": "a0", "to": "b0"}])
    found = texts(root)
    assert found["1 Gb/s, 1 ms"][1] == found["a0"][1] and found["100 Mb/s, 1 ms"][1] == found["a1"][1]
    assert found["1 Gb/s, 1 ms"][0] < found["a0"][0] < found["R1"][0] < found["R2"][0] < found["b0"][0]


def test_the_hosts_of_two_routers_are_on_two_sides_whoever_sends():
    flows = [{"from": "right0", "to": "left0"}, {"from": "left1", "to": "right1"}]
    found = texts(picture({"kind": "dumbbell", "pairs": 2}, flow=flows))
    assert {found[f"left{i}"][0] < found["r0"][0] for i in range(2)} == {True}
    assert {found[f"right{i}"][0] > found["r1"][0] for i in range(2)} == {True}


@pytest.mark.parametrize(
    "network", [{"kind": "lan", "flows": 4}, {"kind": "random_wired", "nodes": 50, "flows": 4}, {"kind": "star", "nodes": 4}]
)
def test_a_picture_takes_the_colours_of_its_page(network):
    text = draw(tp.check({"duration": "1s", "network": {"flows": 2} | network})["graph"])
    assert "currentColor" in text and "var(--paper,#fff)" in text
    # No white slab, and no id that another picture of the page could have.
    assert not re.search(r'fill="(?:#fff|#ffffff|white)"', text) and not re.search(r"\sid=", text)
    assert text == draw(tp.check({"duration": "1s", "network": {"flows": 2} | network})["graph"])


def test_names_are_escaped():
    sketch = Sketch()
    sketch.box((0, 0), "a<&", "host")
    sketch.dot((9, 9), "b<&")
    root = ET.fromstring(sketch.svg())
    assert "a<&" in texts(root) and [title.text for title in root.iter(f"{SVG}title")] == ["b<&"]


def test_the_layout_of_a_picture_is_found_once_and_its_names_do_not_overlap(monkeypatch):
    counts = Counter()
    for kind, name in ((ConstrainedLayoutEngine, "execute"), (Figure, "draw")):
        own = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *a, own=own, name=name, **k: counts.update([name]) or own(*a, **k))
    root = picture({"kind": "adhoc", "nodes": 60, "flows": 5, "area": {"x": "400m", "y": "100m"}})
    assert counts == {"execute": 1, "draw": 1}
    shown = [text for text in root.iter(f"{SVG}text") if re.fullmatch(r"n\d+", text.text or "")]
    assert 10 <= len(shown) < 60
    # Letters of 7 points are at least 3.5 wide and 4.5 high.
    places = [(float(text.get("x")), float(text.get("y")), 3.5 * len(text.text)) for text in shown]
    for (x, y, wide), (x2, y2, wide2) in itertools.combinations(places, 2):
        assert x + wide <= x2 or x2 + wide2 <= x or abs(y - y2) >= 4.5


@pytest.mark.parametrize(
    "network",
    [
        {"kind": "adhoc", "nodes": 5, "flows": 2, "area": {"x": "100m", "y": "100m"}},
        {"kind": "constellation", "preset": "iridium", "terminals": ["Berlin", "Boston"]},
    ],
)
def test_pictures_of_matplotlib_follow_the_reader_and_have_no_background(network):
    flow = {"flow": [{"from": "Berlin", "to": "Boston"}]} if network["kind"] == "constellation" else {}
    text = draw(tp.check({"duration": "1s", "network": network, **flow})["graph"])
    root = ET.fromstring(text)
    background = next(group for group in root.iter(f"{SVG}g") if group.get("id") == "patch_1")
    assert "fill: none" in background[0].get("style")
    # Every dark ink and every white gives way to what the dark preference says.
    assert not re.search(r"(?:fill|stroke): #(?:ffffff|222222|333333|000000)", text)
    assert "prefers-color-scheme:dark" in text and "var(--ink, #333333)" in text
    assert all("var(--ink" in one.get("style", "") for one in root.iter(f"{SVG}text"))


@pytest.mark.parametrize(
    ("network", "names"),
    [
        ({"kind": "parking_lot", "hops": 2}, {"r0", "r2", "long_src0", "long_dst0", "cross1_src0", "cross1_dst0"}),
        ({"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts": 2, "flows": 1}, {"leaf0", "spine1", "h3"}),
        ({"kind": "fat_tree", "flows": 1}, {"edge3_1", "agg0_1", "core3", "h15"}),
        ({"kind": "home", "flows": 1, "shaper": {}}, {"srv0", "core", "isp0", "modem0", "gw0", "home0_3"}),
        ({"kind": "multihomed", "flows": 1}, {"c", "path1", "m", "s0"}),
    ],
)
def test_networks_of_several_paths_have_their_nodes_apart(network, names):
    found = texts(picture(network))
    assert names <= set(found)
    assert len(set(found.values())) == len(found)


def test_the_oversubscription_of_switches_is_told():
    fabric = {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts": 4, "flows": 1}
    graph = tp.check({"duration": "1s", "network": fabric | {"fabric": {"rate": "10Gbps"}}})["graph"]
    assert describe(graph).endswith("12 links, 1 flow, oversubscription 2")
    assert "oversubscription" not in describe(tp.check({"duration": "1s", "network": {"kind": "lan", "flows": 1}})["graph"])
