"""SIGTERM at any moment of `study run` is a sentence that says what is kept, and exit code 1."""

import os
import re
import signal
import subprocess

import pytest
from test_isolation import tonopah

from tonopah.cli import main


def sigterm(*_, **__):
    os.kill(os.getpid(), signal.SIGTERM)
    # The handler runs before the next instruction or soon after it.
    signal.pause()


@pytest.mark.parametrize("place, name, words", [
    ("tonopah.study.study.make_plan", "plan", "nothing is stored in "),
    ("tonopah.report.document.write", "report", "runs are stored in .*, 0 are missing"),
    ("tonopah.execution.runner.select_shard", "runs", "nothing is stored in |0 of"),
])  # fmt: skip
def test_sigterm_says_what_is_kept(study_file, tmp_path, capsys, monkeypatch, place, name, words):
    calls = []

    def once(*arguments, **options):
        monkeypatch.undo()
        calls.append(name)
        sigterm()

    monkeypatch.setattr(place, once)
    command = ["study", "run", str(study_file), "--quick", "--out", str(tmp_path / "out")]
    assert main.main(command) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert calls and last.startswith("error: interrupted; ") and last.endswith("to continue"), last
    assert re.search(words, last), last
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_sigterm_while_the_command_line_starts(study_file):
    code = "import os, signal, sys; import tonopah.cli.parser as p; from tonopah.cli.main import main; real = p.import_module\n"
    code += "def imported(name): os.kill(os.getpid(), signal.SIGTERM); return real(name)\n"
    code += "p.import_module = imported; sys.exit(main())"
    command = [*tonopah()[:2], "-c", code, "study", "run", str(study_file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: interrupted\n")
