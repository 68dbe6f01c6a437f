"""The kinds of files that Tonopah reads: contents to begin with, how one is read, what stands beside it, how it is changed.

Not here: scenarios and studies (mutation.py), and algorithms, which are code.
"""

import gzip
import json
import random
import shutil
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import page_links
import test_ascii_traces
import test_break
import test_captures
import test_import
import test_link_files
import test_links
import test_movement
import test_packetdrill_scripts
import test_qlog
import test_workloads
from byte_changes import LONGEST, TEXTS, WORDS, Tokens, change_link, change_pack, change_store, changed, letters
from conftest import STUDY, toml

import tonopah as tp
from tonopah.breaking import folder as breaking
from tonopah.breaking.space import read_space
from tonopah.compat.traces import read_trace_flows
from tonopah.errors import InputError, RunFailedError, ScenarioError, reading
from tonopah.importing.link import import_link
from tonopah.importing.orbits import import_orbits
from tonopah.importing.topology import import_topology
from tonopah.judge.statement import read_statement
from tonopah.lab import lessons
from tonopah.packetdrill import interpreter
from tonopah.report import index
from tonopah.spec.manifest import Manifest
from tonopah.store import pack
from tonopah.store.store import Store
from tonopah.study import packing
from tonopah.validate.trace import comparison

Changer = Callable[[bytes, bytes, Tokens, random.Random], bytes]
OUT = Path("out.toml")
LONGEST_MESSAGE = 6000
SPACE = """drop = ["ecn"]
[base]
rate = "20Mbps"
[axis.mine]
weight = 2
sets = "network.bottleneck.delay"
source = "ours"
choice = [{ weight = 1, value = "18ms..150ms" }, { value = "5ms|9ms" }]
"""


class Kind(NamedTuple):
    """Files of one kind; `read` returns False for what it refused in another way than by an error."""

    name: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    tokens: Tokens = TEXTS
    change: Changer = changed
    beside: Callable[[], Mapping[str, bytes]] = dict


def texts(*given: str) -> Callable[[], list[bytes]]:
    return lambda: [one.encode() for one in given]


@cache
def finished() -> dict[str, bytes]:
    """Return the files of a small study with its report by their names, and the study packed (`packed`)."""
    document = {key: STUDY[key] for key in ("question", "compare")} | {"replicates": 2, "claim": STUDY["claim"][1:]}
    document |= {"scenario": STUDY["scenario"] | {"duration": "1s"}, "figure": [STUDY["figure"][3], STUDY["figure"][-1]]}
    with tempfile.TemporaryDirectory() as home:
        Path(home, "small.toml").write_text(toml(document))
        study = tp.Study.load(Path(home, "small.toml"))
        study.run(quiet=True, out=Path(home, "out"), jobs=1)
        study.report(quiet=True)
        packing.pack_results(study.folder, Path(home, "packed"))
        series = [f"series/{one.name}" for one in sorted((study.folder / "series").iterdir())]
        found = {name: (study.folder / name).read_bytes() for name in ("runs.sqlite", "verdicts.json", *series)}
        return found | {"packed": Path(home, "packed").read_bytes()}


@cache
def searched() -> dict[str, bytes]:
    """Return the files of a search for counterexamples that found something."""
    with tempfile.TemporaryDirectory() as home:
        space, out = Path(home, "space.toml"), Path(home, "out")
        space.write_text(test_break.ACKS)
        tp.counterexamples(test_break.FEW_ACKS, worlds=2, jobs=1, out=out, space=space, only=["underuse"])
        return {name: (out / name).read_bytes() for name in (breaking.STATE, breaking.FINDINGS)}


def two_lines() -> list[bytes]:
    import test_orbits

    return [test_orbits.elements(6, 8).encode()]


def linked() -> list[bytes]:
    worlds = [test_links.WORLD, *(path.read_text() for path in sorted((lessons.FOLDER.parent / "presets").glob("*.toml")))]
    return [letters(json.dumps({"document": tomllib.loads(one), "seed": 7, "view": None}).encode()) for one in worlds]


def read_capture(file: Path) -> None:
    comparison.estimate(comparison.read_trace(file), {"rate": "1Mbps", "delay": "1ms"}, "a file")


def read_script(file: Path) -> bool:
    return interpreter.run_file(file).verdict != "unreadable"


def read_link(file: Path) -> None:
    """What the page does with a link, and `tonopah run LINK` before it runs."""
    tp.check(page_links.read(file.read_bytes().decode("latin-1")))


