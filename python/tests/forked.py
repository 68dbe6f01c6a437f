"""Commands of tonopah in processes that are forked from one that has done such work before, for tests that start hundreds.

Nearly all of the time of a short command is that of imports.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class Forked:
    """A process that forks one for each command, after it has carried out `warm`; with the environment that is given."""

    def __init__(self, warm: Sequence[str], **environment: object):
        given = os.environ | {key: str(value) for key, value in environment.items()}
        command = [sys.executable, __file__, *warm]
        self.server = subprocess.Popen(command, env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.line() == "ready"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.server.communicate()

    def line(self) -> Any:
        """Return the next answer."""
        assert self.server.stdout
        return json.loads(self.server.stdout.readline())

    def start(self, arguments: Sequence[str], errors: Path | str = os.devnull, **environment: object) -> int:
        """Start a command whose standard error goes into a file, and return the number of its process."""
        assert self.server.stdin
        asked = {"arguments": arguments, "errors": str(errors), "environment": {k: str(v) for k, v in environment.items()}}
        self.server.stdin.write(json.dumps(asked) + "\n")
        self.server.stdin.flush()
        return int(self.line())

    def wait(self) -> int:
        """Return the exit code of the command, below 0 if a signal ended it."""
        return int(self.line())


def carry_out(asked: Mapping[str, Any]) -> None:
    """Be the process of a command."""
    from tonopah.cli.main import main

    os.environ.update(asked["environment"])
    for name, number in ((os.devnull, 0), (os.devnull, 1), (asked["errors"], 2)):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666), number)
    code = 1
    try:
        code = main(asked["arguments"])
    finally:
        sys.stderr.flush()
        os._exit(code)


def serve(warm: Sequence[str]) -> None:
    """Answer to what stands on standard input, a line of JSON each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    from tonopah.cli.main import main

    main(warm)
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        if not (child := os.fork()):
            carry_out(json.loads(line))
        print(child, file=answers, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1:])
