"""A disk that is full, read-only or over its quota, and a clock that jumps, at random moments of a study: nothing is lost.

programs/faults.c lets calls of the system fail. TONOPAH_FAULTS=100 (`make faults`) sets how many of each; without it two.
"""

import errno
import os
import random
import shutil
import subprocess
import sys

import pytest
from conftest import STUDY, toml
from forked import Forked
from test_kills import tables

FAULTS = int(os.environ.get("TONOPAH_FAULTS", "2"))
DISKS = {"full": errno.ENOSPC, "read-only": errno.EROFS, "quota": errno.EDQUOT}
NEVER = 10**9
HOUR_S = 3600

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc"), reason="needs Linux and a C compiler (cc)"
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return a function that runs a small study with a fault, its tables, and how often it writes."""
    home = tmp_path_factory.mktemp("faults")
    source = os.path.join(os.path.dirname(__file__), "programs", "faults.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", home / "faults.so", source, "-ldl"], check=True)
    document = {key: STUDY[key] for key in ("question", "compare")} | {"replicates": 2, "figure": STUDY["figure"][-1:]}
    (home / "small.toml").write_text(toml(document | {"scenario": STUDY["scenario"] | {"duration": "300ms"}}))
    command = ["study", "run", str(home / "small.toml"), "--jobs", "2", "--out"]

    def run(folder, first, **fault):
        count = folder.with_suffix(".count")
        count.unlink(missing_ok=True)
        given = {"FAULT_UNDER": folder, "FAULT_COUNT": count, "FAULT_FROM": first, **fault}
        forked.start([*command, str(folder)], home / "errors", **given)
        code, text = forked.wait(), (home / "errors").read_text()
        assert "Traceback" not in text and "internal error" not in text, text
        assert code == 0 or (code in (1, 2) and text.splitlines()[-1].startswith("error: ")), text
        return code, text, count.stat().st_size

    with Forked([*command, str(home / "warm")], LD_PRELOAD=home / "faults.so") as forked:
        code, text, calls = run(home / "whole", NEVER, FAULT_WITH=errno.ENOSPC)
        assert code == 0 and calls > 20, text
        yield run, tables(home / "whole"), calls


@pytest.mark.parametrize("disk", DISKS)
def test_a_disk_that_fails_at_a_random_moment_is_an_error_and_nothing_is_lost(study, disk, tmp_path):
    (run, expected, calls), draw, faults, rounds = study, random.Random(1), 0, 0
    while faults < FAULTS:
        folder, rounds, code = tmp_path / f"round{rounds}", rounds + 1, 1
        while code:
            # As often among the few calls that store runs as among the many that write the report.
            first = round(calls ** draw.random()) if faults < FAULTS else NEVER
            code, text, seen = run(folder, first, FAULT_WITH=DISKS[disk])
            assert code == 0 or seen >= first, text
            faults += seen >= first
        assert tables(folder) == expected
    print(f"{disk}: {faults} faults in {rounds} rounds; a study writes {calls} times")


def test_a_clock_that_jumps_changes_nothing(study, tmp_path):
    (run, expected, calls), draw = study, random.Random(2)
    for number in range(FAULTS):
        by_s = draw.choice([-1, 1]) * round(HOUR_S * 10 ** draw.uniform(-3, 5))
        first = round(calls ** draw.random())
        code, text, seen = run(tmp_path / f"jump{number}", first, FAULT_CLOCK=by_s)
        assert code == 0 and seen >= first, f"{by_s} s: {text}"
        assert tables(tmp_path / f"jump{number}") == expected
    print(f"clock: {FAULTS} jumps")
