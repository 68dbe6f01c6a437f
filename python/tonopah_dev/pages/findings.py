"""The verdicts on the pages of docs/findings: `python -m tonopah_dev.pages.findings STUDIES docs`, after studies ran.

Without STUDIES (`python -m tonopah_dev.pages.findings docs`) claims whose criteria have changed since lose their verdict.

STUDIES is the folder of finished studies, such as results; pages that name none of them stay. Each page has its table between
`<!-- verdicts: NAME -->` and `<!-- end -->`; the prose around it stays as it is, and is to be read again whenever the table
changes. What the figures of an original measured is shown if `python -m tonopah.reports.mechanisms FOLDER` has said so before.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tonopah.analysis.answer import effect_text
from tonopah.analysis.evidence import VERDICTS
from tonopah.errors import InputError
from tonopah.metrics import count_text, show
from tonopah.report import verdicts
from tonopah.spec.model import StudySpec
from tonopah.stats import Estimate
from tonopah.study.study import Study
from tonopah_dev.pages.markdown import markdown_table

BLOCK = re.compile(r"(<!-- verdicts: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
HASH = re.compile(r"hash `(\w+)`")
LATER = re.compile(r"^(\w+) judged again: .*hash `(\w+)`", re.MULTILINE)
"""Of a claim that was judged without a full run (again.py): by which criteria."""
AGAIN = "to be judged again"
"""Instead of a verdict by criteria that have changed."""
MECHANISMS = "mechanisms.json"
HEAD = ["claim", "verdict", "effect of the decisive test", "what the runs show"]


def findings_page(page: str, studies: Path) -> str:
    """Return a page with its verdicts made anew from the studies in a folder. Raises InputError."""
    return BLOCK.sub(lambda found: found[1] + verdicts_text(read_verdicts(studies / found[2])) + found[3], page)


def read_verdicts(folder: Path) -> dict[str, Any]:
    """Return the verdicts of a study that was run in full. Raises InputError."""
    facts = verdicts.read(folder)
    if facts is None:
        raise InputError("", f"has no {verdicts.FILE}", f"tonopah study report {folder}", str(folder))
    if facts["quick"]:
        raise InputError("", "is a quick run, which has no verdicts", "the folder of studies that were run in full", str(folder))
    mechanisms = folder / MECHANISMS
    return facts | {"mechanisms": json.loads(mechanisms.read_text(encoding="utf-8")) if mechanisms.is_file() else []}


def verdicts_text(facts: Mapping[str, Any]) -> str:
    """Return how a study was run, how many of its claims have which verdict, and the table of its claims."""
    criteria, counts = facts["criteria"], facts["counts"]
    listed = ", ".join(f"{counts.get(word, 0)} {word}" for word in reversed(VERDICTS[:5]) if counts.get(word) or word in JUDGED)
    when = f" of {criteria['date']}" if criteria.get("date") else ""
    lines = [
        f"`tonopah study run {facts['study']}`, engine {facts['tonopah']}, {facts['finished'][:10]}:",
        f"{count_text(facts['runs'], 'measured run')}, {replicates_text(facts['replicates'])}.",
        f"Criteria{when}, hash `{criteria['hash']}`.",
        f"Of {count_text(len(facts['claims']), 'claim')}: {listed}.",
    ]
    judged = markdown_table(HEAD, [claim_row(claim) for claim in facts["claims"]])
    return "\n".join(lines) + "\n\n" + judged + original_text(facts)


def mark_changed(page: str) -> str:
    """Return a page on which no claim has a verdict by criteria that it no longer has: its row says since when and why.

    The next full run judges it. Raises InputError if the table is of criteria that the study never had.
    """
    return BLOCK.sub(lambda found: found[1] + marked(found[0], Study.load(found[2]).spec) + found[3], page)


def marked(block: str, spec: StudySpec) -> str:
    """Return the table of a study without the verdicts on claims whose criteria have changed since."""
    text = block.partition("\n")[2].removesuffix("<!-- end -->")
    known = [entry.hash for entry in spec.history]
    was = HASH.search(text)
    since = dict(LATER.findall(text))
    if was is None or any(one not in known for one in (was[1], *since.values())):
        raise InputError("", "its table is of criteria that the study never had", "run the study in full", spec.title)
    for claim in spec.claims:
        later = spec.history[known.index(since.get(claim.id, was[1])) + 1 :]
        for entry in (entry for entry in later if claim.id in entry.claims):
            row = markdown_table(HEAD, [[f"{claim.id} {claim.text.rstrip('.')}", AGAIN, "", f"{entry.date}: {entry.reason}"]])
            text = re.sub(rf"^\| {claim.id} .*\n", lambda _, row=row: row.splitlines(keepends=True)[-1], text, flags=re.MULTILINE)
    return counted(text, spec)


def counted(text: str, spec: StudySpec) -> str:
    """Return the table of a study with how many of its claims have which verdict, as its rows say."""
    judged = re.findall(r"^\| (?:" + "|".join(claim.id for claim in spec.claims) + r") [^|]*\| ([^|]+) \|", text, re.MULTILINE)
    words = [*reversed(VERDICTS[:5]), AGAIN]
    listed = ", ".join(f"{judged.count(word)} {word}" for word in words if word in judged or word in JUDGED)
    return re.sub(r"(Of \d+ claims?: )[^.]*", lambda found: f"{found[1]}{listed}", text, count=1)


def original_text(facts: Mapping[str, Any]) -> str:
    """Return what the runs say of the original: its slips with their numbers, and how much of its tables they reproduce."""
    made = ""
    if mechanisms := facts.get("mechanisms"):
        rows = [
            [one["id"], *(numbers_text(one["numbers"], side) for side in ("with", "without")), one["text"]] for one in mechanisms
        ]
        made += "\n" + markdown_table(["in the script", "number with it", "without it", "what the figure measured"], rows)
    if published := {table: held for table, held in facts.get("published", {}).items() if held["judged"]}:
        rows = [[table, f"{held['reproduced']} of {held['judged']}"] for table, held in published.items()]
        made += "\n" + markdown_table(["numbers of", "reproduced"], rows)
    return made


def numbers_text(rows: Sequence[Mapping[str, Any]], side: str) -> str:
    """Return the numbers of one side of a mechanism, with whose they are."""
    values = (row[side] for row in rows)
    return "; ".join(f"{one['of']} {show(one['value'])} {one['unit']}".rstrip() for one in values)


JUDGED = ("supported", "contradicted", "no effect", "undecided")
"""The verdicts that are counted even where no claim has them."""


def replicates_text(replicates: Mapping[str, int]) -> str:
    """Return the replicates of the parts in words: the number that most have, then the others."""
    usual = Counter(replicates.values()).most_common(1)[0][0]
    others = "".join(f", {count} of part `{part}`" for part, count in replicates.items() if count != usual)
    return count_text(usual, "replicate") + others


def claim_row(claim: Mapping[str, Any]) -> list[str]:
    """Return the row of a claim."""
    return [f"{claim['id']} {claim['text'].rstrip('.')}", claim["verdict"], effect_of(claim["effect"]), claim["sentence"]]


def effect_of(effect: Mapping[str, Any] | None) -> str:
    """Return an effect with its interval and number of replicates; empty where none was measured."""
    if effect is None or effect["value"] is None:
        return ""
    value, low, high = (float("nan") if effect[key] is None else effect[key] for key in ("value", "low", "high"))
    return f"{effect_text(Estimate(value, low, high, effect['n']), effect['unit'])}, n = {effect['n']}"


def main(*given: str) -> None:
    """Write the pages of docs/findings that have a table of verdicts."""
    *studies, docs = given
    for path in sorted(Path(docs, "findings").glob("*.md")):
        page = path.read_text(encoding="utf-8")
        if studies and not any(Path(studies[0], name).is_dir() for _, name, _ in BLOCK.findall(page)):
            continue
        made = findings_page(page, Path(studies[0])) if studies else mark_changed(page)
        if made != page:
            path.write_text(made, encoding="utf-8")
            print(path)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except InputError as error:
        sys.exit(f"error: {error}")
