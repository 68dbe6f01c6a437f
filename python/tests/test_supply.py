"""Licences and versions: .ci/supply refuses what deny.toml does not name. The name of a build covers its sources."""

import importlib.machinery
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tonopah import _core

ROOT = Path(__file__).parents[2]
RULES = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def supply() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("supply", str(ROOT / ".ci" / "supply"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("supply", loader))
    loader.exec_module(module)
    return module


class Installed:
    """A package of an environment."""

    def __init__(self, name: str, version: str, **declared: str) -> None:
        self.version, self.metadata = version, Message()
        self.metadata["Name"] = name
        for key, value in declared.items():
            self.metadata[key.replace("_", "-")] = value


def crate(name: str, version: str, licence: str, source: str | None = None) -> dict[str, Any]:
    return {"name": name, "version": version, "license": licence, "source": source}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("LGPL-2.1-or-later", False),
        ("whatever they say ((", False),
        ("NONE", False),
    ],
)
def test_licence_expressions(supply: ModuleType, expression: str, expected: bool) -> None:
    assert supply.allowed(expression, RULES["licenses"]["allow"]) is expected


def test_a_crate_of_another_licence_source_or_version_is_named(supply: ModuleType) -> None:
    index = "registry+" + RULES["sources"]["allow-registry"][0]
    packages = [
        crate("good", "1.0.0", "MIT", index),
        crate("ours", "1.0.0", "MIT OR Apache-2.0"),
        crate("copyleft", "1.0.0", "GPL-3.0-only", index),
        crate("elsewhere", "1.0.0", "MIT", "git+https://example.org/x"),
        crate("twice", "1.0.0", "MIT", index),
        crate("twice", "2.0.0", "MIT", index),
        crate("syn", "2.0.1", "MIT", index),
        crate("syn", "3.0.1", "MIT", index),
    ]
    wrong = list(supply.check_crates({"packages": packages}, RULES))
    assert [text.split(":")[0] for text in wrong] == ["crate copyleft", "crate elsewhere", "crate twice"]


def test_a_package_of_another_licence_or_version_is_named(supply: ModuleType) -> None:
    lock = "good==1.0 \\\n    --hash=sha256:0\npip==26.3\nabsent==1.0\nhypothesis==6.0\nCopy_left==1.0\n"
    installed = [
        Installed("Good", "1.0", License_Expression="MIT"),
        Installed("pip", "23.2.1", License_Expression="MIT"),
        Installed("hypothesis", "6.0", License_Expression="MPL-2.0"),
        Installed("copy-left", "1.0", Classifier="License :: OSI Approved :: GNU General Public License v3 (GPLv3)"),
        Installed("stray", "1.0", License="MIT"),
        Installed("tonopah", "0.1", License="MIT"),
    ]
    wrong = list(supply.check_packages(installed, lock, RULES))
    assert [text.split(":")[0] for text in wrong] == ["package copy-left", "package pip", "package stray", "package absent"]


def test_pip_and_setuptools_are_pinned(supply: ModuleType) -> None:
    assert {"pip", "setuptools"} <= supply.pinned((ROOT / "requirements.lock").read_text(encoding="utf-8")).keys()


def test_the_version_is_the_same_everywhere() -> None:
    project, crates = (tomllib.loads((ROOT / name).read_text(encoding="utf-8")) for name in ("pyproject.toml", "Cargo.toml"))
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited and cited[1] == project["project"]["version"] == crates["workspace"]["package"]["version"]


