"""The fragments of docs/links.md and docs/misbehaviour.md run in a scenario, each alternative; and the program of docs/gym.md."""

import os
import re
import tomllib
from pathlib import Path

import pytest

import tonopah as tp

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = {"rate": "10Mbps", "delay": "5ms", "queue": "50p"}
FILES = {
    "Verizon-LTE-short.down": "1\n2\n3\n5\n8\n",
    "Verizon-LTE-short.up": "2\n4\n",
    "drive.csv": "t_s,rate_bps\n0,1e6\n1,2e6\n",
    "delays.csv": "q,delay_s\n0,0.001\n1,0.004\n",
}
OF_COLUMNS = "ms,down,owd\n0,1.5,20\n1000,2,30\n"
"""The table of measurements of which docs/links.md names the columns."""


def alternatives(block: str) -> list[dict]:
    """Return the tables that a block writes: itself, or where its lines repeat a key one for each."""
    try:
        return [tomllib.loads(block)]
    except tomllib.TOMLDecodeError:
        return [tomllib.loads(line) for line in block.splitlines()]


def link_fragments() -> list[dict]:
    """Return the links of docs/links.md."""
    found = [one for block in BLOCK.findall((DOCS / "links.md").read_text(encoding="utf-8")) for one in alternatives(block)]
    return [one.get("network", {}).get("bottleneck", one) for one in found]


FRAGMENTS = link_fragments()


@pytest.mark.parametrize("fragment", FRAGMENTS, ids="-".join)
def test_a_link_of_the_page_carries_a_flow(fragment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own_columns = "columns" in fragment.get("service", {})
    for name, text in FILES.items():
        (tmp_path / name).write_text(OF_COLUMNS if own_columns and name == "drive.csv" else text, encoding="utf-8")
    link = {**LINK, **fragment}
    service = fragment.get("service")
    if service and "rate" not in fragment:
        # Its rate is that of the service, and its delay where that draws delays.
        link = {key: value for key, value in link.items() if key != "rate" and not (key == "delay" and "delay" in service)}
    network = {"kind": "dumbbell", "pairs": 1, "flows": 1, "bottleneck": link}
    result = tp.run({"duration": "2s", "network": network})
    assert result.flow(0).goodput_bps > 1e4


def test_the_page_of_links_has_its_fragments():
    assert len(FRAGMENTS) > 15
    assert {"service", "jitter", "reorder", "harq", "changes", "duplicate"} <= {key for one in FRAGMENTS for key in one}


def test_what_misbehaves_on_the_page_does_so_in_a_run():
    network = {"kind": "dumbbell", "pairs": 6, "bottleneck": LINK}
    flows = [
        flow for block in BLOCK.findall((DOCS / "misbehaviour.md").read_text("utf-8")) for flow in tomllib.loads(block)["flow"]
    ]
    assert len(flows) > 1
    result = tp.run({"duration": "3s", "network": network, "flow": flows})
    assert all(result.flow(number).received_packets > 0 for number in range(len(flows)))


def test_the_program_of_the_page_on_reinforcement_learning_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)
    (program,) = re.findall(r"^```python\n(.*?)^```$", (DOCS / "gym.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(compile(program, "gym.md", "exec"), {"__name__": "page"})
    assert float(capsys.readouterr().out) > 0 and os.listdir() == []
