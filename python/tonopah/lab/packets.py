"""The packets of a moment: the events of a run in a part of its time, found by running up to there again."""

import json
import threading
import time
from typing import Any

from tonopah._core import Stepwise
from tonopah.errors import InputError, LimitError
from tonopah.lab.session import STEP_EVENTS, Session

MOST_SECONDS = 2.0
MOST_EVENTS = 60_000
"""Of an excerpt; beyond it the page says that there are more."""


def excerpt(session: Session, from_s: float, until_s: float) -> dict[str, Any]:
    """Return the packet events of a run that has not begun, from one second to another. Raises InputError and LimitError."""
    if not 0 <= from_s < until_s or until_s - from_s > MOST_SECONDS:
        raise InputError("until_s", f"{from_s:g} s to {until_s:g} s cannot be shown", f"at most {MOST_SECONDS:g} s, from 0 s on")
    cancelled = threading.Event()
    session.slots.take(cancelled)
    try:
        with session.bound.for_a_run() as algorithms:
            memory, wanted = session.limits.memory_bytes, (from_s, until_s, MOST_EVENTS)
            run = Stepwise(session.bound.text, session.seed, algorithms, None, memory, wanted)
            began, over = time.monotonic(), False
            while not over and (run.now_s or 0.0) < until_s:
                over = run.advance(until_s, STEP_EVENTS)
                run.series()
                if time.monotonic() - began > session.limits.seconds:
                    raise LimitError(f"the run was stopped: {session.limits.seconds:g} s of computing are its limit")
            ended = run.finish()
    finally:
        session.slots.give()
    lines = ended[2].splitlines() if ended else []
    return {"events": [json.loads(line) for line in lines], "complete": len(lines) < MOST_EVENTS}
