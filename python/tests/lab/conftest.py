"""A lab that is served, and who asks it."""

import http.client
import json
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from chromium import chromium

pytest.importorskip("starlette", reason="the extra `lab` is not installed")
pytest.importorskip("uvicorn", reason="the extra `lab` is not installed")
pytest.importorskip("websockets", reason="the extra `lab` is not installed")

from tonopah.lab.app import make_app
from tonopah.lab.context import Lab
from tonopah.lab.security import SUBPROTOCOL, hosts_of, make_token
from tonopah.lab.serve import listen, make_server
from tonopah.lab.session import SessionLimits
from tonopah_dev.browser.measure import SHOWN


@dataclass
class Served:
    """A lab and its address."""

    port: int
    token: str
    lab: Lab

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"http://{self.host}/#token={self.token}"

    @property
    def headers(self) -> dict[str, str]:
        """What a browser with the page sends."""
        return {"Authorization": f"Bearer {self.token}", "Origin": f"http://{self.host}"}

    def request(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None):
        """Return status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request(method, path, body, self.headers if headers is None else headers)
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return found

    def ask(self, route: str, /, **values):
        """Return the status and the JSON of an answer."""
        status, _, body = self.request("POST", f"/api/{route}", json.dumps(values).encode())
        return status, json.loads(body)

    def socket(self, **changes):
        """Return a connection to the socket of a run."""
        from websockets.sync.client import connect

        given = {"Origin": f"http://{self.host}", "token": self.token, **changes}
        protocols = [SUBPROTOCOL, *([given["token"]] if given["token"] else [])]
        return connect(f"ws://{self.host}/api/run", origin=given["Origin"], subprotocols=protocols, proxy=None, max_size=None)


@pytest.fixture(scope="package")
def serve(tmp_path_factory):
    """Serve folders; all end with the tests of the lab: a server that pings pages uses `random`, which other tests watch."""
    running = []

    def served(folder: Path | None = None, **settings) -> Served:
        listener = listen("127.0.0.1", 0)
        port, token = listener.getsockname()[1], make_token()
        lab = Lab(folder or tmp_path_factory.mktemp("lab"), **settings)
        server = make_server(make_app(lab, token, hosts_of("127.0.0.1", port)), lab)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        running.append((server, thread))
        return Served(port, token, lab)

    yield served
    for server, _ in running:
        server.should_exit = True
    for _, thread in running:
        thread.join(10)


@pytest.fixture(scope="package")
def lab(serve):
    """A lab with small limits, for all tests that change nothing in its folder."""
    return serve(limits=SessionLimits(seconds=20.0, samples=400_000), forgotten_after_s=0.5)


browser = pytest.fixture(scope="package")(chromium)


class Page:
    """A view of the lab in the browser."""

    def __init__(self, browser, served: Served):
        self.browser, self.served = browser, served
        self.js, self.until = browser.js, browser.until

    def open(self, view: str, width: int = 1400, height: int = 900, dark: bool = False) -> None:
        """Open a view at a width, light or dark."""
        self.browser.messages.clear()
        self.browser.requests.clear()
        self.browser.open(self.served.address, width, height, {"prefers-color-scheme": "dark" if dark else "light"})
        self.js(f"location.hash = {view!r}")
        self.until(f"document.querySelector('main') && document.title.toLowerCase().startsWith({view.partition('/')[0]!r})")

    def shown(self) -> None:
        """Wait until the run of the bench is over and drawn."""
        self.until(SHOWN)

    def mark(self) -> None:
        """Keep in mind which run is shown."""
        self.js("window.ran = document.querySelector('#run-state').dataset.run")

    def changed(self) -> None:
        """Wait until another run than the marked one is over and drawn."""
        self.until(f"document.querySelector('#run-state').dataset.run !== window.ran && {SHOWN}")

    def set(self, selector: str, value, event: str = "input") -> None:
        """Give an element a value, as a person does."""
        kind = "HTMLTextAreaElement" if "toml" in selector else "HTMLSelectElement" if event == "change" else "HTMLInputElement"
        self.js(
            f"(() => {{ const e = document.querySelector({selector!r}); "
            f"Object.getOwnPropertyDescriptor({kind}.prototype, 'value').set.call(e, {json.dumps(value)}); "
            f"e.dispatchEvent(new Event({event!r}, {{ bubbles: true }})); }})()"
        )

    def click(self, selector: str) -> None:
        """Click on an element."""
        self.browser.click(f"document.querySelector({selector!r})")

    def text(self, selector: str) -> str:
        """Return the text of an element."""
        return self.js(f"document.querySelector({selector!r})?.textContent ?? ''")

    def complaints(self) -> list[str]:
        """Return what the console, the accessibility checker or a request to elsewhere has to say against the page."""
        axe = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
        self.js(f"if (!window.axe) {{ {axe} }}; 1")
        found = self.js(
            "axe.run(document, { resultTypes: ['violations'] }).then((all) => all.violations"
            ".filter((one) => ['serious', 'critical'].includes(one.impact))"
            ".map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 150)).join(' | ')}`))"
        )
        elsewhere = [
            one
            for one in self.browser.requests
            if not one.startswith((f"http://{self.served.host}/", "about:", "data:", "blob:"))
        ]
        return [*found, *(f"message: {json.dumps(one)[:400]}" for one in self.browser.messages), *elsewhere]


@pytest.fixture(scope="package")
def page(browser, lab):
    """A page of the lab."""
    return Page(browser, lab)
