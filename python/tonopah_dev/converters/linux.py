"""How the recordings were made compact: the package's Parquet files and their index from folders of compressed CSV.

`python -m tonopah_dev.converters.linux FOLDER …` takes folders as they were recorded. data/linux/README.md tells what is kept.
"""

import argparse
import fnmatch
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah.validate.linux.recordings import shipped
from tonopah_dev.converters import losses

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

REST = Path(__file__).parents[2] / "tests" / "data" / "linux"
SAMPLE_EVERY_US = 10_000
"""Samples closer than this are left out unless a compared variable changed."""

COMPARED = ("ca_state", "cwnd_pkts", "ssthresh_pkts", "total_retrans")

SAMPLE_COLUMNS = ("flow", "t_us", *COMPARED, "bytes_acked")
"""What comparisons read, and nothing else: every byte of it is in the wheel."""
UNREAD_COLUMNS = (
    "unacked", "sacked", "lost", "retrans", "srtt_us", "rttvar_us", "min_rtt_us", "rto_us", "reordering", "delivered",
)  # fmt: skip
"""What no comparison reads: kept for the tests, in python/tests/data/linux.

`losses.py` reads the first four of the recordings as they were made, once; a test does so again of what is kept.
"""
RATE_COLUMNS = ("pacing_Bps", "delivery_Bps")
"""The same of algorithms that are built on them; for all others they follow from window and RTT."""
BUILT_ON_RATES = {"bbr"}
BESIDE_COLUMNS = ("run", *SAMPLE_COLUMNS)
"""Kept of experiments recorded several times."""
DICTIONARY = "RLE_DICTIONARY"
ENCODINGS = ("PLAIN", DICTIONARY, "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")
"""Of Parquet, for whole numbers."""
PACKET_COLUMNS = ("t_us", "dir", "seq", "ack", "len", "dropped")
"""What comparisons read of a packet log."""
UNREAD_PACKET_COLUMNS = ("flags", "queue_pkts")


def write(path: Path, table: "pd.DataFrame") -> None:
    """Write whole numbers from 0 to 2^32 - 1 as Parquet: differences from row to row modulo 2^32, in the smallest encoding."""
    import pyarrow as pa

    values = table.to_numpy("int64")
    differences = np.diff(values, axis=0, prepend=np.zeros_like(values[:1])).astype("int32")
    columns = pa.table({name: differences[:, i] for i, name in enumerate(table.columns)})
    path.write_bytes(encoded(columns, {name: smallest(columns.select([name])) for name in columns.column_names}))


def smallest(column: "pa.Table") -> str:
    """Return the encoding in which a table of one column is smallest."""
    return min(ENCODINGS, key=lambda encoding: len(encoded(column, {column.column_names[0]: encoding})))


