"""Parsers of commands whose modules are imported only if they run."""

import argparse
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from tonopah.errors import limit_text


class Parser(argparse.ArgumentParser):
    """A parser whose messages repeat no more than the beginning of a long argument.

    That of a command knows its `module`, which is imported when the command is the one that runs.
    """

    module = ""
    takes_program = False
    """What follows `--` is a program with arguments of its own."""

    def load(self) -> None:
        """Import the module of the command, whose `add_arguments` adds its arguments; at the first call only."""
        if self.module:
            module, self.module = self.module, ""
            import_module(module).add_arguments(self)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Parse arguments; of several commands argparse calls this only of the one that runs."""
        self.load()
        if not self.takes_program or args is None or "--" not in args:
            return super().parse_known_args(args, namespace)
        at = list(args).index("--")
        parsed, unknown = super().parse_known_args(args[:at], namespace)
        parsed.program = list(args[at + 1 :])
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and exit with 2."""
        super().error(limit_text(message))


def add_modules(parser: argparse.ArgumentParser, summaries: Mapping[str, str], prefix: str, listed: bool = True) -> None:
    """Add the commands of a group by their summaries; the module of `run` is PREFIXrun. What is not `listed` the caller lists."""
    raw = argparse.RawDescriptionHelpFormatter
    shown: dict[str, Any] = {"title": "commands"} if listed else {"help": argparse.SUPPRESS}
    commands = parser.add_subparsers(metavar="COMMAND", required=True, prog=parser.prog, **shown)
    for name, summary in summaries.items():
        own: dict[str, Any] = {"help": summary} if listed else {}
        command = commands.add_parser(name, description=f"{summary[0].upper()}{summary[1:]}.", formatter_class=raw, **own)
        command.module = f"{prefix}{name.replace('-', '_')}"  # pyright: ignore[reportAttributeAccessIssue]
