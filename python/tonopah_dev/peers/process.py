"""Child processes with their CPU time and peak memory."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tonopah.errors import RunFailedError

LAUNCHER = Path(__file__).with_name("launch.py")


@dataclass(frozen=True)
class Finished:
    """What a child process wrote and what it cost."""

    output: str
    errors: str
    code: int
    cpu_s: float
    """User and system time of the process and of the children it waited for."""
    memory_mib: float
    """Largest resident set."""
    stopped: bool
    """It reached its limit of CPU time."""


def run(command: Sequence[str], text: str = "", cpu_limit_s: float | None = None) -> Finished:
    """Run `command` with `text` as its input; it is stopped once it has used `cpu_limit_s` of CPU time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report, output, errors = (folder / part for part in ("report", "output", "errors"))
        (folder / "input").write_text(text)
        full = [sys.executable, "-I", "-S", str(LAUNCHER), str(report), str(cpu_limit_s or 0), *command]
        with (folder / "input").open() as given, output.open("wb") as out, errors.open("wb") as err:
            process = subprocess.Popen(full, stdin=given, stdout=out, stderr=err, start_new_session=True)
            try:
                process.wait()
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
        said, complained = (path.read_text(errors="replace") for path in (output, errors))
        if not report.exists():
            raise RunFailedError(f"{command[0]} could not be started: {complained.strip()[-300:]}")
        code, cpu, kib = report.read_text().split()
    cpu_s = float(cpu)
    # SIGXCPU comes of the limit alone, even where the time accounted for is a little less; SIGKILL may have another cause.
    at_limit = cpu_limit_s is not None and int(code) == -signal.SIGKILL and cpu_s >= 0.9 * cpu_limit_s
    stopped = int(code) == -signal.SIGXCPU or at_limit
    return Finished(said, complained, int(code), cpu_s, int(kib) / 1024, stopped)
