"""802.15.4 in Python: the scenarios of docs/lrwpan.md, the tables on the screen, the picture."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import tomli

import tonopah as tp
from tonopah import metrics
from tonopah.cli import main
from tonopah.plot.network import draw

PAGE = Path(__file__).parents[2] / "docs" / "lrwpan.md"
SCENARIOS = [tomli.loads(text) for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)]
NS2 = {"network.radio.profile": "ns2", "network.nodes": 12, "network.flows": 4, "network.mobility": {"kind": "fixed"}}


def test_the_page_has_scenarios():
    assert len(SCENARIOS) == 2


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenarios_of_the_page_run(scenario):
    result = tp.run(scenario, set={"duration": "20s", "warmup": "5s"})
    total = result.summary["network"]
    assert total["goodput_bps"] > 1e3
    assert total["mac_access_failures"] > 0 and total["mac_too_long"] == 0
    graph = tp.check(scenario)["graph"]
    assert ET.fromstring(draw(graph)).tag == "{http://www.w3.org/2000/svg}svg"


def test_counters_of_the_mac_have_definitions():
    for name in ("mac_access_failures", "mac_too_long", "reassembly_timeouts", "drops.too_long", "drops.access"):
        assert metrics.METRICS[name].definition


def test_run_tells_of_pieces_and_of_what_does_not_fit(tmp_path, capsys):
    path = tmp_path / "field.toml"
    path.write_text(
        'duration = "20s"\n[network]\nkind = "adhoc"\nnodes = 20\nflows = 8\nrouting = { kind = "dsdv" }\n'
        'radio = { standard = "802.15.4", profile = "ns2" }\n'
    )
    assert main.main(["run", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "without a path" in shown and "too long" in shown and "components" in shown
    assert "stalled" not in shown


def test_run_tells_how_many_stations_a_fault_of_ns2_silenced(capsys, tmp_path):
    """Nine entries of DSDV make a frame of 135 B."""
    path = tmp_path / "cell.toml"
    path.write_text(
        'duration = "40s"\n[network]\nkind = "adhoc"\nnodes = 12\nflows = 2\nrouting = { kind = "dsdv" }\n'
        'area = { x = "8m", y = "8m" }\n'
        'radio = { standard = "802.15.4", profile = "ns2", lrwpan = { mac = "ns2" } }\n'
    )
    assert main.main(["run", str(path)]) == 0
    shown = capsys.readouterr().out
    found = re.search(r" stalled *\n.* stations *\n[ ─]*\n.* (\d+) *\n", shown)
    assert found and int(found[1]) > 8
