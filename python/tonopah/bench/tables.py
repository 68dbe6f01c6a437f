"""The cells of the tables of `tonopah bench`, for the terminal and for the page."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tonopah.bench.measure import OURS

if TYPE_CHECKING:
    from rich.table import Table

NAMES = {OURS: "Tonopah", "ns2": "ns-2", "ns3": "ns-3"}
SIDE_COLUMNS = (
    "world", "simulator", "CPU s", "data\npackets", "packets\nper CPU s", "events\nper CPU s", "events\nper packet", "frames",
    "frames\nper CPU s", "peak\nMiB", "flows\nwithout data",
)  # fmt: skip
RATIO_COLUMNS = ("world", "peer", "packets\nours/peer", "same\nwork", "CPU s", "CPU s\nper packet", "CPU s\nper frame")


def side_rows(results: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a row for each simulator of each world."""
    rows = []
    for result in results:
        for index, side in enumerate(result["sides"]):
            head = [result["world"] if index == 0 else "", NAMES[side["side"]]]
            if side["stopped"]:
                rows.append([*head, f"> {side['cpu_s']:.0f}", "stopped", *[""] * (len(SIDE_COLUMNS) - 4)])
                continue
            rows.append(
                [
                    *head, f"{side['cpu_s']:.2f}", count(side["packets"]), count(side["packets_per_cpu_s"]),
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


def terminal_tables(results: Sequence[Mapping[str, Any]], runs: int) -> list["Table"]:
    """Return the tables for people: what each simulator did, and the peers' CPU seconds over ours."""
    from tonopah.render import plain_table

    said = "one run" if runs == 1 else f"median of {runs} runs"
    parts = [(f"CPU time, {said}", SIDE_COLUMNS, side_rows(results))]
    if ratios := ratio_rows(results):
        turns = "" if runs == 1 else ", least – median – greatest"
        parts.append((f"peer / Tonopah{turns}; above 1 Tonopah is faster", RATIO_COLUMNS, ratios))
    found = []
    for title, columns, rows in parts:
        table = plain_table(title)
        for index, name in enumerate(columns):
            table.add_column(name, justify="left" if index < 2 else "right", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        found.append(table)
    return found
