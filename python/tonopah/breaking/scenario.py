"""The scenario of a world: the base world, and what the axes set."""

import copy
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from tonopah._core import parse_quantity
from tonopah.breaking.space import OWN, Space, World
from tonopah.errors import InputError
from tonopah.judge.subjects import Algorithm, endpoint
from tonopah.scenario.worlds import Graph

BASE = tomllib.loads(resources.files("tonopah.breaking").joinpath("base.toml").read_text())
PAYLOAD = 0.965
"""Share of a link's rate that is payload."""
BIN_S = 0.1
WARMUP_S = float(parse_quantity(BASE["warmup"], "duration"))
ACCESS_S = float(parse_quantity(BASE["network"]["access"]["delay"], "duration"))
READ_BY_ALGORITHMS = "vegas"
"""Loss recovery whose fine time-outs its algorithms count or answer to; with another they never come."""
BACKGROUND = 0.1
"""Rate of the background while it sends, as a share of the line's: a tenth of the time, so 1 % of it."""


@dataclass(frozen=True)
class Setup:
    """A world as a scenario, and what is known of it without a run."""

    scenario: Mapping[str, Any]
    values: Mapping[str, Any]
    """What the axes set, by axis."""
    subjects: tuple[int, ...]
    """Flows of the subject."""
    rivals: tuple[int, ...]

    @property
    def rival(self) -> str:
        """Algorithm of the rivals; empty without one."""
        return str(self.values.get("rival", ""))

    @property
    def app(self) -> str:
        """Kind of the application of the subject's flows."""
        return str(self.values.get("app", {}).get("kind", "bulk"))

    @property
    def duration_s(self) -> float:
        """Length of a run."""
        return float(parse_quantity(self.scenario["duration"], "duration"))

    @property
    def line(self) -> Mapping[str, Any]:
        """The link that all flows share."""
        network = self.scenario["network"]
        return network["bottleneck"] if network["kind"] == "dumbbell" else self.scenario["link"][0]  # type: ignore[no-any-return]

    @property
    def payload_bps(self) -> float:
        """The payload that the line carries at the world's rate."""
        return PAYLOAD * float(parse_quantity(self.line["rate"], "rate"))

    @property
    def last_change_s(self) -> float:
        """When the line changes for the last time; 0 if it does not."""
        return max((float(parse_quantity(one["at"], "duration")) for one in self.line.get("changes", [])), default=0.0)

    @property
    def first_change_s(self) -> float:
        """When the line changes for the first time."""
        return min((float(parse_quantity(one["at"], "duration")) for one in self.line.get("changes", [])), default=0.0)


def set_up(space: Space, world: World, algorithm: Algorithm) -> Setup:
    """Return the scenario of a world with its subject. Raises InputError for a path that is none."""
    scenario = copy.deepcopy(BASE)
    bottleneck = scenario["network"]["bottleneck"]
    bottleneck |= {key: space.base[key] for key in ("rate", "delay", "queue")}
    scenario["duration"] = space.base["duration"]
    own = endpoint(algorithm.cc)
    scenario["tcp"]["cc"] = own["cc"]
    values = {name: space.value(name, setting) for name, setting in world.settings}
    for name, value in values.items():
        if name not in OWN:
            put(scenario, space.axes[name].sets, value, f"axis.{name}.sets")
    flows, subjects, rivals = flows_of(scenario, values, asks=algorithm.subject.takes_marks)
    tcp = {"recovery": READ_BY_ALGORITHMS} if algorithm.subject.recovery == READ_BY_ALGORITHMS else {}
    tcp |= own.get("tcp", {})
    for place in subjects if tcp else ():
        flows[place]["tcp"] = tcp
    network = scenario["network"]
    network["pairs"] = len(flows)
    scenario["flow"] = flows
    if "extra_rtt" in values or "own_jitter" in values:
        as_graph(scenario, (rivals or subjects)[-1], values)
    return Setup(scenario, values, subjects, rivals)


def flows_of(
    scenario: dict[str, Any], values: Mapping[str, Any], *, asks: bool
) -> tuple[list[dict[str, Any]], tuple[int, ...], tuple[int, ...]]:
    """Return the flows of a world, and which are the subject's and the rivals'; sets what marks need unless it asks for them."""
    subjects = tuple(range(int(values.get("flows", 1))))
    count = int(values.get("rivals", 1)) if "rival" in values else 0
    rivals = tuple(range(len(subjects), len(subjects) + count))
    own: dict[str, Any] = {"app": values["app"]} if "app" in values else {}
    flows = [copy.deepcopy(BASE["flow"][0]) | own for _ in subjects]
    flows += [copy.deepcopy(BASE["flow"][0]) | {"cc": {"name": values["rival"], "profile": "linux"}} for _ in rivals]
    if "late" in values:
        for flow in flows[: len(subjects)] if rivals else flows[-1:]:
            flow["start"] = values["late"]
    if "ecn" in values:
        scenario["network"]["bottleneck"]["queue"] = values["ecn"]
        if not asks:
            scenario["tcp"]["ecn"] = "classic"
        for number in rivals if asks else ():
            flows[number]["tcp"] = {"ecn": "classic"}
    background = copy.deepcopy(BASE["flow"][1])
    rate_bps = float(parse_quantity(scenario["network"]["bottleneck"]["rate"], "rate"))
    background["app"]["rate"] = f"{BACKGROUND * rate_bps:.9g}bps"
    flows.append(background)
    if "cross" in values:
        flows.append({"app": values["cross"]})
    for number, flow in enumerate(flows):
        flow |= {"from": f"left{number}", "to": f"right{number}"}
    return flows, subjects, rivals


def put(scenario: dict[str, Any], path: str, value: Any, place: str) -> None:
    """Set a key of the scenario; tables on the way are made."""
    *tables, key = path.split(".")
    found = scenario
    for name in tables:
        found = found.setdefault(name, {})
        if not isinstance(found, dict):
            raise InputError(place, f"{path!r} does not name a key of the base world", "like network.bottleneck.rate")
    found[key] = value


def as_graph(scenario: dict[str, Any], number: int, values: Mapping[str, Any]) -> None:
    """Write the network out as a graph, in which the access line of one flow differs."""
    access, bottleneck = scenario["network"]["access"], scenario["network"]["bottleneck"]
    count = scenario["network"]["pairs"]
    graph = Graph()
    graph.nodes = [{"name": "router0", "role": "router"}, {"name": "router1", "role": "router"}]
    graph.nodes += [{"name": f"{side}{each}"} for side in ("left", "right") for each in range(count)]
    graph.connect("router0", "router1", **bottleneck)
    for each in range(count):
        own: dict[str, Any] = dict(access)
        if each == number:
            # The line is crossed once in each direction.
            extra_s = float(parse_quantity(values.get("extra_rtt", "0s"), "duration")) / 2
            own["delay"] = f"{float(parse_quantity(access['delay'], 'duration')) + extra_s:.9g}s"
            own |= {"jitter": values["own_jitter"]} if "own_jitter" in values else {}
        graph.connect(f"left{each}", "router0", **own)
        graph.connect("router1", f"right{each}", **access)
    scenario |= {"network": {"kind": "graph"}, "node": graph.nodes, "link": graph.links}
