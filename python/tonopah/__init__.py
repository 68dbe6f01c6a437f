"""Tonopah: a test range for TCP congestion control.

import tonopah as tp

result = tp.run("dumbbell.toml", seed=1, set={"flow.0.cc": "reno"})
result.summary["flows"][0]["goodput_bps"]
result.series("cwnd")

study = tp.Study.load("asran")
study.run(quick=True)
study.report()
"""

from tonopah._core import engine_version
from tonopah.cc.base import Ack, Congestion, CongestionControl, Lost, RateSample, Sent, Setup, View
from tonopah.endpoint import Endpoint, EndpointEvent, EndpointState, Segment
from tonopah.errors import AlgorithmError, InputError, RunFailedError, ScenarioError
from tonopah.scenario.document import load
from tonopah.simulation import Result, algorithms, check, run
from tonopah.study import Study

__version__ = engine_version()
__all__ = [
    "Ack",
    "AlgorithmError",
    "Congestion",
    "CongestionControl",
    "Endpoint",
    "EndpointEvent",
    "EndpointState",
    "InputError",
    "Lost",
    "RateSample",
    "Result",
    "RunFailedError",
    "ScenarioError",
    "Segment",
    "Sent",
    "Setup",
    "Study",
    "View",
    "__version__",
    "algorithms",
    "check",
    "engine_version",
    "load",
    "run",
]
