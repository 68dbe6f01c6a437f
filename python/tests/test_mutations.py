"""Whatever stands in a file: it is accepted, or refused with a message that names a place. Never a panic, a hang, or the memory.

TONOPAH_MUTATIONS=100000 (`make mutate`) sets how many there are; the default is a small number, the same ones each time.
"""

import collections
import faulthandler
import json
import os
import tempfile
import time
from pathlib import Path

import pytest
from conftest import STUDY, put_file
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory import memory_taken
from mutation import SCENARIOS, keys_of, mutated, mutated_file, shipped

import tonopah as tp
from tonopah import _core
from tonopah.scenario.document import to_toml
from tonopah.spec import plan, reader
from tonopah.spec.schema import json_schema
from tonopah.spec.validation import RENAMED

COUNT = int(os.environ.get("TONOPAH_MUTATIONS", "0"))
LONGEST_S = 5.0
"""Processor time for one of them; other programs may keep this one waiting."""
MAX_MEMORY_BYTES = 1_500_000_000
LOADED_BYTES = 200_000_000
"""Of these, more than a process has that has loaded this file and tried nothing."""
LONGEST_MESSAGE = 6000
EVENTS = 2_000
NAMES = keys_of(json.loads(_core.schema()))
TALLY: collections.Counter[str] = collections.Counter()

# The reason of a failure is to be seen, not that its document is long to print.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

many = settings(
    max_examples=COUNT or 300,
    derandomize=not COUNT,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module", autouse=True)
def report():
    with memory_taken() as taken:
        yield
    print(f"\nmutations: {dict(sorted(TALLY.items()))}; {taken.bytes / 1e6:.0f} MB of memory")
    assert taken.bytes < MAX_MEMORY_BYTES - LOADED_BYTES


def judge(kind, work):
    """Do the work; it may only refuse properly, and in time."""
    faulthandler.dump_traceback_later(120, exit=True)
    started = time.process_time()
    try:
        work()
        TALLY[f"{kind} accepted"] += 1
    except tp.ScenarioError as error:
        TALLY[f"{kind} refused"] += 1
        TALLY[f"{kind} refused as a whole"] += not error.path
        assert error.message and "internal error" not in error.message, error
        assert len(str(error)) < LONGEST_MESSAGE
    except _core.LimitError:
        TALLY[f"{kind} accepted"] += 1
    finally:  # drawing the next one is not what the time is for
        faulthandler.cancel_dump_traceback_later()
    taken = time.process_time() - started
    TALLY["longest ms"] = max(TALLY["longest ms"], round(1000 * taken))
    assert taken < LONGEST_S, f"{taken:.1f} s"


@many
@given(mutated(SCENARIOS, NAMES))
def test_a_mutated_scenario_is_accepted_or_refused(document):
    def work():
        resolved = tp.check(document)["resolved"]
        _core.run(json.dumps(resolved), 1, None, EVENTS, MAX_MEMORY_BYTES // 3)

    judge("scenario", work)


@many
@given(mutated([STUDY, *shipped()], [*NAMES, *keys_of(json_schema()), *RENAMED]))
def test_a_mutated_study_is_accepted_or_refused(document):
    def work():
        spec = reader.parse_spec(document)
        for part in spec.parts:
            plan.check_point(part.scenario, part.variants[0], {}, ".", tuple(part.derived))

    judge("study", work)


@many
@given(mutated_file(SCENARIOS))
def test_a_mutated_scenario_file_is_accepted_or_refused(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.toml"
        put_file(path, content)
        judge("scenario file", lambda: tp.check(path))


@many
@given(mutated_file([STUDY]), mutated_file(SCENARIOS), st.sampled_from(["study", "scenario", "algorithm", "movement", "trace"]))
def test_a_mutated_study_file_is_accepted_or_refused(content, other, which):
    """The study itself is changed, or a file that it names: its scenario, an algorithm, a movement file, a trace."""
    moving = {"kind": "adhoc", "flows": 1, "area": {"x": "9m", "y": "9m"}, "mobility": {"kind": "setdest", "file": "named.py"}}
    traced = {"kind": "dumbbell", "flows": 1, "bottleneck": {"service": {"kind": "trace", "file": "named.py"}}}
    document = {key: STUDY[key] for key in ("question", "scenario", "compare")}
    texts = {
        "scenario": {**document, "scenario": {"file": "named.py"}},
        "algorithm": {**document, "compare": {"cc": ["named.py:X"]}},
        "movement": {**document, "scenario": {"duration": "1s", "network": moving}},
        "trace": {**document, "scenario": {"duration": "1s", "network": traced}},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        put_file(Path(folder) / "named.py", other)
        put_file(path, content if which == "study" else to_toml(texts[which]).encode())

        def work():
            study = tp.Study.load(path)
            for part in study.spec.parts:
                plan.check_point(part.scenario, part.variants[0], {}, study.home, tuple(part.derived))

        judge(f"study file ({which})", work)
