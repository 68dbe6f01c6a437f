"""Serves the lab until it is interrupted."""

import socket
import sys
import webbrowser
from pathlib import Path
from urllib.parse import urlencode

import uvicorn

from tonopah.errors import InputError
from tonopah.lab.app import make_app
from tonopah.lab.context import Lab
from tonopah.lab.messages import MOST_BYTES
from tonopah.lab.security import hosts_of, is_loopback, make_token

ENDS_AFTER_S = 2
ALL_ADDRESSES = ("0.0.0.0", "::", "")
"""Where a server listens at every address, which none can open."""


def serve(folder: Path, host: str, port: int, open_browser: bool, allow_python: bool) -> None:
    """Serve a folder. Raises InputError if it is none, or the address cannot be used."""
    if not folder.is_dir():
        raise InputError("", "is not a folder", None, str(folder))
    listener = listen(host, port)
    port, token = listener.getsockname()[1], make_token()
    names = [outward_address(), socket.gethostname(), "127.0.0.1"] if host in ALL_ADDRESSES else [host]
    app = make_app(Lab(folder.resolve(), allow_python), token, [one for name in names for one in hosts_of(name, port)])
    name = f"[{names[0]}]" if ":" in names[0] else names[0]
    address = f"http://{name}:{port}/?{urlencode({'token': token})}"
    if not is_loopback(host):
        print(f"warning: whoever reaches {name} and has the address below can use this machine's lab", file=sys.stderr)
    print(f"lab: {address}\nCtrl-C ends it", flush=True)
    if open_browser:
        webbrowser.open(address)
    make_server(app).run(sockets=[listener])


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
    except OSError as error:
        hint = "another --port; 0 takes a free one"
        raise InputError("--port", f"{host}:{port} cannot be used: {(error.strerror or str(error)).lower()}", hint) from None
    return listener


def make_server(app: object) -> uvicorn.Server:
    """Return the server of an application: no log of requests, which would hold the token, and no message larger than allowed."""
    return uvicorn.Server(
        uvicorn.Config(
            app,  # pyright: ignore[reportArgumentType]
            log_level="error",
            access_log=False,
            ws="websockets-sansio",
            ws_max_size=MOST_BYTES + 1024,
            lifespan="on",
            server_header=False,
            timeout_graceful_shutdown=ENDS_AFTER_S,
        )
    )
