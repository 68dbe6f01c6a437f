"""The command line. Exit codes: 0 done, 1 failed or interrupted, 2 wrong input. A message, never a traceback of this package.

Each command is a module of this package, imported only when it is the one that runs: `tonopah --help` imports none of them.
Set TONOPAH_DEBUG=1 to see the traceback of an internal error.
"""

import argparse
import errno
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.cli.parser import Parser, add_modules
from tonopah.cli.renamed import RENAMED
from tonopah.errors import (
    AlgorithmError,
    EngineError,
    InputError,
    LimitError,
    RunFailedError,
    ScenarioError,
    ScenarioWarning,
    limit_text,
    plain,
    traceback_of,
)

GROUPS = {
    "run a network": {
        "run": "run one scenario and print its results",
        "emulate": "run a program, or a shell, in the network of a scenario, in real time (Linux)",
        "check": "check a scenario or a study without running it, or draw a network",
        "import": "write the scenario of a measured link or of a topology from a file that others wrote",
    },
    "compare algorithms": {
        "study": "run studies and write their reports",
        "evaluate": "tell what a congestion control does to a network, along RFC 9743",
        "compare": "compare two versions of a congestion control, and fail on a regression: for pull requests",
        "coexist": "run every pair of algorithms on one bottleneck, and show who takes what from whom",
        "conform": "hold an algorithm against the cases of the BBR draft and of RFCs, and show where it deviates",
        "break": "search worlds in which an algorithm fails and others do not, each as small as it can be",
    },
    "hold against reality": {
        "validate": "compare the engine with recordings of real stacks",
        "packetdrill": "run packetdrill scripts against the TCP endpoint",
        "identify": "say which congestion control made a trace",
        "compare-trace": "compare two recordings of a sender: qlogs of any stack, captures, our series",
        "cross": "run a world on several engines (ours, kernels, other simulators), and say where they agree",
        "trace": "print the metrics of a run, of an ASCII trace that another simulator wrote",
        "reproduce": "run packed results again on this machine, and say what differs",
    },
    "look and show": {
        "serve": "show the lab in a browser: change a scenario and watch it, run studies and read them",
        "share": "print a link that is a scenario: whoever opens it sees its run",
        "lesson": "hold a lesson of the lab against its run, or print it as a sheet",
    },
    "know": {
        "algorithms": "list congestion-control algorithms, or show one",
        "metrics": "list the metrics of runs and flows and the time series, or show one",
        "kernel": "build a Linux that runs in virtual time, for `run --on uml` (docs/kernel.md)",
        "doctor": "check this installation: versions, machine, and a self-test of the engine",
    },
}
"""Commands by what people do, each with its summary; the module `cli.NAME` has `add_arguments`."""
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
STDERR = 2
EXAMPLES = """examples:
  tonopah run dumbbell.toml --set tcp.cc=cubic
  tonopah study run asran --quick
  tonopah COMMAND --help
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)

    def act() -> int:
        refuse_undecoded(given)
        refuse_file(given)
        refuse_renamed(given)
        parsed = build_parser().parse_args(given)
        with warnings.catch_warnings():
            warnings.simplefilter("always", ScenarioWarning)
            shown = warnings.showwarning
            warnings.showwarning = lambda text, kind, *more: (
                print(f"warning: {text}", file=sys.stderr, flush=True)
                if issubclass(kind, ScenarioWarning)
                else shown(text, kind, *more)
            )
            from tonopah.cc.permission import ANY, permitting

            with permitting(getattr(parsed, "code", ANY)):
                return parsed.action(parsed)

    return guarded(act)


def guarded(act: Callable[[], int]) -> int:
    """Carry out a command and return its exit code; an error is one message."""
    try:
        open_streams()
        if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
            # A parent that ignores it leaves this to its children, who would not learn how processes of theirs end.
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        use_any_encoding()
        with interrupted_by_sigterm():
            code = act()
            sys.stdout.flush()
            return code
    except ScenarioError as error:
        return complain(str(error), 2)
    except AlgorithmError as error:
        # The one traceback that is the user's: it leads into the algorithm.
        print(traceback_of(error), end="", file=sys.stderr)
        return complain(str(error), 1)
    except (RunFailedError, LimitError, EngineError) as error:
        return complain(str(error), 1)
    except KeyboardInterrupt:
        return complain("interrupted", 1)
    except BrokenPipeError:
        return leave_quietly()
    except (OSError, ImportError, MemoryError) as error:
        return complain(lacking(error), 1)
    except SystemExit:
        raise
    except BaseException as error:
        # Also a panic of the engine, which Python sees as a BaseException.
        if os.environ.get("TONOPAH_DEBUG"):
            sys.excepthook(type(error), error, error.__traceback__)
        return complain(f"internal error, please report it: {type(error).__name__}: {error}", 1)


def lacking(error: OSError | ImportError | MemoryError) -> str:
    """Return in words what the machine lacks: a file, memory, or a package (one of others, or of memory to load it)."""
    if isinstance(error, MemoryError):
        return "the memory is not enough (a smaller scenario or study, fewer --jobs, or a higher limit, ulimit -v)"
    if isinstance(error, ImportError):
        return f"a package that is needed cannot be loaded: {error} (install Tonopah again, or raise ulimit -v)"
    text = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return f"{text} (raise its limit, ulimit -n)" if error.errno == errno.EMFILE else text


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM, which `timeout`, Slurm and Docker send, end the command as Ctrl-C does, unless the caller handles it."""
    main_thread = threading.current_thread() is threading.main_thread()
    if not main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def interrupt(_: int, __: object) -> None:
    """Handle a signal."""
    raise KeyboardInterrupt


