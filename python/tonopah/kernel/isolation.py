"""Work in a process that is the first of its own namespace: when it ends, or the caller does, all that it began is gone.

Namespaces have no names and lie in no files: they last as long as the processes and open files in them.
"""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from select import select
from typing import Any, NoReturn, TypeVar

from tonopah.errors import RunFailedError
from tonopah.kernel.system import die_with_parent, own_namespaces

T = TypeVar("T")


def isolated(work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises, in a process of its own. What it returns can be pickled.

    Raises InputError where the machine makes no namespaces, RunFailedError if the process was killed.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    reader, writer = os.pipe()
    caller, outer = os.getpid(), os.fork()
    if outer == 0:
        os.close(reader)
        begin(work, writer, caller)
    os.close(writer)
    try:
        with interrupts_are_the_programs(), os.fdopen(reader, "rb") as stream:
            given = stream.read()
    except BaseException:
        os.kill(outer, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(outer, 0)
    if not given:
        code = os.waitstatus_to_exitcode(status)
        raise RunFailedError(f"the process of the emulation ended before its time, {code}")
    kind, value = pickle.loads(given)
    if kind == "error":
        raise value
    return value  # type: ignore[no-any-return]


@contextmanager
def interrupts_are_the_programs() -> Iterator[None]:
    """Leave Ctrl-C, which a terminal sends to all, to the programs: this process ends when they have."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A handler and not SIG_IGN, which programs would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def begin(work: Callable[[], Any], writer: int, caller: int) -> NoReturn:
    """Make the namespaces, and the first process in them; end as it does."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, lambda *_: None)
        die_with_parent()
        if os.getppid() == caller:
            own_namespaces()
            # Open in this process alone: at its other end it shows whether this process is there.
            here, there = os.pipe()
            first = os.fork()
            if first == 0:
                os.close(there)
                die_with_parent()
                if not select([here], [], [], 0)[0]:
                    answer(work, writer)
            else:
                os.close(here)
                os.close(writer)
                _, status = os.waitpid(first, 0)
                code = os.waitstatus_to_exitcode(status)
    except BaseException as error:
        send(writer, ("error", error))
    finally:
        os._exit(code & 0xFF)


def answer(work: Callable[[], Any], writer: int) -> None:
    """Do the work and send what it gives."""
    try:
        send(writer, ("done", work()))
    except BaseException as error:
        send(writer, ("error", error))


def send(writer: int, message: tuple[str, Any]) -> None:
    """Send a message to the caller."""
    with os.fdopen(writer, "wb") as stream:
        stream.write(as_message(message))


def as_message(message: tuple[str, Any]) -> bytes:
    """Return a message as it is sent; an error that cannot be sent as its text."""
    try:
        data = pickle.dumps(message)
        pickle.loads(data)
    except Exception:
        return pickle.dumps(("error", RunFailedError(str(message[1]))))
    return data
