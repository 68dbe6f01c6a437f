"""`tonopah lesson`."""

import argparse
import json
from pathlib import Path

from tonopah.cli.arguments import add_common
from tonopah.errors import relay

EXAMPLES = ("tonopah lesson check my-lesson.md", "tonopah lesson sheet slow-start --solutions")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `lesson`."""
    add_common(command, lesson, *EXAMPLES)
    command.add_argument(
        "what",
        choices=("check", "sheet"),
        help="check: run its scenario, refuse what is untrue of the run; sheet: print it as Markdown with room for answers",
    )
    command.add_argument("lesson", help="a lesson of one's own (docs/lab.md), or the name of a shipped one")
    command.add_argument("--solutions", action="store_true", help="of a sheet: the answers, for the teacher")


def lesson(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah lesson`."""
    # The lessons need a reader of tables, which most commands do not.
    from tonopah.errors import InputError
    from tonopah.lab import lesson_check, lessons

    if arguments.solutions and arguments.what == "check":
        raise InputError("--solutions", "has no effect with check", "tonopah lesson sheet FILE --solutions")
    known = lessons.shipped()
    head, text = known[arguments.lesson] if arguments.lesson in known else lessons.read(Path(arguments.lesson))
    try:
        found = lesson_check.check_lesson(head) if arguments.what == "check" or arguments.solutions else []
    except InputError as error:
        raise relay(error, arguments.lesson) from None
    if arguments.what == "sheet":
        print(lesson_check.sheet(head, text, found), end="")
    elif arguments.json:
        print(json.dumps([{"question": one.question, "answer": one.answer} for one in found]))
    else:
        print(f"ok: {head.title}")
        for one in found:
            print(f"  {one.question}\n    {one.answer}")
    return 0
