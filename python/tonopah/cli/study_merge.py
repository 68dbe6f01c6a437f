"""`tonopah study merge`: the shards of a study in one folder."""

import argparse
import json
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import WAIT, add_common
from tonopah.errors import InputError
from tonopah.spec.manifest import Manifest
from tonopah.store.store import Store
from tonopah.study import sources_of_runs
from tonopah.study.study import Study


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, merge_shards, "tonopah study merge results/asran.shard-*-of-4 --out results/asran")
    command.add_argument("folders", nargs="+", metavar="DIR", help="results folders of the shards")
    command.add_argument("--out", required=True, metavar="DIR", help="results folder of the whole study")
    command.add_argument("--wait", action="store_true", help=WAIT)


def merge_shards(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study merge`."""
    out, new = Path(arguments.out), 0
    with ExitStack() as stack:
        shards = [stack.enter_context(Store(folder, create=False)) for folder in arguments.folders]
        sizes = [read_size(store) for store in shards]
        other = f"holds another study, or another size of it, than {shards[0].folder}"
        for store, found in zip(shards, sizes, strict=True):
            if found != sizes[0]:
                raise InputError("", other, None, str(store.folder))
        into = stack.enter_context(Store(out, wait=arguments.wait))
        if into.recall("study") is None:
            for key in ("study", "machine", sources_of_runs.KEY):
                into.remember(key, shards[0].recall(key))
        elif read_size(into) != sizes[0]:
            raise InputError("", other, None, str(out))
        for store in shards:
            new += into.merge(store)
    study = Study.open(out)
    facts = {"folder": str(out), "runs": len(study.plan.runs), "new": new, "missing": study.missing()}
    if arguments.json:
        print(json.dumps(facts))
    else:
        print(f"{out}: {new} new runs, {facts['missing']} of {facts['runs']} missing")
        print(f"write its report with: tonopah study report {shlex.quote(str(out))}")
    return 0


def read_size(store: Store) -> tuple[dict[str, Any], bool, dict[str, int], int]:
    """Return what must be equal for results to be of the same study: its file, quick or not, replicates, and seeds."""
    manifest = Manifest.from_json(store.recall("study"), str(store.folder))
    return manifest.document, manifest.quick, manifest.replicates, manifest.seeds
