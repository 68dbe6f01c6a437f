"""Tonopah: a test range for TCP congestion control.

import tonopah as tp

result = tp.run("dumbbell.toml", seed=1, set={"tcp.cc": "reno"})
result.summary["flows"][0]["goodput_bps"]
result.series("cwnd")

study = tp.Study.load("asran")
study.run(quick=True)
study.report()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tonopah._core import engine_version
    from tonopah.breaking.api import Counterexamples, counterexamples
    from tonopah.breaking.replay import replay
    from tonopah.cc.base import Ack, Congestion, CongestionControl, Lost, RateSample, Sent, Setup, View
    from tonopah.cc.compiled import compiled
    from tonopah.cc.library import get_include
    from tonopah.errors import AlgorithmError, InputError, RunFailedError, ScenarioError, ScenarioWarning
    from tonopah.identification.api import Identification, identify
    from tonopah.runs.endpoint import Endpoint, EndpointEvent, EndpointState
    from tonopah.runs.segment import Segment
    from tonopah.runs.simulation import algorithms
    from tonopah.runs.summary import FlowSummary, LinkSummary, WorkloadSummary
    from tonopah.scenario.document import load
    from tonopah.study.run import Result, check, run
    from tonopah.study.study import Study
    from tonopah.study.sweep import sweep

    __version__: str

__all__ = [
    "Ack",
    "AlgorithmError",
    "Congestion",
    "CongestionControl",
    "Counterexamples",
    "Endpoint",
    "EndpointEvent",
    "EndpointState",
    "FlowSummary",
    "Identification",
    "InputError",
    "LinkSummary",
    "Lost",
    "RateSample",
    "Result",
    "RunFailedError",
    "ScenarioError",
    "ScenarioWarning",
    "Segment",
    "Sent",
    "Setup",
    "Study",
    "View",
    "WorkloadSummary",
    "__version__",
    "algorithms",
    "check",
    "compiled",
    "counterexamples",
    "engine_version",
    "get_include",
    "identify",
    "load",
    "replay",
    "run",
    "sweep",
]
_NAMES = {
    "_core": ("engine_version",),
    "breaking.api": ("Counterexamples", "counterexamples"),
    "breaking.replay": ("replay",),
    "cc.base": ("Ack", "Congestion", "CongestionControl", "Lost", "RateSample", "Sent", "Setup", "View"),
    "cc.compiled": ("compiled",),
    "cc.library": ("get_include",),
    "runs.endpoint": ("Endpoint", "EndpointEvent", "EndpointState"),
    "errors": ("AlgorithmError", "InputError", "RunFailedError", "ScenarioError", "ScenarioWarning"),
    "identification.api": ("Identification", "identify"),
    "scenario.document": ("load",),
    "runs.summary": ("FlowSummary", "LinkSummary", "WorkloadSummary"),
    "runs.segment": ("Segment",),
    "runs.simulation": ("algorithms",),
    "study.run": ("Result", "check", "run"),
    "study.study": ("Study",),
    "study.sweep": ("sweep",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Return a public name, imported at its first use (PEP 562): numpy and others are loaded only where they are needed."""
    if name == "__version__":
        value = __getattr__("engine_version")()
    elif name in _MODULES:
        value = getattr(import_module(f"tonopah.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module 'tonopah' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names: modules that are loaded by now are no part of them."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
