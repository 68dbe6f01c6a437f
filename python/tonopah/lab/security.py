"""Who may ask: requests with the token, of this host, from this page. And which files: those below the folder.

A page of another site can make a browser send requests to this one, and a name that it owns can point here (DNS rebinding): so
`Host` and `Origin` are held against the address that was served. The token is no cookie, which a browser would send to every port
of this machine (RFC 6265 section 8.5): the page keeps it for its tab and sends it with each request.
"""

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tonopah.cc.permission import Permission
from tonopah.errors import InputError

BEARER = "Bearer "
"""Before the token of a request (RFC 6750 section 2.1)."""
SUBPROTOCOL = "tonopah-lab"
"""Of the socket of a run. A page offers a second one, which is the token: a browser lets it send no header of its own."""
HTTP_PORT = 80
"""Which browsers leave out of `Host`."""
PLOT_STYLE = "sha256-jSYQUrW7J0b3jPqhZP9C2Xh1PyJKHKXd4s0fpGGKrww="
"""The style element that Observable Plot (report/vendor.py) puts into each of its figures."""
PAGE_POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'self' '{PLOT_STYLE}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""No inline script, no eval, nothing from elsewhere."""
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "sandbox allow-scripts allow-downloads"
)
"""A report carries its scripts in itself: it gets an origin of its own, without cookie, connection or access to the lab. Its
tables can be saved as CSV."""
LONGEST_NAME = 255
"""Bytes of a name in a folder (NAME_MAX)."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class RequestGuard:
    """The outermost layer of the application: refuses what is not from this page, and adds the policy to what is answered.

    The page itself, which anybody can install, is answered without the token; what the lab knows and does is not.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    token : str
        Whoever knows it may use the lab.
    hosts : iterable of str
        Values of `Host` that are this server, with the port unless it is 80.
    everywhere : bool
        It listens at every address: any address in numbers is this server, too. Names of others can point here, numbers cannot.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str], everywhere: bool = False):
        self.app, self.token, self.hosts, self.everywhere = app, token, frozenset(hosts), everywhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refused = self.refusal(scope)
        if refused is None:
            await self.app(scope, receive, with_policy(send))
        elif scope["type"] == "websocket":
            # Before it is accepted: the browser sees a failed handshake (403).
            await send({"type": "websocket.close", "code": 1008, "reason": refused})
        else:
            await answer(send, 403, [(b"content-type", b"text/plain; charset=utf-8")], f"{refused}\n".encode())

    def refusal(self, scope: Scope) -> str | None:
        """Return why a request is refused; None if it is not."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.hosts and not (self.everywhere and in_numbers(host)):
            return "this host is not served here"
        socket = scope["type"] == "websocket"
        if origin is None and (socket or scope.get("method") not in ("GET", "HEAD")):
            return "a request without an origin"
        if origin is not None and origin != f"http://{host}":
            return "a request from another site"
        given = headers.get("sec-websocket-protocol", "").split(", ")[-1] if socket else bearer(headers.get("authorization", ""))
        if scope["path"].startswith("/api/") and not self.known(given):
            return "open the address that `tonopah serve` printed: it carries the token"
        return None

    def known(self, token: str) -> bool:
        """Tell whether a token is the right one, in a time that does not depend on how much of it is."""
        return hmac.compare_digest(token.encode(), self.token.encode())


def bearer(header: str) -> str:
    """Return the token of a header, if it has one."""
    return header.removeprefix(BEARER) if header.startswith(BEARER) else ""


def in_numbers(host: str) -> bool:
    """Tell whether a value of `Host` is an IP address, with or without a port."""
    name = host.rpartition(":")[0] if ":" in host.rpartition("]")[2] else host
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def report_key(token: str, folder: str) -> str:
    """Return what opens the reports of a folder and nothing else: a report that is opened in a tab cannot send the token."""
    return hmac.new(token.encode(), folder.encode(), hashlib.sha256).hexdigest()[:32]


def make_token() -> str:
    """Return a token of 256 random bits."""
    return secrets.token_urlsafe(32)


def hosts_of(host: str, port: int) -> list[str]:
    """Return the values of `Host` of a server at an address: all names of the loopback are one."""
    name = f"[{host}]" if ":" in host else host
    names = LOOPBACK if name in LOOPBACK else (name,)
    return [*(f"{one}:{port}" for one in names), *(names if port == HTTP_PORT else ())]


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    return host in ("127.0.0.1", "localhost", "::1")


def with_policy(send: Send) -> Send:
    """Return `send` with the headers of every answer; a route may bring a policy of its own."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            if not any(name == b"content-security-policy" for name, _ in headers):
                headers.append((b"content-security-policy", PAGE_POLICY.encode()))
            headers += [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
            headers += [(b"cache-control", b"no-store"), (b"cross-origin-resource-policy", b"same-origin")]
            message = {**message, "headers": headers}
        await send(message)

    return sending


async def answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    """Send a whole answer."""
    sending = with_policy(send)
    await sending({"type": "http.response.start", "status": status, "headers": headers})
    await sending({"type": "http.response.body", "body": body})


def below(folder: Path, name: str) -> Path:
    """Return the file `name` below a folder; links are resolved first. Raises InputError."""
    try:
        if "\0" in name or any(len(part.encode()) > LONGEST_NAME for part in Path(name).parts):
            raise ValueError(name)
        root, found = folder.resolve(), (folder / name).resolve()
    except (ValueError, OSError, RuntimeError):
        # A null byte, half a surrogate pair, a link to itself.
        raise InputError("", "is not the name of a file that can be opened", None, name[:LONGEST_NAME]) from None
    if not found.is_relative_to(root):
        raise InputError("", "is not below the folder that is served", "a name relative to it", name)
    return found


def code_of(folder: Path, allow_python: bool) -> Permission:
    """Return what this server executes of the code that scenarios name: Python files below the folder, or nothing."""
    who, hint = "which this server does not execute", "start it with --allow-python"
    return Permission(limited=True, below=folder if allow_python else None, who=who, hint=hint)


def confine(document: Any, folder: Path) -> None:
    """Refuse a scenario that names a file outside the folder; what is executed is the loader's matter. Raises InputError."""
    for place, name in named_files(document):
        check_file(folder, name, place)


def named_files(document: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every file that a scenario names, with the path of the key."""
    steps = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for key, value in steps:
        place = f"{path}[{key}]" if isinstance(document, list) else f"{path}.{key}" if path else str(key)
        if key == "file" and isinstance(value, str):
            yield place, value
        else:
            yield from named_files(value, place)


def check_file(folder: Path, name: str, place: str) -> None:
    """Refuse a file outside the folder with the path of the key that names it."""
    try:
        below(folder, name)
    except InputError as error:
        raise InputError(place, f"{error.source or name!r} {error.message}", error.hint) from None
