"""How fast the lab answers and how much memory it takes: docs/lab.md has the limits, `tonopah bench --only lab` prints both."""

import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonopah.errors import InputError
from tonopah.lab.browser import Browser, find_chromium

SEEN = "document.querySelector('#run-state')?.dataset.seen === 'true'"
PATIENCE_S = 30.0
SLIDER = "input[data-path='network.bottleneck.rate']"
MANY = "10 flows over 100 Mb/s"
TEN = {
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
SAMPLES = {
    "duration": "1000s",
    "network": {"kind": "dumbbell", "pairs": 10, "flows": 10, "bottleneck": {"rate": "5Mbps", "delay": "20ms", "queue": "50p"}},
    "tcp": {"cc": "newreno"},
    "record": {
        "series": [*TEN_SERIES], "every": "10ms",
    },
}  # fmt: skip
"""Ten series of ten flows a hundred times a second: ten million samples."""


@dataclass(frozen=True)
class Measured:
    """One number: what it is, its unit, and below what it has to be."""

    what: str
    value: float
    unit: str
    limit: float


def measure(runs: int) -> list[Measured]:
    """Return times and memory of a server of its own and of its page in Chromium. Raises InputError if there is no Chromium."""
    program = find_chromium()
    if program is None:
        raise InputError("--only", "lab is measured in Chromium, which is not installed", "TONOPAH_CHROMIUM names one")
    with tempfile.TemporaryDirectory(prefix="tonopah-lab-") as folder:
        command = [sys.executable, "-m", "tonopah", "serve", folder, "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            address = re.search(r"http\S+", server.stdout.readline() if server.stdout else "")
            if address is None:
                raise InputError("--only", "the lab does not start: `tonopah serve` says why")
            with Browser(program) as browser:
                return [*times(browser, address[0], runs), *memory(browser, server.pid)]
        finally:
            server.terminate()
            server.wait(PATIENCE_S)


def times(browser: Browser, address: str, runs: int) -> list[Measured]:
    """Return how long the page takes to be there and to answer."""
    paints, usable = [], []
    for _ in range(runs):
        began = time.monotonic()
        browser.open(address)
        browser.until(SEEN)
        usable.append(time.monotonic() - began)
        paints.append(browser.js("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1e3)
    two = [answer(browser, 0.6 + 0.02 * run) for run in range(runs)]
    write(browser, TEN)
    ten = [answer(browser, 0.5 + 0.005 * run) for run in range(runs)]
    return [
        Measured("first paint", middle(paints), "s", 1.0),
        Measured("usable, with the plots of a run of 60 s", middle(usable), "s", 2.0),
        Measured("slider to new plots, 60 s of two flows over 10 Mb/s", middle(two), "ms", 300.0),
        Measured(f"slider to new plots, 60 s of {MANY}", middle(ten), "ms", 1000.0),
    ]


def answer(browser: Browser, position: float) -> float:
    """Return the milliseconds from letting go of the slider to the plots of the new run."""
    script = f"""(async () => {{
      const state = document.querySelector('#run-state'), slider = document.querySelector({json.dumps(SLIDER)});
      const began = performance.now();
      slider.value = {position};
      slider.dispatchEvent(new Event('input', {{ bubbles: true }}));
      const turn = () => new Promise((resolve) => requestAnimationFrame(resolve));
      while (state.dataset.seen === 'true' && performance.now() - began < 20000) await turn();
      while (state.dataset.seen !== 'true' && performance.now() - began < 20000) await turn();
      await turn();
      return performance.now() - began;
    }})()"""
    return float(browser.js(script))


def memory(browser: Browser, server: int) -> list[Measured]:
    """Return the peak memory of the server and the memory of the page after a run of ten million samples."""
    write(browser, SAMPLES)
    browser.call("HeapProfiler.collectGarbage")
    heap = browser.js("performance.memory.usedJSHeapSize") / 2**20
    status = Path(f"/proc/{server}/status").read_text(encoding="ascii")
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]
    return [
        Measured("server, peak, with a run of 10,000,000 samples", peak, "MiB", 500.0),
        Measured("page, JavaScript heap, with the same", heap, "MiB", 300.0),
    ]


def write(browser: Browser, scenario: dict[str, Any]) -> None:
    """Give the page a scenario as TOML and wait for its plots."""
    from tonopah.scenario.document import to_toml

    text = json.dumps(to_toml(scenario))
    browser.js(
        "(() => { const e = document.querySelector('#toml'); e.value = "
        f"{text}; e.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
    )
    time.sleep(1.0)
    browser.until(
        f"{SEEN} && document.querySelector('#run-state').textContent.startsWith({json.dumps(scenario['duration'][:-1])})"
    )


def middle(values: list[float]) -> float:
    """Return the median."""
    return sorted(values)[len(values) // 2]


def lines(measured: list[Measured]) -> list[str]:
    """Return the measurements as text, a line each."""
    return [
        f"{one.what}: {one.value:.3g} {one.unit} (limit {one.limit:g} {one.unit}){'' if one.value <= one.limit else '  exceeded'}"
        for one in measured
    ]