def refuse_undecoded(given: Sequence[str]) -> None:
    """Refuse an argument of bytes that are not UTF-8: neither the store nor a report can hold such a name."""
    for argument in given:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise InputError("", f"the argument {argument!r} is not UTF-8 text") from None


def refuse_file(given: Sequence[str]) -> None:
    """Refuse a file where a command is due, and say how it is run."""
    if given and given[0] not in COMMANDS and given[0].endswith((".toml", ".json")):
        known = "tonopah run FILE for a scenario, tonopah study run FILE for a study"
        raise InputError("", f"{given[0]!r} is a file, not a command", known)


def refuse_renamed(given: Sequence[str]) -> None:
    """Refuse a command of former versions, and say what does its work."""
    for name, successor in RENAMED.items():
        if list(given[: name.count(" ") + 1]) == name.split():
            raise InputError("", f"tonopah {name} has another name", successor)


class Printed(io.TextIOWrapper):
    """Standard output, which names itself where it cannot be written; standard error, which then ends no work and is lost."""

    def write(self, text: str, /) -> int:
        """Write text."""
        return self.attempt(lambda: super(Printed, self).write(text)) or len(text)

    def flush(self) -> None:
        """Write what is left."""
        self.attempt(super().flush)

    def attempt(self, work: Callable[[], int | None]) -> int | None:
        """Do what may fail. Raises OSError, of standard output with its name, of standard error for a reader that went only."""
        try:
            return work()
        except OSError as error:
            # What is left to write at the end of the program must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if isinstance(error, BrokenPipeError):
                raise
            if self.fileno() == STDERR:
                return None
            raise OSError(error.errno, error.strerror, "standard output") from None


def open_streams() -> None:
    """Let what is printed go nowhere where the caller closed standard output or error (`>&-`), and have the others say why."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif type(stream) is io.TextIOWrapper and stream is getattr(sys, f"__{name}__"):
            # PYTHONUNBUFFERED, `python -u`.
            direct = stream.write_through
            file = os.fdopen(stream.fileno(), "wb", buffering=0 if direct else -1, closefd=False)
            how: dict[str, Any] = {"line_buffering": stream.line_buffering, "write_through": direct}
            setattr(sys, name, Printed(file, stream.encoding, stream.errors, **how))


def use_any_encoding() -> None:
    """Let standard output write what its encoding does not have, such as a file name that is no text, by escapes.

    Standard error does so by default.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def complain(message: str, code: int) -> int:
    """Print one message to standard error and return the exit code."""
    try:
        print(f"error: {plain(' '.join(limit_text(message).split()))}", file=sys.stderr)
    except BrokenPipeError:
        leave_quietly()
    return code


def leave_quietly() -> int:
    """Return the exit code after the reader of the output has gone (`tonopah … | head`); nothing is left to flush at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return 1


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    raw = argparse.RawDescriptionHelpFormatter
    groups = [[f"{title}:", *(f"  {name:<13} {text}" for name, text in group.items()), ""] for title, group in GROUPS.items()]
    about = "\n".join(["A test range for TCP congestion control.", "", *(line for group in groups for line in group)])
    usage = "tonopah [-h] [--version] COMMAND ..."
    top = Parser(prog="tonopah", usage=usage, description=about, epilog=EXAMPLES, formatter_class=raw)
    top.add_argument("--version", action="version", version=f"tonopah {engine_version()}")
    add_modules(top, COMMANDS, "tonopah.cli.", listed=False)
    return top
