"""The guard on instructions per data packet: `.ci/instructions --check`, which `.ci/run` calls."""

import os
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tonopah_dev.instructions import STORED, Counts, compare, main, per_packet

ROOT = Path(__file__).parents[2]
COMPILER = "rustc 1.95.0 (59807616e 2026-04-14) x86_64-unknown-linux-gnu"
BEFORE = Counts(COMPILER, "dist", 'the "first" numbers', {"dumbbell-10": 4_000, "star-cbr": 7_000})
TABLE = """scenario simulated_s data_packets events instructions instructions_per_packet
dumbbell-10 10 81913 253000 400000000 {}
star-cbr 20 200000 860000 1500000000 {}
"""


def check(tmp_path: Path, *counts: int, compiler: str = COMPILER) -> int:
    path = tmp_path / "instructions.toml"
    path.write_text(BEFORE.text(), encoding="utf-8")
    return main(["--check", "", compiler, "dist"], TABLE.format(*counts), path)


@pytest.mark.parametrize(("percent", "code"), [(1.5, 1), (1.1, 1), (0.9, 0), (0.5, 0), (0.0, 0), (-3.0, 0)])
def test_a_growth_above_one_percent_is_refused(tmp_path: Path, capsys, percent: float, code: int) -> None:
    grown = round(7_000 * (1.0 + percent / 100.0))
    assert check(tmp_path, 4_000, grown) == code
    said = capsys.readouterr()
    line = next(line for line in (said.out + said.err).splitlines() if line.startswith("star-cbr: "))
    assert f"{grown:,} instructions per data packet, stored are 7,000 ({percent:+.2f} %)" in line
    assert (".ci/instructions --store 'WHY'" in line) == (abs(percent) > 1.0)
    assert ("is refused" in line) == bool(code)


def test_what_is_missing_on_one_side_is_refused() -> None:
    fewer = replace(BEFORE, per_packet={"dumbbell-10": 4_000})
    assert compare(BEFORE, fewer)[1] == [
        "star-cbr: its instructions are not counted; store new numbers: .ci/instructions --store 'WHY'"
    ]
    assert "star-cbr: its instructions are not stored" in compare(fewer, BEFORE)[1][0]


def test_another_compiler_is_not_compared_and_says_so(tmp_path: Path, capsys) -> None:
    assert check(tmp_path, 9_000, 9_000, compiler="rustc 1.96.0 (abc 2026-06-01)") == 0
    said = capsys.readouterr().out
    assert said.startswith(f"instructions are not compared: stored are those of the compiler {COMPILER}, this is rustc 1.96.0")
    assert ".ci/instructions --store 'WHY'" in said


def test_numbers_are_stored_with_a_reason_only(tmp_path: Path, capsys) -> None:
    path = tmp_path / "instructions.toml"
    assert main(["--store", " ", COMPILER, "dist"], TABLE.format(4_000, 7_000), path) == 2
    assert "without a reason" in capsys.readouterr().err and not path.exists()
    assert main(["--store", BEFORE.reason, COMPILER, "dist"], TABLE.format(4_000, 7_000), path) == 0
    assert Counts.read(path.read_text(encoding="utf-8")) == BEFORE
    assert per_packet(TABLE.format(1, 2)) == {"dumbbell-10": 1, "star-cbr": 2}


def test_numbers_are_stored_for_the_compiler_of_releases_and_for_what_is_counted() -> None:
    """Who pins another compiler stores new numbers, or nothing would be compared any more."""
    stored = Counts.read(STORED.read_text(encoding="utf-8"))
    pinned = tomllib.loads((ROOT / ".ci" / "rust-toolchain.toml").read_text(encoding="utf-8"))["toolchain"]["channel"]
    assert stored.compiler.startswith(f"rustc {pinned} ") and stored.profile == "dist" and stored.reason
    script = (ROOT / ".ci" / "instructions").read_text(encoding="utf-8")
    guarded = next(line for line in script.splitlines() if line.startswith("guarded=")).split('"')[1].split()
    assert sorted(guarded) == sorted(stored.per_packet)
    assert "make instructions-check" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_without_valgrind_the_check_says_that_it_is_not_made(tmp_path: Path) -> None:
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(Path("/usr/bin") / name)
    command, environment = [ROOT / ".ci" / "instructions", "--check"], {**os.environ, "PATH": str(tmp_path)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "are not counted: valgrind is not installed" in said.stderr and not said.stdout
