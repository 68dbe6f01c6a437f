"""A run as an animation for NetAnim: nodes, links, a sample of the packets, positions and energy over time.

The format is that of NetAnim 3.109: one XML file.
"""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from tonopah._core import check, parse_quantity
from tonopah._core import transmissions as engine_transmissions
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.plot import layout, network, wireless
from tonopah.runs.simulation import RunResult, checked_seed, engine_form
from tonopah.scenario.paths import fetch, put
from tonopah.writing import written_whole

NEEDED = ("position_x", "position_y", "energy")
MAX_PACKETS = 20_000
"""Number of packets in the file, sampled evenly over the run; about 4 MB."""
SAMPLES = 200
"""Samples of position and energy of a node, unless the scenario sets the recording interval."""
LIGHT = 299_792_458.0
COLOURS = {
    "access_point": (213, 94, 0),
    "base_station": (213, 94, 0),
    "router": (90, 90, 90),
    "gateway": (213, 94, 0),
    "switch": (90, 90, 90),
}


def run(scenario: dict[str, Any], name: str | None, seed: int, target: Path) -> RunResult:
    """Run a scenario, write its animation to `target` and return its result.

    Raises ScenarioError when the scenario cannot be run, OSError when the file cannot be written.
    """
    try:
        bound = engine_form(scenario, name)
        checked = json.loads(check(bound.text, checked_seed(seed), bound.algorithms))
        if checked["graph"]["network"]["kind"] == "constellation":
            raise InputError("network.kind", "animations do not support satellites", "tonopah check --picture draws them", name)
        series = fetch(scenario, "record.series") or []
        put(scenario, "record.series", list(dict.fromkeys([*series, *NEEDED])))
        if fetch(scenario, "record.every") is None:
            duration = seconds(checked["graph"]["duration"])
            put(scenario, "record.every", f"{max(1, round(duration / SAMPLES * 1e6))}us")
        bound = engine_form(scenario, name)
        summary, columns, packets = bound.call(engine_transmissions, seed, most=MAX_PACKETS)
    except ScenarioError as error:
        raise relay(error, name) from None
    result = RunResult(json.loads(summary), columns)
    with written_whole(target) as place, place.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines(checked["graph"], result, packets))
    return result


def lines(graph: dict[str, Any], result: RunResult, packets: str) -> Iterator[str]:
    """Yield the lines of the file."""
    nodes = graph["node"]
    place = layout.node_positions(graph)
    number = {node["name"]: i for i, node in enumerate(nodes)}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<anim ver="netanim-3.109" filetype="animation">'
    for i, node in enumerate(nodes):
        x, y = place[node["name"]]
        yield f'<node id="{i}" sysId="{i}" locX="{x:g}" locY="{y:g}"/>'
    for link in graph.get("link", []):
        about = quoteattr(network.link_text(link))
        yield f'<link fromId="{number[link["from"]]}" toId="{number[link["to"]]}" fd="" td="" ld={about}/>'
    for i, node in enumerate(nodes):
        red, green, blue = COLOURS.get(node.get("role", "host"), (0, 114, 178))
        yield f'<nu p="c" t="0" id="{i}" r="{red}" g="{green}" b="{blue}"/>'
        yield f'<nu p="d" t="0" id="{i}" descr={quoteattr(node["name"])}/>'
    if len(result.series("energy")):
        yield '<ncs ncId="0" n="Energy consumed (J)" t="DOUBLE"/>'
    timed = [*moves(result, place, nodes), *counters(result), *transmissions(graph, result, number, packets)]
    yield from (text for _, text in sorted(timed, key=lambda entry: entry[0]))
    yield "</anim>"


def moves(result: RunResult, place: Mapping[str, tuple[float, float]], nodes: list[Any]) -> Iterator[tuple[float, str]]:
    """Yield the position of each node whenever it has changed."""
    at = {i: list(place[node["name"]]) for i, node in enumerate(nodes)}
    steps: dict[tuple[float, int], dict[int, float]] = defaultdict(dict)
    for axis, name in enumerate(NEEDED[:2]):
        for row in result.series(name).itertuples(index=False):
            steps[(row.t_s, row.node)][axis] = row.value
    for (t, node), moved in sorted(steps.items()):
        if any(at[node][axis] != value for axis, value in moved.items()):
            for axis, value in moved.items():
                at[node][axis] = value
            yield t, f'<nu p="p" t="{t:g}" id="{node}" x="{at[node][0]:.6g}" y="{at[node][1]:.6g}"/>'


def counters(result: RunResult) -> Iterator[tuple[float, str]]:
    """Yield the energy consumed by each node."""
    for row in result.series("energy").itertuples(index=False):
        yield row.t_s, f'<nc c="0" i="{row.node}" t="{row.t_s:g}" v="{row.value:.6g}"/>'


def transmissions(
    graph: dict[str, Any], result: RunResult, number: Mapping[str, int], packets: str
) -> Iterator[tuple[float, str]]:
    """Yield the packets on wires and in the air; a broadcast frame is shown at every station in reach at the start."""
    near = defaultdict(list)
    for a, b in wireless.connectivity(graph)["links"] if graph.get("channel") else ():
        near[a].append(b)
        near[b].append(a)
    channels = [[number[name] for name in channel["stations"]] for channel in graph.get("channel", [])]
    for uid, row in enumerate(csv.DictReader(io.StringIO(packets))):
        t, index = float(row["t_s"]), int(row["index"])
        if row["medium"] == "link":
            simplex = result.summary["links"][index]
            link = graph["link"][index // 2]
            own = (link.get("reverse") or {}).get("delay") if index % 2 else None
            length, delay = 8 * int(row["bytes"]) / simplex["rate_bps"], seconds(own or link.get("delay") or "0s")
            ends = f'fId="{number[simplex["from"]]}" fbTx="{t:.9g}" lbTx="{t + length:.9g}" tId="{number[simplex["to"]]}"'
            yield t, f'<p {ends} fbRx="{t + delay:.9g}" lbRx="{t + delay + length:.9g}"/>'
            continue
        stations, length = channels[index], float(row["airtime_s"])
        sender = stations[int(row["from"])]
        yield t, f'<pr uId="{uid}" fId="{sender}" fbTx="{t:.9g}"/>'
        receivers = [stations[int(row["to"])]] if row["to"] else [station for station in near[sender] if station in stations]
        for station in receivers:
            yield t, f'<wpr uId="{uid}" tId="{station}" fbRx="{t:.9g}" lbRx="{t + length:.9g}"/>'


def seconds(value: str) -> float:
    """Return a duration as the engine writes it in seconds."""
    return parse_quantity(value, "duration")
