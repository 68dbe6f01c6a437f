"""The page docs/generated/performance.md: results of the bench, with everything that is needed to judge them."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tonopah._core import __file__ as engine_file
from tonopah._core import build_profile, engine_version
from tonopah.template import render
from tonopah_dev.bench import growth, tables
from tonopah_dev.bench.measure import OURS, PEERS, SAME_WORK, Options
from tonopah_dev.bench.worlds import WORLDS
from tonopah_dev.peers import ns2, ns3

HERE = Path(__file__).parent


def facts(options: Options) -> dict[str, Any]:
    """Return what the results were measured with and on."""
    extension = Path(engine_file).read_bytes()
    compiler = re.search(rb"rustc version [\d.]+", extension)
    return {
        "runs": options.runs,
        "versions": {OURS: engine_version()} | {name: PEERS[name].version() for name in options.against},
        "compilers": {
            OURS: compiler[0].decode().replace(" version", "") if compiler else "rustc",
            **({"ns3": ns3.compiler()} if "ns3" in options.against else {}),
        },
        "profile": build_profile(),
        "start_cpu_s": {"ns2": ns2.start_cpu_s()} if "ns2" in options.against else {},
        "machine": machine(),
    }


def machine() -> dict[str, Any]:
    """Return the processor, its number of cores and the load, without the name of the machine."""
    model = "unknown"
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
        model = found[1].strip() if found else model
    except OSError:
        pass
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "system": f"{os.uname().sysname} {os.uname().machine}",
    }


def remarks(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what has to be noted beside the tables: unequal work, runs that were stopped, peers that lack a world."""
    found = []
    for result in results:
        for ratio in result["ratios"]:
            who = f"{result['world']}: {tables.NAMES[ratio['peer']]}"
            if ratio["stopped"]:
                found.append(f"{who} was stopped at its limit of CPU time; the ratio is a lower bound")
            elif ratio["same_work"] is False:
                found.append(
                    f"{who} delivered {1 / ratio['goodput']:.3f} of our packets, which is not the same work: go by the packet"
                )
            elif ratio["goodput"] is None:
                found.append(f"{who} delivered nothing")
    return found


def write(
    path: Path,
    known: Mapping[str, Any],
    results: Sequence[Mapping[str, Any]],
    options: Options,
    study: Mapping[str, Any] | None = None,
    threads: Mapping[str, Any] | None = None,
) -> None:
    """Write the page and, beside it, the picture of growth; the arguments are those of `text`."""
    picture = path.with_name(f"{path.stem}-growth.png")
    drawn = picture.name if growth.draw(results, picture) else None
    path.write_text(text(known, results, options, study, threads, drawn), encoding="utf-8")


def text(
    known: Mapping[str, Any],
    results: Sequence[Mapping[str, Any]],
    options: Options,
    study: Mapping[str, Any] | None = None,
    threads: Mapping[str, Any] | None = None,
    picture: str | None = None,
) -> str:
    """Return the page; `known` are the facts, `study` is what batch.py measured, `threads` what threads.py."""
    return render(
        HERE / "page.md.j2",
        bounds=(HERE / "bounds.md").read_text(encoding="utf-8").partition("-->")[2].strip(),
        facts=known,
        names=tables.NAMES,
        against=options.against,
        lacking=lacking(results, options),
        results=results,
        side_columns=[name.replace("\n", " ") for name in tables.SIDE_COLUMNS],
        side_rows=tables.side_rows(results),
        ratio_columns=[name.replace("\n", " ") for name in tables.RATIO_COLUMNS],
        ratio_rows=tables.ratio_rows(results),
        growth={series: growth.table(results, series) for series in growth.SERIES if growth.of_series(results, series)},
        picture=picture,
        threads=threads,
        thread_columns=[name.replace("\n", " ") for name in tables.thread_columns(threads)] if threads else [],
        thread_rows=tables.thread_rows(threads) if threads else [],
        study=study,
        study_rows=tables.study_rows(study) if study else [],
        remarks=remarks(results),
        same_work=f"{100 * SAME_WORK:g} %",
        limit=f"{options.limit_s:g}",
    )


def lacking(results: Sequence[Mapping[str, Any]], options: Options) -> list[str]:
    """Return which worlds a peer has no models for, of those that are compared at all."""
    shown = {result["world"] for result in results}
    compared = [w for w in WORLDS if w.name in shown and w.peers]
    # Lean ns-2 differs from ns-2 in wired worlds only.
    absent = {peer: [w.name for w in compared if peer not in w.peers] for peer in options.against if peer != "ns2-lean"}
    return [f"{tables.NAMES[peer]} has no model for {', '.join(names)}." for peer, names in absent.items() if names]
