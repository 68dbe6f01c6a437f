# ruff: noqa: N999
"""`tonopah import`: files that others wrote, as scenarios."""

import argparse
import json
from pathlib import Path

from tonopah.cli.arguments import add_common, positive, require_place
from tonopah.errors import InputError
from tonopah.importing.link import Imported, import_link
from tonopah.importing.samples import KINDS
from tonopah.writing import replace_file

EXAMPLES = (
    "tonopah import hsdpa report.2010-09-13_1003CEST.log --out metro.toml",
    "tonopah import leocc bw_3.txt delay_3.txt",
    "tonopah import lens ping-5m.txt --rate 200Mbps",
    "tonopah import graphml Abilene.graphml",
    "tonopah import tle tles.txt --from Manila=14.6,121 --to Dalian=38.9,121.6 --rate 10Mbps",
)
LINKS = ("mahimahi", "leocc", *KINDS)
TOPOLOGIES = ("graphml", "gml", "sndlib", "edges")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `import`."""
    command.description = (
        "Write the scenario of a measured link or of a topology, and say what was taken for what.\n"
        f"Links: {', '.join(LINKS)}.\nTopologies: {', '.join(TOPOLOGIES)}.\n"
        "Satellites: tle, the path of least delay between two places. docs/links.md and docs/topologies.md tell of them."
    )
    add_common(command, import_files, *EXAMPLES)
    command.add_argument("kind", choices=[*LINKS, *TOPOLOGIES, "tle"], metavar="KIND", help="what the file is")
    command.add_argument("files", nargs="+", metavar="FILE", help="the file; of leocc bw_N.txt and delay_N.txt")
    command.add_argument("--out", metavar="NAME.toml", help="the scenario (default: the file's name, here)")
    command.add_argument("--rate", metavar="RATE", help="rate of a link whose file has delays only, such as 200Mbps")
    command.add_argument("--from", dest="start", metavar="PLACE", help="of tle: NAME=LATITUDE,LONGITUDE of one end, in degrees")
    command.add_argument("--to", dest="end", metavar="PLACE", help="of tle: the other end")
    command.add_argument("--seconds", type=positive, metavar="N", help="of tle: seconds from the epoch on (default: 200)")
    command.add_argument(
        "--elevation", type=float, metavar="DEGREES", help="of tle: satellites in view are above it (default: 25)"
    )


def import_files(arguments: argparse.Namespace) -> int:
    """Carry out `tonopah import`."""
    require_place("--out", arguments.out)
    out = Path(arguments.out or Path(arguments.files[0]).name.split(".")[0] + ".toml")
    if out.suffix != ".toml":
        raise InputError("--out", f"{str(out)!r} is no scenario", "a name that ends in .toml")
    imported = imported_of(arguments, out)
    for name, content in imported.files.items():
        replace_file(out.parent / name, content)
    if arguments.json:
        print(json.dumps({"files": [str(out.parent / name) for name in imported.files], "taken": imported.told}))
    else:
        print("\n".join([*imported.told, f"written: {', '.join(str(out.parent / name) for name in imported.files)}"]))
    return 0


def imported_of(arguments: argparse.Namespace, out: Path) -> Imported:
    """Return what the files become."""
    given = [key for key in ("start", "end", "seconds", "elevation") if getattr(arguments, key) is not None]
    if arguments.kind == "tle":
        from tonopah.importing.orbits import import_orbits

        options = {key: getattr(arguments, key) for key in ("start", "end", "rate")}
        return import_orbits(
            arguments.files, out, options | {"seconds": arguments.seconds or 200, "elevation": elevation(arguments.elevation)}
        )
    if given:
        flag = {"start": "from", "end": "to"}.get(given[0], given[0])
        raise InputError(f"--{flag}", f"has no effect on {arguments.kind}", "it is for tle")
    if arguments.kind in LINKS:
        return import_link(arguments.kind, arguments.files, out, arguments.rate)
    from tonopah.importing.topology import import_topology

    if arguments.rate is not None:
        raise InputError("--rate", "is for links whose file has no rates", "edit the scenario")
    return import_topology(arguments.kind, arguments.files, out)


def elevation(given: float | None) -> float:
    """Return the least elevation in degrees."""
    if given is not None and not 0 <= given < 90:
        raise InputError("--elevation", f"{given:g} is no elevation", "from 0 to 90 degrees")
    return 25.0 if given is None else given
