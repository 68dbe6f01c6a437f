"""The application: routes of the page, of what it asks for, and of the runs that it watches."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from tonopah._core import engine_version, schema
from tonopah.errors import AlgorithmError, EngineError, InputError, LimitError, RunFailedError, ScenarioError
from tonopah.lab import files, presets
from tonopah.lab.messages import MOST_BYTES
from tonopah.lab.run_socket import RunSocket
from tonopah.lab.runs import FORGOTTEN_AFTER_S, Runs
from tonopah.lab.security import Guard, below
from tonopah.lab.session import Limits, Session, error_facts
from tonopah.metrics import METRICS
from tonopah.report import vendor
from tonopah.scenario.document import parse, to_toml
from tonopah.simulation import OWNERS, SERIES, algorithms

STATIC = Path(__file__).parent / "static"
PAGE = Path(vendor.FOLDER).parent / "page"
"""Style and drawing that the lab shares with reports."""
Handler = Callable[["Lab", dict[str, Any]], Any]


@dataclass
class Lab:
    """What every route needs."""

    folder: Path
    allow_python: bool = False
    limits: Limits = field(default_factory=Limits)
    forgotten_after_s: float = FORGOTTEN_AFTER_S

    def __post_init__(self) -> None:
        """Make the runs."""
        self.runs = Runs(self.folder, self.allow_python, self.limits, self.forgotten_after_s)


def make_app(lab: Lab, token: str, hosts: list[str]) -> ASGIApp:
    """Return the application behind its guard."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        lab.runs.stop_all()

    async def run_socket(socket: WebSocket) -> None:
        await RunSocket(socket, lab.runs).serve()

    routes = [
        Route("/", lambda _: FileResponse(STATIC / "index.html")),
        Route("/static/{name:path}", static_files(STATIC)),
        Route("/page/{name:path}", static_files(PAGE)),
        Route("/vendor/{name:path}", static_files(vendor.FOLDER)),
        WebSocketRoute("/api/run", run_socket),
        *(Route(f"/api/{name}", api(lab, handler), methods=["POST"]) for name, handler in HANDLERS.items()),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token, hosts)


def static_files(folder: Path) -> Callable[[Request], Awaitable[Response]]:
    """Return the route of the files of a folder."""

    async def send(request: Request) -> Response:
        try:
            path = below(folder, request.path_params["name"])
        except InputError:
            return PlainTextResponse("no such file\n", 404)
        return FileResponse(path) if path.is_file() else PlainTextResponse("no such file\n", 404)

    return send


def api(lab: Lab, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return a route that takes a JSON object and answers with one; what the user has to mend is status 422 with its place."""

    async def send(request: Request) -> Response:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return JSONResponse(told(f"a request of more than {MOST_BYTES:,} bytes"), 413)
        try:
            asked = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            return JSONResponse(told("is not JSON"), 400)
        if not isinstance(asked, dict):
            return JSONResponse(told("is not a JSON object"), 400)
        try:
            answer = await run_in_threadpool(handler, lab, asked)
        except (ScenarioError, LimitError, AlgorithmError, EngineError, RunFailedError) as error:
            return JSONResponse({"error": error_facts(error)}, 422)
        return answer if isinstance(answer, Response) else JSONResponse(answer)

    return send


def told(message: str) -> dict[str, Any]:
    """Return the answer to a request that is none."""
    return {"error": {"path": "", "message": message, "hint": None}}


def wanted(asked: dict[str, Any], key: str, kind: type, default: Any = None) -> Any:
    """Return a value of a request. Raises InputError if it is of another type, or missing without a default."""
    value = asked.get(key, default)
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not fits or (isinstance(value, bool) and kind is not bool):
        raise InputError(key, f"{value!r} is not what is asked for here", f"a value of type {kind.__name__}")
    return value


def start(lab: Lab, _: dict[str, Any]) -> dict[str, Any]:
    """Return what the page needs to know once."""
    series = {
        name: {
            "label": METRICS[name].label, "unit": METRICS[name].unit, "factor": METRICS[name].factor,
            "definition": METRICS[name].definition, "of": OWNERS.get(name, "flow"),
        } for name in SERIES
    }  # fmt: skip
    return {
        "version": engine_version(), "schema": json.loads(schema()), "presets": presets.load(), "series": series,
        "algorithms": [entry["name"] for entry in algorithms()], "allow_python": lab.allow_python,
    }  # fmt: skip


def read_toml(_: Lab, asked: dict[str, Any]) -> dict[str, Any]:
    """Return TOML as a document."""
    return {"document": parse(wanted(asked, "toml", str))}


def write_toml(_: Lab, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a document as TOML."""
    return {"toml": to_toml(wanted(asked, "document", dict))}


def check(lab: Lab, asked: dict[str, Any]) -> dict[str, Any]:
    """Check a scenario without running it."""
    return session_of(lab, asked).started()


def export_run(lab: Lab, asked: dict[str, Any]) -> Response:
    """Return a file of a run."""
    content, kind = files.export(session_of(lab, asked), wanted(asked, "form", str), lab.folder, lab.allow_python)
    return Response(content, media_type=kind)


def session_of(lab: Lab, asked: dict[str, Any]) -> Session:
    """Return a run that has not begun, outside the sockets."""
    document, seed = wanted(asked, "document", dict), wanted(asked, "seed", int, 1)
    return Session(document, seed, lab.folder, lab.allow_python, lab.runs.slots, lab.limits)


HANDLERS: dict[str, Handler] = {
    "start": start, "document": read_toml, "toml": write_toml, "check": check, "export": export_run,
}  # fmt: skip
