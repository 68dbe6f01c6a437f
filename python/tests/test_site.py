"""The site: every page of docs/ is on it, every link leads somewhere, and every public name is described."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tonopah as tp

ROOT = Path(__file__).parents[2]
VERSIONS = {"__version__", "engine_version"}


def test_every_public_name_is_described():
    shown = set(re.findall(r"^::: tonopah\.(\w+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert shown | VERSIONS == set(tp.__all__)


def test_the_site_is_built_without_a_warning(tmp_path):
    if not importlib.util.find_spec("mkdocs"):
        pytest.skip("the extra `site` is not installed")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # A page from outside docs/, with a link that leads to a page of docs/.
    assert 'href="files.html"' in (tmp_path / "site" / "overview.html").read_text(encoding="utf-8")
    assert "initial_window" in (tmp_path / "site" / "generated" / "scenario.html").read_text(encoding="utf-8")
    api = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    assert 'id="tonopah.Study.plot"' in api or "StudyResults.plot" in api
