"""`tonopah serve`."""

import argparse
from pathlib import Path

from tonopah.cli.arguments import whole
from tonopah.errors import InputError

EXAMPLES = (
    "tonopah serve                        the lab of this folder, at http://127.0.0.1:8600",
    "tonopah serve experiments --open     of another, in the browser",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `serve`."""
    command.epilog = "examples:\n" + "\n".join(f"  {line}" for line in EXAMPLES)
    command.set_defaults(action=serve_folder)
    command.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="files and studies of the lab (default: .)")
    host = "address to listen at (default: 127.0.0.1, which only this machine reaches)"
    command.add_argument("--host", default="127.0.0.1", help=host)
    command.add_argument("--port", type=port, default=8600, help="port to listen at (default: 8600; 0: any free one)")
    command.add_argument("--open", action="store_true", help="open it in the browser")
    command.add_argument("--allow-python", action="store_true", help="execute algorithms in Python files of FOLDER")


def port(text: str) -> int:
    """Return a port from the command line."""
    return whole(text, 0, 65535, "a port from 0 to 65535")


def serve_folder(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah serve`."""
    try:
        from tonopah.lab.serve import serve
    except ModuleNotFoundError as error:
        hint = "pip install '.[lab]', in the checkout"
        raise InputError("", f"the lab needs the package {error.name}, which is not installed", hint) from None
    serve(Path(arguments.folder), arguments.host, arguments.port, arguments.open, arguments.allow_python)
    return 0
