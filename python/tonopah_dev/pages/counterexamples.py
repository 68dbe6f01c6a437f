"""The page of counterexamples: `python -m tonopah_dev.pages.counterexamples FOLDER docs/generated [--budget cpu:10min] [NAME…]`.

Each algorithm of the engine is searched beside CUBIC, Reno and BBR (`tonopah break`); a search that FOLDER has goes on.
What is said of a finding that is alone is in `natures.toml`: the algorithm's nature with its source, or what of ours it shows.
It is said anew of all findings that the page's results hold, also of algorithms that are not searched; `--natures` searches none.
"""

import argparse
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonopah._core import engine_version
from tonopah.breaking.api import Counterexamples, budget, counterexamples
from tonopah.breaking.space import BASE
from tonopah.runs.simulation import algorithms
from tonopah.template import RESULTS, read_results, write_results

HERE = Path(__file__).parent
TEMPLATE, NATURES = HERE / "counterexamples.md.j2", HERE / "natures.toml"
NAME = "counterexamples"
OPEN = "not explained yet"
BUDGET = "cpu:10min"
KINDS = ("budget", "engine", "worlds", "runs", "shared", "alone")


def names() -> list[str]:
    """Return the algorithms of the engine; those of installed packages are not ours."""
    return [one["name"] for one in algorithms() if "compat" in one]


def facts_of(found: Counterexamples, asked: str) -> dict[str, Any]:
    """Return what the page says of an algorithm, but why it fails."""
    state, confirmed = found.state, [one for one in found.findings if one.confirmed and not one.finding.edge]
    alone = [one for one in confirmed if one.finding.kind == "alone"]
    shared = sorted({one.finding.name for one in confirmed if one.finding.kind == "shared"})
    return {
        "budget": asked, "engine": engine_version(), "worlds": state.worlds, "runs": state.runs, "shared": ", ".join(shared),
        "alone": [[one.finding.name, one.times, one.sentence, one.axes] for one in alone],
    }  # fmt: skip


def nature(natures: dict[str, Any], name: str, failure: str, world: str) -> str:
    """Return why an algorithm fails so: of its class and the first axis of the world that is known, or of its class."""
    known = natures.get(name, {}).get(failure, {})
    for axis in (*axes_of(world), "any"):
        if axis in known:
            return str(known[axis])
    return OPEN


def axes_of(world: str) -> list[str]:
    """Return the names of the axes of a world in words (`Space.text`)."""
    return [] if world == BASE else list(tomllib.loads(f"axes = {{ {world} }}")["axes"])


def joined(found: dict[str, dict[str, Any]], natures: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of the page: by kind, then by algorithm; findings that are alone with why."""
    known = [name for name in names() if name in found]
    kinds = {f"{kind}_of": {name: found[name][kind] for name in known} for kind in KINDS}
    kinds["alone_of"] = {
        name: [[*row, nature(natures, name, row[0], row[-1])] for row in rows] for name, rows in kinds["alone_of"].items()
    }
    command = "python -m tonopah_dev.pages.counterexamples results/counterexamples docs/generated"
    return {
        "command": command,
        "engine": min((found[name]["engine"] for name in known), key=version),
        "algorithms": known,
        **kinds,
    }


def parted(facts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what `joined` joined, without why."""
    found = {name: {kind: facts[f"{kind}_of"][name] for kind in KINDS} for name in facts["algorithms"]}
    return {name: {**one, "alone": [row[:-1] for row in one["alone"]]} for name, one in found.items()}


def version(text: str) -> list[int]:
    """Return a version as numbers, which have an order."""
    return [int(part) for part in text.split(".")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, and write the page with its results; algorithms that are not named keep theirs."""
    parser = argparse.ArgumentParser(prog="python -m tonopah_dev.pages.counterexamples")
    parser.add_argument("folder", type=Path)
    parser.add_argument("pages", type=Path)
    parser.add_argument("name", nargs="*", help="only these algorithms")
    parser.add_argument("--budget", default=BUDGET, help="of each, as `tonopah break` takes it (default: cpu:10min)")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--natures", action="store_true", help="search nothing: only say anew why")
    given = parser.parse_intermixed_args(arguments)
    budget_s, cpu = budget(given.budget)
    natures = tomllib.loads(NATURES.read_text(encoding="utf-8"))
    stored = given.pages / NAME / RESULTS
    kept = parted(read_results(stored)) if stored.is_file() else {}
    for name in [] if given.natures else given.name or names():
        found = counterexamples(
            name, budget_s=budget_s, cpu=cpu, out=given.folder / name, jobs=given.jobs, command=f"tonopah break {name}"
        )
        kept[name] = facts_of(found, given.budget)
        print(f"{name}: {len(kept[name]['alone'])} alone in {found.state.worlds} worlds", flush=True)
    print(write_results(given.pages / f"{NAME}.md", TEMPLATE, joined(kept, natures)))


if __name__ == "__main__":
    main()