def read_pack(file: Path) -> None:
    """What `study report`, `study index` and `reproduce` do with a pack before anything runs."""
    index.write_index(file.parent)
    pack.read_sources(file)
    with pack.unpacked(file) as folder:
        read_results(folder)
    with reading(str(file)):
        facts = json.loads(pack.read_member(file, pack.FACTS))
    Manifest.from_json(facts, pack.FACTS)


def read_results(folder: Path) -> None:
    """What `study report`, `study table` and `study figure` do with a folder of results."""
    study = tp.Study.open(folder)
    study.missing()
    study.table("flow")
    with Store(folder, create=False) as store:
        for series in sorted((folder / "series").glob("*.parquet")):
            store.series(series.stem, "cwnd")


def read_store(file: Path) -> None:
    """In a folder of its own, since readers leave files beside a database."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        (folder / "series").mkdir()
        for name, data in finished().items():
            if name.startswith("series/"):
                (folder / name).write_bytes(data)
        shutil.copy(file, folder)
        read_results(folder)


def read_search(file: Path) -> None:
    """What `break --resume` does before it searches."""
    question = json.loads(searched()[breaking.STATE])["question"]
    folder = breaking.Folder(file.parent)
    folder.asked()
    folder.stored(breaking.Question(**{**question, "against": tuple(question["against"]), "only": tuple(question["only"])}))


def read_lesson(file: Path) -> None:
    if lessons.is_lesson(file):
        lessons.read(file)


def read_orbits(file: Path) -> None:
    places = {"start": "A=10,20", "end": "B=12,22", "rate": "10Mbps"}
    import_orbits([str(file)], OUT, {**places, "seconds": 2, "elevation": 0.0})


def checked(document: Mapping[str, Any], *path: str | int) -> Callable[[Path], None]:
    """Return a reader that checks a scenario whose value at `path` is the name of the file."""

    def read(file: Path) -> None:
        scenario = json.loads(json.dumps(document))
        part = scenario
        for step in path:
            part = part[step]
        part["file"] = str(file)
        tp.check(scenario)

    return read


def imported(kind: str, name: str, rate: str | None = None) -> Kind:
    return Kind(name, texts(test_import.FILES[name]), lambda file: import_link(kind, [str(file)], OUT, rate) and None)


def topology(kind: str, *given: str) -> Kind:
    return Kind("topology", texts(*given), lambda file: import_topology(kind, [str(file)], OUT) and None)


def bottleneck(**keys: Any) -> dict[str, Any]:
    network = {"kind": "dumbbell", "pairs": 1, "bottleneck": keys}
    return {"duration": "1s", "network": network, "flow": [{"from": "left0", "to": "right0"}]}


def service(text: bytes, name: str = "served", **keys: Any) -> Kind:
    return Kind(name, lambda: [text], checked(bottleneck(service=keys), "network", "bottleneck", "service"))


WORKLOAD = test_workloads.WORLD["workload"][0]
ARRIVING = {**test_workloads.WORLD, "workload": [{**WORKLOAD, "arrivals": {"kind": "list"}}]}
SIZED = {**test_workloads.WORLD, "workload": [{**WORKLOAD, "size": {"kind": "cdf"}}]}
MOVING = {**tomllib.loads(test_movement.SCENARIO), "duration": "20s"}
FLOWING = {"duration": "1s", "network": {"kind": "adhoc", "nodes": 3, "flows": 0, "area": {"x": "9m", "y": "9m"}}, "flow": {}}
CELL = b"1\n1\n4\n9\n"
LINKS = {
    "hsdpa": imported("hsdpa", "hsdpa.log"),
    "sabre": imported("hsdpa", "sabre.json"),
    "lumos5g": imported("lumos5g", "lumos.csv"),
    "irish5g": imported("irish5g", "irish.csv"),
    "fcc": imported("fcc", "fcc.csv"),
    "pensieve": imported("pensieve", "pensieve.txt"),
    "ping": imported("lens", "ping.txt", "9Mbps"),
    "lens": imported("lens", "lens.csv", "9Mbps"),
    "irtt": imported("lens", "irtt.json", "9Mbps"),
    "mahimahi": imported("mahimahi", "bw_1.txt"),
    "leocc": Kind(
        "delay_1.txt", texts(test_import.FILES["delay_1.txt"]),
        lambda file: import_link("leocc", [str(file.with_name("bw_1.txt")), str(file)], OUT, None) and None,
        beside=lambda: {"bw_1.txt": CELL},
    ),
}  # fmt: skip
TOPOLOGIES = {
    "graphml": topology("graphml", test_import.GRAPHML),
    "gml": topology("gml", test_import.GML),
    "sndlib": topology("sndlib", test_import.SNDLIB),
    "edges": topology("edges", "# CAIDA\n1|2|-1\n2|3|0|bgp\n", "from,to,rate,delay,length\na,b,5,3,\nb,c,2Gbps,,100\n"),
    "two-line elements": Kind("tles.txt", two_lines, read_orbits),
}
OF_SCENARIOS = {
    "opportunities": service(CELL, kind="trace"),
    "compressed": service(gzip.compress(CELL), "cell.gz", kind="trace"),
    "rates": service(b"t_s,rate_bps\n0,1000000\n0.5,2000000\n2,0\n3.25,1e6\n", kind="rate_trace"),
    "columns": service(test_link_files.TABLE.encode(), kind="rate_trace", columns=test_link_files.COLUMNS),
    "delays": Kind(
        "q.csv", texts("q,delay_s\n0,0\n0.5,0.001\n1,0.02\n"),
        checked(bottleneck(jitter={"kind": "file"}), "network", "bottleneck", "jitter"),
    ),
    "sizes": Kind("cdf.txt", texts("# web\n100 0\n1000 1 0.5\n9000,1\n", "1 0\n5 100\n"), checked(SIZED, "workload", 0, "size")),
    "arrivals": Kind(
        "a.csv", texts("t_s,from,to\n0.5,left0,right0\n1,left1,right2\n"),
        checked(ARRIVING, "workload", 0, "arrivals"),
    ),
    "flows": Kind("flows.csv", texts(test_movement.FLOWS), checked(FLOWING, "flow")),
    "movement": Kind("away.tcl", texts(test_movement.FILE), checked(MOVING, "network", "mobility")),
    "places": Kind("away.csv", texts(test_movement.PLACES), checked(MOVING, "network", "mobility")),
}  # fmt: skip
KINDS: dict[str, Kind] = {
    "captures": Kind("trace", lambda: [data[:LONGEST] for data in test_captures.FILES.values()], read_capture, WORDS),
    "qlogs": Kind("trace", lambda: [log(name) for name in (*test_qlog.DIALECTS, "own-0.17.0.sqlog")], read_capture),
    "packetdrill": Kind("x.pkt", texts(*test_packetdrill_scripts.CASES.values(), test_packetdrill_scripts.ACCEPTED), read_script),
    "packs": Kind(f"small{pack.SUFFIX}", lambda: [finished()["packed"]], read_pack, change=change_pack),
    "links": Kind("link", linked, read_link, change=change_link),
    "traces": Kind(
        "out.tr", texts(*(getattr(test_ascii_traces, name) for name in ("WIRED", "WIRELESS", "NEW_WIRELESS", "NS3"))),
        lambda file: read_trace_flows(file) and None,
    ),
    **LINKS, **TOPOLOGIES, **OF_SCENARIOS,
    "findings": Kind(
        breaking.FINDINGS, lambda: [searched()[breaking.FINDINGS]], lambda file: breaking.read_findings(file.parent) and None
    ),
    "searches": Kind(breaking.STATE, lambda: [searched()[breaking.STATE]], read_search),
    "spaces": Kind("space.toml", texts(test_break.ACKS, SPACE), read_space),
    "statements": Kind(
        "said.toml", texts('status = "it is sought"\necn = "RFC 9331"\n'), lambda file: read_statement(file) and None
    ),
    "lessons": Kind("lesson.md", lambda: [one.read_bytes() for one in sorted(lessons.FOLDER.glob("*.md"))], read_lesson),
    "verdicts": Kind(
        "small/verdicts.json", lambda: [finished()["verdicts.json"]], lambda file: index.write_index(file.parents[1]) and None,
        beside=lambda: {"small/report.html": b"x"},
    ),
    "stores": Kind("runs.sqlite", lambda: [finished()["runs.sqlite"]], read_store, change=change_store),
}  # fmt: skip
"""By what they are called in the Makefile and in docs/reliability.md."""


def log(name: str) -> bytes:
    return gzip.decompress((test_qlog.LOGS / f"{name}.gz").read_bytes())[:LONGEST]


def read_once(kind: Kind, data: bytes, folder: Path) -> bool:
    """Write a file and read it; return False if it is refused with a sentence. Whatever else is raised is a finding."""
    file = folder / kind.name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    for name, content in kind.beside().items():
        (folder / name).parent.mkdir(exist_ok=True)
        if not (folder / name).exists():
            (folder / name).write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return kind.read(file) is not False
        except (InputError, ScenarioError, RunFailedError) as error:
            told = str(error)
    assert told and len(told) < LONGEST_MESSAGE and "internal error" not in told, told[:LONGEST_MESSAGE]
    return False
