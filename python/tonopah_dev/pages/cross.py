"""The page of engines held against one another: `python -m tonopah_dev.pages.cross FOLDER docs/generated [--on ENGINE,…]`.

Runs the worlds of `studies/cross.toml` (`tonopah cross`) into FOLDER, going on where it was interrupted, and writes the page. Why
engines differ stands in `cross_reasons.toml`.
"""

import argparse
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mode
from typing import Any

from tonopah._core import engine_version
from tonopah.cli import main as command_line
from tonopah.cli.cross import FACTS
from tonopah.cross.judging import UNDECIDED
from tonopah.cross.measures import GOODPUT
from tonopah.cross.told import ORDER
from tonopah.metrics import lower
from tonopah.names import listed
from tonopah.template import write_results

HERE = Path(__file__).parent
TEMPLATE, REASONS = HERE / "cross.md.j2", HERE / "cross_reasons.toml"
WORLDS = HERE.parents[2] / "studies" / "cross.toml"
NAME = "cross"
OPEN = "not explained yet"
SEED = 101
"""Of the first replicate: those from which replicates of the file were planned began at 1."""
ALL = "tonopah,uml,linux,ns2,ns3"
Reasons = Mapping[str, Sequence[Mapping[str, Any]]]


def of_engine(world: Mapping[str, Any], engine: str) -> dict[str, str]:
    """Return the words on an engine in a world, by metric."""
    found = {metric["metric"]: metric["engines"].get(engine, {}).get("verdict") for metric in world["metrics"]}
    return {metric: word for metric, word in found.items() if word}


def goodput(words: Mapping[str, str]) -> str:
    """Return the worst word on the goodput of flows; empty where the engine does not carry the world."""
    return min((word for metric, word in words.items() if metric.startswith(GOODPUT)), key=ORDER.index, default="")


def differences(world: Mapping[str, Any], engine: str) -> list[tuple[str, str, float | None]]:
    """Return the metrics in which an engine is different in a world: name, label and the difference, in percent or as it is."""
    return [
        (metric["metric"], metric["label"], metric["engines"][engine]["difference"]["value"])
        for metric in world["metrics"]
        if metric["engines"].get(engine, {}).get("verdict") == "different"
    ]


def cell(world: Mapping[str, Any], engine: str) -> str:
    """Return what is said of an engine in a world: the word on goodput, and in what it differs, by how much."""
    words = of_engine(world, engine)
    if not words:
        return "not carried"
    word = goodput(words)
    if word == UNDECIDED:
        word += f" ({hardest(world, engine)})"
    told = [f"{lower(label)} {'∞' if value is None else f'{value:+.3g}'}" for _, label, value in differences(world, engine)]
    return word + (f"; {', '.join(told)}" if told else "")


def hardest(world: Mapping[str, Any], engine: str) -> str:
    """Return what would decide the goodput of all flows: of those that are undecided, what takes most replicates."""
    goodputs = [metric["engines"][engine] for metric in world["metrics"] if metric["metric"].startswith(GOODPUT)]
    rows = [row for row in goodputs if row["verdict"] == UNDECIDED]
    return str(max(rows, key=lambda row: math.inf if row["needed"] is None else row["needed"])["why"])


def reason(reasons: Reasons, engine: str, metric: str, label: str) -> str:
    """Return why an engine differs in a metric of a world."""
    for one in reasons.get(engine, ()):
        if metric.startswith(one.get("metric", "")) and any(part in label for part in one.get("worlds", [""])):
            return str(one["reason"])
    return OPEN


def facts_of(found: Mapping[str, Any], reasons: Reasons) -> dict[str, Any]:
    """Return what the page says, from the facts of a comparison."""
    others = [name for name in found["engines"] if name != found["first"]]
    why: dict[tuple[str, str], list[str]] = {}
    counts = {world["label"]: max(world["replicates"].values()) for world in found["worlds"]}
    usual = mode(counts.values())
    for world in found["worlds"]:
        for engine in others:
            for metric, label, _ in differences(world, engine):
                why.setdefault((engine, reason(reasons, engine, metric, world["label"])), []).append(lower(label))
    return {
        "command": f"python -m tonopah_dev.pages.cross results/{NAME} docs/generated --on {','.join(found['engines'])}",
        "engine": engine_version(), "first": found["first"], "others": others, "answer": found["answer"],
        "replicates": usual, "more": [[count, label] for label, count in counts.items() if count != usual],
        "versions": [version if " " in version else f"{name} {version}" for name, version in found["engines"].items() if version],
        "margins": ", ".join(f"{name} {value:g}{'' if name == 'jain' else ' %'}" for name, value in found["margins"].items()),
        "late": [f"{name} {count}" for name, count in found["late"].items()],
        "rows": [[world["label"], *(cell(world, engine) for engine in others)] for world in found["worlds"]],
        "reasons": [[", ".join([engine, *dict.fromkeys(labels)]), len(labels), said] for (engine, said), labels in why.items()],
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the folder lacks, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tonopah_dev.pages.cross", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("pages", type=Path)
    parser.add_argument("--on", default=ALL)
    parser.add_argument("--replicates", default=None)
    given = parser.parse_args(arguments)
    if not (given.folder / FACTS).exists():
        more = ["--replicates", given.replicates] if given.replicates else []
        late = ["--keep-late"] if "linux" in listed(given.on) else []
        options = ["--on", given.on, "--seed", str(SEED), "--out", str(given.folder), *late, *more]
        if code := command_line.main(["cross", str(WORLDS), *options]):
            raise SystemExit(code)
    found = json.loads((given.folder / FACTS).read_text(encoding="utf-8"))
    facts = facts_of(found, tomllib.loads(REASONS.read_text(encoding="utf-8")))
    print(write_results(given.pages / f"{NAME}.md", TEMPLATE, facts))


if __name__ == "__main__":
    main()
