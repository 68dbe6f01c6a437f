"""Small worlds and small studies for the tests."""

import copy
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tonopah._core import run
from tonopah.reports.networks import network

DUMBBELL: dict[str, Any] = {
    "duration": "3s",
    "network": {
        "kind": "dumbbell",
        "pairs": 2,
        "access": {"rate": "100Mbps", "delay": "1ms"},
        "bottleneck": {"rate": "2Mbps", "delay": "8ms", "queue": {"kind": "drop_tail", "limit": "20p"}},
    },
    "tcp": {"cc": "newreno", "mss": "1000B"},
    "flow": [
        {"from": "left0", "to": "right0", "app": {"kind": "bulk"}},
        {"from": "left1", "to": "right1", "app": {"kind": "bulk"}, "start": "100ms"},
    ],
}

STUDY: dict[str, Any] = {
    "question": "Does the number of flows matter?",
    "baseline": "newreno",
    "replicates": 3,
    "scenario": {
        "duration": "2s",
        "network": {
            "kind": "star",
            "nodes": 8,
            "flows": 2,
            "source": {"rate": "2Mbps", "delay": "0.01ms"},
            "sink": {"rate": "10Mbps", "delay": "5ms", "loss": {"kind": "packet", "p": 0.005}},
        },
        "traffic": {"app": {"kind": "cbr", "rate": "400pps", "size": "512B", "transport": "tcp"}},
        "record": {"series": ["cwnd", "queue"], "every": "50ms"},
    },
    "compare": {"cc": ["newreno", "cubic"]},
    "sweep": [
        {"label": "Flows", "vary": {"network.flows": [2, 4, 6]}},
        {"label": "Rate", "vary": {"traffic.app.rate": ["400pps", "600pps"]}},
        {"label": "Flows and nodes", "vary": {"network.flows": [2, 4], "network.nodes": [8, 12]}},
    ],
    "figure": [
        {"kind": "line", "x": "network.flows", "y": ["goodput_bps", "delay_s", "delivery_ratio"], "difference": True},
        {"kind": "line", "x": "traffic.app.rate", "y": ["goodput_bps"]},
        {"kind": "heatmap", "x": "network.flows", "rows": "network.nodes", "y": ["goodput_bps"]},
        {"kind": "bar", "y": ["goodput_bps", "loss_ratio"]},
        {"kind": "scatter", "y": ["goodput_bps"], "against": "delay_p95_s"},
        {"kind": "scatter", "y": ["goodput_bps"], "against": "delay_p95_s", "x": "network.flows", "log": "x"},
        {"kind": "ecdf", "y": ["goodput_bps"]},
        {"kind": "series", "y": ["cwnd", "queue"]},
    ],
    "claim": [
        {
            "id": "C1",
            "text": "Throughput rises with the number of flows",
            "test": {"metric": "goodput_bps", "trend": "increasing", "over": "network.flows"},
        },
        {"id": "C2", "text": "A matter of taste"},
    ],
    "assumed": [{"parameter": "loss", "value": "0.005", "reason": "large enough to be seen in 2 s"}],
    "quick": {"replicates": 2, "duration": "1s", "values": {"network.flows": [2, 6]}},
}


@pytest.fixture
def dumbbell() -> dict[str, Any]:
    return copy.deepcopy(DUMBBELL)


@pytest.fixture
def public(monkeypatch) -> Iterator[Path]:
    """A folder that others than root may enter, as they may not those of pytest; what is temporary goes there too."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder, temporary = Path(name), Path(name) / "tmp"
        folder.chmod(0o755)
        temporary.mkdir()
        temporary.chmod(0o777)
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        yield folder


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make `folder` one that cannot be written, and its reader, if he is root, another user."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def study_document() -> dict[str, Any]:
    return copy.deepcopy(STUDY)


@pytest.fixture
def study_file(study_document, tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(toml(study_document), encoding="utf-8")
    return path


def toml(document: dict[str, Any]) -> str:
    from tonopah.scenario.document import to_toml

    return to_toml(document)


def put_file(path: Path, content: bytes | str) -> None:
    """Make a file of this content, or what is no regular file: pipe, device, folder, loop, dangling or link."""
    match content:
        case bytes():
            path.write_bytes(content)
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "loop":
            path.symlink_to(path)
        case "dangling":
            path.symlink_to("nothing")
        case "link":
            target = path.with_name("target")
            target.write_text(toml(DUMBBELL))
            path.symlink_to(target)


def edit(study: Any, sql: str, *values: Any) -> int:
    """Carry out a statement on the database of a study's results and return how many rows it changed."""
    database = sqlite3.connect(study.folder / "runs.sqlite")
    with database:
        changed = database.execute(sql, values).rowcount
    database.close()
    return changed


def is_script(scenario):
    """Tell whether a scenario of a shipped study is the network of a report's script."""
    return scenario.get("source", "reports:counted") != "reports:counted"


def run_network(name, seed=1, **point):
    """Run a network of a report at a point; return the network, and what its observer gets."""
    one = network(name)
    text = json.dumps(one.scenario(point))
    summary, series = run(text, seed)
    return one, (text, seed, summary.json(), series)


def numbers_at(name, seed=1, **point):
    """Return what the script of a network prints at a point."""
    one, seen = run_network(name, seed, **point)
    return one.numbers(*seen).run


def without_scripts(spec):
    """Return a study without the parts of its author's script, and without what rests on them: their runs have a fixed length."""
    parts = [replace(part, printed=[]) for part in spec.parts if not is_script(part.scenario)]
    known = {part.id for part in parts}
    claims = [
        claim.model_copy(update={"tests": tuple(test for test in claim.tests if not test.part or test.part in known)})
        for claim in spec.claims
    ]
    return replace(spec, parts=parts, claims=[claim for claim in claims if claim.tests])
