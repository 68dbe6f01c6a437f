"""`tonopah reproduce`: run what a pack holds again, here, and say what differs."""

import argparse
import contextlib
import io
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tonopah.cc.library import get_include
from tonopah.cc.permission import ANY, Permission, permitting
from tonopah.cli.arguments import add_code, add_common, positive
from tonopah.errors import InputError, RunFailedError, reading
from tonopah.execution.machine import machine
from tonopah.spec.manifest import Manifest
from tonopah.spec.reader import parse_spec
from tonopah.store.pack import FACTS, SUFFIX, read_member, read_sources
from tonopah.study.differences import Difference, differences, leaves
from tonopah.study.packing import RESULTS
from tonopah.study.study import Study
from tonopah.writing import replace_file

DATA = Permission(limited=True, who="whose source is not in the pack")
"""A pack without code can name files of this machine."""
SHOWN = 20
"""Differences that are printed; --json has all."""
HERE: dict[str, Any] = {
    "store": None, "shard": None, "executor": "local", "scheduler": None, "markdown": None, "statement": None, "json": True,
}  # fmt: skip
"""What the command of a pack is given instead of what it was given where it was made."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, reproduce, f"tonopah reproduce hystart-0.18.0{SUFFIX}", f"tonopah reproduce mycc{SUFFIX} --code none")
    command.add_argument("pack", metavar="PACK", help="file of `tonopah study pack`")
    command.add_argument("--out", metavar="DIR", help="folder of the repetition (default: reproduced-NAME beside the pack)")
    command.add_argument("--jobs", type=positive, metavar="N", help="number of threads (default: all cores)")
    add_code(command, "a pack")


def reproduce(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah reproduce`: exit code 0 if all is the same, else 1."""
    pack = Path(arguments.pack)
    with reading(str(pack)):
        facts = dict(json.loads(read_member(pack, FACTS)))
        kind, flags = str(facts.get("kind")), shlex.split(str(facts.get("flags", "")))
        if kind not in RESULTS:
            raise InputError("", f"holds what this version does not know: {kind!r}", "use the version that packed it")
        before = json.loads(read_member(pack, RESULTS[kind]))
    sources = read_sources(pack)
    if sources and arguments.code.limited:
        named = ", ".join(sources)
        raise InputError("--code", f"does not allow that algorithms of the pack are code: {named}", "--code any", str(pack))
    name = pack.name.removesuffix(SUFFIX).removesuffix(".zip")
    out = Path(arguments.out).absolute() if arguments.out else pack.absolute().with_name(f"reproduced-{name}")
    home = out / "source"
    write_sources(sources, home, flags)
    with permitting(ANY if sources else DATA):
        (run_study if kind == "study" else run_command)(facts, home, out, arguments.jobs)
    after = json.loads((out / RESULTS[kind]).read_text(encoding="utf-8"))
    found = list(differences(before, after))
    others = list(differences(facts.get("machine") or {}, machine(), skip=()))
    if arguments.json:
        told = {"same": not found, "values": leaves(before), "folder": str(out)}
        print(json.dumps(told | {"machine": [vars(one) for one in others], "differences": [vars(one) for one in found]}))
    else:
        show(found, others, leaves(before))
        print(f"folder: {out}")
    return int(bool(found))


def write_sources(sources: Mapping[str, bytes], home: Path, flags: list[str]) -> None:
    """Write the sources of algorithms, and compile those in C. Raises InputError for links out of it, RunFailedError."""
    real = home.parent.resolve() / home.name
    for path, content in sources.items():
        if not (home / path).parent.resolve().is_relative_to(real):
            raise InputError("--out", f"a link below {home} leads out of it", "another folder, or none")
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        replace_file(home / path, content)
    home.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC", "cc")
    for path in (home / name for name in sources if name.endswith(".c")):
        if not shutil.which(compiler):
            raise RunFailedError(f"{path}: there is no C compiler {compiler!r} here; name one by CC")
        command = [
            compiler,
            "-O2",
            "-shared",
            "-fPIC",
            *flags,
            f"-I{get_include()}",
            "-o",
            str(path.with_suffix(".so")),
            str(path),
        ]
        done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RunFailedError(f"{path}: cannot be compiled: {done.stderr.strip()}")


def run_study(facts: Mapping[str, Any], home: Path, out: Path, jobs: int | None) -> None:
    """Run a study again at the size at which it was run, and write its report."""
    manifest = Manifest.from_json(facts, FACTS)
    study = Study.of(manifest.name, parse_spec(manifest.document), manifest.document, str(home / f"{manifest.name}.toml"))
    study.resize(manifest.quick, manifest.replicates, manifest.seeds)
    study.run(jobs=jobs, out=out, until=manifest.target)
    study.report(quiet=True)


def run_command(facts: Mapping[str, Any], home: Path, out: Path, jobs: int | None) -> None:
    """Give the command of a report again, in the folder of its sources. Raises InputError for one that is none."""
    from tonopah.cli.main import build_parser

    with reading(FACTS):
        words = shlex.split(str(facts.get("command", "")))
    if words[:2] != ["tonopah", facts["kind"]]:
        raise InputError("", f"names no command of {facts['kind']}: {shlex.join(words[:2])}", None, FACTS)
    given = build_parser().parse_args(words[1:])
    for key, value in {**HERE, "out": str(out), "jobs": jobs}.items():
        if hasattr(given, key):
            setattr(given, key, value)
    with contextlib.chdir(home), contextlib.redirect_stdout(io.StringIO()):
        given.action(given)


def show(found: list[Difference], others: list[Difference], count: int) -> None:
    """Print what made the two, and where they differ."""
    for one in others:
        print(f"  made with another {one.path}: {one.packed} there, {one.again} here")
    if not found:
        print(f"the same: all {count:,} values")
        return
    print(f"{len(found):,} of {count:,} values differ:")
    for one in found[:SHOWN]:
        print(f"  {one.path}: {one.packed} in the pack, {one.again} here")
    if len(found) > SHOWN:
        print(f"  and {len(found) - SHOWN:,} more (--json has all)")
