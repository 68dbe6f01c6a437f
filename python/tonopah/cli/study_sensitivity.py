"""`tonopah study sensitivity`: which verdicts of a study hang on which of its assumptions and numbers."""

import argparse
import json
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from tonopah.analysis.evidence import Outcome
from tonopah.analysis.moved import moved_worlds
from tonopah.analysis.sensitivity import (
    AlteredWorld,
    Sensitivity,
    choose_claims,
    find_worlds,
    judge_worlds,
    plan_worlds,
    tested,
    together,
)
from tonopah.analysis.verdicts import Verdict
from tonopah.cli.arguments import add_common
from tonopah.cli.execution import add_execution, execution_options, resumable, size_of, stored_text
from tonopah.errors import InputError, relay
from tonopah.execution import runner
from tonopah.metrics import count_text
from tonopah.report.document import replicates_text
from tonopah.report.formatting import interval_text
from tonopah.report.sensitivity import hanging_entry, write_sensitivity
from tonopah.report.sensitivity_file import beside, study_digest
from tonopah.spec.library import shipped
from tonopah.spec.model import StudySpec
from tonopah.spec.plan import Plan
from tonopah.store.store import Store
from tonopah.study.study import Study

SIZES = {"quick": "the reduced size of the study: effects, no verdicts", "full": "all of it"}
EXAMPLES = ("tonopah study sensitivity netsim --quick", "tonopah study sensitivity netsim --claims N3,N4 --replicates 20")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, run_sensitivity, *EXAMPLES)
    command.add_argument("study", metavar="NAME", help="name of a shipped study, or a study file")
    command.add_argument(
        "--only", choices=["assumed", "numbers"],
        help="assumed: the alternatives that the study names; numbers: each number of its world moved by 1 %% (default: both)",
    )  # fmt: skip
    command.add_argument("--claims", type=names, default=[], metavar="ID,…", help="only these claims (default: all)")
    add_execution(command, SIZES, "full")


def names(text: str) -> list[str]:
    """Return the ids of an option."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of claims, like N3,N4")
    return list(dict.fromkeys(found))


def run_sensitivity(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah study sensitivity`."""
    study = Study.load(arguments.study)
    study.resize(size_of(arguments) == "quick", arguments.replicates, arguments.seeds)
    folder = Path(arguments.out) if arguments.out else beside(study.folder)
    options = execution_options(arguments)
    try:
        worlds = find_worlds(study.spec) if arguments.only != "numbers" else []
        worlds += moved_worlds(study.spec, study.home) if arguments.only != "assumed" else []
        spec = choose_claims(study.spec, arguments.claims, worlds)
        worlds = [world for world in worlds if world.parts & {part.id for part in spec.parts}]
        plans = plan_worlds(spec, worlds, study.home)
    except InputError as error:
        raise error if error.path == "--claims" else relay(error, study.source) from None
    plan = together([plans[0], *plans[1]])
    judged = sum(bool(tested(claim)) for claim in study.spec.claims)
    print_size(study.name, spec, worlds, plans[0], plan)
    with Store(arguments.store or folder, wait=options.wait) as store:
        reused = reuse(study.folder, plan, store)
        if reused:
            print(f"{reused:,} runs are those of {study.folder}", file=sys.stderr, flush=True)
        wanted = {run.id for run in runner.select_shard(plan, options.shard)}
        kept = partial(stored_text, store.folder, lambda: (len(wanted), len(wanted - store.ids())))
        with resumable(kept):
            done = runner.run_missing(plan, store, options=options)
        if options.shard:
            print(json.dumps({"study": study.name, "run_now": done}) if arguments.json else f"{study.name}: {done} runs now")
            return 0
        found = judge_worlds(spec, worlds, plans, store, study.quick, judged - len(spec.claims))
    facts = {
        "study": study.name, "title": spec.title, "question": spec.question, "quick": study.quick, "runs": len(plan.runs),
        "replicates": replicates_text(with_replicates(spec, plans[0])), "claims_of_study": judged,
        "command": command_text(study, arguments), "file": study_digest(study.document),
    }  # fmt: skip
    page = write_sensitivity(facts, spec, worlds, found, folder)
    if arguments.json:
        print(json.dumps({**facts, "run_now": done, "hang": hanging(found), "folder": str(folder), "page": str(page)}))
    else:
        print_found(found)
        print(f"{study.name}: {len(plan.runs):,} runs; {done} run now\nreport: {page.resolve()}")
        if not arguments.out and (study.folder / "runs.sqlite").is_file():
            print(f"also in the report of the study: tonopah study report {shlex.quote(str(study.folder))}")
    return 0


