"""The application: routes of the page, of what it asks for, and of the runs that it watches."""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from tonopah.errors import AlgorithmError, EngineError, InputError, LimitError, RunFailedError, ScenarioError
from tonopah.lab.context import Asking, Lab
from tonopah.lab.handlers import HANDLERS, Handler
from tonopah.lab.messages import MOST_BYTES
from tonopah.lab.run_socket import RunSocket
from tonopah.lab.security import REPORT_POLICY, RequestGuard, below, report_key
from tonopah.lab.session import error_facts
from tonopah.lab.studies import RESULTS
from tonopah.report import vendor

STATIC = Path(__file__).parent / "static"
PAGE = Path(vendor.FOLDER).parent / "page"
"""Style and drawing that the lab shares with reports."""


def make_app(lab: Lab, token: str, hosts: list[str], everywhere: bool = False) -> ASGIApp:
    """Return the application behind its guard."""
    lab.studies.key_of = lambda folder: report_key(token, folder)

    async def run_socket(socket: WebSocket) -> None:
        await RunSocket(socket, lab.runs).serve()

    routes = [
        Route("/", lambda _: FileResponse(STATIC / "index.html")),
        Route("/static/{name:path}", static_files(STATIC)),
        Route("/page/{name:path}", static_files(PAGE)),
        Route("/vendor/{name:path}", static_files(vendor.FOLDER)),
        Route(f"/report/{{key}}/{RESULTS}/{{folder}}/{{name:path}}", report_files(lab)),
        WebSocketRoute("/api/run", run_socket),
        *(Route(f"/api/{name}", api(lab, handler), methods=["POST"]) for name, handler in HANDLERS.items()),
    ]
    return RequestGuard(Starlette(routes=routes), token, hosts, everywhere)


def static_files(folder: Path) -> Callable[[Request], Awaitable[Response]]:
    """Return the route of the files of a folder."""

    async def send(request: Request) -> Response:
        return await send_file(folder, request.path_params["name"])

    return send


async def send_file(folder: Path, name: str) -> Response:
    """Return a file below a folder."""
    try:
        path = below(folder, name)
    except InputError:
        return PlainTextResponse("no such file\n", 404)
    return FileResponse(path) if path.is_file() else PlainTextResponse("no such file\n", 404)


def report_files(lab: Lab) -> Callable[[Request], Awaitable[Response]]:
    """Return the route of reports, which have an origin of their own; the key in the address is that of their folder."""

    async def send_report(request: Request) -> Response:
        folder, key = request.path_params["folder"], request.path_params["key"]
        if not hmac.compare_digest(key.encode(), lab.studies.key_of(folder).encode()):
            return PlainTextResponse("open the report from the lab\n", 403)
        answer = await send_file(lab.folder / RESULTS / folder, request.path_params["name"])
        answer.headers["content-security-policy"] = REPORT_POLICY
        return answer

    return send_report


def api(lab: Lab, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return a route that takes a JSON object and answers with one; what the user has to mend is status 422 with its place."""

    async def send(request: Request) -> Response:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return JSONResponse(error_of(f"a request of more than {MOST_BYTES:,} bytes"), 413)
        try:
            asked = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            return JSONResponse(error_of("is not JSON"), 400)
        if not isinstance(asked, dict):
            return JSONResponse(error_of("is not a JSON object"), 400)
        try:
            answer = await work_for(request, lab, handler, asked)
            return answer if isinstance(answer, Response) else JSONResponse(answer)
        except (ScenarioError, LimitError, AlgorithmError, EngineError, RunFailedError) as error:
            return JSONResponse({"error": error_facts(error)}, 422)
        except RecursionError:
            return JSONResponse(error_of("is nested too deeply"), 422)
        except UnicodeError:
            return JSONResponse(error_of("holds half of a character (a lone surrogate)"), 422)

    return send


async def work_for(request: Request, lab: Lab, handler: Handler, asked: dict[str, Any]) -> Any:
    """Return what a handler answers, which works in a thread; when whoever asked has gone, or the server ends, its runs end."""
    asking = Asking(lab)
    work = asyncio.create_task(run_in_threadpool(handler, asking, asked))
    gone = asyncio.create_task(until_gone(request))
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            asking.leave()
        return await work
    finally:
        asking.leave()
        gone.cancel()


async def until_gone(request: Request) -> None:
    """Wait until the other side has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def error_of(message: str) -> dict[str, Any]:
    """Return the answer to a request that is none."""
    return {"error": {"path": "", "message": message, "hint": None}}
