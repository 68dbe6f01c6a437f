"""Claims whose criteria have changed, judged without a full run: `python -m tonopah_dev.pages.again STUDY CLAIM,… STORE docs`.

Of the study only the runs are made that the tests of these claims read; p values are adjusted as if its other claims came last,
which is never too favourable. STORE is the folder of these runs. The rows of the claims on the study's page become those of
this engine, and a line above the table says so; the next full run takes it away. With `--replicates N --seeds FROM` all parts
have as many, with seeds that no earlier verdict saw.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.analysis.sensitivity import compose, judge_world, only_claims, plan_claims, tested
from tonopah.errors import InputError
from tonopah.execution import runner
from tonopah.execution.options import ExecutionOptions
from tonopah.metrics import count_text
from tonopah.report.verdicts import claim_entry
from tonopah.store.store import Store
from tonopah.study.study import Study
from tonopah_dev.pages.findings import BLOCK, HEAD, claim_row, counted, replicates_text
from tonopah_dev.pages.markdown import markdown_table


def judge_again(study: Study, names: list[str], store: Path, jobs: int | None = None) -> dict[str, Any]:
    """Run what the claims read, and return their verdicts with how they came about. Raises InputError for an unknown claim."""
    claims = [claim for claim in study.spec.claims if claim.id in names]
    if unknown := set(names) - {claim.id for claim in claims}:
        raise InputError("CLAIM", f"{min(unknown)} is unknown", ", ".join(claim.id for claim in study.spec.claims))
    criteria, others = study.spec.criteria, sum(bool(tested(claim)) for claim in study.spec.claims) - len(claims)
    spec = only_claims(study.spec, claims)
    plan = compose(spec, {part.id: plan_claims(part, claims, study.home) for part in spec.parts})
    with Store(store) as runs:
        runner.run_missing(plan, runs, options=ExecutionOptions(jobs=jobs))
        verdicts = judge_world(spec, plan, runs, quick=False, left_out=others)
    return {
        "study": study.name, "engine": engine_version(), "date": datetime.now(UTC).date().isoformat(), "hash": criteria,
        "runs": len(plan.runs), "replicates": {part.id: part.replicates for part in spec.parts},
        "seeds": spec.parts[0].first_seed, "claims": [claim_entry(verdict) for verdict in verdicts],
    }  # fmt: skip


def judged_page(page: str, facts: Mapping[str, Any]) -> str:
    """Return the page of a study with the rows of these claims, and a line that says how they came about."""

    def made(found: re.Match[str]) -> str:
        return found[1] + judged_block(found[0].partition("\n")[2].removesuffix(found[3]), facts) + found[3]

    return BLOCK.sub(lambda found: made(found) if found[2] == facts["study"] else found[0], page)


def judged_block(text: str, facts: Mapping[str, Any]) -> str:
    """Return the table of a study with the rows of these claims."""
    for claim in facts["claims"]:
        text = re.sub(rf"^{claim['id']} judged again: .*\n", "", text, flags=re.MULTILINE)
        row = markdown_table(HEAD, [claim_row(claim)]).splitlines(keepends=True)[-1]
        text = re.sub(rf"^\| {claim['id']} .*\n", lambda _, row=row: row, text, flags=re.MULTILINE)
        head, _, table = text.partition("\n\n")
        text = f"{head}\n{line_of(claim, facts)}\n{table}"
    return counted(text, Study.load(facts["study"]).spec)


def line_of(claim: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return the line that says how a claim was judged again."""
    seeds = f", seeds from {facts['seeds']} on" if facts["seeds"] != 1 else ""
    made = f"engine {facts['engine']}, {facts['date']}, {count_text(facts['runs'], 'run')} that its tests read"
    replicates = replicates_text(facts["replicates"])
    return f"{claim['id']} judged again: {made}, {replicates}{seeds}; criteria hash `{facts['hash']}`.\n"


def main(words: list[str] | None = None) -> int:
    """Carry out the command line; return the exit status."""
    command = argparse.ArgumentParser(prog="python -m tonopah_dev.pages.again")
    for name in ("study", "claims", "store", "docs"):
        command.add_argument(name, metavar=name.upper())
    command.add_argument("--replicates", type=int, metavar="N", help="of each part (default: those of the study)")
    command.add_argument("--seeds", type=int, default=1, metavar="FROM", help="seed of the first replicate (default: 1)")
    command.add_argument("--jobs", type=int, metavar="N", help="number of runs at a time (default: all cores)")
    arguments = command.parse_args(words)
    try:
        study = Study.load(arguments.study)
        study.resize(replicates=arguments.replicates, seeds=arguments.seeds)
        facts = judge_again(study, arguments.claims.split(","), Path(arguments.store), arguments.jobs)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    path = Path(arguments.docs, "findings", f"{study.name}.md")
    path.write_text(judged_page(path.read_text(encoding="utf-8"), facts), encoding="utf-8")
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
