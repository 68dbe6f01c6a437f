"""How fast the lab answers and how much memory it takes: `bench --only lab` prints both beside what they should be."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonopah.errors import InputError
from tonopah.scenario.document import to_toml
from tonopah_dev.browser.browser import Browser, find_chromium

SHOWN = """((at) => at?.seen === 'true' && [...document.querySelectorAll('.split > .stack .plot')].every(
  (plot) => plot.plot && plot.dataset.version?.startsWith(`${at.version} `)))(document.querySelector('#run-state')?.dataset)"""
"""The run of a page is over and every plot has its last series."""
ENDS_AFTER_S = 10.0
"""Given to the server to end."""
MOST_TURNS_S = 20.0
"""No measurement is repeated for longer, so that the whole ends within three minutes on a busy machine too."""
NEVER_S = 60.0
"""A page that has not answered by then does not."""
SLIDER = "input[data-path='network.bottleneck.rate']"
TEN_FLOWS = {
    "duration": "60s",
    "network": {
        "kind": "dumbbell",
        "pairs": 10,
        "flows": 10,
        "bottleneck": {"rate": "100Mbps", "delay": "20ms", "queue": "367p"},
    },
    "tcp": {"cc": "newreno"},
}
TEN_SERIES = ("cwnd", "ssthresh", "send_window", "srtt", "rtt", "throughput", "goodput", "state", "pipe", "rto")
MANY_SAMPLES = {
    "duration": "1000s",
    "network": {
        "kind": "dumbbell",
        "pairs": 10,
        "flows": 10,
        "bottleneck": {"rate": "1Mbps", "delay": "20ms", "queue": "50p"},
    },
    "tcp": {"cc": "newreno"},
    "record": {"series": [*TEN_SERIES], "every": "10ms"},
}
"""Ten series of ten flows a hundred times a second: ten million samples."""


@dataclass(frozen=True)
class LabMeasure:
    """One number: what it is, its unit, below what it has to be (None: no limit), and the CPU time that it took."""

    what: str
    value: float
    unit: str
    limit: float | None
    server_cpu_s: float | None = None
    browser_cpu_s: float | None = None

    def line(self) -> str:
        """Return it as text."""
        cpu = (
            ""
            if self.server_cpu_s is None
            else f"; CPU {self.server_cpu_s:.2f} s server, {self.browser_cpu_s or 0.0:.2f} s browser"
        )
        limit = (
            "" if self.limit is None else f" (limit {self.limit:g} {self.unit}{'; exceeded' if self.value > self.limit else ''})"
        )
        return f"{self.what}: {self.value:.3g} {self.unit}{limit}{cpu}"


class Bench:
    """A server of its own, and its page in Chromium."""

    def __init__(self, browser: Browser, server: int, address: str):
        self.browser, self.server, self.address = browser, server, address

    def server_cpu_s(self) -> float:
        """Return the CPU time of the server so far."""
        times = Path(f"/proc/{self.server}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")

    def middle(self, what: str, limit: float, unit: str, runs: int, act: Callable[[int], float]) -> LabMeasure:
        """Return the median of some turns, of time and of CPU time, each for itself; at least one turn is made."""
        ends, found = time.monotonic() + MOST_TURNS_S, []
        for turn in range(runs):
            before = self.server_cpu_s(), self.browser.cpu_s()
            took = act(turn)
            found.append((took, self.server_cpu_s() - before[0], self.browser.cpu_s() - before[1]))
            if time.monotonic() > ends:
                break
        value, server, page = (sorted(column)[len(found) // 2] for column in zip(*found, strict=True))
        return LabMeasure(what, value, unit, limit, server, page)

    def open(self, _: int) -> float:
        """Open the page and return the seconds from there to the plots of its first run."""
        self.browser.open(self.address)
        return self.wait(SHOWN) / 1e3

    def first_paint_s(self) -> float:
        """Return when the page that was opened last showed something."""
        return self.browser.js("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1e3

    def wait(self, condition: str, begin: str = "") -> float:
        """Return the page's clock in milliseconds when a condition holds and is painted. Raises InputError."""
        found = self.browser.js(f"""(async () => {{
          const turn = () => new Promise((done) => requestAnimationFrame(done)), ends = performance.now() + {1e3 * NEVER_S};
          const began = {"0" if not begin else "performance.now()"};
          {begin};
          while (!({condition})) {{
            if (performance.now() > ends) return null;
            await turn();
          }}
          await turn();
          return performance.now() - began;
        }})()""")
        if found is None:
            raise InputError("--only", f"the page of the lab has not answered within {NEVER_S:g} s", "is the machine busy?")
        return float(found)

    def turn(self, position: float) -> float:
        """Return the milliseconds from moving the slider of the rate to the plots of the new run."""
        return self.change(SLIDER, position)

    def write(self, scenario: dict[str, Any]) -> float:
        """Give the page a scenario as TOML and return the milliseconds to its plots."""
        return self.change("#toml", to_toml(scenario))

    def change(self, selector: str, value: Any) -> float:
        """Give an element a value and return the milliseconds to the plots of the new run. Raises InputError."""
        begin = (
            "window.ran = document.querySelector('#run-state').dataset.run;"
            f"const it = document.querySelector({json.dumps(selector)});"
            f"it.value = {json.dumps(value)}; it.dispatchEvent(new Event('input', {{ bubbles: true }}))"
        )
        took = self.wait(f"document.querySelector('#run-state').dataset.run !== window.ran && {SHOWN}", begin)
        if self.browser.js("document.querySelector('#run-state').dataset.phase") != "done":
            raise InputError(
                "--only", "a run of the lab has no end", f"the page shows: {self.browser.js('document.body.innerText')[:300]}"
            )
        return took


