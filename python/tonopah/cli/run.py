"""`tonopah run`."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tonopah._core import trace
from tonopah.cli.arguments import (
    add_code,
    add_common,
    add_set,
    changes,
    from_source,
    name_of,
    require_folder,
    require_place,
    scenario_source,
    seed,
    warn,
)
from tonopah.cli.real_time import add_engine, check_engine, verdict
from tonopah.errors import InputError, ScenarioError, relay, warning_texts
from tonopah.export import pcapng, qlog, transport_logs
from tonopah.export.tables import write_series, write_tables
from tonopah.kernel.engines import SIMULATED
from tonopah.metrics import show
from tonopah.runs.simulation import SERIES, RunResult, check, checked_threads, engine_form, run_prepared
from tonopah.runs.twice import run_twice
from tonopah.scenario import links
from tonopah.scenario.document import prepare
from tonopah.terminal.emulation_tables import lateness_grid
from tonopah.terminal.grid import Grid, console, print_grids
from tonopah.terminal.run_tables import MAX_READ, run_tables

if TYPE_CHECKING:
    from tonopah.spec.source import Sourced

EXAMPLES = (
    "tonopah run dumbbell.toml --seed 2 --set tcp.cc=cubic",
    "tonopah run dumbbell.toml --plot windows.svg",
    "tonopah run reports:tcp-fr-hosts --set script.algorithm=mine.py:Mine --pcap packets",
)
PICTURES = (".svg", ".pdf", ".png")
DRAWN = ("cwnd", "rtt", "throughput", "queue")
"""Series that are drawn of a run that records none; a kernel's lacks the RTT of each ACK."""
OBSERVED = "observed"
"""Key of a summary under which stands what the source of its scenario counts."""
WATCHED = "its packets are watched in their order"
"""Why a run has one thread that is carried out for its packets."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    add_common(command, run_scenario, *EXAMPLES)
    command.add_argument(
        "scenario",
        help="scenario (TOML), a link of `tonopah share` or the lab, or a source such as reports:tcp-fr-hosts (docs/reports.md); "
        "- is standard input",
    )
    command.add_argument("--seed", type=seed, help="random seed, a number for each replicate (default: 1, or that of the link)")
    add_set(command)
    add_code(command, "a scenario")
    command.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="let at most N threads share the run (default: 1): the same results, sooner on a large wired network; where that "
        "cannot be divided the run has one thread, and a warning says why",
    )
    add_outputs(command)
    add_engine(command)


def add_outputs(command: argparse.ArgumentParser) -> None:
    """Add the options of what a run writes."""
    command.add_argument(
        "--series",
        metavar="DIR",
        help="write the recorded series to DIR, one CSV file each (all of them if the scenario records none)",
    )
    command.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the recorded series over time, in the format of FILE: .svg, .pdf or .png (windows, round-trip times, rates "
        "and queues if the scenario records none)",
    )
    command.add_argument(
        "--parquet",
        metavar="DIR",
        help="write tables of flows, links, nodes and workloads and the recorded series to DIR as Parquet",
    )
    command.add_argument("--pcap", metavar="DIR", help="write what each host sends and receives to DIR, a pcapng file each")
    command.add_argument(
        "--pcap-at",
        choices=pcapng.POINTS,
        default="hosts",
        help="capture on hosts (default), on links as they transmit, or every frame of radio channels",
    )
    command.add_argument(
        "--qlog", metavar="FILE", help="write a qlog trace of the source of each TCP flow (FILE-0, FILE-1, … of several)"
    )
    command.add_argument(
        "--qlog-names",
        choices=("0.3", "quic"),
        default="0.3",
        help="names of its events: of qlog 0.3 (default), or of the draft for QUIC",
    )
    command.add_argument(
        "--qlog-internals", action="store_true", help="log what the algorithm shows of itself too (record.internals)"
    )
    command.add_argument(
        "--transport-logs", metavar="DIR", help="write what transports in libraries log (keys, qlog, text of each end) to DIR"
    )
    command.add_argument(
        "--twice", action="store_true", help="run twice, a library in two processes, and fail if any packet or metric differs"
    )
    command.add_argument("--netanim", metavar="FILE", help="write an animation for NetAnim (XML; a sample of the packets)")
    command.add_argument(
        "--events",
        action="store_true",
        help="print every packet event instead of a summary; with --json each as a JSON object on a line",
    )


def run_scenario(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah run`."""
    made = changes(arguments)
    linked = links.is_link(arguments.scenario)
    document, own = links.read(arguments.scenario) if linked else (scenario_source(arguments.scenario), 1)
    arguments.scenario, arguments.seed = document, own if arguments.seed is None else arguments.seed
    if found := from_source(arguments.scenario, made):
        arguments.scenario, made = found.run_of(), {}
    checked_threads(arguments.threads)
    check_outputs(arguments)
    if arguments.events:
        return print_events(arguments, made)
    record_what_is_shown(arguments, made)
    if arguments.on != SIMULATED:
        return run_on_kernel(arguments, made)
    result = run_and_export(arguments, made)
    counted = count(arguments, found) if found and found.observer else {}
    write_results(arguments, result)
    if result.undivided:
        warn([f"--threads: one thread: {result.undivided}"])
    show_result(arguments, result, found, counted)
    return 0


