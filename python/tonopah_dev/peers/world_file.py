"""A world as lines that the programs of both peers read: ns-2 sources them as Tcl commands, ns-3 reads them word by word.

setting NAME VALUE                  SI units without prefix: seconds, metres, bits per second, bytes, watts
place X Y                           a station of an ad hoc network, in the order of their numbers
order STATION TIME X Y SPEED        it goes straight to a place
terminal LATITUDE LONGITUDE         on the ground, degrees
flow FROM TO TIME                   numbers of stations, terminals or pairs of hosts, and the start
"""

import math
from collections.abc import Mapping
from typing import Any

from tonopah._core import parse_quantity, split_quantity
from tonopah.runs.simulation import check

HT_RATES_BPS = (6.5e6, 13e6, 19.5e6, 26e6, 39e6, 52e6, 58.5e6, 65e6)
"""Rates of 802.11n by their number (MCS): one spatial stream, 20 MHz, 800 ns."""


def number(text: str) -> float:
    """Return a resolved quantity of the engine, like "11Mbps", in SI units.

    As number times unit: the digests of ns-2's stored results hold the last digit of this product.
    """
    quantity = split_quantity(text)
    if quantity is None:
        raise ValueError(f"{text!r} is not a quantity")
    value, unit, kind = quantity
    return value * parse_quantity(f"1{unit}", kind)


def lines(settings: Mapping[str, Any], *parts: list[str]) -> str:
    """Return the text of a world file."""
    head = [
        f"setting {name} {value!r}" if isinstance(value, float) else f"setting {name} {value}" for name, value in settings.items()
    ]
    return "\n".join([*head, *(line for part in parts for line in part)]) + "\n"


def flow_lines(graph: Mapping[str, Any], index: Mapping[str, int]) -> list[str]:
    """Return the flows of an expanded world."""
    return [f"flow {index[flow['from']]} {index[flow['to']]} {number(flow['start'])!r}" for flow in graph.get("flow", ())]


def settings_of_flows(graph: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of TCP that the first flow, or the first workload, has: its own, or the common ones."""
    first = next(iter((*graph.get("flow", ()), *graph.get("workload", ()))), {})
    return graph["tcp"] | first.get("tcp", {})


def tcp_settings(graph: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the flows have in common: payload of a segment, the receiver's window in packets, first window."""
    tcp = settings_of_flows(graph)
    segment = round(number(tcp["mss"]))
    return {
        "segment": segment,
        "window": round(number(tcp["recv_buffer"]) / segment),
        "first_window": round(number(tcp["initial_window"]) / segment),
    }


def adhoc(scenario: Mapping[str, Any], seed: int, extra: Mapping[str, Any]) -> str:
    """Return an ad hoc network as it is drawn with `seed`: places, movement by orders, flows, rates, energy."""
    checked = check(scenario, seed)
    graph, area = checked["graph"], checked["resolved"]["network"]["area"]
    radio = graph["channel"][0]["radio"]
    app = graph["flow"][0]["app"]
    settings = {
        "seconds": number(graph["duration"]),
        "size_x": number(area["x"]),
        "size_y": number(area["y"]),
        "data_rate": number(radio["data_rate"]),
        "control_rate": number(radio["control_rate"]),
        # Neither peer knows a switch for RTS; no frame is as large as this.
        "rts_above": round(number(radio["rts_threshold"])) if "rts_threshold" in radio else 100_000,
        "queue": radio["queue_limit"],
        **tcp_settings(graph),
        # ns-2's own first draws hardly differ between small seeds, so they are spread.
        "seed": seed * 7919 + 104729,
        "interval": 1 / number(app["rate"]) if app["kind"] == "cbr" else 0.0,
    }
    if radio["standard"] == "n":
        mcs = HT_RATES_BPS.index(settings["data_rate"])
        settings |= {"mcs": mcs, "ack_every": settings_of_flows(graph)["ack_every"], "routed": int(routed(graph))}
    if "energy" in radio:
        settings |= {f"power_{state}": number(radio["energy"][state]) for state in ("tx", "rx", "idle")}
    places = [f"place {node['x']!r} {node['y']!r}" for node in graph["node"]]
    orders = [line for i, node in enumerate(graph["node"]) for line in order_lines(i, node)]
    index = {node["name"]: i for i, node in enumerate(graph["node"])}
    return lines({**settings, **extra}, places, orders, flow_lines(graph, index))


def routed(graph: Mapping[str, Any]) -> bool:
    """Tell whether stations learn routes from messages, as DSDV does."""
    return graph["channel"][0]["routing"]["kind"] != "shortest"


def order_lines(station: int, node: Mapping[str, Any]) -> list[str]:
    """Return the movement of one station."""
    orders = node.get("mobility", {}).get("orders", [])
    return [f"order {station} {number(o['at'])!r} {o['x']!r} {o['y']!r} {number(o['speed'])!r}" for o in orders]


def dumbbell(scenario: Mapping[str, Any], seed: int, extra: Mapping[str, Any]) -> str:
    """Return a dumbbell, and of a workload how many flows of one size come in a second."""
    checked = check(scenario, seed)
    graph, network = checked["graph"], checked["resolved"]["network"]
    settings = {"seconds": number(graph["duration"]), "pairs": network["pairs"], **tcp_settings(graph)}
    for part in ("access", "bottleneck"):
        link = network[part]
        settings |= {f"{part}_rate": number(link["rate"]), f"{part}_delay": number(link["delay"])}
        settings[f"{part}_queue"] = round(number(link["queue"]["limit"]))
    for workload in scenario.get("workload", ()):
        segments = math.ceil(number(workload["size"]["bytes"]) / settings["segment"])
        settings |= {"arrivals_per_s": number(workload["arrivals"]["rate"]), "flow_segments": segments, "seed": seed}
    index = {f"{side}{i}": i for side in ("left", "right") for i in range(network["pairs"])}
    return lines({**settings, **extra}, flow_lines(graph, index))


def constellation(scenario: Mapping[str, Any], seed: int, extra: Mapping[str, Any]) -> str:
    """Return satellites in a Walker star and their terminals."""
    checked = check(scenario, seed)
    graph, network = checked["graph"], checked["resolved"]["network"]
    names = (
        "altitude_km", "inclination_deg", "planes", "satellites", "node_deg", "node_spacing_deg", "phase_deg",
        "elevation_deg", "latitude_limit_deg",
    )  # fmt: skip
    settings = {"seconds": number(graph["duration"]), **{name: network[name] for name in names}, **tcp_settings(graph)}
    settings |= {f"{name}_s": number(network[name]) for name in ("handover_interval", "isl_interval")}
    settings |= {f"{part}_rate": number(network[part]["rate"]) for part in ("uplink", "downlink", "isl")}
    settings["queue"] = round(number(network["isl"]["queue"]["limit"]))
    settings["seed"] = seed * 7919 + 104729
    ground = [f"terminal {place['lat_deg']!r} {place['lon_deg']!r}" for place in network["terminals"]]
    index = {place["name"]: i for i, place in enumerate(network["terminals"])}
    return lines({**settings, **extra}, ground, flow_lines(graph, index))


WRITERS = {"adhoc": adhoc, "dumbbell": dumbbell, "constellation": constellation}
"""By kind of network; the programs of the peers have the same names."""


def write(scenario: Mapping[str, Any], seed: int, **extra: Any) -> str:
    """Return a scenario as world file, with `extra` settings."""
    return WRITERS[scenario["network"]["kind"]](scenario, seed, extra)
