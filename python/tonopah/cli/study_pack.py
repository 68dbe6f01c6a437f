"""`tonopah study pack`: a finished study in one file."""

import argparse
import json
from pathlib import Path

from tonopah._core import engine_version
from tonopah.cli.arguments import add_common
from tonopah.cli.results import results_folder
from tonopah.errors import InputError
from tonopah.metrics import count_text
from tonopah.store.pack import SUFFIX, pack
from tonopah.study.study import Study


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, pack_study, "tonopah study pack hystart", "tonopah study report hystart-0.8.0.study.zip")
    command.add_argument("study", metavar="NAME", help="study that was run: its name, or its results folder")
    command.add_argument("--to", metavar="FILE", help=f"file to write (default: NAME-VERSION{SUFFIX})")


def pack_study(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study pack`."""
    study = Study.open(results_folder(arguments.study))
    if missing := study.missing():
        hint = "run the study again, which continues it"
        raise InputError("", f"is not finished: {count_text(missing, 'run')} are missing", hint, str(study.folder))
    target = Path(arguments.to) if arguments.to else Path(f"{study.folder.name}-{engine_version()}{SUFFIX}")
    members = pack(study.folder, target, study.name)
    size, unpacked = target.stat().st_size, sum(one.size for one in members)
    if arguments.json:
        print(json.dumps({"file": str(target), "bytes": size, "unpacked_bytes": unpacked, "files": len(members)}))
    else:
        print(f"{target}: {size / 1e6:.1f} MB, unpacked {unpacked / 1e6:.1f} MB in {count_text(len(members), 'file')}")
    return 0
