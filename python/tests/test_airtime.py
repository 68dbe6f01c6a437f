"""Airtime of access points: the anomaly of 802.11, and equal shares by deficits (Høiland-Jørgensen et al., USENIX ATC 2017)."""

import pytest

import tonopah as tp
from tonopah.errors import ScenarioError

RATES = {"a": {"far": "6Mbps", "near": "54Mbps", "third": "24Mbps"}, "n": {"far": "6.5Mbps", "near": "65Mbps", "third": "26Mbps"}}


def world(stations, app, standard="a", scheduler="airtime", **more):
    places = [{"name": name, "x": 3.0 + i, "y": 1.0} for i, name in enumerate(stations)]
    rates = {name: RATES[standard][name] for name in stations}
    return {
        "duration": "12s",
        "warmup": "4s",
        "network": {"kind": "graph"},
        "node": [{"name": "server", "x": 0.0, "y": 5.0}, {"name": "ap", "x": 0.0, "y": 0.0}, *places],
        "link": [{"from": "server", "to": "ap", "rate": "1Gbps", "delay": "1ms", "queue": "1000p"}],
        "channel": [
            {
                "stations": ["ap", *stations],
                "gateway": "ap",
                "radio": {"standard": standard, "rates": rates} | ({"scheduler": scheduler} if scheduler else {}),
            }
        ],
        "flow": [{"from": "server", "to": name, "app": app(i)} for i, name in enumerate(stations)],
    } | more


def udp(index):
    return {"kind": "cbr", "rate": f"{40 + index / 3:.2f}Mbps", "size": "1472B", "transport": "udp"}


def flood(index):
    return udp(index) | {"rate": f"{80 + index / 3:.2f}Mbps"}


def bulk(_index):
    return {"kind": "bulk"}


def shares(scenario):
    """The share of each station in the airtime of all."""
    nodes = [node for node in tp.run(scenario).summary["nodes"] if node["node"] not in ("server", "ap")]
    airtimes = [node["airtime_s"] + node["airtime_addressed_s"] for node in nodes]
    return [airtime / sum(airtimes) for airtime in airtimes]


@pytest.mark.parametrize(("app", "within"), [(udp, 0.02), (bulk, 0.05)])
@pytest.mark.parametrize("standard", ["a", "n"])
@pytest.mark.parametrize("stations", [("near", "far"), ("near", "far", "third")])
def test_each_station_has_its_part_of_the_airtime(app, within, standard, stations):
    assert shares(world(stations, app, standard)) == pytest.approx([1 / len(stations)] * len(stations), rel=within)


@pytest.mark.parametrize("scheduler", [None, "fifo"])
def test_without_it_the_slow_station_takes_most_of_it(scheduler):
    result = tp.run(world(("near", "far"), udp, scheduler=scheduler))
    near, far = result.flows["throughput_bps"]
    assert near / far == pytest.approx(1, rel=0.15)
    assert shares(world(("near", "far"), udp, scheduler=scheduler))[1] > 0.7


def test_the_near_station_keeps_half_of_what_it_has_alone():
    # With aggregates: contention, which is no airtime, comes between frames, and a single one at 54 Mb/s is hardly longer.
    (alone,) = tp.run(world(("near",), flood, "n")).flows["throughput_bps"]
    near, _ = tp.run(world(("near", "far"), flood, "n")).flows["throughput_bps"]
    assert near / alone == pytest.approx(0.5, rel=0.04)


@pytest.mark.parametrize("metres", [3.0, 40.0, 45.0])
def test_what_a_near_station_has_does_not_hang_on_how_far_the_other_one_is(metres):
    def run(stations):
        scenario = world(stations, udp)
        scenario["channel"][0]["radio"] = {"standard": "a", "rate_control": "aarf", "scheduler": "airtime"}
        for node in scenario["node"]:
            node["y"] = metres if node["name"] == "far" else node.get("y", 0.0)
        return tp.run(scenario)

    both = run(("near", "far"))
    airtimes = {node["node"]: node["airtime_s"] + node["airtime_addressed_s"] for node in both.summary["nodes"][2:]}
    assert airtimes["near"] / airtimes["far"] == pytest.approx(1, rel=0.02)
    # About half of what it has alone: contention between frames is not airtime.
    assert both.flows["throughput_bps"][0] / run(("near",)).flows["throughput_bps"][0] == pytest.approx(0.5, rel=0.1)


def test_a_sparse_station_waits_for_one_aggregate_of_each_other():
    scenario = world(("near", "far", "third"), udp, "n")
    scenario["flow"][2]["app"] = {"kind": "cbr", "rate": "20pps", "size": "100B", "transport": "udp"}
    sparse = tp.run(scenario).flows.iloc[2]
    # An aggregate of at most 5.484 ms for each of the two others; contention, and the way to the access point.
    assert sparse["delay_p95_s"] < 2 * 0.0056 + 0.002 and sparse["dropped_packets"] == 0


def test_airtime_is_a_series_of_nodes():
    result = tp.run(world(("near", "far"), udp, record={"series": ["airtime"], "every": "1s"}))
    table = result.series("airtime")
    far = table[table["node"] == "far"]["value"].tail(4)
    assert ((far > 0.4) & (far < 0.5)).all()


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (
            {"radio": {"standard": "a", "rates": {"fra": "6Mbps"}}},
            "channel[0].radio.rates.fra",
            "is not one of the channel's stations",
        ),
        (
            {"radio": {"standard": "a", "rates": {"far": "7Mbps"}}},
            "channel[0].radio.rates.far",
            "7Mbps is not a rate of this standard",
        ),
        (
            {"radio": {"standard": "a", "rates": {"far": "6Mbps"}, "rate_control": "arf"}},
            "channel[0].radio.rates",
            "beside rate control",
        ),
        ({"gateway": []}, "channel[0].radio.scheduler", "is what an access point does"),
        ({"radio": {"standard": "802.15.4", "scheduler": "airtime"}}, "channel[0].radio.scheduler", "applies to 802.11 only"),
    ],
)
def test_what_makes_no_sense_is_an_error_with_its_place(change, path, message):
    scenario = world(("near", "far"), udp)
    scenario["channel"][0] |= change
    with pytest.raises(ScenarioError) as error:
        tp.run(scenario)
    assert f"{path}: " in str(error.value) and message in str(error.value)
