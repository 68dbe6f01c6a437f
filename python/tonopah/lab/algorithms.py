"""What the lab shows of an algorithm besides its entry in the registry: its response function, and classes in Python files."""

import ast
from pathlib import Path
from typing import Any

from tonopah.errors import InputError
from tonopah.scenario.files import read_file

RATE, DELAY_MS, QUEUE_PACKETS = "500Mbps", 20, 2000
"""Where the response is measured: a path whose rate and queue limit only the largest windows."""
LOSSES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
"""Loss rates, from the fastest run to the slowest."""
MSS_BYTES = 1460
MOST_FILES = 200
MOST_BYTES = 1024 * 1024
BASE = "CongestionControl"


def response_world(cc: Any, loss: float) -> dict[str, Any]:
    """Return the scenario of one point of a response function: one flow, losses at random.

    A flow at the square-root law loses a segment every 1 / loss segments; the run holds some dozens of losses, within a minute.
    """
    bottleneck = {
        "rate": RATE, "delay": f"{DELAY_MS // 2 - 2}ms", "queue": f"{QUEUE_PACKETS}p", "loss": {"kind": "packet", "p": loss},
    }  # fmt: skip
    return {
        "duration": "60s",
        "warmup": "5s",
        "network": {"kind": "dumbbell", "flows": 1, "bottleneck": bottleneck},
        "tcp": {"cc": cc, "profile": "linux", "mss": f"{MSS_BYTES}B"},
        "record": {"series": ["cwnd"], "every": "1s"},
    }


def response_point(summary: dict[str, Any], loss: float) -> dict[str, Any]:
    """Return the mean window in segments at a loss rate, and that of the square-root law.

    W = sqrt(3 / (2 b p)) (Mathis, Semke, Mahdavi, Ott 1997) with b = 1: growth counts the bytes that an ACK acknowledges, so that
    delayed ACKs do not slow it.
    """
    window = summary["flows"][0]["cwnd_mean_bytes"]
    return {"loss": loss, "window_segments": None if window is None else window / MSS_BYTES, "law_segments": (1.5 / loss) ** 0.5}


def classes(folder: Path) -> list[dict[str, Any]]:
    """Return the algorithms in the Python files of a folder, found by reading: nothing is executed.

    A class counts if it names CongestionControl as a base.
    """
    found = []
    for path in sorted(folder.glob("*.py"))[:MOST_FILES]:
        try:
            tree = ast.parse(read_file(path, "an algorithm", MOST_BYTES))
            changed = path.stat().st_mtime
        except (InputError, SyntaxError, ValueError, OSError, RecursionError):
            continue
        found += [
            {"python": f"{path.name}:{one.name}", "title": ast.get_docstring(one) or one.name, "changed": changed}
            for one in tree.body
            if isinstance(one, ast.ClassDef) and any(BASE in ast.unparse(base) for base in one.bases)
        ]
    return found
