"""The contracts of import-linter: each breaks on an import that it forbids."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")
PLANTED = {
    "layers": ("tonopah/errors.py", "from tonopah.runs import simulation"),
    "no-circles": ("tonopah/runs/summary.py", "from tonopah.runs import simulation"),
    "developers-tools": ("tonopah/cli/doctor.py", "from tonopah_dev.bench import measure"),
    "comparisons": ("tonopah/validate/queues/worlds.py", "from tonopah.validate.linux import recordings"),
}
"""A file for each contract, and an import that it must not have."""


def broken(folder):
    """Return the names of the contracts that the packages in a folder break."""
    command = [str(LINTER), "--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    printed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    assert "Contracts:" in printed, printed
    return set(re.findall(r"^(.*) BROKEN", printed, re.MULTILINE))


@pytest.mark.skipif(not LINTER.exists(), reason="import-linter is not installed")
def test_every_contract_breaks_on_a_planted_import(tmp_path):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    titles = {contract["id"]: contract["name"] for contract in contracts}
    left_out = shutil.ignore_patterns("data", "__pycache__")
    for package in ("tonopah", "tonopah_dev"):
        shutil.copytree(ROOT / "python" / package, tmp_path / package, ignore=left_out)
    assert broken(tmp_path) == set()
    for file, line in PLANTED.values():
        path = tmp_path / file
        path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    assert {titles[name] for name in PLANTED} <= broken(tmp_path)
