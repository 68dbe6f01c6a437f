"""The notebooks of docs/, cell by cell, what notebooks show of results, and progress in them."""

import base64
import html
import json
import re
import subprocess
import sys
import types
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.execution import progress
from tonopah_dev.browser.browser import Browser, find_chromium
from tonopah_dev.pages.notebooks import readable, written

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_cells_give(notebook):
    kept = json.loads(notebook.read_text(encoding="utf-8"))
    assert readable(kept) == readable(written(notebook))
    outputs = [output for cell in kept["cells"] for output in cell.get("outputs", ())]
    pictures = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", ())]
    assert len(outputs) > len(pictures) > 0
    assert all(base64.b64decode(one).startswith(b"\x89PNG") and len(one) < 200_000 for one in pictures)


def test_algorithms_show_themselves():
    table = ET.fromstring(tp.algorithms()._repr_html_())
    assert table.tag == "table" and len(table.findall("tbody/tr")) == len(tp.algorithms())
    assert json.loads(json.dumps(tp.algorithms()))[0]["name"]


SCENARIO = {
    "duration": "2s",
    "network": {"kind": "dumbbell", "pairs": 2, "flows": 2},
    "record": {"series": ["cwnd", "queue"], "every": "100ms"},
}


def test_an_interactive_figure_holds_its_data_and_fetches_nothing():
    result = tp.run(SCENARIO)
    frame = result.plot().interactive()._repr_html_()
    [page] = re.findall(r'<iframe srcdoc="([^"]*)"', frame)
    text = html.unescape(page)
    figures = json.loads(re.search(r'id="figures-data">(.*?)</script>', text, re.DOTALL)[1])
    assert list(figures) == ["cwnd", "queue"]
    assert [one["label"] for one in figures["cwnd"]["series"]] == ["0: left0 → right0", "1: left1 → right1"]
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)


def test_an_interactive_figure_is_drawn(tmp_path):
    program = find_chromium()
    if not program:
        pytest.skip("no Chromium")
    frame = tp.run(SCENARIO).plot().interactive()._repr_html_()
    (tmp_path / "page.html").write_text(f"<!DOCTYPE html><body>{frame}</body>", encoding="utf-8")
    with Browser(program) as browser:
        browser.open(tmp_path / "page.html")
        inside = "document.querySelector('iframe').contentDocument"
        browser.until(f"{inside}.querySelectorAll('.u-over').length === 2")
        assert browser.js(f"{inside}.querySelectorAll('button.algorithm').length") > 1
        assert not browser.messages


def test_progress_in_a_notebook_is_a_bar_that_changes(monkeypatch):
    class ZMQInteractiveShell:
        """What a notebook's kernel calls its shell."""

    class Handle:
        """What display gives to change it."""

        def update(self, what):
            pages.append(what)

    pages: list[str] = []
    display = types.ModuleType("IPython.display")
    display.HTML = str  # type: ignore[attr-defined]
    display.display = lambda what, display_id: pages.append(what) or Handle()  # type: ignore[attr-defined]
    kernel = types.ModuleType("IPython")
    kernel.get_ipython = ZMQInteractiveShell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with progress.show_progress(3, 0, False) as count:
        for _ in range(3):
            count()
    assert "0 of 3 runs" in pages[0] and "3 of 3 runs" in pages[-1] and "<progress" in pages[-1]


def test_import_loads_no_large_package():
    command = "import sys, tonopah; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    large = {"numpy", "pandas", "scipy", "matplotlib", "jinja2", "dask", "IPython", "asyncio"}
    assert "tonopah" in done.stdout.split()
    assert not large & set(done.stdout.split())
