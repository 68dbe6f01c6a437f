"""The cells of the tables of `python -m tonopah_dev.bench`, for the terminal and for the page."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tonopah.terminal.grid import plain_table
from tonopah_dev.bench import growth
from tonopah_dev.bench.measure import OURS

if TYPE_CHECKING:
    from rich.table import Table

NAMES = {OURS: "Tonopah", "ns2": "ns-2", "ns2-lean": "ns-2 lean", "ns3": "ns-3"}
SIDE_COLUMNS = (
    "world", "simulator", "CPU s", "set-up\nCPU s", "data\npackets", "packets\nper CPU s", "events\nper CPU s",
    "events\nper packet", "frames", "frames\nper CPU s", "peak\nMiB", "flows\nwithout data",
)  # fmt: skip
RATIO_COLUMNS = ("world", "peer", "packets\nours/peer", "same\nwork", "CPU s", "CPU s\nper packet", "CPU s\nper frame")
THREAD_COLUMNS = ("world", "", "1 thread\ns", "{threads} threads\ns", "1 thread /\n{threads} threads")
STUDY_ROWS = (
    ("runs per second, 1 thread", "one_per_s", 1.0),
    ("runs per second, {threads} threads", "all_per_s", 1.0),
    ("{threads} threads / 1 thread", "ratio", 1.0),
    ("overhead of a run, ms", "overhead_s", 1e3),
    ("overhead of a run, CPU ms", "overhead_cpu_s", 1e3),
)
"""Of the measurement of a study: what a row says, the value, and the factor to its unit."""


def side_rows(results: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a row for each simulator of each world."""
    rows = []
    for result in results:
        for index, side in enumerate(result["sides"]):
            head = [result["world"] if index == 0 else "", NAMES[side["side"]]]
            if side["stopped"]:
                rows.append([*head, f"> {side['cpu_s']:.0f}", "", "stopped", *[""] * (len(SIDE_COLUMNS) - 5)])
                continue
            rows.append(
                [
                    *head, f"{side['cpu_s']:.2f}", f"{side['setup_cpu_s']:.3f}",
                    count(side["packets"]), count(side["packets_per_cpu_s"]),
                    count(side["events_per_cpu_s"]), decimal(side["events_per_packet"]), count(side["frames"]),
                    count(side["frames_per_cpu_s"]), f"{side['memory_mib']:.0f}", count(side["flows_without_delivery"]),
                ]
            )  # fmt: skip
    return rows


