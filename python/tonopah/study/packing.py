"""What a pack holds beside its runs: who was judged by what command, sources of algorithms, a table from claims to commands."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tonopah.errors import InputError
from tonopah.metrics import count_text
from tonopah.store.pack import ARTIFACT, FACTS, SOURCES, Member, pack
from tonopah.store.store import Store
from tonopah.study import sources_of_runs
from tonopah.study.study import Study

RESULTS = {"study": "verdicts.json", "evaluate": "scoreboard.json", "compare": "compare.json", "coexist": "coexist.json"}
"""By kind: what a report says, for programs."""
NO_SOURCES: Mapping[str, Path] = MappingProxyType({})
NOT_REPEATED = ("--out", "--store", "--markdown", "--json")
"""Options that a command of `artifact.md` does not have."""


@dataclass(frozen=True)
class Contents:
    """What a pack holds beside database and series."""

    kind: str
    facts: dict[str, Any]
    """What the folder of the results says about it, and the machine of its runs."""
    results: bytes
    sources: dict[str, bytes] = field(default_factory=dict)
    """By path, from the folder where the command was given."""

    @property
    def name(self) -> str:
        """Name of the file of its results."""
        return RESULTS[self.kind]


def contents(folder: Path, sources: Mapping[str, Path]) -> Contents:
    """Return what belongs to the runs in a folder. Raises InputError where something is missing.

    `sources` names the C source of a library by the name of the library, where it does not lie beside it.
    """
    with Store(folder, create=False) as store:
        study, judged, machine = (store.recall(key) for key in ("study", "evaluation", "machine"))
        known = store.recall(sources_of_runs.KEY) or {}
    facts = study or judged
    kind = "study" if study else (judged or {}).get("kind", "")
    if kind not in RESULTS:
        raise InputError(
            "", "contains nothing that can be packed", "a folder of study run, evaluate, compare or coexist", str(folder)
        )
    try:
        results = (folder / RESULTS[kind]).read_bytes()
    except OSError:
        again = f"tonopah study report {folder}" if kind == "study" else f"the command without --store: {judged['command']}"
        raise InputError("", f"has no {RESULTS[kind]}", again, str(folder)) from None
    found, text = {}, json.dumps({"kind": kind, **facts, "machine": machine})
    for name in facts.get("algorithms", {}):
        inside = sources_of_runs.inside_name(name)
        found |= sources_of_runs.stored(name, known, sources)
        text, results = (
            text.replace(in_json(name), in_json(inside)),
            results.replace(in_json(name).encode(), in_json(inside).encode()),
        )
    return Contents(kind, json.loads(text), results, found)


def in_json(text: str) -> str:
    """Return a text as it stands inside one of JSON."""
    return json.dumps(text)[1:-1]


def pack_results(folder: Path, target: Path, sources: Mapping[str, Path] = NO_SOURCES, flags: str = "") -> list[Member]:
    """Write the results in a folder into one file and return what it holds; `flags` are those of sources in C.

    Raises InputError where something is missing.
    """
    with Store(folder, create=False) as store:
        is_study = store.recall("study") is not None
    if is_study and (missing := Study.open(folder).missing()):
        hint = "run the study again, which continues it"
        raise InputError("", f"is not finished: {count_text(missing, 'run')} are missing", hint, str(folder))
    found = contents(folder, sources)
    facts = found.facts | {"flags": flags}
    texts = {
        found.name: found.results,
        FACTS: (json.dumps(facts, indent=1, sort_keys=True) + "\n").encode(),
        ARTIFACT: artifact(found).encode(),
        **{f"{SOURCES}{path}": source for path, source in sorted(found.sources.items())},
    }
    return pack(folder, target, str(facts.get("name") or facts.get("subject")), texts)


def artifact(one: Contents) -> str:
    """Return `artifact.md`: how the results are made again, and which command shows what each claim says."""
    facts, results = one.facts, json.loads(one.results)
    machine = facts.get("machine") or {}
    engine = machine.get("engine", {})
    command = study_command(facts) if one.kind == "study" else plain(facts["command"])
    lines = [
        f"# {facts.get('name') or facts.get('subject')}",
        "",
        f"`tonopah reproduce PACK`, PACK being this file, runs everything again and says what differs; `{command}` made it.",
        "",
        f"Made with Tonopah {engine.get('version')} (build {engine.get('build')}, {engine.get('compiler')}), Python "
        f"{machine.get('python')}, on {machine.get('processor')}, {machine.get('system')}; C compiler: "
        f"{machine.get('c_compiler') or 'none'}.",
        "",
        "| claim | says | found | command |",
        "| --- | --- | --- | --- |",
        *(f"| {' | '.join(text.replace('|', '/') for text in row)} |" for row in rows(one.kind, results, command)),
        "",
    ]
    return "\n".join(lines)


def plain(command: str) -> str:
    """Return a command without where it wrote."""
    words, kept = shlex.split(command), []
    while words:
        word = words.pop(0)
        if word.partition("=")[0] not in NOT_REPEATED:
            kept.append(word)
        elif "=" not in word and word != "--json" and words:
            words.pop(0)
    return shlex.join(kept)


def chosen(command: str, option: str, value: str) -> str:
    """Return a command for one criterion or experiment alone."""
    return f"`{command}`" if option in command else f"`{command} {option} {value}`"


def study_command(facts: Mapping[str, Any]) -> str:
    """Return the command of a study."""
    seeds = facts.get("seeds", 1)
    options = (" --quick" if facts["quick"] else "") + (f" --seeds {seeds}" if seeds != 1 else "")
    return f"tonopah study run {Path(facts['source']).name}{options}"


def rows(kind: str, results: Mapping[str, Any], command: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield, for each claim, its text, what was found, and a command that shows it."""
    if kind == "study":
        for claim in results["claims"]:
            yield claim["id"], claim["text"], claim["verdict"], "`tonopah study report PACK`"
    elif kind == "evaluate":
        for row in results["criteria"]:
            yield row["id"], row["name"], row["verdict"], chosen(command, "--criteria", row["id"])
    elif kind == "compare":
        for row in results["rows"]:
            place = f"{row['experiment']}, {row['point']}"
            yield row["metric"], place, row["outcome"], chosen(command, "--experiments", row["experiment"])
    else:
        for cell in results["cells"]:
            says = f"share beside {cell['column']}, queue {cell['buffer']:g} BDP, {cell['rtt']}"
            yield cell["row"], says, "–" if cell["share"] is None else f"{100 * cell['share']:.1f} %", f"`{command}`"