def run_on_kernel(arguments: argparse.Namespace, made: dict[str, object]) -> int:
    """Let a kernel carry the flows."""
    # Takes what Linux alone has.
    from tonopah.kernel import linux, uml

    world, seed, pcap = prepare(arguments.scenario, made), arguments.seed, arguments.pcap
    on_uml = arguments.on == "uml"
    result = uml.run(*world, seed, pcap) if on_uml else linux.run(*world, seed, arguments.spin, pcap)
    write_results(arguments, result)
    show_result(arguments, result, None, {})
    if not arguments.json:
        print_grids(lateness_grid(result.report))
    return verdict(result.report, arguments.keep_late)


def write_results(arguments: argparse.Namespace, result: RunResult) -> None:
    """Write what a run gave into the files that are asked for; which series these are is said of a simulated run."""
    if arguments.plot:
        # Drawing takes longer to load than most runs take.
        from tonopah.study import pictures

        pictures.plot_result(result, ()).save(arguments.plot)
    if arguments.series:
        names = write_series(result, Path(arguments.series))
        if arguments.on != "linux":
            print(f"series: {', '.join(names)} in {arguments.series}", file=sys.stderr)
    if arguments.parquet:
        write_tables(result, Path(arguments.parquet))


def count(arguments: argparse.Namespace, found: "Sourced") -> dict[str, float | None]:
    """Return what the source of a scenario counts in its run."""
    from tonopah.execution.observed import observed

    return observed(engine_form(arguments.scenario), arguments.seed, found.observer)


def show_result(
    arguments: argparse.Namespace, result: RunResult, found: "Sourced | None", counted: Mapping[str, float | None]
) -> None:
    """Print what a run gave, and what the source of its scenario counts, if it has one."""
    if arguments.json:
        print(json.dumps(result.summary | ({OBSERVED: counted} if found else {})))
    else:
        warn(warning_texts(result.warnings, name_of(arguments.scenario)))
        out, shown = console(), result.summary_of_first(MAX_READ, MAX_READ)
        for table in run_tables(shown, out.width, result.flow_count):
            out.print(table)
        if found and counted:
            print_grids(counted_table(found, counted))


def counted_table(found: "Sourced", counted: Mapping[str, float | None]) -> Grid:
    """Return what the observer of a source counted in a run, beside what the engine measures."""
    shown = [(found.columns[name], name, value) for name, value in counted.items()]
    rows = [[name, one.label, show(None if value is None else one.factor * value), one.unit] for one, name, value in shown]
    return Grid(f"{found.title}: as it is counted there", ("column", "what", "value", "unit"), rows, keys=2)


