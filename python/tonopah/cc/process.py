"""Calls a function in a process of its own: what a library of the user does to its process happens to that one.

A fresh interpreter, since the caller may have threads and must not fork. Nothing of the calling program is imported there, and
nothing of the working directory. `execution/worker.py` does the same for the runs of a study, with processes that are ready.
"""

import ctypes
import mmap
import os
import pickle
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tonopah import errors
from tonopah._core import CALLS_PAGE_BYTES
from tonopah.cc.last_call import LastCall, note_calls_in, virtual_environment

PR_SET_PDEATHSIG = 1
RAISED = (errors.AlgorithmError, errors.EngineError, errors.InputError, errors.LimitError, errors.ScenarioError)
"""Exceptions that reach the caller as they are."""


class ProcessEndedError(RuntimeError):
    """The process ended without an answer: `how`, in words, and in which call of a library, as far as that is known."""

    def __init__(self, how: str):
        self.how = how
        super().__init__(how)


def status_text(status: int) -> str:
    """Return in words how a process ended, by its exit code or, below zero, a signal."""
    if status >= 0:
        return f"exit code {status}"
    number = -status
    return f"{signal.Signals(number).name} ({signal.strsignal(number)})" if number in set(signal.Signals) else f"signal {number}"


def ask(function: str, *arguments: Any) -> Any:
    """Return what a function, MODULE:NAME, returns for these arguments in a process of its own.

    Arguments and answer are pickled. Raises what it raises, if that is an error of this package, else RuntimeError; and
    ProcessEndedError if its process ends.
    """
    environment = os.environ | virtual_environment() | {"PYTHONPATH": os.pathsep.join(import_path())}
    # -P: without the working directory, where a file may be called like a module of the standard library.
    command = [sys.executable, "-P", "-m", "tonopah.cc.process", str(os.getpid())]
    with LastCall() as last:
        number = last.file.fileno()
        process = subprocess.Popen(
            [*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, pass_fds=[number]
        )
        with process:
            written = answer_of(process, pickle.dumps((function, arguments)), last)
        try:
            answer, raised = pickle.loads(written)
        except (EOFError, pickle.UnpicklingError):
            place = last.place()
            how = status_text(process.returncode)
            raise ProcessEndedError(f"ended the process of the run: {how}{place and f', in {place}'}") from None
    if raised is not None:
        raise raised
    return answer


def answer_of(process: subprocess.Popen[bytes], question: bytes, last: LastCall) -> bytes:
    """Return what a process writes. Raises ProcessEndedError after a call of a library that does not return."""
    asked: bytes | None = question
    try:
        while True:
            try:
                return process.communicate(asked, timeout=1)[0]
            except subprocess.TimeoutExpired:
                asked = None
            if overdue := last.overdue(process.pid):
                raise ProcessEndedError(overdue)
    except BaseException:
        process.kill()
        raise


def import_path() -> list[str]:
    """Return where a process may import from: where this one may, without the working directory.

    Only the folder of this package, where it is not installed, may be the working directory.
    """
    here, package = Path.cwd(), Path(__file__).resolve().parents[2]
    folders = [Path(folder or ".").resolve() for folder in sys.path]
    return [str(folder) for folder in dict.fromkeys((*folders, package)) if folder != here or folder == package]


def end_with_parent(parent: int, library: ctypes.CDLL) -> None:
    """Let the kernel kill this process when its parent ends, however that ends (prctl(2), Linux only)."""
    if sys.platform == "linux":
        library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def main() -> None:
    """Answer one question from standard input."""
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints must not get into the answer.
    os.dup2(2, 1)
    # The process that asks handles interrupts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(int(sys.argv[1]), ctypes.CDLL(None))
    note_calls_in(mmap.mmap(int(sys.argv[2]), CALLS_PAGE_BYTES))
    function, arguments = pickle.load(sys.stdin.buffer)
    module, _, name = function.partition(":")
    answer, raised = None, None
    try:
        answer = getattr(import_module(module), name)(*arguments)
    except Exception as error:
        if isinstance(error, errors.AlgorithmError):
            # Its cause is not pickled.
            vars(error)["traceback"] = errors.traceback_of(error)
        raised = error if type(error) in RAISED else RuntimeError(str(error.args[0]) if error.args else "")
    answers.write(pickle.dumps((answer, raised)))
    answers.flush()
    # Without what libraries do at the end of a process.
    os._exit(0)


if __name__ == "__main__":
    main()