def sources(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that decide a result, in the order in which the build reads them."""
    found = (path for path in folder.rglob("*") if path.suffix in (".rs", ".csv", ".txt") and path.stem != "tests")
    # By components of the path, as Rust compares paths.
    return iter(sorted(found, key=lambda path: path.relative_to(folder).parts))


def test_the_build_hash_covers_the_calls_of_python_algorithms() -> None:
    if not (ROOT / "crates").is_dir():
        pytest.skip("the sources of the engine are not here")
    value = 0xCBF29CE484222325

    def add(text: str) -> None:
        nonlocal value
        for byte in (*text.encode(), 0):
            value = (value ^ byte) * 0x100000001B3 % 2**64

    for folder in ("../tcp/src", "../sim/src", "../sim/data", "src"):
        base = ROOT / "crates" / "py" / folder
        for path in sources(base):
            add(f"{folder}/{path.relative_to(base)}")
            for line in map(str.strip, path.read_text(encoding="utf-8").splitlines()):
                if line and not line.startswith("//"):
                    add(line)
    for package in (ROOT / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]"):
        if re.search('name = "(libm|pyo3)"', package):
            add(package.strip())
    assert _core.engine_build() == f"{value:016x}"


def test_the_lock_of_the_fuzz_targets_is_that_of_the_workspace() -> None:
    """What both lock is one version: a crate of a registry by its checksum, ours by its name."""

    def locked(path: str) -> dict[tuple[str, str | None], str]:
        packages = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["package"]
        return {(each["name"], each.get("checksum")): each["version"] for each in packages}

    workspace, fuzz = locked("Cargo.lock"), locked("fuzz/Cargo.lock")
    both = workspace.keys() & fuzz.keys()
    assert ("tonopah-sim", None) in both
    assert [key for key in both if workspace[key] != fuzz[key]] == []


def test_the_lowest_versions_that_are_tried_are_those_of_pyproject() -> None:
    """`make test-lowest` runs with requirements-lowest.lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: extra for name, extra in project["optional-dependencies"].items() if name != "site"}
    bounds = dict(each.split(">=") for each in [*project["dependencies"], *(each for extra in extras.values() for each in extra)])
    lock = (ROOT / "requirements-lowest.lock").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", lock, re.MULTILINE))
    assert {name: pinned[name] for name in bounds} == {
        name: bound + ".0" * (pinned[name].count(".") - bound.count(".")) for name, bound in bounds.items()
    }


def test_the_bill_of_materials_names_what_is_shipped() -> None:
    """The same text each time, by versions and digests, and nothing that only tests are built from."""
    bills = [subprocess.run([sys.executable, ROOT / ".ci" / "bill"], capture_output=True, check=True).stdout for _ in range(2)]
    assert bills[0] == bills[1] and str(ROOT).encode() not in bills[0]
    found = {one["purl"]: one for one in json.loads(bills[0])["components"]}
    names = {purl.partition("@")[0] if "%40" not in purl else purl.rpartition("@")[0] for purl in found}
    assert {"pkg:cargo/pyo3", "pkg:cargo/libm", "pkg:pypi/numpy", "pkg:npm/d3", "pkg:npm/%40observablehq/plot"} <= names
    assert not names & {"pkg:cargo/divan", "pkg:pypi/pytest"}
    assert all(re.fullmatch("[0-9a-f]{64}", one["hashes"][0]["content"]) for purl, one in found.items() if "pypi" not in purl)


def test_the_toolchain_is_pinned_for_releases_and_for_nobody_else() -> None:
    """A file of this name in a folder above makes rustup fetch its compiler: without a network nothing would be built."""
    pinned = tomllib.loads((ROOT / ".ci" / "rust-toolchain.toml").read_text(encoding="utf-8"))["toolchain"]
    least = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["rust-version"]
    assert [int(part) for part in pinned["channel"].split(".")[:2]] >= [int(part) for part in least.split(".")]
    assert not list(ROOT.glob("rust-toolchain*"))


@pytest.mark.parametrize(("installed", "rustup", "taken", "told"), [
    ("1.95.0", "exit 9", "", ""),
    ("1.90.0", "exit 0", "1.95.0", ""),
    ("1.90.0", "exit 1", "", "may give other bytes"),
])  # fmt: skip
def test_a_release_is_built_with_the_pinned_compiler(tmp_path: Path, installed: str, rustup: str, taken: str, told: str) -> None:
    pinned = tomllib.loads((ROOT / ".ci" / "rust-toolchain.toml").read_text(encoding="utf-8"))["toolchain"]["channel"]
    version = pinned if installed == "1.95.0" else installed
    for name, does in (("rustc", f"echo rustc {version} '(59807616e 2026-04-14)'"), ("rustup", rustup)):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": "/nowhere"}
    command = [ROOT / ".ci" / "as-shipped", "sh", "-c", "echo $RUSTUP_TOOLCHAIN"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (pinned if taken else "") and told in done.stderr and bool(told) == bool(done.stderr)