def record_what_is_shown(arguments: argparse.Namespace, made: dict[str, object]) -> None:
    """Let the run record what is to be written or drawn, if the scenario records no series."""
    if arguments.qlog_internals:
        made["record.internals"] = "all"
    if arguments.series:
        Path(arguments.series).mkdir(parents=True, exist_ok=True)
    if not (arguments.series or arguments.plot) or (prepare(arguments.scenario, made)[0].get("record") or {}).get("series"):
        return
    wanted = SERIES if arguments.series else DRAWN
    if arguments.on != SIMULATED:
        # Takes what Linux alone has.
        from tonopah.kernel.plan import known_series

        wanted = [name for name in wanted if name in known_series()] or wanted
    made["record.series"] = list(wanted)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse before the run what could not be written after it. Raises InputError."""
    check_engine(arguments)
    for option in ("series", "parquet", "pcap", "transport_logs"):
        require_folder(f"--{option.replace('_', '-')}", getattr(arguments, option))
    if arguments.plot and Path(arguments.plot).suffix.lower() not in PICTURES:
        raise InputError("--plot", f"{arguments.plot} is no name of a picture", f"a file that ends in {', '.join(PICTURES)}")
    if arguments.series and Path(arguments.series).suffix.lower() == ".csv":
        raise InputError(
            "--series", f"{arguments.series} is no name of a folder", "a folder, into which each series gets a CSV file"
        )
    for option, given, file in (
        ("--qlog-names", arguments.qlog_names != "0.3", "qlog"),
        ("--qlog-internals", arguments.qlog_internals, "qlog"),
        ("--pcap-at", arguments.pcap_at != "hosts", "pcap"),
    ):
        if given and not getattr(arguments, file):
            raise InputError(option, f"has no effect without --{file}", f"--{file} {'DIR' if file == 'pcap' else 'FILE'}")
    for option, given in (("--twice", arguments.twice), ("--transport-logs", arguments.transport_logs)):
        if given and arguments.events:
            raise InputError(option, "has no effect with --events", "leave out one of them")
    for option in ("qlog", "netanim", "plot"):
        require_place(f"--{option}", getattr(arguments, option))


def run_and_export(arguments: argparse.Namespace, made: dict[str, object]) -> RunResult:
    """Run the scenario once for each file that needs a run of its own; every time it is the same run."""
    found: RunResult | None = None
    if arguments.netanim:
        # The escapes of XML load clients of HTTP, which take longer than a short run.
        from tonopah.export import netanim

        found = netanim.run(*prepare(arguments.scenario, made), arguments.seed, Path(arguments.netanim))
    if arguments.qlog:
        found = qlog.run(*prepare(arguments.scenario, made), arguments.seed, Path(arguments.qlog), arguments.qlog_names)
    if arguments.pcap:
        point = arguments.pcap_at
        found = pcapng.run(*prepare(arguments.scenario, made), arguments.seed, Path(arguments.pcap), point)
    if arguments.transport_logs:
        found = transport_logs.run(*prepare(arguments.scenario, made), arguments.seed, Path(arguments.transport_logs))
    if arguments.twice:
        found = run_twice(*prepare(arguments.scenario, made), arguments.seed)
    if found and arguments.threads > 1:
        found.undivided = WATCHED
    return found or run_prepared(*prepare(arguments.scenario, made), arguments.seed, arguments.threads)


def print_events(arguments: argparse.Namespace, made: dict[str, object]) -> int:
    """Print every packet event of a run."""
    warn(warning_texts(check(arguments.scenario, arguments.seed, made)["warnings"], name_of(arguments.scenario)))
    scenario, name = prepare(arguments.scenario, made)
    if arguments.threads > 1:
        warn([f"--threads: one thread: {WATCHED}"])
    try:
        print(engine_form(scenario, name).call(trace, arguments.seed, json=arguments.json), end="")
    except ScenarioError as error:
        raise relay(error, name) from None
    return 0
