"""`tonopah validate trace`."""

import argparse
import json
import sys
from pathlib import Path

from tonopah.cli.arguments import add_command, add_set, changes, positive
from tonopah.terminal.grid import console
from tonopah.validate.trace import comparison as trace
from tonopah.validate.trace import page as trace_page

EXAMPLES = (
    "tonopah validate trace server.pcapng                           estimate the link, write server-trace.html",
    "tonopah validate trace server.pcapng --rate 20Mbps --delay 15ms --queue 60 --set tcp.cc=reno",
    "tonopah validate trace server.pcapng --connection 1 --json",
)


def add_trace(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command with its arguments."""
    command = add_command(commands, "trace", "draw a recorded TCP connection beside a simulation of its link", compare, *EXAMPLES)
    command.description = (
        "Estimate bytes in flight, RTT and retransmissions of a TCP connection from a capture (pcap, pcapng, compressed or\n"
        "not) or from a qlog of any stack, and draw them beside a simulation of the same link."
    )
    command.add_argument("file", metavar="FILE", help="a capture, best made at the sender of the data")
    command.add_argument("--rate", metavar="RATE", help="rate of the link, like 20Mbps (default: estimated)")
    command.add_argument("--delay", metavar="TIME", help="delay of the link one way, like 15ms (default: estimated)")
    command.add_argument("--queue", type=positive, metavar="N", help="packets that its queue holds (default: estimated)")
    command.add_argument("--connection", type=int, default=0, metavar="N", help="0 has the most data (default), 1 the next")
    command.add_argument(
        "--trace", type=int, default=0, metavar="N", help="the N-th trace of a qlog that has several (default: 0)"
    )
    command.add_argument("--out", metavar="FILE", help="write FILE.html or FILE.svg (default: NAME-trace.html; none with --json)")
    add_set(command)


def compare(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah validate trace`."""
    given = {"rate": arguments.rate, "delay": arguments.delay, "queue": arguments.queue}
    path = Path(arguments.file)
    compared = trace.compare(path, given, changes(arguments), arguments.connection, arguments.trace)
    if arguments.json:
        print(json.dumps({key: value for key, value in compared.items() if key != "curves"}))
    else:
        from rich.table import Table

        table = Table(title=f"{compared['file']}: {compared['connection']}", title_justify="left", box=None)
        for name in ("seen at the sender", "recorded", "simulated"):
            table.add_column(name, justify="left" if name.startswith("seen") else "right")
        for row in trace_page.rows(compared):
            table.add_row(*row)
        console().print(f"link: {trace_page.link_text(compared)}")
        console().print(table)
        for note in compared["notes"]:
            console().print(f"note: {note}")
    if arguments.out or not arguments.json:
        target = Path(arguments.out or f"{path.stem}-trace.html")
        trace_page.write(compared, target)
        print(f"page: {target}", file=sys.stderr)
    return 0
