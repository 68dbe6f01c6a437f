"""How the recordings of Linux's queue disciplines were made compact: the package's data/linux-aqm.

`python -m tonopah_dev.converters.queues FOLDER` takes the folder as it was recorded: `index.json` and `runs.csv.gz`.
"""

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tonopah.validate.queues.recordings import FLOWS, INDEX, shipped
from tonopah_dev.converters.linux import refuse_unknown, write

SOURCES = ("index.json", "runs.csv.gz")
KEPT = ("name", "qdisc", "shaper", "mbps", "ecn", "secs", "warm_s", "cbr_mbps", "jitter_ms")
"""Kept of a case, where it has them; of its flows all but what is the same everywhere."""
LEFT_OUT = ("rtt_ms", "bottleneck", "flows", "runs")
"""Said again by the flows, by `qdisc` and `shaper`, and by the table of flows."""
KINDS = ("tcp", "cbr", "probe")
COLUMNS = {
    "case": "uint8", "rep": "uint8", "flow": "uint8", "start_us": "uint32", "goodput_bps": "uint32",
    "wait_packets": "uint32", "wait_mean_ns": "uint32", "drops": "uint32", "marks": "uint32",
}  # fmt: skip
"""Kept of every TCP flow of every run. All but the start are of the time from `warm_s` on."""


def convert(folder: Path, out: Path) -> int:
    """Convert a folder of recordings; return the number of cases."""
    import pandas as pd

    index = json.loads((folder / SOURCES[0]).read_text(encoding="utf-8"))
    runs = pd.read_csv(folder / SOURCES[1])
    entries = index["cases"]
    numbers = {entry["name"]: number for number, entry in enumerate(entries)}
    table = pd.DataFrame(
        {
            "case": runs["case"].map(numbers),
            "rep": runs["rep"],
            "flow": runs["flow"],
            "start_us": (runs["start_s"] * 1e6).round(),
            "goodput_bps": (runs["goodput_mbps"].fillna(0) * 1e6).round(),
            "wait_packets": runs["wait_n"].fillna(0),
            "wait_mean_ns": (runs["wait_mean_us"].fillna(0) * 1e3).round(),
            "drops": runs["drops_steady"].fillna(0),
            "marks": runs["marks_steady"].fillna(0),
        }
    )
    write(out / FLOWS, table[list(COLUMNS)].astype(COLUMNS))
    head = {
        "kernel": index["kernel"],
        "sources": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in SOURCES},
    }
    lines = ",\n  ".join(json.dumps(entry_of(entry)) for entry in entries)
    text = f'{{\n"recorded": {json.dumps(head)},\n"cases": [\n  {lines}\n]\n}}\n'
    (out / INDEX).write_text(text, encoding="utf-8")
    return len(entries)


def entry_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case for the package's index. Raises ValueError at what nobody translates."""
    refuse_unknown(entry, (*KEPT, *LEFT_OUT))
    if others := {flow["kind"] for flow in entry["flows"]} - set(KINDS):
        raise ValueError(f"{entry['name']}: flows of kind {', '.join(sorted(others))} are not translated")
    return {key: entry[key] for key in KEPT if key in entry} | {"flows": entry["flows"]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Convert the folder named on the command line."""
    parser = argparse.ArgumentParser(description="Convert recordings of Linux's queue disciplines into the package's files.")
    parser.add_argument("folder", type=Path, help="index.json and runs.csv.gz")
    parser.add_argument("--out", type=Path, default=shipped().folder, help="default: the package's data/linux-aqm")
    options = parser.parse_args(arguments)
    print(f"{convert(options.folder, options.out)} cases in {options.out}")


if __name__ == "__main__":
    main()
