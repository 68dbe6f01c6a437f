"""`tonopah emulate`."""

import argparse
import json
import sys
from pathlib import Path

from tonopah.cli.arguments import add_code, add_common, add_set, changes, name_of, require_folder, scenario_source, seed, warn
from tonopah.cli.real_time import add_kernel, check_real_time, require_linux, verdict
from tonopah.errors import InputError, warning_texts
from tonopah.export.tables import write_series
from tonopah.runs.simulation import SERIES
from tonopah.scenario.document import prepare
from tonopah.terminal.emulation_tables import emulation_grids
from tonopah.terminal.grid import console, print_grids
from tonopah.terminal.run_tables import run_tables


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `emulate`."""
    example = "tonopah emulate dumbbell.toml -- curl -s http://right0:8000/file"
    add_common(command, emulate_command, example, "tonopah emulate dumbbell.toml --on uml -- iperf3 -c right0")
    command.usage = "tonopah emulate [options] scenario [-- COMMAND ...]"
    command.description = f"{command.description} COMMAND runs on its host; a shell does if there is none."
    command.takes_program = True  # pyright: ignore[reportAttributeAccessIssue]
    command.set_defaults(program=[])
    command.add_argument("scenario", help="scenario (TOML); - is standard input")
    command.add_argument("--seed", type=seed, default=1, help="seed of what the network draws (default: 1)")
    add_set(command)
    add_code(command, "a scenario")
    add_kernel(command)
    command.add_argument("--series", metavar="DIR", help="write the recorded series to DIR, one CSV file each")
    command.add_argument("--pcap", metavar="DIR", help="write what each host sends and receives to DIR, a pcapng file each")


def emulate_command(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah emulate`."""
    require_linux()
    check_real_time(arguments)
    if arguments.on == "uml" and not arguments.program:
        raise InputError("COMMAND", "is missing: a shell waits for a person, whose time is not virtual", "-- COMMAND")
    # Takes what Linux alone has.
    from tonopah.kernel import emulate, uml
    from tonopah.kernel.running import Clock

    for option in ("series", "pcap"):
        require_folder(f"--{option}", getattr(arguments, option))
    if arguments.series:
        Path(arguments.series).mkdir(parents=True, exist_ok=True)
    made = changes(arguments)
    scenario, name = prepare(scenario_source(arguments.scenario), made)
    if arguments.series and not (scenario.get("record") or {}).get("series"):
        scenario["record"] = {**(scenario.get("record") or {}), "series": list(SERIES)}
    options = emulate.Options(Clock(arguments.spin), arguments.pcap, apart=arguments.json)
    kernel = uml if arguments.on == "uml" else emulate
    found = kernel.emulate(scenario, name, arguments.seed, arguments.program, options)
    if arguments.series:
        names = write_series(found, Path(arguments.series))
        print(f"series: {', '.join(names)} in {arguments.series}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(found.summary))
    else:
        warn(warning_texts(found.warnings, name_of(arguments.scenario)))
        out = console()
        for table in run_tables(found.summary, out.width, found.flow_count):
            out.print(table)
        print_grids(*emulation_grids(found.summary))
    return verdict(found.report, arguments.keep_late, found.code)
