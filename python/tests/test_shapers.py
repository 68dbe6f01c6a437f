"""Shapers: classes that lend (htb), queues inside one another, wake-ups, rates that change."""

import pytest

import tonopah as tp
from tonopah.errors import ScenarioError

ALL = {"name": "all", "rate": "10Mbps"}


def leaf(name, rate, **more):
    return {"name": name, "parent": "all", "rate": rate, "ceiling": "10Mbps", "queue": "200p"} | more


def world(queue, *flows, duration="4s", **more):
    return {
        "duration": duration,
        "warmup": "1s",
        "network": {
            "kind": "dumbbell",
            "pairs": 2,
            "access": {"rate": "1Gbps", "delay": "1ms"},
            "bottleneck": {"rate": "100Mbps", "delay": "1ms", "queue": queue, "reverse": {"queue": "100p"}},
        },
        "flow": [{"from": f"left{i}", "to": f"right{i}"} | flow for i, flow in enumerate(flows)],
    } | more


def cbr(rate, **more):
    return {"app": {"kind": "cbr", "rate": rate, "size": "1472B", "transport": "udp"}} | more


def rates(scenario):
    flows = tp.run(scenario).flows
    return (flows["throughput_bps"] * 1500 / 1472 / 1e6).tolist()


@pytest.mark.parametrize(
    "condition",
    [
        {"hosts": ["*0"]},
        {"hosts": ["right0"]},
        {"flows": ["first"]},
        {"dscp": ["EF"]},
        {"dscp": ["EF", "CS1"], "flows": ["first"]},
    ],
)
def test_packets_find_their_class_by_host_flow_and_code_point(condition):
    queue = {"kind": "htb", "classes": [ALL, leaf("first", "7Mbps", **condition), leaf("rest", "3Mbps")]}
    first, rest = rates(world(queue, cbr("20.03Mbps", name="first", dscp="EF"), cbr("20Mbps", name="second")))
    assert first == pytest.approx(7, rel=0.01) and rest == pytest.approx(3, rel=0.01)


def test_packets_of_a_workload_have_a_class():
    queue = {"kind": "htb", "classes": [ALL, leaf("web", "1Mbps", ceiling="2Mbps", workloads=["web"]), leaf("rest", "9Mbps")]}
    load = {
        "name": "web",
        "from": ["left1"],
        "to": ["right1"],
        "arrivals": {"kind": "poisson", "rate": "50/s"},
        "size": {"kind": "constant", "bytes": "40kB"},
    }
    result = tp.run(world(queue, cbr("20Mbps"), workload=[load]))
    web, rest = (next(c for c in result.summary["links"][0]["classes"] if c["class"] == name) for name in ("web", "rest"))
    assert rest["bytes"] * 8 / 3e6 == pytest.approx(9, rel=0.02) and 0 < web["bytes"] * 8 / 3e6 < 1.02


def test_cake_stands_in_the_leaves_each_with_its_overhead():
    cake = {"kind": "cake", "tins": "besteffort", "overhead": "docsis"}
    queue = {
        "kind": "htb",
        "overhead": {"bytes": 40, "framing": "atm"},
        "classes": [
            ALL,
            leaf("first", "7Mbps", hosts=["left0"], queue=cake),
            leaf("rest", "3Mbps", queue=cake | {"rate": "2Mbps"}),
        ],
    }
    first, rest = rates(world(queue, cbr("20.03Mbps"), cbr("20Mbps")))
    # 1500 B are 1749 B in cells of the line, and 1518 B for the shaper of CAKE, which leaves the rest to the other class.
    assert rest == pytest.approx(2 * 1500 / 1518, rel=0.01)
    assert first + rest == pytest.approx(10 * 1500 / 1749, rel=0.01)


@pytest.mark.parametrize("kind", ["tbf", "cake"])
def test_rates_change_at_their_times(kind):
    changes = [{"at": "2s", "rate": "2Mbps"}, {"at": "3s", "rate": "20Mbps"}]
    queue = {"kind": kind, "rate": "8Mbps", "changes": changes}
    scenario = world(queue, cbr("50Mbps"), record={"series": ["throughput"], "every": "500ms", "bin": "500ms"})
    series = tp.run(scenario).series("throughput")
    measured = (series["value"] * 1500 / 1472 / 1e6).tolist()
    assert [measured[i] for i in (2, 4, 6)] == pytest.approx([8, 2, 20], rel=0.03)


def test_wake_ups_leave_what_the_bucket_does_not_save():
    # 12.5 kB fall due between two ticks of 1 ms at 100 Mb/s, and 6000 B are saved: four packets of 1500 B.
    queue = {"kind": "tbf", "rate": "90Mbps", "burst": "6000B", "wake": "1ms", "queue": "200p"}
    scenario = world(queue, cbr("95Mbps"))
    # The line is so fast that next to nothing falls due while it sends the four.
    scenario["network"]["bottleneck"]["rate"] = "10Gbps"
    assert rates(scenario) == pytest.approx([4 * 12], rel=0.01)


