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


def serve(folder: Path, host: str, port: int, open_browser: bool, allow_python: bool) -> None:
    """Serve a folder. Raises InputError if it is none, or the address cannot be used."""
    if not folder.is_dir():
        raise InputError("", "is not a folder", None, str(folder))
    listener = listen(host, port)
    port, token = listener.getsockname()[1], make_token()
    app = make_app(Lab(folder.resolve(), allow_python), token, hosts_of(host, port))
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{port}/?{urlencode({'token': token})}"
    if not is_loopback(host):
        print(f"warning: whoever reaches {host} and has the address below can use this machine's lab", file=sys.stderr)
    print(f"lab: {address}\nCtrl-C ends it", flush=True)
    if open_browser:
        webbrowser.open(address)
    make_server(app).run(sockets=[listener])


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