def measure(runs: int) -> list[LabMeasure]:
    """Return times and memory of a server of its own and of its page in Chromium. Raises InputError if there is no Chromium."""
    program = find_chromium()
    if program is None:
        raise InputError("--only", "lab is measured in Chromium, which is not installed", "TONOPAH_CHROMIUM names one")
    with tempfile.TemporaryDirectory(prefix="tonopah-lab-") as folder:
        began = time.monotonic()
        command = [sys.executable, "-m", "tonopah", "serve", folder, "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = re.search(r"http\S+", server.stdout.readline() if server.stdout else "")
            started_s = time.monotonic() - began
            if address is None:
                raise InputError("--only", "the lab does not start: `tonopah serve` says why")
            with Browser(program) as browser:
                bench = Bench(browser, server.pid, address[0])
                start = LabMeasure("start of the server, to its address", started_s, "s", None, bench.server_cpu_s(), 0.0)
                return [start, *times(bench, runs), *memory(bench)]
        finally:
            server.terminate()
            try:
                server.wait(ENDS_AFTER_S)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def times(bench: Bench, runs: int) -> list[LabMeasure]:
    """Return how long the page takes to be there and to answer."""
    usable = bench.middle("usable, with the plots of a run of 60 s", 2.0, "s", runs, bench.open)
    paint = LabMeasure("first paint", bench.first_paint_s(), "s", 1.0)
    two = bench.middle(
        "slider to new plots, 60 s of two flows over 10 Mb/s", 300.0, "ms", runs, lambda n: bench.turn(0.51 + 0.01 * (n % 2))
    )
    bench.write(TEN_FLOWS)
    ten = bench.middle(
        "slider to new plots, 60 s of ten flows over 100 Mb/s", 1e3, "ms", runs, lambda n: bench.turn(0.51 - 0.01 * (n % 2))
    )
    return [paint, usable, two, ten]


def memory(bench: Bench) -> list[LabMeasure]:
    """Return the peak memory of the server and the memory of the page, with a run of ten million samples."""
    bench.write(MANY_SAMPLES)
    bench.browser.call("HeapProfiler.collectGarbage")
    page = bench.browser.js("performance.memory.usedJSHeapSize") / 2**20
    renderer = max(private_mib(process) for process in bench.browser.processes("renderer"))
    status = Path(f"/proc/{bench.server}/status").read_text(encoding="ascii")
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]
    return [
        LabMeasure("server, peak, with a run of 10,000,000 samples", peak, "MiB", 500.0),
        LabMeasure("page, JavaScript objects, with the same", page, "MiB", None),
        LabMeasure("page, memory of its process that is its own", renderer, "MiB", 300.0),
    ]


def private_mib(process: int) -> float:
    """Return the memory of a process that is no file's and no other's."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(encoding="ascii"))
    return int(found[1]) / 1024 if found else 0.0


def lines(measured: list[LabMeasure]) -> list[str]:
    """Return the measurements as text, a line each, after how busy the machine is."""
    load = f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors (above that, times are of waiting)"
    return [load, *(one.line() for one in measured)]
