"""How the recordings were made compact: the package's Parquet files and their index from folders of compressed CSV.

`python -m tonopah.validate.convert FOLDER …` takes a folder for each kernel. data/linux/README.md tells what is kept.
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah.validate import losses
from tonopah.validate.recordings import shipped

if TYPE_CHECKING:
    import pandas as pd

SAMPLE_EVERY_US = 10_000
"""Samples closer than this are left out unless a compared variable changed."""

COMPARED = ("ca_state", "cwnd_pkts", "ssthresh_pkts", "total_retrans")

SAMPLE_TYPES = {
    "flow": "uint8", "t_us": "uint32", "ca_state": "uint8", "cwnd_pkts": "uint16", "ssthresh_pkts": "uint32",
    "srtt_us": "uint32", "rttvar_us": "uint32", "min_rtt_us": "uint32", "rto_us": "uint32", "unacked": "uint16",
    "sacked": "uint16", "lost": "uint16", "retrans": "uint16", "total_retrans": "uint32", "reordering": "uint16",
    "delivered": "uint32", "bytes_acked": "uint32",
}  # fmt: skip
RATE_TYPES = {"pacing_Bps": "uint32", "delivery_Bps": "uint32"}
"""Kept for algorithms that are built on them; for all others they follow from window and RTT."""
BUILT_ON_RATES = {"bbr"}
PACKET_TYPES = {
    "t_us": "uint32", "dir": "uint8", "seq": "uint32", "ack": "uint32", "len": "uint16", "flags": "uint8",
    "queue_pkts": "uint16", "dropped": "uint8",
}  # fmt: skip


def write(path: Path, table: "pd.DataFrame") -> None:
    """Write whole numbers as Parquet: differences, packed, then zstd."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata()
    # Types of 8 and 16 bits are stored in 32.
    encoding = dict.fromkeys(columns.column_names, "DELTA_BINARY_PACKED")
    pq.write_table(
        columns, path, compression="zstd", compression_level=19, use_dictionary=False, column_encoding=encoding,
        write_statistics=False, store_schema=False,
    )  # fmt: skip


def convert(folders: Iterable[Path], out: Path) -> int:
    """Convert folders of recordings (index.json, CASE.flowI.csv.gz, CASE.packets.csv.gz); return the number of cases."""
    kernels, cases, random = [], [], []
    for folder in folders:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        release = ".".join(index["kernel"].split(".")[:2])
        kernels.append({"kernel": release, "release": index["kernel"], "mss_bytes": index["mss_bytes"]})
        (out / release).mkdir(parents=True, exist_ok=True)
        cases += [convert_case(folder, entry, release, out) for entry in index["cases"]]
        random += [(folder, entry) for entry in index["cases"] if "loss" in entry]
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    drawn = json.dumps(find_random_losses(random))
    text = f'{{\n"kernels": {json.dumps(kernels)},\n"drawn": {drawn},\n"cases": [\n  {lines}\n]\n}}\n'
    (out / "index.json").write_text(text, encoding="utf-8")
    return len(cases)


def convert_case(folder: Path, entry: Mapping[str, Any], kernel: str, out: Path) -> dict[str, Any]:
    """Convert the files of one case; return its entry in the new index, without what is at its default."""
    import pandas as pd

    name, flows = entry["name"], entry.get("flows", 1)
    log = folder / f"{name}.packets.csv.gz"
    made: dict[str, Any] = {"kernel": kernel, "name": name, "cc": entry["cc"].split(",")}
    made |= {
        key: entry[key]
        for key in ("mbps", "owd_ms", "queue", "secs", "loss", "bytes", "flows", "stagger_ms", "mark")
        if key in entry
    }
    if "drop" in entry:
        made["drop"] = [int(number) for number in str(entry["drop"]).split(",")]
    if entry.get("nosack"):
        made["sack"] = False
    if log.exists():
        made["packets"] = True
        write(out / kernel / f"{name}.packets.parquet", compact_packets(pd.read_csv(log, dtype={"flags": str})))
    types = SAMPLE_TYPES | (RATE_TYPES if BUILT_ON_RATES & set(made["cc"]) else {})
    samples = [thin(read_flow(folder, name, i).assign(flow=i)) for i in range(flows)]
    write(out / kernel / f"{name}.samples.parquet", pd.concat(samples)[list(types)].astype(types))
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
    return log.sort_values("dir", kind="stable")[list(PACKET_TYPES)].astype(PACKET_TYPES)


def microseconds(seconds: "pd.Series") -> "pd.Series":
    """Return times in whole microseconds, as they were recorded."""
    return (seconds * 1e6).round().astype("int64")


def main(arguments: Sequence[str] | None = None) -> None:
    """Convert the folders named on the command line."""
    parser = argparse.ArgumentParser(description="Convert recordings of Linux into the package's Parquet files.")
    parser.add_argument("folder", type=Path, nargs="+", help="index.json and compressed CSV files of one kernel")
    parser.add_argument("--out", type=Path, default=shipped().folder, help="default: the package's data/linux")
    options = parser.parse_args(arguments)
    print(f"{convert(options.folder, options.out)} cases in {options.out}")


if __name__ == "__main__":
    main()
