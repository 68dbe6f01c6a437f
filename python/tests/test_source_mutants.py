"""Wrong branches in the engine's source against the cases of `tonopah conform`; each takes a build (`make mutate`)."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tomli

ROOT = Path(__file__).parents[2]
MUTANTS = tomli.loads(Path(__file__).with_name("conform_mutants.toml").read_text(encoding="utf-8"))["mutant"]


def test_each_stands_where_the_source_has_it() -> None:
    for mutant in MUTANTS:
        assert (ROOT / mutant["file"]).read_text(encoding="utf-8").count(mutant["old"]) == 1, mutant["what"]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the sources, to be changed."""
    folder = tmp_path_factory.mktemp("mutants")
    for name in ("Cargo.toml", "Cargo.lock", "README.md"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "crates", folder / "crates")
    shutil.copytree(ROOT / "python" / "tonopah", folder / "python" / "tonopah")
    return folder


@pytest.mark.skipif(not os.environ.get("TONOPAH_SOURCE_MUTANTS"), reason="make mutate")
@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant["what"].partition(":")[0] for mutant in MUTANTS])
def test_a_wrong_branch_is_caught(copy: Path, mutant: dict) -> None:
    file = copy / mutant["file"]
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")
    try:
        build = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "tonopah-py", "--lib"]
        subprocess.run(build, cwd=copy, env=os.environ | {"CARGO_TARGET_DIR": str(copy / "target")}, check=True)
    finally:
        file.write_text(text, encoding="utf-8")
    engine = copy / "python" / "tonopah" / "_core.abi3.so"
    engine.unlink(missing_ok=True)
    shutil.copy(copy / "target" / "release" / "lib_core.so", engine)
    command = [sys.executable, "-m", "tonopah", "conform", mutant["subject"], "--spec", mutant["spec"], "--json"]
    done = subprocess.run(
        command, cwd=copy, env=os.environ | {"PYTHONPATH": str(copy / "python")}, capture_output=True, check=False
    )
    cases = json.loads(done.stdout)["cases"]
    assert {case["id"] for case in cases if case["verdict"] == "deviates"} >= set(mutant["caught"]) > set()
