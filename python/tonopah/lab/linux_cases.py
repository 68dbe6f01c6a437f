"""An algorithm against recordings of Linux: the cases and measures of `tonopah validate linux`, one case at a time."""

import threading
from dataclasses import asdict
from functools import cache
from typing import Any

from tonopah.errors import InputError
from tonopah.lab.session import Slots
from tonopah.validate.frame import compare
from tonopah.validate.linux import table as terminal
from tonopah.validate.linux import worlds
from tonopah.validate.linux.comparison import AgainstLinux
from tonopah.validate.linux.recordings import LinuxCase, shipped

COLUMNS = [name.replace("\n", " ") for name in terminal.COLUMNS]
"""Of the row of each flow."""


@cache
def cases_of(cc: str) -> dict[str, LinuxCase]:
    """Return the recorded cases in which every flow has the algorithm, by name.

    Shares in several recordings are left out: their p values are adjusted for their number, so that they are judged together.
    """
    found = (case for case in shipped().cases if set(case.cc) == {cc} and case.kind != "beside" and not worlds.missing(case))
    return {case.id: case for case in found}


def compared(cc: str, name: str, slots: Slots, gone: threading.Event) -> dict[str, Any]:
    """Return the measures of a case as the page of the validation has them, unless `gone` is set first. Raises InputError."""
    case = cases_of(cc).get(name)
    if case is None:
        raise InputError("case", f"{name!r} is no recording of {cc}", ", ".join(cases_of(cc)) or "there is none")
    slots.take(gone)
    try:
        (result,) = compare(AgainstLinux(shipped()), [case], threads=1)
    finally:
        slots.give()
    if result.refused:
        raise InputError("case", f"{name} was not compared: {result.refused}")
    return {
        "case": case.id, "about": terminal.about(case), "flows": [terminal.cells(flow) for flow in result.flows],
        "goals": result.verdict, "met": result.met,
        "missed": [asdict(check) for check in result.checks if not check.met],
    }  # fmt: skip
