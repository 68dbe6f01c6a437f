"""What commands have in common: the types of their arguments, and the options that several of them have."""

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonopah._core import parse_quantity
from tonopah.cc.permission import ANY, NONE, Permission
from tonopah.errors import InputError
from tonopah.scenario.document import MAX_FILE_BYTES, decoded, names_source
from tonopah.scenario.paths import parse_assignment
from tonopah.units import split

if TYPE_CHECKING:
    from tonopah.spec.source import Sourced

WAIT = "wait until no other process is writing to the folder"


STDIN = "-"


def scenario_source(given: str) -> str | dict[str, Any]:
    """Return the file that an argument names; for `-` what stands in standard input, whose paths start at the working directory.

    Raises InputError.
    """
    if given != STDIN:
        return given
    if sys.stdin is None:
        raise InputError("", "is closed", None, "standard input")
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise InputError("", "is too large for a scenario or study", f"at most {MAX_FILE_BYTES:,} bytes", "standard input")
    return decoded(data, "standard input")


def from_source(given: str | dict[str, Any], made: dict[str, Any]) -> "Sourced | None":
    """Return what a source makes of a scenario with these changes, and warn of what changes nothing; None of an ordinary one."""
    if not names_source(given):
        return None
    # Takes longer to load than most runs take.
    from tonopah.spec.source import sourced

    found = sourced(given, made)
    warn(found.warnings)
    return found


def name_of(source: str | dict[str, Any]) -> str | None:
    """Return the name of a scenario for messages; None of one that came from standard input."""
    return source if isinstance(source, str) else None


def add_common(
    command: argparse.ArgumentParser,
    action: Callable[[argparse.Namespace], int],
    *examples: str,
) -> None:
    """Set the function that carries out a command and the examples of its help, and add --json."""
    shown = "\n".join(f"  {example}" for example in examples)
    command.epilog = f"example: {examples[0]}" if len(examples) == 1 else f"examples:\n{shown}"
    command.set_defaults(action=action)
    command.add_argument("--json", action="store_true", help="print machine-readable JSON")


def add_command(
    commands: Any, name: str, summary: str, action: Callable[[argparse.Namespace], int], *examples: str
) -> argparse.ArgumentParser:
    """Add a command of a group, like `study run`, with what all commands have."""
    command = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(command, action, *examples)
    return command


def add_set(command: argparse.ArgumentParser) -> None:
    """Add --set."""
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="change a value of the scenario, like tcp.cc=cubic; may be repeated",
    )


def add_code(command: argparse.ArgumentParser, what: str) -> None:
    """Add --code, which `main` holds while the command is carried out."""
    command.add_argument(
        "--code", type=code, default=ANY, metavar="none|DIR",
        help=f"execute no code that the file names, or only Python files below DIR; for {what} of somebody else (default: any)",
    )  # fmt: skip


def code(text: str) -> Permission:
    """Return what may be executed of the code that a file names."""
    known = {"any": ANY, "none": NONE}
    return known.get(text) or Permission(limited=True, below=Path(text))


def add_case_arguments(command: argparse.ArgumentParser) -> None:
    """Add the options that every comparison by cases has."""
    command.add_argument("--case", metavar="GLOB", help="only cases whose name matches")
    command.add_argument("--check", action="store_true", help="exit code 1 if a goal is missed")
    command.add_argument("--jobs", type=positive, metavar="N", help="number of runs at a time (default: all cores)")


class Refused(argparse.Action):
    """An option of former versions, whose metavar says what does its work now."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Raise InputError."""
        raise InputError(self.option_strings[0], "is no more", str(self.metavar) if self.metavar else None)


def refuse_option(command: argparse.ArgumentParser, name: str, successor: str) -> None:
    """Let an option of former versions be an error that says what does its work now."""
    command.add_argument(name, action=Refused, metavar=successor, help=argparse.SUPPRESS)


def changes(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of all --set by path."""
    return dict(parse_assignment(text) for text in arguments.set)


def warn(texts: Iterable[str]) -> None:
    """Print warnings of a scenario, beside the results and not among them."""
    for text in texts:
        print(f"warning: {text}", file=sys.stderr, flush=True)


def duration(text: str, unit: str) -> float:
    """Return a duration from the command line in seconds; a number alone is in `unit`. Raises ValueError."""
    quantity = split(text)
    return parse_quantity(text if quantity is None or quantity[1] else f"{text}{unit}", "duration")


def instant(text: str) -> float:
    """Return a time of a day from the command line in seconds."""
    try:
        seconds = duration(text, "s")
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time from 0s to 10000000s, like 90s, 10min or 5h")
    return seconds


def whole(text: str, low: int, high: int, what: str) -> int:
    """Return a whole number from the command line."""
    # Python reads no number of thousands of digits.
    if not text.isascii() or not text.isdigit() or len(text) > len(str(high)) or not low <= int(text) <= high:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return int(text)


def seed(text: str) -> int:
    """Return a seed from the command line."""
    return whole(text, 0, 2**64 - 1, "a whole number from 0 to 2^64 - 1")


def first_seed(text: str) -> int:
    """Return the seed of the first of many replicates from the command line."""
    return whole(text, 1, 10**15, "a whole number from 1 to 10^15")


def positive(text: str) -> int:
    """Return a positive whole number from the command line."""
    return whole(text, 1, 1_000_000, "a whole number from 1 to 1,000,000")


def checked(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a parser of argparse that refuses what `parse` refuses."""

    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(f"{error.message} ({error.hint})") from None

    return parsed


def hours(text: str) -> float:
    """Return a duration from the command line in hours."""
    try:
        value = duration(text, "h") / 3600
    except ValueError:
        value = -1.0
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of hours, like 0.5 or 12, nor a duration, like 90min")
    return value


def events(text: str) -> int:
    """Return a number of events from the command line."""
    return whole(text, 1, 2**63 - 1, "a number of events")


def percent(text: str) -> float:
    """Return a width in percent from the command line."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%?", text, re.ASCII)
    if not found or not 0 < float(found[1]) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a width in percent, like 5%")
    return float(found[1])


def require_folder(option: str, given: str | None) -> None:
    """Raise InputError if the folder of an option, where it is given, is a file."""
    if given and Path(given).exists() and not Path(given).is_dir():
        raise InputError(option, f"{given} is a file", "a folder, which is made if there is none")


def require_place(option: str, given: str | None) -> None:
    """Raise InputError if the file of an option, where it is given, could not be written."""
    if given and (Path(given).is_dir() or not Path(given).absolute().parent.is_dir()):
        raise InputError(option, f"{given} cannot be written", "a file in a folder that exists")
