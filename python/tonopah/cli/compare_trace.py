"""`tonopah compare-trace`: two recordings of a sender against each other. Exit code 1 if they differ."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tonopah.cli.arguments import add_common, instant, percent, require_place
from tonopah.names import listed
from tonopah.validate.trace import against

EXAMPLES = (
    "tonopah compare-trace quiche.sqlog ours.sqlog",
    "tonopah compare-trace server.pcapng ours.sqlog --metric in_flight,delivered --tolerance 10% --out both.html",
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_common(command, act, *EXAMPLES)
    for name in ("a", "b"):
        command.add_argument(name, metavar=name.upper(), help="a qlog, a capture, or a folder of tonopah run --series")
    command.add_argument("--metric", default="", metavar="NAME,…", help=f"{', '.join(against.METRICS)} (default: all)")
    command.add_argument("--tolerance", type=percent, default=5.0, metavar="X", help="what is no difference (default: 5%%)")
    command.add_argument("--from", dest="start", type=instant, default=0.0, metavar="T", help="from this time on, like 2s")
    command.add_argument("--to", dest="end", type=instant, default=1e7, metavar="T", help="up to this time")
    command.add_argument("--out", metavar="FILE", help="write FILE.html or FILE.svg")


def act(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah compare-trace`."""
    require_place("--out", arguments.out)
    one, other = (against.read_side(Path(path)) for path in (arguments.a, arguments.b))
    tolerance = arguments.tolerance / 100
    found = against.compare(one, other, listed(arguments.metric), tolerance, arguments.start, arguments.end)
    text = list(lines(found, arguments.tolerance))
    print(json.dumps(found) if arguments.json else "\n".join(text))
    if arguments.out:
        against.write(one, other, found, text, Path(arguments.out))
        print(f"page: {arguments.out}", file=sys.stderr)
    return int(any(metric["first_outside_s"] is not None for metric in found["metrics"].values()))


def lines(found: Mapping[str, Any], percents: float) -> Iterator[str]:
    """Yield what differs, in lines."""
    yield f"{found['common_s']:.6g} s in common"
    for name, metric in found["metrics"].items():
        ratio = "–" if metric["ratio_mean"] is None else f"{metric['ratio_mean']:.4f}"
        largest = f"at most {metric['largest']:.3%} apart, at {metric['largest_at_s']:.6f} s"
        yield f"{name:<10} ratio {ratio}, {largest}; within {percents:g} % for {metric['within']:.2%} of the time"
        if metric["first_outside_s"] is not None:
            yield f"{'':<10} outside for more than a round trip from {metric['first_outside_s']:.6f} s on"
            for side, events in metric["events"].items():
                yield f"{'':<10} {side}: {', '.join(events) or 'nothing is lost there'}"
    for side, names in found["lacking"].items():
        if names:
            yield f"{side} has no {', '.join(names)}"
