"""`tonopah study pack`: finished results in one file, of a study, of evaluate, of compare or of coexist."""

import argparse
import json
from pathlib import Path

from tonopah._core import engine_version
from tonopah.cli.arguments import add_common
from tonopah.cli.results import results_folder
from tonopah.metrics import count_text
from tonopah.store.pack import SUFFIX
from tonopah.study.packing import pack_results


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    examples = ("tonopah study pack hystart", "tonopah study pack evaluate-mycc", "tonopah reproduce hystart-0.18.0.study.zip")
    add_common(command, pack_study, *examples)
    command.add_argument("study", metavar="NAME", help="what was run: name of a study, or a results folder of any command")
    command.add_argument("--to", metavar="FILE", help=f"file to write (default: NAME-VERSION{SUFFIX})")
    command.add_argument(
        "--source", action="append", default=[], type=named_file, metavar="LIB.so=FILE.c",
        help="source of an algorithm in a shared library, if it is not LIB.c beside it; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--flags", default="", metavar="TEXT", help="flags that such a source was compiled with: --flags=-DFAULT=4"
    )


def named_file(text: str) -> tuple[str, Path]:
    """Return the library and the file of `--source`."""
    name, equals, file = text.partition("=")
    if not equals or not name.endswith(".so") or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is not LIBRARY.so=FILE")
    return name, Path(file)


def pack_study(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study pack`."""
    folder = results_folder(arguments.study)
    target = Path(arguments.to) if arguments.to else Path(f"{folder.name}-{engine_version()}{SUFFIX}")
    members = pack_results(folder, target, dict(arguments.source), arguments.flags)
    size, unpacked = target.stat().st_size, sum(one.size for one in members)
    if arguments.json:
        print(json.dumps({"file": str(target), "bytes": size, "unpacked_bytes": unpacked, "files": len(members)}))
    else:
        print(f"{target}: {size / 1e6:.1f} MB, unpacked {unpacked / 1e6:.1f} MB in {count_text(len(members), 'file')}")
        print(f"run it again elsewhere: tonopah reproduce {target}")
    return 0
