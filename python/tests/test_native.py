"""Congestion controls in shared libraries: the example in C, and what a library can do wrong."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import tonopah as tp
from tonopah import _core
from tonopah.cli.main import main
from tonopah.runs.simulation import engine_form
from tonopah.scenario.document import to_toml
from tonopah_dev.pages.header import header

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler (cc)")
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "native" / "reno.c"

WRONG = """
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tonopah.h>
static void *create(const struct tonopah_setup *setup, const double *parameters) {
    (void)parameters;
    double *state = malloc(sizeof *state);
    *state = setup->initial_window_bytes;
    return CREATED;
}
static void event(int32_t kind, void *state, const void *signal, const struct tonopah_view *view,
                  struct tonopah_answers *answers) {
    (void)signal;
    answers->cwnd_bytes = *(double *)state;
    if (kind == TONOPAH_START) printf("in between\\n");
    if (kind != TONOPAH_START && view->now_s > 0.5) { WRONG; }
}
const struct tonopah_algorithm NAME; /* C99 */
const struct tonopah_algorithm NAME = {
    .abi = TONOPAH_ABI + OTHER, .wanted = TONOPAH_WANTS(TONOPAH_ON_ACK), .create = create, .destroy = free, .event = EVENT,
};
"""
MACROS = {"CREATED": "state", "WRONG": "(void)0", "NAME": "tonopah_algorithm", "OTHER": "0", "EVENT": "event"}


def build(folder, name, source=None, **macros):
    """Compile a library: the example, or a wrong one."""
    file = EXAMPLE
    if source is None:
        file = folder / f"{name}.c"
        file.write_text(WRONG, encoding="utf-8")
    flags = [f"-D{key}={value}" for key, value in {**MACROS, **macros}.items()] if source is None else ["-Werror"]
    target = folder / f"lib{name}.so"
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-shared", "-fPIC", f"-I{tp.get_include()}", *flags, "-o", str(target)]
    subprocess.run([*command, str(file), "-lm"], check=True)
    return target


@pytest.fixture(scope="module")
def reno(tmp_path_factory):
    return build(tmp_path_factory.mktemp("native"), "reno", EXAMPLE)


@pytest.fixture
def world():
    bottleneck = {"rate": "4Mbps", "delay": "15ms", "queue": "20p", "loss": {"kind": "packet", "p": 0.01}}
    network = {"kind": "dumbbell", "pairs": 2, "flows": 2, "bottleneck": bottleneck}
    return {"duration": "8s", "network": network, "tcp": {"recovery": "rack"}}


def test_the_header_is_that_of_the_engine():
    assert Path(tp.get_include(), "tonopah.h").read_text(encoding="utf-8") == header(), "run `make docs`"


def test_reno_in_c_has_the_bits_of_the_engines_own(reno, world):
    def events(cc):
        return engine_form({**world, "tcp": {**world["tcp"], "cc": cc}}).call(_core.trace, 1)

    own = events({"name": "reno", "profile": "rfc"})
    assert events(str(reno)) == own and own.count("\n") > 1000
    assert events({"native": str(reno), "beta": 0.7}) == events({"python": "tonopah.examples.reno:Reno", "beta": 0.7}) != own


def test_it_is_named_like_a_class_in_python(reno, world, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(reno, tmp_path)
    (tmp_path / "world.toml").write_text(to_toml({**world, "tcp": {"cc": {"native": "libreno.so"}}}))
    assert main(["run", "world.toml", "--json"]) == 0
    flows = json.loads(capsys.readouterr().out)["flows"]
    assert [flow["cc"] for flow in flows] == ["libreno.so", "libreno.so"]
    assert tp.run("world.toml", set={"tcp.cc": "reno"}).summary["flows"][0]["goodput_bps"] > 0
    resolved = tp.check("world.toml")["resolved"]["tcp"]["cc"]
    assert resolved == {"native": "libreno.so", "profile": "default", "beta": 0.5}
    with pytest.raises(tp.ScenarioError, match="`name`, `python` and `native` exclude each other"):
        tp.check("world.toml", set={"tcp.cc.name": "reno"})
    assert main(["algorithms", "./libreno.so", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["params"][0]["max"] == 0.9
    with pytest.raises(tp.InputError, match=r"tcp\.cc\.beta: 0\.95 is not a number from 0\.1 to 0\.9"):
        tp.run("world.toml", set={"tcp.cc.beta": 0.95})


@pytest.mark.parametrize(
    ("macros", "said"),
    [
        ({"OTHER": "1"}, r"has version 4 of the interface, the engine has 3 \(compile it"),
        ({"OTHER": "(-2)"}, r"has version 1 of the interface, the engine has 3 \(compile it"),
        ({"NAME": "another"}, r"has no symbol tonopah_algorithm"),
        ({"EVENT": "0"}, r"tonopah_algorithm\.event is NULL"),
        ({"CREATED": "(free(state), (void *)0)"}, r"cannot be used: .*create gave NULL"),
        ({"CREATED": "(free(state), abort(), (void *)0)"}, r"ended the process that tried it: SIGABRT"),
    ],
    ids=["version", "old", "symbol", "event", "create", "abort"],
)
def test_a_library_that_cannot_be_used(tmp_path, world, macros, said):
    build(tmp_path, "wrong", **macros)
    with pytest.raises(tp.InputError, match=said) as raised:
        tp.check(world, set={"tcp.cc": {"native": str(tmp_path / "libwrong.so")}})
    assert raised.value.path == "tcp.cc.native"


def test_a_library_of_the_version_before_goes_on_to_work(tmp_path, world):
    build(tmp_path, "wrong", OTHER="(-1)")
    flows = tp.run(world, set={"tcp.cc": {"native": str(tmp_path / "libwrong.so")}}).summary["flows"]
    assert all(flow["goodput_bps"] > 0 for flow in flows)


def test_a_file_that_is_no_library(tmp_path, world):
    (tmp_path / "libtext.so").write_text("text")
    cases = {
        "libtext.so": "cannot be opened: .*(invalid ELF header|file too short)",
        "none.so": "cannot be read: no such file",
        "libtext.so/x.so": "cannot be read: not a directory",
        "mine.dll": "does not name a shared library",
    }
    for name, said in cases.items():
        with pytest.raises(tp.InputError, match=said):
            tp.check(world, set={"tcp.cc": {"native": str(tmp_path / name)}})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("*(volatile int*)1=0", r"ended the process of the run: SIGSEGV"),
        ("abort()", r"ended the process of the run: SIGABRT"),
        ("exit(3)", r"ended the process of the run: exit code 3"),
        ("answers->cwnd_bytes=NAN", r"window failed at 0\.5\d* s: .*\[NaN, NaN\] is not a pair"),
        ("answers->cwnd_bytes=-1e9", r"window failed at 0\.5\d* s: .*-1000000000"),
        ("answers->cwnd_bytes=INFINITY", r"window failed at 0\.5\d* s: .*inf"),
        ("answers->next_timer_s=0.1", r"next_timer failed at 0\.5\d* s: .* is in the past"),
    ],
    ids=["segfault", "abort", "exit", "nan", "negative", "infinite", "past"],
)
def test_what_a_library_does_ends_its_run_only(tmp_path, world, wrong, said):
    build(tmp_path, "wrong", WRONG=wrong)
    file = str(tmp_path / "libwrong.so")
    with pytest.raises(tp.AlgorithmError, match=said) as raised:
        tp.run({**world, "duration": "2s"}, set={"tcp.cc": {"native": file}})
    assert str(raised.value).startswith("tcp.cc.native: ") and raised.value.algorithm == file


@pytest.mark.parametrize("where", ["WRONG", "CREATED"])
def test_a_library_that_rounds_otherwise_changes_no_other_flow(tmp_path, world, where):
    ends = [{"from": f"left{i}", "to": f"right{i}"} for i in range(2)]
    file = str(tmp_path / "libwrong.so")
    shared = {**world, "network": {**world["network"], "flows": 0}, "flow": [{**ends[0], "cc": {"native": file}}, ends[1]]}
    flows = []
    for said in (MACROS[where], f"(fesetround(FE_UPWARD), {MACROS[where]})"):
        build(tmp_path, "wrong", **{where: said})
        flows.append(tp.run(shared).summary["flows"])
    assert flows[0] == flows[1]


def test_a_crash_does_not_take_the_study_down(tmp_path, world, reno, capsys):
    build(tmp_path, "wrong", WRONG="abort()")
    shutil.copy(reno, tmp_path)
    study = {
        "question": "Does it crash?", "replicates": 2, "scenario": {**world, "duration": "2s"},
        "compare": {"cc": [{"native": "libreno.so"}, "libwrong.so", "cubic"]},
    }  # fmt: skip
    (tmp_path / "study.toml").write_text(to_toml(study))
    assert main(["study", "run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), "--jobs", "2"]) == 1
    error = capsys.readouterr().err
    assert "tcp.cc: libwrong.so ended the process of the run: SIGABRT" in error and "[with libwrong.so, seed" in error
    assert "Traceback" not in error
    build(tmp_path, "wrong")
    assert main(["study", "run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), "--jobs", "2"]) == 0


def test_where_there_is_no_process_of_its_own_it_is_refused(reno):
    with pytest.raises(tp.InputError, match=r"tcp\.cc: .*libreno\.so is a library, which runs in a process of its own"):
        tp.Endpoint.connect({"cc": str(reno)})
