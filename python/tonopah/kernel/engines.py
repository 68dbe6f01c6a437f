"""Kernels that carry the flows of a study's runs in place of simulated senders: a module of this folder for each.

These modules need Linux and are imported where they are used; this one is imported everywhere.
"""

import importlib
import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from tonopah.errors import InputError, RunFailedError

SIMULATED = "tonopah"
KERNELS = ("linux", "uml")
ENGINES = (SIMULATED, *KERNELS)


def identity(name: str) -> str:
    """Return a kernel with its release, such as "linux 6.18.44": results of another count as other runs. Raises InputError."""
    return str(module_of(name).engine())


def module_of(engine: str) -> ModuleType:
    """Return the module of a kernel, by its name or identity. Raises InputError where there is none."""
    name = engine.partition(" ")[0]
    try:
        return importlib.import_module(f"tonopah.kernel.{name}")
    except ImportError:
        raise InputError("engine", f"there is no {name!r} here", "linux, on Linux; or leave it out") from None


def varying(engine: str) -> tuple[str, ...]:
    """Return what differs between runs by a kernel, in words, though nothing in their scenario is random."""
    return ("the time that this machine takes",) if engine.startswith("linux") else ()


def check_run(engine: str, scenario: str, seed: int) -> None:
    """Refuse a scenario (JSON text) that a kernel cannot carry. Raises InputError with the path of the key."""
    module_of(engine).planned_here(json.loads(scenario), None, seed)


def lacking(engine: str) -> str | None:
    """Return what this machine lacks for runs by a kernel, and what to do, if it lacks anything."""
    found: str | None = module_of(engine).lacking()
    return found


def carry(engine: str, scenario: str, seed: int, keep_late: bool) -> tuple[str, Mapping[str, Mapping[str, Any]]]:
    """Return the summary (JSON text) and the series of a run by a kernel.

    Raises ScenarioError as `run` of the kernel does, and RunFailedError if packets were late, unless late runs are kept, marked.
    """
    from tonopah.kernel.running import too_late

    result = module_of(engine).run(json.loads(scenario), None, seed)
    late = too_late(result.report)
    if late and not keep_late:
        raise RunFailedError(late)
    summary = dict(result.summary)
    # Last, as a store expects it.
    resolved = summary.pop("resolved")
    return json.dumps({**summary, "resolved": resolved}, separators=(",", ":"), allow_nan=False), result.columns
