"""Chromium for tests and measurements: opens and touches pages over the DevTools protocol, through a pipe, without packages."""

import itertools
import json
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE_S = 180.0
STILL = """async (find) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const box = () => { const b = find()?.getBoundingClientRect(); return b ? [b.x, b.y, b.width, b.height].join() : ''; };
  find()?.scrollIntoView({ block: 'center', behavior: 'instant' });
  await frame();
  const before = box();
  await frame();
  const it = find();
  if (!it || it.disabled || before === '' || box() !== before) return false;
  const b = it.getBoundingClientRect(), hit = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
  return hit !== null && (it.contains(hit) || hit.contains(it));
}"""
"""Whether an element has the same place in two frames, is enabled, and is what a click in its middle would meet."""


def find_chromium() -> str | None:
    """Return the path of Chromium: that of TONOPAH_CHROMIUM, or of the first that is installed."""
    wanted = os.environ.get("TONOPAH_CHROMIUM")
    return wanted or next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A browser with one page. `messages` has what its console, its log and its network complained of or fetched."""

    def __init__(self, program: str):
        self.home = tempfile.mkdtemp(prefix="tonopah-browser-")
        read_commands, write_commands = os.pipe()
        read_answers, write_answers = os.pipe()
        nowhere = os.open(os.devnull, os.O_RDWR)
        # The browser reads commands from descriptor 3 and answers on 4.
        places = [(nowhere, 1), (nowhere, 2), (read_commands, 3), (write_answers, 4)]
        actions = [(os.POSIX_SPAWN_DUP2, mine, its) for mine, its in places]
        arguments = [program, *OPTIONS, f"--user-data-dir={self.home}", "about:blank"]
        self.pid = os.posix_spawn(program, arguments, os.environ, file_actions=actions, setpgroup=0)
        for unused in (nowhere, read_commands, write_answers):
            os.close(unused)
        self.commands, self.answers, self.received = write_commands, read_answers, b""
        self.numbers, self.session, self.messages, self.requests = itertools.count(1), None, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Send a command and return its answer; events before it are kept."""
        number = next(self.numbers)
        session = {"sessionId": self.session} if self.session else {}
        os.write(self.commands, json.dumps({"id": number, "method": method, "params": arguments} | session).encode() + b"\0")
        while (answer := self.receive()).get("id") != number:
            self.note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def receive(self) -> dict[str, Any]:
        """Return the next answer or event."""
        while b"\0" not in self.received:
            if not (more := os.read(self.answers, 1 << 20)):
                raise RuntimeError("the browser has ended")
            self.received += more
        first, self.received = self.received.split(b"\0", 1)
        return json.loads(first)

    def note(self, event: dict[str, Any]) -> None:
        """Keep an event that a test may ask for."""
        if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.messages.append(event["params"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"])

    def processes(self, kind: str | None = None) -> list[int]:
        """Return the ids of the browser's processes, or of those of a kind such as `renderer`."""
        return [one["id"] for one in self.process_facts() if kind in (None, one["type"])]

    def cpu_s(self) -> float:
        """Return the CPU time of all its processes so far."""
        return sum(one["cpuTime"] for one in self.process_facts())

    def process_facts(self) -> list[dict[str, Any]]:
        """Return kind, id and CPU time of each process."""
        page, self.session = self.session, None
        try:
            return self.call("SystemInfo.getProcessInfo")["processInfo"]
        finally:
            self.session = page

    def js(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", "the page raised"))
        return found["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until a condition holds in the page."""
        ends = time.monotonic() + PATIENCE_S
        while not self.holds(condition):
            if time.monotonic() > ends:
                raise AssertionError(f"never true: {condition}")
            time.sleep(0.05)

    def holds(self, condition: str) -> bool:
        """Tell whether a condition holds in the page; it does not while another page takes its place."""
        try:
            return bool(self.js(f"Boolean({condition})"))
        except RuntimeError as error:
            if "Inspected target navigated" in str(error):
                return False
            raise

    def open(self, path: Path | str, width: int = 1400, height: int = 900, features: dict[str, str] | None = None) -> None:
        """Open a file or an address in a window of a size, with features of the medium such as prefers-color-scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        values = [{"name": name, "value": value} for name, value in (features or {}).items()]
        self.call("Emulation.setEmulatedMedia", media="", features=values)
        self.call("Page.navigate", url="about:blank")
        self.until("location.href === 'about:blank' && document.readyState === 'complete'")
        address = path if isinstance(path, str) else path.resolve().as_uri()
        self.call("Page.navigate", url=address)
        self.until(f"location.protocol === '{address.partition('/')[0]}' && document.readyState === 'complete'")

    def box(self, expression: str) -> tuple[float, float, float, float]:
        """Scroll to an element and return its left, top, width and height, once it stands still, is enabled and not covered."""
        self.js("document.fonts.ready.then(() => 1)")
        ends = time.monotonic() + PATIENCE_S
        while not self.js(f"({STILL})(() => {expression})"):
            if time.monotonic() > ends:
                raise AssertionError(f"never still, enabled and in front: {expression}")
        left, top, width, height = self.js(
            f"(({{ x, y, width, height }}) => [x, y, width, height])(({expression}).getBoundingClientRect())"
        )
        return left, top, width, height

    def centre(self, expression: str) -> tuple[float, float]:
        """Return the centre of an element on the screen, when it can be clicked."""
        x, y, width, height = self.box(expression)
        return x + width / 2, y + height / 2

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Move, press or release the mouse."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def hover(self, x: float, y: float) -> None:
        """Move the mouse to a place, from one beside it."""
        self.mouse("mouseMoved", x - 3, y - 3)
        self.mouse("mouseMoved", x, y)

    def click(self, expression: str) -> None:
        """Click on an element."""
        x, y = self.centre(expression)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def drag(self, x: float, y: float, to_x: float) -> None:
        """Drag to the side."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for share in (0.3, 0.7, 1.0):
            self.mouse("mouseMoved", x + share * (to_x - x), y, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, y, button="left", clickCount=1)
