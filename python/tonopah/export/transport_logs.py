"""What transports in libraries log of a run: keys, qlog and text of each end, as they write it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tonopah._core import run as engine_run
from tonopah.cc.binding import find_transports
from tonopah.errors import InputError, ScenarioError, relay
from tonopah.runs.simulation import RunResult, checked_seed, engine_form

KINDS = ["keys", "sqlog", "txt"]
"""Logs by what their names end in: keys of TLS for Wireshark, qlog, text."""


def run(scenario: Mapping[str, Any], name: str | None, seed: int, folder: Path) -> RunResult:
    """Run a scenario and return its result; its transports write `flow0-source.sqlog`, … into `folder`.

    Raises InputError when none of its flows has a transport in a library.
    """
    bound = engine_form(scenario, name)
    if not any(find_transports(json.loads(bound.text))):
        hint = 'flow.transport = { native = "libmine.so" }; --qlog logs the TCP of this engine'
        raise InputError("--transport-logs", "no flow has a transport in a library", hint)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        summary, series = bound.call(engine_run, checked_seed(seed), logs=(str(folder.resolve()), KINDS))
    except ScenarioError as error:
        raise relay(error, name) from None
    return RunResult(json.loads(summary), series)
