"""`@tonopah.compiled`: the same bits as uncompiled, errors that name the line, studies in processes."""

import importlib.util
from pathlib import Path

import pytest

import tonopah as tp
from tonopah import _core
from tonopah.cc import compiled as compiling
from tonopah.cc.base import CongestionControl
from tonopah.examples import reno
from tonopah.runs.simulation import engine_form

pytest.importorskip("numba")

FILE = Path(__file__).with_name("compiled_algorithms.py")
SPEC = importlib.util.spec_from_file_location("compiled_algorithms", FILE)
assert SPEC and SPEC.loader
ALGORITHMS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(ALGORITHMS)


def compiled(cls):
    """Return a class that is compiled, and leave the one given as it is."""
    return tp.compiled(type(cls.__name__, (cls,), {"__module__": f"{cls.__module__}_compiled"}))


EVERYTHING = compiled(ALGORITHMS.Everything)


def worlds():
    """Yield worlds with losses in a queue and by chance, with marks, reordering and silence."""
    bottleneck = {"rate": "4Mbps", "delay": "15ms", "queue": "20p"}
    network = {"kind": "dumbbell", "pairs": 2, "flows": 2, "bottleneck": bottleneck}
    plain = {"duration": "10s", "network": network}
    yield plain
    yield {**plain, "network": {**network, "bottleneck": {**bottleneck, "loss": {"kind": "packet", "p": 0.03}}}}
    late = {"kind": "late", "p": 0.02, "by": {"kind": "constant", "length": "40ms"}}
    yield {**plain, "tcp": {"profile": "linux"}, "network": {**network, "bottleneck": {**bottleneck, "reorder": late}}}
    app = {"kind": "on_off", "rate": "400pps", "size": "1000B", "off": {"kind": "constant", "length": "2s"}}
    queue = {"kind": "drop_tail", "limit": "20p", "mark_threshold": 5}
    marked = {**network, "flows": 0, "bottleneck": {**bottleneck, "queue": queue}}
    yield {**plain, "tcp": {"ecn": "classic"}, "network": marked, "flow": [{"from": "left0", "to": "right0", "app": app}]}


def events(scenario, cc):
    bound = engine_form({**scenario, "tcp": {**scenario.get("tcp", {}), "cc": cc}})
    return _core.trace(bound.text, 1, bound.algorithms)


@pytest.mark.parametrize("world", list(worlds()), ids=["queue", "loss", "reordering", "marks"])
def test_compiled_code_has_the_same_bits(world):
    one, two = events(world, ALGORITHMS.Everything), events(world, EVERYTHING)
    assert one == two and one.count("\n") > 500
    other = {"python": EVERYTHING, "factor": 0.5, "gentle": False}
    assert events(world, {**other, "python": ALGORITHMS.Everything}) == events(world, other) != one


def test_every_method_and_signal_is_tried():
    text = FILE.read_text(encoding="utf-8")
    assert all(f"def {name}(" in text for name in _core.NATIVE_LAYOUT["kinds"][1:])
    for table in ("view", "on_ack", "on_congestion", "on_sent", "on_lost"):
        assert all(f".{name.rpartition('.')[2]}" in text for name in _core.NATIVE_LAYOUT[table]), table
    assert set(_core.NATIVE_LAYOUT["kinds"][1:]) == {name for name in dir(CongestionControl) if name.startswith("on_")}


def line_of(mark):
    return 1 + FILE.read_text(encoding="utf-8").splitlines().index(next(x for x in FILE.read_text().splitlines() if mark in x))


@pytest.mark.parametrize(
    ("name", "mark"),
    [("Listing", "the line of the mistake"), ("Wording", "the second line")],
)
def test_what_cannot_be_compiled_is_named_with_its_line(name, mark):
    with pytest.raises(tp.InputError, match=f"^tcp.cc: {name} cannot be compiled: line {line_of(mark)}\\b"):
        tp.run(next(worlds()), cc=compiled(getattr(ALGORITHMS, name)))


def test_what_is_no_algorithm_cannot_be_marked():
    with pytest.raises(tp.InputError, match="is not derived from"):
        tp.compiled(int)  # type: ignore[type-var]


# What compiled code raises, numba reports as an exception that it cannot pass on.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("name", "text"), [("Dividing", "did not come to its end"), ("Falling", "NaN")])
def test_what_fails_in_a_run_is_an_error_of_the_run(name, text):
    with pytest.raises(tp.AlgorithmError, match=text) as raised:
        tp.run(next(worlds()), cc=compiled(getattr(ALGORITHMS, name)))
    assert raised.value.algorithm.endswith(name) and raised.value.time_s > 0


def test_a_study_compiles_once_for_each_process(tmp_path):
    source = Path(reno.__file__).read_text(encoding="utf-8")
    marked = source.replace("class Reno", "@tonopah.compiled\nclass Reno").replace(
        "from tonopah", "import tonopah\nfrom tonopah", 1
    )
    results = {}
    for name, text in (("plain", source), ("marked", marked)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        world = {**next(worlds()), "duration": "2s"}
        study = tp.Study("Same?", world, [{"python": f"{tmp_path}/{name}.py:Reno"}], replicates=4)
        study.run(out=tmp_path / name, quiet=True)
        results[name] = study.table()["goodput_bps"].tolist()
    assert results["marked"] == results["plain"] and len(results["plain"]) == 4


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_class_that_is_loaded_anew_is_not_compiled_anew(tmp_path):
    (tmp_path / "mine.py").write_text(FILE.read_text(encoding="utf-8").replace("class Dividing", "@tp.compiled\nclass Dividing"))
    world = {**next(worlds()), "tcp": {"cc": {"python": str(tmp_path / "mine.py:Dividing")}}}
    before = None
    for _ in range(2):
        with pytest.raises(tp.AlgorithmError):
            tp.run(world)
        before = before or len(compiling._codes)
    assert len(compiling._codes) == before
