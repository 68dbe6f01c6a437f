"""Serves the lab until it is interrupted."""

import asyncio
import os
import socket
import sys
import tempfile
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from tonopah.errors import InputError
from tonopah.lab.app import make_app
from tonopah.lab.context import Lab
from tonopah.lab.messages import MOST_BYTES
from tonopah.lab.security import hosts_of, is_loopback, make_token

ENDS_AFTER_S = 2
HEAD_S = 20.0
"""Within which the head of a request must have come: who connects and says nothing holds a descriptor."""
MOST_CONNECTIONS = 256
ALL_ADDRESSES = ("0.0.0.0", "::", "")
"""Where a server listens at every address, which none can open."""
REDIRECT = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}"><title>Tonopah lab</title>\n'
)


def serve(folder: Path, host: str, port: int, open_browser: bool, allow_python: bool) -> None:
    """Serve a folder. Raises InputError if it is none, or the address cannot be used."""
    if not folder.is_dir():
        raise InputError("", "is not a folder", None, str(folder))
    # A browser tries [::1] first, where somebody else may listen.
    host = "127.0.0.1" if host == "localhost" else host
    listener = listen(host, port)
    port, token, everywhere = listener.getsockname()[1], make_token(), host in ALL_ADDRESSES
    names = [outward_address(), socket.gethostname(), "127.0.0.1"] if everywhere else [host]
    hosts = [one for name in names for one in hosts_of(name, port)]
    lab = Lab(folder.resolve(), allow_python)
    app = make_app(lab, token, hosts, everywhere)
    name = f"[{names[0]}]" if ":" in names[0] else names[0]
    # The fragment of an address is never sent.
    address = f"http://{name}:{port}/#token={token}"
    if not is_loopback(host):
        print(f"warning: whoever reaches {name} and has the address below can use this machine's lab", file=sys.stderr)
    print(f"lab: {address}\nCtrl-C ends it", flush=True)
    with tempfile.TemporaryDirectory(prefix="tonopah-lab-") as own:
        if open_browser:
            open_page(address, Path(own) / "open.html")
        # Ctrl-C is how it ends.
        with suppress(KeyboardInterrupt):
            make_server(app, lab).run(sockets=[listener])


def open_page(address: str, file: Path) -> None:
    """Open an address in the browser by a file that only its owner reads: others see the arguments of a program."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as written:
        written.write(REDIRECT.format(address=address))
    webbrowser.open(file.as_uri())


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """HTTP to a client that must say what it wants in time, beside a limited number of others."""

    # What uvicorn's protocols have; the type that it declares for them says less.
    connections: set[Any]
    loop: asyncio.AbstractEventLoop
    cycle: Any
    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; one connection too many is closed."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self.loop.call_later(HEAD_S, self.lose_patience)

    def lose_patience(self) -> None:
        """Close a connection of which no request has come."""
        if self.cycle is None and self in self.connections:
            self.transport.abort()


def outward_address() -> str:
    """Return the address at which others reach this machine; its name if it has no route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: connecting a datagram socket only chooses the route (192.0.2.0/24 is for documentation, RFC 5737).
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises InputError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(found[0], socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(found[4])
        # Who opens the address before the server is ready waits for it.
        listener.listen()
    except socket.gaierror:
        hint = "127.0.0.1, 0.0.0.0 for all, or another address of this machine"
        raise InputError("--host", f"{host} is no name or address that is known here", hint) from None
    except OSError as error:
        hint = "another --port; 0 takes a free one"
        raise InputError("--port", f"{host}:{port} cannot be used: {(error.strerror or str(error)).lower()}", hint) from None
    return listener


class LabServer(uvicorn.Server):
    """A server that ends what the lab computes when it ends, so that no request waits for it."""

    def __init__(self, config: uvicorn.Config, lab: Lab):
        super().__init__(config)
        self.lab = lab

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        self.lab.stop_all()
        await super().shutdown(sockets)


def make_server(app: object, lab: Lab) -> uvicorn.Server:
    """Return the server of an application: no log of requests, and no message larger than allowed."""
    return LabServer(
        uvicorn.Config(
            app,  # pyright: ignore[reportArgumentType]
            http=PatientProtocol,
            log_level="error",
            access_log=False,
            ws="websockets-sansio",
            ws_max_size=MOST_BYTES + 1024,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=ENDS_AFTER_S,
        ),
        lab,
    )