def ratio_rows(results: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a row for each peer of each world."""
    rows = []
    for result in results:
        for index, ratio in enumerate(result["ratios"]):
            same = {True: "yes", False: "NO", None: "–"}[ratio["same_work"]]
            head = [result["world"] if index == 0 else "", NAMES[ratio["peer"]]]
            if ratio["stopped"]:
                rows.append([*head, "", "", f"> {ratio['cpu']['median']:.3g}", "", ""])
                continue
            rows.append([*head, decimal(ratio["goodput"], 3), same, *(span(ratio[key]) for key in ("cpu", "packet", "frame"))])
    return rows


def thread_columns(measured: Mapping[str, Any]) -> list[str]:
    """Return the names of the columns of the runs on several threads."""
    return [name.format(threads=measured["threads"]) for name in THREAD_COLUMNS]


def thread_rows(measured: Mapping[str, Any]) -> list[list[str]]:
    """Return what threads make of one run, a row for each world."""
    return [
        [name, world["title"], *(span(world[key]) for key in ("one_s", "all_s", "ratio"))]
        for name, world in measured["worlds"].items()
    ]


def study_rows(study: Mapping[str, Any]) -> list[list[str]]:
    """Return what a study costs beside its runs, a row for each number."""
    return [
        [words.format(threads=study["threads"]), span({name: factor * value for name, value in study[key].items()})]
        for words, key, factor in STUDY_ROWS
    ]


def count(value: float | None) -> str:
    """Return a count, or nothing if there is none."""
    return "" if value is None else f"{value:,.0f}"


def decimal(value: float | None, digits: int = 1) -> str:
    """Return a number with some digits after the point, or nothing if there is none."""
    return "" if value is None else f"{value:.{digits}f}"


def span(values: Mapping[str, float] | None) -> str:
    """Return least – median – greatest, or the one value of a single run."""
    if values is None:
        return ""
    shown = [f"{values[key]:.3g}" for key in ("min", "median", "max")]
    return shown[0] if values["min"] == values["max"] else " – ".join(shown)


def terminal_tables(
    results: Sequence[Mapping[str, Any]],
    runs: int,
    study: Mapping[str, Any] | None = None,
    threads: Mapping[str, Any] | None = None,
) -> list["Table"]:
    """Return the tables, 80 columns wide: what each simulator did, the peers' CPU seconds over ours, and the rest."""
    radio = any(result["radio"] for result in results)
    said = "one run" if runs == 1 else f"median of {runs} runs"
    columns = ["world", "", "CPU s", "set-up\nCPU s", "data\npackets", "pkt\n/CPU s", "events\n/CPU s", "MiB"]
    rows = [row for result in results for row in short_side_rows(result)]
    found = [terminal_table(f"CPU time, {said}", columns, rows)] if rows else []
    rows = [row for result in results for row in short_ratio_rows(result, radio)]
    if rows:
        spread = "" if runs == 1 else ": median (least–greatest)"
        columns = ["world", "", "packets\nours/its", "CPU s", "CPU s\n/pkt", *(["CPU s\n/frame"] if radio else [])]
        found.append(terminal_table(f"Peer / Tonopah{spread}; above 1 Tonopah is faster", columns, rows))
    for series in growth.SERIES:
        if grown := growth.rows(results, series):
            found.append(terminal_table(f"Growth with the number of {series}", growth.columns(series), grown))
    if threads:
        columns = [name for name in thread_columns(threads) if name]
        rows = [[name, *values] for name, _, *values in thread_rows(threads)]
        found.append(terminal_table("One run on several threads, wall-clock time", columns, rows))
    if study:
        title = f"A study, {study['runs']} runs; overhead from {study['small_runs']} very short ones"
        found.append(terminal_table(title, ("", "", f"{runs} turns"), [[words, "", value] for words, value in study_rows(study)]))
    return found


def terminal_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> "Table":
    """Return a table whose first two columns are text."""
    table = plain_table(title)
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index < 2 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def short_side_rows(result: Mapping[str, Any]) -> list[list[str]]:
    """Return a row for each simulator of a world."""
    rows = []
    for index, side in enumerate(result["sides"]):
        head = [result["world"] if index == 0 else "", NAMES[side["side"]]]
        if side["stopped"]:
            rows.append([*head, f"> {side['cpu_s']:.0f}", "", "stopped", *[""] * 3])
            continue
        seconds = [decimal(side["cpu_s"], 2 if side["cpu_s"] < 100 else 0), decimal(side["setup_cpu_s"], 2)]
        counts = [compact(side[key]) for key in ("packets", "packets_per_cpu_s", "events_per_cpu_s")]
        rows.append([*head, *seconds, *counts, f"{side['memory_mib']:.0f}"])
    return rows


def short_ratio_rows(result: Mapping[str, Any], radio: bool) -> list[list[str]]:
    """Return a row for each peer of a world."""
    rows = []
    for (head, who, packets, _, bound, *_), ratio in zip(ratio_rows([result]), result["ratios"], strict=True):
        keys = ("cpu", "packet", "frame") if radio else ("cpu", "packet")
        cells = [bound, *[""] * (len(keys) - 1)] if ratio["stopped"] else [middle(ratio[key]) for key in keys]
        rows.append([head, who, packets, *cells])
    return rows


def middle(values: Mapping[str, float] | None) -> str:
    """Return the median with least and greatest, or the one value of a single run."""
    if values is None or values["min"] == values["max"]:
        return span(values)
    return f"{values['median']:.3g} ({values['min']:.2g}–{values['max']:.2g})"


def compact(value: float | None) -> str:
    """Return a count with three digits: 950, 18.2k, 4.23M."""
    if value is None:
        return ""
    for factor, letter in ((1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * factor:
            scaled = value / factor
            return f"{scaled:.{0 if scaled >= 99.95 else 1 if scaled >= 9.995 else 2}f}{letter}"
    return f"{value:.0f}"