@pytest.mark.parametrize(
    ("classes", "path", "message"),
    [
        ([], "classes", "0 classes is not a list of 1 to 256 classes"),
        ([ALL, leaf("a", "1Mbps", parent="non")], "classes[1].parent", "is no class before this one"),
        ([ALL, leaf("a", "1Mbps"), leaf("a", "1Mbps")], "classes[2].name", "is the name of two classes"),
        ([ALL | {"priority": 1}, leaf("a", "1Mbps")], "classes[0].priority", "has no effect in a class with children"),
        ([ALL, leaf("a", "1Mbps"), leaf("b", "1Mbps")], "classes[2].name", "no packet ever comes here"),
        ([ALL, leaf("a", "11Mbps")], "classes[1].ceiling", "is not at least the rate (11Mbps)"),
        ([ALL, leaf("a", "1Mbps", hosts=["middle*"])], "classes[1].hosts[0]", "no node has a name like"),
        ([ALL, leaf("a", "1Mbps", flows=["frist"])], "classes[1].flows[0]", "none of the flows has the name"),
        ([ALL, leaf("a", "1Mbps", priority=8)], "classes[1].priority", "8 is not a number from 0 to 7"),
        ([ALL | {"changes": [{"at": "1s"}]}], "classes[0].changes[0]", "changes nothing; give rate or ceiling"),
    ],
)
def test_what_makes_no_sense_is_an_error_with_its_place(classes, path, message):
    with pytest.raises(ScenarioError) as error:
        tp.run(world({"kind": "htb", "classes": classes}, cbr("1Mbps", name="first")))
    assert f"network.bottleneck.queue.{path}: " in str(error.value) and message in str(error.value)


def test_children_that_have_more_than_their_parent_are_warned_of():
    queue = {"kind": "htb", "classes": [ALL, leaf("a", "8Mbps", hosts=["left0"]), leaf("b", "8Mbps")]}
    (warning,) = tp.check(world(queue, cbr("1Mbps")))["warnings"]
    assert "children have 16Mbps in any case, above the ceiling of 10Mbps" in str(warning)


def line(shaper, autorate=None, app=None, **more):
    """A router with a shaper before a modem with a long queue, whose line falls from 40 to 10 Mb/s after 20 s."""
    # Probes must not wait for the load in the shaper itself.
    inside = {"queue": {"kind": "fq_codel"}} if shaper == "tbf" else {}
    queue = {"kind": shaper, "rate": "20Mbps"} | inside | ({"autorate": autorate} if autorate else {})
    probe = {"kind": "cbr", "rate": "20pps", "size": "64B", "transport": "udp"}
    return {
        "duration": "50s",
        "network": {"kind": "graph"},
        "tcp": {"recv_buffer": "16MB"},
        "node": [{"name": name} for name in ("a", "router", "modem", "b")],
        "link": [
            {"from": "a", "to": "router", "rate": "1Gbps", "delay": "1ms", "queue": "10000p"},
            {"from": "router", "to": "modem", "rate": "1Gbps", "delay": "1us", "queue": queue, "reverse": {"queue": "1000p"}},
            {
                "from": "modem", "to": "b", "rate": "40Mbps", "delay": "10ms", "queue": "1MB",
                "changes": [{"at": "20s", "rate": "10Mbps"}],
            },
        ],
        "flow": [
            {"from": "a", "to": "b", "app": app or {"kind": "bulk"}},
            {"name": "ping", "from": "a", "to": "b", "app": probe},
        ],
        "record": {"series": ["throughput"], "every": "1s", "bin": "1s"},
    } | more  # fmt: skip


AUTORATE = {"probe": "ping", "min_rate": "5Mbps", "max_rate": "80Mbps"}


@pytest.mark.parametrize("shaper", ["cake", "tbf"])
def test_a_controller_follows_the_line_up_and_down(shaper):
    # cake-autorate: 4 % for each measurement of load (0.2 s), at least 1 % and at most 25 % down on late probes.
    controlled, fixed = (tp.run(line(shaper, autorate)) for autorate in (AUTORATE, None))
    table = controlled.series("throughput")
    rate = table[table["flow"] == 0].set_index("t_s")["value"] / 1e6
    assert rate[10:19].mean() > 25 and 7 < rate[30:].mean() < 10
    # Without it the queue of the modem grows from then on.
    assert fixed.flows["delay_p95_s"][1] > 3 * controlled.flows["delay_p95_s"][1]


def test_a_controller_of_no_load_stays_at_the_base():
    result = tp.run(line("cake", AUTORATE, app=cbr("1Mbps")["app"]))
    assert result.flows["delay_p95_s"][1] < 0.013 and result.flows["dropped_packets"][0] == 0


@pytest.mark.parametrize(
    ("shaper", "change", "path", "message"),
    [
        ("cake", {"probe": "pong"}, "autorate.probe", "none of the flows has the name"),
        ("tbf", {"min_rate": "30Mbps"}, "autorate.min_rate", "is not at most the rate of the shaper (20Mbps)"),
        ("tbf", {"delayed": 7}, "autorate.delayed", "is not a count from 1 to the window (6)"),
        ("cake", {"up_threshold": "40ms"}, "autorate.up_threshold", "is not below delay_threshold (30ms)"),
        ("cake", {"high_load": 1.5}, "autorate.high_load", "is not a number above 0 and up to 1"),
    ],
)
def test_a_controller_of_nothing_is_an_error(shaper, change, path, message):
    with pytest.raises(ScenarioError) as error:
        tp.run(line(shaper, AUTORATE | change))
    assert f"link[1].queue.{path}: " in str(error.value) and message in str(error.value)