def encoded(columns: "pa.Table", encodings: Mapping[str, str]) -> bytes:
    """Return a table as a Parquet file, each column in its encoding and then compressed, without what nothing reads."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(
        columns, out, compression="brotli", compression_level=11, write_statistics=False, store_schema=False,
        use_dictionary=[name for name, encoding in encodings.items() if encoding == DICTIONARY],
        column_encoding={name: encoding for name, encoding in encodings.items() if encoding != DICTIONARY},
    )  # fmt: skip
    return out.getvalue().to_pybytes()


def convert(folders: Iterable[Path], out: Path, without: str = "", rest: Path | None = None) -> int:
    """Convert folders of recordings (index.json, CASE.flowI.csv.gz, CASE.packets.csv.gz); return the number of cases.

    Names that match the glob pattern `without` are left out. What no comparison reads goes to the folder `rest` (default: `out`).
    """
    rest = rest or out
    kernels: dict[str, dict[str, Any]] = {}
    cases, random = [], []
    for folder in folders:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        release = ".".join(index["kernel"].split(".")[:2])
        kernels[release] = {"kernel": release, "release": index["kernel"], "mss_bytes": index["mss_bytes"]}
        for kept in (out, rest):
            (kept / release).mkdir(parents=True, exist_ok=True)
        entries = [entry for entry in index["cases"] if not fnmatch.fnmatchcase(entry["name"], without)]
        for name, same in gathered(entries).items():
            several = name != same[0]["name"]
            if several:
                cases.append(convert_several(folder, name, same, release, out))
            else:
                cases.append(convert_case(folder, same[0], release, out, rest))
        random += [(folder, entry) for entry in entries if "loss" in entry]
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    drawn = json.dumps(find_random_losses(random))
    text = f'{{\n"kernels": {json.dumps(list(kernels.values()))},\n"drawn": {drawn},\n"cases": [\n  {lines}\n]\n}}\n'
    (out / "index.json").write_text(text, encoding="utf-8")
    return len(cases)


def gathered(entries: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the entries of an index by name, those whose names differ in the start of flow 1 only (NAME-100ms) as one."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        name = entry["name"].removesuffix(f"-{entry['stagger_ms']:g}ms") if "stagger_ms" in entry else entry["name"]
        found.setdefault(name, []).append(entry)
    return found


COPIED = ("mbps", "owd_ms", "queue", "secs", "loss", "bytes", "flows", "stagger_ms", "mark")
TRANSLATED = ("name", "cc", "drop", "nosack")
LEFT_OUT = ("seed",)
"""Of a case as it was recorded; the losses that a seed gave are read from the packets (losses.py)."""


def entry_of(kernel: str, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry in the new index, without what is at its default. Raises ValueError at a key that nobody translates."""
    refuse_unknown(entry, (*COPIED, *TRANSLATED, *LEFT_OUT))
    made: dict[str, Any] = {"kernel": kernel, "name": name, "cc": entry["cc"].split(",")}
    made |= {key: entry[key] for key in COPIED if key in entry}
    if "drop" in entry:
        made["drop"] = [int(number) for number in str(entry["drop"]).split(",")]
    if entry.get("nosack"):
        made["sack"] = False
    return made


