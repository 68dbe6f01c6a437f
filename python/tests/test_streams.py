"""Standard input as a file, and standard output and error that nobody reads or that are closed."""

import json
import subprocess
import sys

import pytest

WORLD = 'duration = "1s"\n[network]\nkind = "dumbbell"\nflows = 1\n'
HEAD = 'question = "q"\nreplicates = 2\n[compare]\ncc = ["newreno", "cubic"]\n[scenario]\n'
STUDY = HEAD + WORLD.replace("[network]", "[scenario.network]")
LONG_S = 300


def tonopah(shell, given, folder):
    """Run a shell command in which $T is the program; its standard input is `given`."""
    command = f'T="{sys.executable} -m tonopah"; {shell}'
    return subprocess.run(
        ["bash", "-c", command], input=given, capture_output=True, text=True, cwd=folder, timeout=LONG_S, check=False
    )


def test_a_scenario_is_read_from_standard_input(tmp_path):
    (tmp_path / "w.toml").write_text(WORLD)
    piped = tonopah("$T run - --json", WORLD, tmp_path)
    assert piped.returncode == 0, piped.stderr
    assert json.loads(piped.stdout) == json.loads(tonopah("$T run w.toml --json", "", tmp_path).stdout)
    tables = tonopah("$T run - --series s --qlog q", WORLD, tmp_path)
    assert tables.returncode == 0 and (tmp_path / "q").is_file(), tables.stderr


@pytest.mark.parametrize("given", [WORLD, STUDY])
def test_scenarios_and_studies_are_checked_from_standard_input(tmp_path, given):
    found = tonopah("$T check -", given, tmp_path)
    assert found.returncode == 0 and found.stdout.startswith("ok: "), found.stderr


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(
    ("given", "said"), [("", "standard input: is empty"), ("x", "standard input: is not valid TOML"), ("a=1", "a: ")]
)
def test_what_is_wrong_in_standard_input_is_said(tmp_path, command, given, said):
    found = tonopah(f"$T {command} -", given, tmp_path)
    assert found.returncode == 2 and f"error: {said}" in found.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["run - --events", "run - --json", "run -", "metrics", "check no.toml", "run - --threads x"])
def test_an_interrupted_pipe_ends_quietly(tmp_path, monkeypatch, command, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    # Both streams lead into a pipe that nobody reads; what still is said goes to a third.
    found = tonopah(f"(cat; sleep 1) | ($T {command} 2>&1; echo $? > code) | true; cat code", WORLD, tmp_path)
    assert found.stdout.strip() in ("0", "1", "2") and found.stderr == ""


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize("command", ["run -", "run - --json", "check -"])
def test_closed_streams_change_no_exit_code(tmp_path, closed, command):
    found = tonopah(f"$T {command} {closed}", WORLD, tmp_path)
    assert (found.returncode, found.stderr) == (0, "")


def test_a_study_runs_with_closed_streams(tmp_path):
    (tmp_path / "s.toml").write_text(STUDY)
    found = tonopah("$T study run s.toml --jobs 1 >&- 2>&-", "", tmp_path)
    assert found.returncode == 0 and (tmp_path / "results/s/report.html").is_file()


@pytest.mark.parametrize("unwritable", ["2> /dev/full", "2< /dev/null"])
def test_messages_that_cannot_be_written_end_no_study(tmp_path, unwritable):
    (tmp_path / "s.toml").write_text(STUDY)
    found = tonopah(f"$T study run s.toml --jobs 1 {unwritable}", "", tmp_path)
    assert found.returncode == 0 and (tmp_path / "results/s/report.html").is_file()
    assert tonopah(f"$T check no.toml {unwritable}", "", tmp_path).returncode == 2


def test_standard_output_that_cannot_be_written_is_named(tmp_path):
    found = tonopah("$T run - --json > /dev/full", WORLD, tmp_path)
    assert (found.returncode, found.stderr) == (1, "error: standard output: No space left on device\n")
