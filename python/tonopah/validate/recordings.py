"""The recordings of Linux that the package carries, and how they were made compact.

`python -m tonopah.validate.recordings FOLDER …` converts folders of compressed CSV, one for each kernel, into the
package's Parquet files. data/linux/README.md tells where the recordings come from and what the columns mean.
"""

import argparse
import difflib
import fnmatch
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tonopah.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

SAMPLE_EVERY_US = 10_000
"""Samples closer than this are left out unless a compared variable changed."""

COMPARED = ("ca_state", "cwnd_pkts", "ssthresh_pkts", "total_retrans")
UNSET = 2**31 - 1
"""ssthresh while it is not set."""

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


@dataclass(frozen=True)
class Case:
    """One recorded experiment: two hosts and a link that alone decides rate, delay, queue and losses."""

    kernel: str
    """Version, as 6.1."""
    name: str
    cc: tuple[str, ...]
    """Algorithm of flow i: entry i modulo their number."""
    mbps: float
    """Rate of the link in 10^6 bits of IP packets per second."""
    owd_ms: float
    """Propagation delay one way; the other way has the same."""
    queue: int
    """Packets that may wait; the one in transmission is not counted."""
    secs: float
    """How long the flows sent, from the first flow's connect on."""
    drop: tuple[int, ...] = ()
    """0-based numbers of the data-bearing packets that the link drops as they enter; retransmissions count."""
    loss: float = 0.0
    """Probability that the link drops a data packet as it enters."""
    bytes: int | None = None
    """Size of the transfer; endless if None."""
    flows: int = 1
    stagger_ms: float = 0.0
    """Flow i starts at i times this."""
    sack: bool = True
    mark: int | None = None
    """Packets that find more than this many waiting are marked CE."""
    packets: bool = False
    """A packet log exists."""

    @property
    def id(self) -> str:
        """Kernel and name: unique among all recordings."""
        return f"{self.kernel}/{self.name}"

    @property
    def kind(self) -> str:
        """What decides how it is compared: scripted losses, random losses, shares of several flows, or a steady state."""
        if self.drop:
            return "scripted"
        if self.loss:
            return "random"
        return "shared" if self.flows > 1 else "steady"

    def algorithm(self, flow: int) -> str:
        """Congestion control of a flow."""
        return self.cc[flow % len(self.cc)]


@dataclass(frozen=True)
class Library:
    """A folder of recordings."""

    folder: Path

    @property
    def index(self) -> dict[str, Any]:
        """The index file: kernels and cases."""
        return json.loads((self.folder / "index.json").read_text(encoding="utf-8"))

    @property
    def cases(self) -> list[Case]:
        """All cases in the order of the index."""
        return [case_of(entry) for entry in self.index["cases"]]

    def select(self, pattern: str | None) -> list[Case]:
        """Return the cases whose name, or kernel/name, matches a glob pattern; all without one."""
        found = [case for case in self.cases if pattern is None or matches(case, pattern)]
        if not found:
            raise InputError("--case", f"{pattern!r} matches no recording", self.advice(str(pattern)))
        return found

    def advice(self, pattern: str) -> str:
        """Return the names that come close to a pattern that matches nothing, else some examples."""
        names = {name for case in self.cases for name in (case.name, case.id)}
        near = difflib.get_close_matches(pattern, sorted(names), n=3)
        return f"did you mean {', '.join(near)}?" if near else "like reno-drop-one, 'cubic-*' or '6.1/*'"

    def samples(self, case: Case) -> "pd.DataFrame":
        """Return what TCP_INFO said: one row a sample, columns as in SAMPLE_TYPES."""
        return read(self.folder / case.kernel / f"{case.name}.samples.parquet")

    def packets(self, case: Case) -> "pd.DataFrame":
        """Return the packets at the entrance of the link in order of time, columns as in PACKET_TYPES."""
        if not case.packets:
            raise InputError("--log", f"there is no packet log of {case.id}", "cases with scripted losses have one")
        return read(self.folder / case.kernel / f"{case.name}.packets.parquet").sort_values(
            "t_us", kind="stable", ignore_index=True
        )


@cache
def shipped() -> Library:
    """Return the recordings of the package."""
    return Library(Path(str(files("tonopah") / "data" / "linux")))


def matches(case: Case, pattern: str) -> bool:
    """Tell whether a glob pattern means this case."""
    return fnmatch.fnmatchcase(case.name, pattern) or fnmatch.fnmatchcase(case.id, pattern)


def case_of(entry: Mapping[str, Any]) -> Case:
    """Return an entry of the index as Case."""
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Case(**values)


def read(path: Path) -> "pd.DataFrame":
    """Return a Parquet file with signed numbers: differences of unsigned ones would wrap."""
    import pyarrow.parquet as pq

    return pq.read_table(path).to_pandas().astype("int64")


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
    kernels, cases = [], []
    for folder in folders:
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        release = ".".join(index["kernel"].split(".")[:2])
        kernels.append({"kernel": release, "release": index["kernel"], "mss_bytes": index["mss_bytes"]})
        (out / release).mkdir(parents=True, exist_ok=True)
        cases += [convert_case(folder, entry, release, out) for entry in index["cases"]]
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    text = f'{{\n"kernels": {json.dumps(kernels)},\n"cases": [\n  {lines}\n]\n}}\n'
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
    samples = [thin(pd.read_csv(folder / f"{name}.flow{i}.csv.gz").assign(flow=i)) for i in range(flows)]
    write(out / kernel / f"{name}.samples.parquet", pd.concat(samples)[list(types)].astype(types))
    return made


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
