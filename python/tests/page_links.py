"""Links as the page reads them (lab/static/share.js, in Node) and as the command line does: refused, or one world in both."""

import atexit
import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import tonopah
from tonopah.scenario import links

SCRIPT = Path(__file__).with_name("links_in_node.mjs")
PAGE = Path(tonopah.__file__).parent / "lab" / "static" / "share.js"
REFUSALS = ("the address is longer", "the address holds more than 4 MiB", "the address holds no scenario")
CPU_S = 5
LARGEST = 2**53
"""Whole numbers above it are rounded by a page."""


@cache
def node() -> subprocess.Popen[str] | None:
    """Return a process that reads links as the page does; None where there is no Node."""
    if not shutil.which("node"):
        return None
    process = subprocess.Popen(["node", SCRIPT, PAGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    return process


def in_page(letters: str) -> dict[str, Any] | None:
    """Return what the page reads, `refused` with the reason or `document` and `seed`; None where there is no Node."""
    if (process := node()) is None:
        return None
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(letters) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline(), parse_int=float)
    assert answer["cpu_s"] < CPU_S, f"{answer['cpu_s']} s of CPU time"
    return answer


def read(letters: str) -> dict[str, Any]:
    """Return the scenario of a link. Raises InputError; AssertionError where the page reads another world, or refuses oddly."""
    answer = in_page(letters)
    assert answer is None or "document" in answer or answer["refused"].startswith(REFUSALS), answer
    document, seed = links.read(links.MARK + letters)
    if answer is not None:
        assert "refused" not in answer, f"the page refuses what the command line reads: {answer}"
        same = json.loads(json.dumps(document), parse_int=float)
        assert answer["document"] == same and (seed >= LARGEST or answer["seed"] == seed), "another world in the page"
    return document
