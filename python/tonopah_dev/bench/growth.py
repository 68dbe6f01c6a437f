"""How cost grows with flows, hosts and satellites: the tables and the picture of `python -m tonopah_dev.bench --page`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tonopah.plot import style

Result = Mapping[str, Any]

SERIES = ("flows", "hosts", "satellites")
COLUMNS = ("data\npackets", "CPU ns\nper packet", "of the\nfirst", "peak\nMiB")


def of_series(results: Sequence[Result], series: str) -> list[Result]:
    """Return the results of the worlds of a series."""
    return [result for result in results if result["series"] == series]


def columns(series: str) -> tuple[str, ...]:
    """Return the names of the columns of a series."""
    return ("world", series, *COLUMNS, f"KiB per\nadded {series[:-1]}")


def rows(results: Sequence[Result], series: str) -> list[list[str]]:
    """Return a row for each world of a series; memory also as growth over the first of them."""
    found, first = [], None
    for result in of_series(results, series):
        mib, size = result["sides"][0]["memory_mib"], result["size"]
        each_ns = per_packet_ns(result)
        first = first or (each_ns, mib, size)
        added = f"{1024 * (mib - first[1]) / (size - first[2]):.1f}" if size > first[2] else ""
        packets = result["sides"][0]["packets"]
        found.append(
            [result["world"], f"{size:,}", f"{packets:,}", f"{each_ns:,.0f}", f"{each_ns / first[0]:.1f}", f"{mib:.0f}", added]
        )
    return found


def table(results: Sequence[Result], series: str) -> dict[str, Any]:
    """Return the table of a series for the page: `columns` and `rows`."""
    return {"columns": [name.replace("\n", " ") for name in columns(series)], "rows": rows(results, series)}


def per_packet_ns(result: Result) -> float:
    """Return the CPU time of a world by the data packet, with reading, set-up and summary."""
    side = result["sides"][0]
    return side["cpu_s"] / max(1, side["packets"]) * 1e9


def draw(results: Sequence[Result], path: Path) -> bool:
    """Write the picture as PNG: CPU time of a packet, and memory, over the size of each series; return whether there is one."""
    shown = [series for series in SERIES if len(of_series(results, series)) > 1]
    if not shown:
        return False
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    with style.settings() as plt:
        figure, panels = plt.subplots(2, len(shown), figsize=(2.9 * len(shown), 4.4), sharex="col", sharey="row", squeeze=False)
        try:
            for index, series in enumerate(shown):
                worlds, looks = of_series(results, series), style.line_style(index)
                sizes = [world["size"] for world in worlds]
                panels[0][index].plot(sizes, [per_packet_ns(world) / 1000 for world in worlds], **looks)
                panels[1][index].plot(sizes, [world["sides"][0]["memory_mib"] for world in worlds], **looks)
                panels[1][index].set_xlabel(series.capitalize())
                for panel in panels[:, index]:
                    panel.set_xscale("log")
                    panel.set_yscale("log")
                    for axis in (panel.xaxis, panel.yaxis):
                        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                        axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
                        axis.set_minor_formatter(NullFormatter())
                panels[1][index].set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
            panels[0][0].set_ylabel("CPU time of a packet (µs)")
            panels[1][0].set_ylabel("Peak memory (MiB)")
            style.write_png(figure, path)
        finally:
            plt.close(figure)
    return True
