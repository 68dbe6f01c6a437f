"""All commands that carry out many runs have the same options; what an option was called before is refused with its new name."""

import argparse
import os
from types import SimpleNamespace

import pytest

from tonopah.cli import coexist, compare, evaluate, study_run, study_sensitivity
from tonopah.cli.execution import add_execution, size_of
from tonopah.cli.main import main
from tonopah.errors import InputError
from tonopah.execution import options

COMMANDS = {
    "evaluate": evaluate, "compare": compare, "coexist": coexist, "study run": study_run, "study sensitivity": study_sensitivity,
}  # fmt: skip
WANTED = {
    "--size", "--quick", "--replicates", "--out", "--store", "--jobs", "--executor", "--scheduler", "--shard", "--max-hours",
    "--max-events", "--max-memory", "--wait",
}  # fmt: skip


def options_of(module):
    """Return the options of a command by name, each with what it takes; the words of its help may differ."""
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return {name: described(one) for one in parser._actions for name in one.option_strings}


def described(one):
    """Return what an option takes."""
    read_by = getattr(one.type, "__qualname__", one.type)
    return type(one).__name__, one.dest, one.metavar, one.nargs, one.default, one.const, one.choices, read_by


def differing(modules):
    """Return the common options that some command lacks or has otherwise than the others."""
    found = [options_of(module) for module in modules]
    return {name for name in WANTED if len({repr(options.get(name)) for options in found}) > 1 or name not in found[0]}


def test_commands_that_carry_out_many_runs_have_the_same_options():
    assert not differing(COMMANDS.values())


def of_a_thread(command):
    """Add the options, one of them with another type."""
    add_execution(command, {}, "full")
    next(one for one in command._actions if one.dest == "jobs").type = str


@pytest.mark.parametrize("planted", [lambda command: command.add_argument("--jobs"), of_a_thread])
def test_a_command_with_options_of_its_own_is_seen(planted):
    assert differing([*COMMANDS.values(), SimpleNamespace(add_arguments=planted)]) >= {"--jobs"}


@pytest.mark.parametrize(
    ("command", "new"),
    [
        (["evaluate", "reno", "--full"], "--size full"),
        (["compare", "reno", "cubic", "--full"], "--size full"),
        (["compare", "reno", "cubic", "--smoke"], "--size smoke"),
    ],
)
def test_an_old_name_is_an_error_that_says_the_new_one(command, new, capsys):
    assert main(command) == 2
    assert new in capsys.readouterr().err


def test_a_size_that_a_command_does_not_have_is_refused(capsys):
    assert main(["coexist", "cubic", "reno", "--size", "smoke"]) == 2
    assert "quick or full" in capsys.readouterr().err
    parser = argparse.ArgumentParser()
    add_execution(parser, {"quick": "", "full": ""}, "full")
    assert [size_of(parser.parse_args(given)) for given in ([], ["--quick"], ["--size", "quick"])] == ["full", "quick", "quick"]
    with pytest.raises(InputError, match="no size smoke"):
        size_of(parser.parse_args(["--size", "smoke"]))


@pytest.mark.parametrize("name", options.BATCH_CPUS)
@pytest.mark.parametrize(("given", "expected"), [("1", 1), ("3", 3), ("64", 8), ("", 8), ("many", 8), ("0", 1)])
def test_a_job_uses_no_more_cores_than_its_batch_system_gave_it(monkeypatch, name, given, expected):
    """Slurm without a task plugin binds no CPUs: the mask of the process has all of the machine."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    for other in options.BATCH_CPUS:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, given)
    assert options.cores() == expected
