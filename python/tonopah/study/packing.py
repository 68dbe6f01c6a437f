"""What a pack holds beside its runs: who was judged by what command, sources of algorithms, a table from claims to commands."""

import ast
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tonopah.cc.binding import bind
from tonopah.cc.references import is_library
from tonopah.errors import InputError
from tonopah.metrics import count_text
from tonopah.store.pack import ARTIFACT, FACTS, SOURCES, Member, pack
from tonopah.store.store import Store
from tonopah.study.study import Study

RESULTS = {"study": "verdicts.json", "evaluate": "scoreboard.json", "compare": "compare.json", "coexist": "coexist.json"}
"""By kind: what a report says, for programs."""
NO_SOURCES: Mapping[str, Path] = MappingProxyType({})
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
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
    """Return what belongs to the runs in a folder. Raises InputError where something is missing, or was edited since the runs.

    `sources` names the C source of a library by the name of the library, where it does not lie beside it.
    """
    with Store(folder, create=False) as store:
        study, judged, machine = (store.recall(key) for key in ("study", "evaluation", "machine"))
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
    home, found, text = Path(facts["home"]), {}, json.dumps({"kind": kind, **facts, "machine": machine})
    for name, stored in facts.get("algorithms", {}).items():
        check_unchanged(name, stored["digest"], home)
        inside = inside_name(name)
        found |= dict(sources_of(name, inside, home, sources))
        text, results = (
            text.replace(in_json(name), in_json(inside)),
            results.replace(in_json(name).encode(), in_json(inside).encode()),
        )
    return Contents(kind, json.loads(text), results, found)


def in_json(text: str) -> str:
    """Return a text as it stands inside one of JSON."""
    return json.dumps(text)[1:-1]


def inside_name(name: str) -> str:
    """Return the name by which an algorithm is known in a pack: its own, or without the folders if it is elsewhere."""
    file, colon, rest = (name, "", "") if is_library(name) else name.rpartition(":")
    path = Path(file)
    return f"{path.name}{colon}{rest}" if path.is_absolute() or ".." in path.parts else name


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


def check_unchanged(name: str, digest: str, home: Path) -> None:
    """Refuse an algorithm that is not the one whose runs are stored. Raises InputError."""
    now = next(iter(bind({"tcp": {"cc": name}}, home).origins.values())).digest
    if now != digest:
        raise InputError("", "was edited since its runs were made", "give the command again, then pack", name)


def sources_of(name: str, inside: str, home: Path, given: Mapping[str, Path]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that an algorithm consists of, by their paths in a pack, where it is called `inside`. Raises InputError."""
    file = home / (name if is_library(name) else name.rpartition(":")[0])
    if is_library(name):
        file = given.get(Path(name).name, file.with_suffix(".c"))
        if not file.is_file():
            raise InputError("--source", f"{name}: there is no {file}", f"--source {Path(name).name}=FILE.c")
    elif not file.is_file():
        # A class of an installed package: its version is that of the package.
        return
    folder = Path(inside if is_library(inside) else inside.rpartition(":")[0]).parent
    for path in with_neighbours(file):
        # The source of a library is compiled to one of the same name.
        own = Path(inside).with_suffix(".c").name if path == file and is_library(name) else path.relative_to(file.parent)
        yield str(folder / own), path.read_bytes()


def with_neighbours(file: Path) -> list[Path]:
    """Return a source and the files beside it that it names, and so on."""
    found, left = [], [file]
    while left:
        path = left.pop()
        if path in found or not path.is_file():
            continue
        found.append(path)
        text = path.read_text(encoding="utf-8")
        names = INCLUDE.findall(text) if path.suffix in (".c", ".h") else imported(text)
        left += [file.parent / name for name in names]
    return sorted(found)


def imported(text: str) -> list[str]:
    """Return the files that modules beside a source would have."""
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    paths = [name.replace(".", "/") for name in names]
    return [place for path in paths for place in (f"{path}.py", f"{path}/__init__.py")]


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