def refuse_unknown(entry: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise ValueError if a recorded case says what is not known: without it the case would be another."""
    if unknown := [key for key in entry if key not in known]:
        raise ValueError(f"{entry['name']}: {', '.join(unknown)} is not translated (known: {', '.join(known)})")


def convert_several(folder: Path, name: str, same: Sequence[Mapping[str, Any]], kernel: str, out: Path) -> dict[str, Any]:
    """Convert recordings that differ in the start of flow 1 only, in order of it; return their entry in the new index."""
    import pandas as pd

    same = sorted(same, key=lambda entry: entry["stagger_ms"])
    made = entry_of(kernel, name, same[0])
    del made["stagger_ms"]
    if any(entry_of(kernel, name, entry) != made | {"stagger_ms": entry["stagger_ms"]} for entry in same):
        raise ValueError(f"recordings called {name} that differ in more than the start of flow 1 are not foreseen")
    samples = [
        thin(read_flow(folder, entry["name"], flow)).assign(flow=flow, run=run)
        for run, entry in enumerate(same)
        for flow in range(entry["flows"])
    ]
    write(out / kernel / f"{name}.samples.parquet", pd.concat(samples)[list(BESIDE_COLUMNS)])
    return made | {"starts_ms": [entry["stagger_ms"] for entry in same]}


def convert_case(folder: Path, entry: Mapping[str, Any], kernel: str, out: Path, rest: Path) -> dict[str, Any]:
    """Convert the files of one case; return its entry in the new index."""
    import pandas as pd

    name, flows = entry["name"], entry.get("flows", 1)
    log = folder / f"{name}.packets.csv.gz"
    made = entry_of(kernel, name, entry)
    if log.exists():
        made["packets"] = True
        packets = compact_packets(pd.read_csv(log, dtype={"flags": str}))
        write(out / kernel / f"{name}.packets.parquet", packets[list(PACKET_COLUMNS)])
        write(rest / kernel / f"{name}.packets.unread.parquet", packets[list(UNREAD_PACKET_COLUMNS)])
    unread = (*UNREAD_COLUMNS, *(RATE_COLUMNS if BUILT_ON_RATES & set(made["cc"]) else ()))
    samples = pd.concat([thin(read_flow(folder, name, i).assign(flow=i)) for i in range(flows)])
    write(out / kernel / f"{name}.samples.parquet", samples[list(SAMPLE_COLUMNS)])
    write(rest / kernel / f"{name}.unread.parquet", samples[list(unread)])
    return made


def find_random_losses(random: Sequence[tuple[Path, Mapping[str, Any]]]) -> list[int]:
    """Return the numbers of the packets that all cases with random losses have lost, if they were sent."""
    if len({(entry["loss"], entry.get("flows", 1)) for _, entry in random}) > 1:
        raise ValueError("cases with random losses that do not share them are not foreseen")
    return losses.common((read_flow(folder, entry["name"], 0), entry["queue"]) for folder, entry in random)


def read_flow(folder: Path, name: str, flow: int) -> "pd.DataFrame":
    """Return the samples of one flow as they were recorded."""
    import pandas as pd

    return pd.read_csv(folder / f"{name}.flow{flow}.csv.gz")


def thin(samples: "pd.DataFrame") -> "pd.DataFrame":
    """Return one flow's samples without those that repeat the compared variables within SAMPLE_EVERY_US."""
    samples = samples.assign(t_us=microseconds(samples["t_s"]))
    changed = (samples[list(COMPARED)].diff() != 0).any(axis=1).to_numpy()
    times, keep, last = samples["t_us"].to_numpy(), np.zeros(len(samples), bool), -SAMPLE_EVERY_US
    for i, (now, new) in enumerate(zip(times, changed, strict=True)):
        # A tenth less: sampling every 10 ms jitters.
        if new or now - last >= SAMPLE_EVERY_US * 0.9 or i == len(times) - 1:
            keep[i], last = True, now
    return samples[keep]


def compact_packets(log: "pd.DataFrame") -> "pd.DataFrame":
    """Return a packet log with numbers relative to each side's first one, data before ACKs: both differ little in turn."""
    if log["port"].nunique() != 1:
        raise ValueError("a packet log of several flows is not foreseen")
    first = log.groupby("dir")["seq"].first()
    log = log.assign(
        t_us=microseconds(log["t_s"]),
        flags=[int(flags, 16) for flags in log["flags"]],
        seq=(log["seq"] - log["dir"].map(first)) % 2**32,
        ack=((log["ack"] - (1 - log["dir"]).map(first)) % 2**32).where(log["ack"] > 0, 0),
    )
    return log.sort_values("dir", kind="stable")


def microseconds(seconds: "pd.Series") -> "pd.Series":
    """Return times in whole microseconds, as they were recorded."""
    return (seconds * 1e6).round().astype("int64")


def main(arguments: Sequence[str] | None = None) -> None:
    """Convert the folders named on the command line."""
    parser = argparse.ArgumentParser(description="Convert recordings of Linux into the package's Parquet files.")
    parser.add_argument("folder", type=Path, nargs="+", help="index.json and compressed CSV files of one kernel")
    parser.add_argument("--out", type=Path, default=shipped().folder, help="default: the package's data/linux")
    parser.add_argument("--without", metavar="GLOB", default="", help="leave out the recordings whose name matches")
    parser.add_argument(
        "--rest", type=Path, default=REST, help="folder of what no comparison reads; default: python/tests/data/linux"
    )
    options = parser.parse_args(arguments)
    print(f"{convert(options.folder, options.out, options.without, options.rest)} cases in {options.out}")


if __name__ == "__main__":
    main()
