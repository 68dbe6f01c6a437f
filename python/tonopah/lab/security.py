"""Who may ask: requests with the token, of this host, from this page. And which files: those below the folder.

A page of another site can make a browser send requests to this one, and a name that it owns can point here (DNS rebinding): so
a cookie alone is not enough, `Host` and `Origin` are held against the address that was served.
"""

import hmac
import secrets
from collections.abc import Iterable, Iterator
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tonopah.cc.permission import Permission
from tonopah.errors import InputError

COOKIE = "tonopah-lab"
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
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class RequestGuard:
    """The outermost layer of the application: refuses what is not from this page, and adds the policy to what is answered.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    token : str
        Whoever knows it may use the lab.
    hosts : iterable of str
        Values of `Host` that are this server, with the port.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str]):
        self.app, self.token, self.hosts = app, token, frozenset(hosts)

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
        elif self.is_entry(scope):
            await self.enter(send)
        else:
            await answer(send, 403, [(b"content-type", b"text/plain; charset=utf-8")], f"{refused}\n".encode())

    def refusal(self, scope: Scope) -> str | None:
        """Return why a request is refused; None if it is not."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host") not in self.hosts:
            return "this host is not served here"
        origin = headers.get("origin")
        if origin is None and (scope["type"] == "websocket" or scope.get("method") not in ("GET", "HEAD")):
            return "a request without an origin"
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return "a request from another site"
        if not self.known(cookie_of(headers)):
            return "open the address that `tonopah serve` printed: it carries the token"
        return None

    def known(self, token: str | None) -> bool:
        """Tell whether a token is the right one, in a time that does not depend on how much of it is."""
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())

    def is_entry(self, scope: Scope) -> bool:
        """Tell whether this is the address that was printed: the start page with the token, at this host."""
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        ours = len(hosts) == 1 and hosts[0] in self.hosts
        return ours and scope["method"] == "GET" and scope["path"] == "/" and self.known(asked.get("token", [None])[0])

    async def enter(self, send: Send) -> None:
        """Give the token as a cookie, and the address without it."""
        cookie = f"{COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        await answer(send, 303, [(b"location", b"/"), (b"set-cookie", cookie.encode())], b"")


def make_token() -> str:
    """Return a token of 256 random bits."""
    return secrets.token_urlsafe(32)


def hosts_of(host: str, port: int) -> list[str]:
    """Return the values of `Host` of a server at an address: all names of the loopback are one."""
    name = f"[{host}]" if ":" in host else host
    return [f"{one}:{port}" for one in (LOOPBACK if name in LOOPBACK else (name,))]


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    return host in ("127.0.0.1", "localhost", "::1")


def cookie_of(headers: dict[str, str]) -> str | None:
    """Return the token of a request, if it has one."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return found.value if found else None


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
    if "\0" in name:
        raise InputError("", "is not the name of a file: it holds a null byte")
    root, found = folder.resolve(), (folder / name).resolve()
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