def print_size(name: str, spec: StudySpec, worlds: list[AlteredWorld], default: Plan, plan: Plan) -> None:
    """Print how much is to be done, and what is not random, before anything is run."""
    ids = ", ".join(claim.id for claim in spec.claims)
    other = len(plan.runs) - len(default.runs)
    numbers = sum(world.moved for world in worlds)
    several = " and ".join(
        text for count, text in ((len(worlds) - numbers, count_text(len(worlds) - numbers, "alternative")),
                                 (numbers, count_text(numbers, "moved number"))) if count
    )  # fmt: skip
    size = f"{count_text(len(plan.runs), 'run')}: {len(default.runs):,} as assumed, {other:,} with {several}"
    print(
        "\n".join([f"{name}: claims {ids}; {size}", *(f"note: {note}" for note in default.notes())]), file=sys.stderr, flush=True
    )


def reuse(folder: Path, plan: Plan, store: Store) -> int:
    """Take over the runs that the study itself has stored, and return their number."""
    if not (folder / "runs.sqlite").is_file() or folder.resolve() == store.folder.resolve():
        return 0
    with Store(folder, create=False) as study:
        wanted = study.ids() & set(plan.runs) - store.ids()
        wanted -= study.damaged(wanted)
        return store.merge(study, wanted) if wanted else 0


def with_replicates(spec: StudySpec, plan: Plan) -> StudySpec:
    """Return the study with the replicates that it has: one where nothing is random."""
    return replace(spec, parts=[replace(part, replicates=plan.parts[part.id].replicates) for part in spec.parts])


def command_text(study: Study, arguments: argparse.Namespace) -> str:
    """Return the command that repeats it, without what does not change the result."""
    source = Path(study.source)
    known = shipped().get(study.name)
    words = ["tonopah", "study", "sensitivity", study.name if known and known.resolve() == source.resolve() else source.name]
    words += ["--quick"] if study.quick else []
    words += ["--replicates", str(arguments.replicates)] if arguments.replicates else []
    words += ["--only", arguments.only] if arguments.only else []
    words += ["--seeds", str(arguments.seeds)] if arguments.seeds != 1 else []
    return shlex.join(words + (["--claims", ",".join(arguments.claims)] if arguments.claims else []))


def hanging(found: list[Sensitivity]) -> list[dict[str, str]]:
    """Return the verdicts that hang on an assumption."""
    return [hanging_entry(one, effect) for one in found for effect in one.effects if effect.hangs]


def print_found(found: list[Sensitivity]) -> None:
    """Print each claim as assumed, and in each world with the effect that moves most."""
    for one in found:
        print(f"{one.verdict.claim.id}{verdict_text(one.verdict)}")
        for effect in [effect for effect in one.effects if effect.hangs or not effect.world.moved]:
            change, mark = effect.largest, "*" if effect.hangs else " "
            print(f"  {mark} {effect.world.assumption.parameter} = {effect.world.value}{verdict_text(effect.verdict)}")
            if change:
                reading = f" ({change.before.reading})" if change.before.reading else ""
                print(f"      {change.before.asked}{reading}:\n      {effect_text(change.before)} -> {effect_text(change.after)}")
    if hanging(found):
        print("* another verdict than with the value assumed")
    moved = [(one.verdict.claim.id, effect) for one in found for effect in one.effects if effect.world.moved]
    if moved:
        count = len({(effect.world.assumption.parameter, effect.world.value) for _, effect in moved})
        hang = list(dict.fromkeys(claim for claim, effect in moved if effect.hangs))
        print(
            f"{count_text(count, 'number')} moved by 1 %: "
            + (f"verdicts on {', '.join(hang)} change" if hang else "none changes")
        )


def verdict_text(verdict: Verdict) -> str:
    """Return a verdict after a colon; nothing with --quick, which gives none."""
    return "" if verdict.verdict == "not judged" else f": {verdict.verdict}"


def effect_text(outcome: Outcome) -> str:
    """Return an effect with its interval."""
    return interval_text(outcome.effect, outcome.unit)
