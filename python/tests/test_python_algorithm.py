"""Congestion controls written in Python: the same bits as in Rust, what they are told, and one message for each mistake."""

import json
import math

import pytest

import tonopah as tp
from tonopah import _core
from tonopah.cc import loading
from tonopah.cli import main
from tonopah.examples.reno import Reno
from tonopah.metrics import parameter_range
from tonopah.runs.simulation import engine_form
from tonopah.scenario.document import to_toml
from tonopah.scenario.paths import put

RECOVERIES = ["reno", "newreno", "sack", "rack"]

GOOD = """
class Base:
    def __init__(self, setup, *, factor=2.0, flag=False):
        self.cwnd = 4 * setup.mss_bytes
    def on_ack(self, ack, view): pass
    def on_congestion(self, event, view): pass
    def window(self): return self.cwnd, None
class Good(Base):
    "A window that stands."
"""


def events(scenario, cc) -> str:
    put(scenario, "tcp.cc", cc)
    bound = engine_form(scenario)
    return _core.trace(bound.text, 1, bound.algorithms)


def worlds(dumbbell):
    """Yield worlds with losses in a queue, by chance and at the end, with time-outs, marks and silence."""
    yield dumbbell
    lossy = json.loads(json.dumps(dumbbell))
    lossy["network"]["bottleneck"]["loss"] = {"kind": "packet", "p": 0.03}
    yield {**lossy, "duration": "20s"}
    app = {"kind": "on_off", "rate": "400pps", "size": "1000B", "off": {"kind": "constant", "length": "2s"}}
    idle = json.loads(json.dumps(dumbbell))
    idle["flow"] = [{"from": "left0", "to": "right0", "app": app}]
    yield {**idle, "duration": "20s"}
    marks = json.loads(json.dumps(dumbbell))
    marks["tcp"]["ecn"] = "classic"
    marks["network"]["bottleneck"]["queue"]["mark_threshold"] = 5
    yield marks


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_reno_in_python_gives_the_same_packet_events_as_reno_in_rust(dumbbell, recovery):
    for world in list(worlds(dumbbell)):
        world["tcp"] |= {"recovery": recovery}
        rust, python = events(world, {"name": "reno", "profile": "rfc"}), events(world, Reno)
        assert rust == python
        assert rust.count("\n") > 500
    assert events(world, {"python": Reno, "beta": 0.7}) != python


def test_metrics_and_series_are_the_same_too(dumbbell):
    dumbbell["record"] = {"series": ["cwnd", "ssthresh", "send_window"], "every": "change"}
    dumbbell["tcp"]["recovery"] = "rack"
    rust, python = (tp.run(dumbbell, cc=cc) for cc in ("reno", Reno))
    for one, other in zip(rust.summary["flows"], python.summary["flows"], strict=True):
        assert one.pop("cc") == "reno" and other.pop("cc") == "tonopah.examples.reno:Reno"
        assert one.pop("cc_profile") == "rfc" and other.pop("cc_profile") == "default"
        assert one == other
    assert rust.summary["network"] == python.summary["network"]
    for name in rust.names:
        assert rust.series(name).equals(python.series(name))


class Told(Reno):
    """Remembers what it is told."""

    calls: list = []  # noqa: RUF012

    def __init__(self, setup):
        super().__init__(setup)
        self.setup, self.timer = setup, 0.5

    def on_ack(self, ack, view):
        self.calls.append(("ack", ack, view))
        super().on_ack(ack, view)

    def on_congestion(self, event, view):
        self.calls.append(("congestion", event, view))
        super().on_congestion(event, view)

    def on_sent(self, sent):
        self.calls.append(("sent", sent, self.setup))

    def on_lost(self, lost, view):
        self.calls.append(("lost", lost, view))

    def on_recovery_end(self, view):
        self.calls.append(("end", None, view))

    def on_timer(self, view):
        self.calls.append(("timer", None, view))
        self.timer = view.now_s + 0.25

    def next_timer(self):
        return self.timer


def test_it_is_told_what_happens_in_bytes_and_seconds(dumbbell):
    Told.calls.clear()
    tp.run(dumbbell, cc=Told, set={"tcp.recovery": "rack", "tcp.timestamps": True})
    told = {kind: [(what, view) for k, what, view in Told.calls if k == kind] for kind, _, _ in Told.calls}
    assert set(told) == {"ack", "congestion", "sent", "lost", "end", "timer"}
    ack, view = next((ack, view) for ack, view in told["ack"][20:] if view.state == "open")
    assert (view.mss_bytes, view.state, type(view.snd_una)) == (1000, "open", int)
    assert ack.acked_bytes == 1000 * ack.acked_segments > 0
    assert 0.018 < view.min_rtt_s <= ack.rtt_s < 0.2 < view.rto_s and ack.one_way_s is not None
    assert ack.rate.rate_bps == pytest.approx(1e6, rel=1) and ack.rate.interval_s > 0
    event, _ = told["congestion"][0]
    assert (event.cause, event.state_before, event.first, event.head_transmissions) == ("rack", "open", True, 1)
    assert told["lost"][0][0].len_bytes == 1000
    sent, setup = told["sent"][0]
    assert (sent.seq, sent.len_bytes, sent.retransmission) == (1, 1000, False)
    assert setup.initial_ssthresh_bytes == math.inf and setup.handshake_rtt_s == sent.now_s
    times = sorted({view.now_s for _, view in told["timer"]})
    assert times[:3] == [0.5, 0.75, 1.0] and len(times) == 11
    with pytest.raises(AttributeError):
        view.now_s = 0.0


class Paced(Reno):
    """A fixed rate; the window does not matter."""

    def __init__(self, setup, *, rate_bps=1e6):
        super().__init__(setup)
        self.rate_bps, self.cwnd_bytes = rate_bps, 100_000

    def on_ack(self, ack, view):
        pass

    def pacing_rate(self):
        return self.rate_bps


def test_its_pacing_rate_holds(dumbbell):
    for megabits in (0.5, 1.0):
        cc = {"python": Paced, "rate_bps": megabits * 1e6}
        summary = tp.run(dumbbell, set={"flow.1.start": "2.9s"}, cc=cc).summary
        # Packets of 1000 B with 40 B of headers, from 20 ms on; the receiver counts payload.
        assert summary["flows"][0]["goodput_bps"] == pytest.approx(megabits * 1e6, rel=0.06)


def test_it_stands_wherever_an_algorithm_may(dumbbell, tmp_path):
    mixed = tp.run(dumbbell, set={"flow.0.cc": Reno, "flow.1.cc": "cubic"}).summary["flows"]
    assert [flow["cc"] for flow in mixed] == ["tonopah.examples.reno:Reno", "cubic"]
    by_name = tp.run(dumbbell, cc="tonopah.examples.reno:Reno").summary
    assert by_name["flows"] == tp.run(dumbbell, cc=Reno).summary["flows"]
    end = tp.Endpoint.connect(tcp={"cc": {"python": Reno, "beta": 0.6}, "mss": "1000B"})
    assert end.settings["cc"] == {"python": "tonopah.examples.reno:Reno", "profile": "default", "beta": 0.6}
    marks = type("Marks", (Reno,), {"ecn": "dctcp", "timestamps": True})
    settings = tp.Endpoint.listen(tcp={"cc": marks}).settings
    assert (settings["ecn"], settings["timestamps"], end.settings["ecn"]) == ("dctcp", True, "off")
    (tmp_path / "good.py").write_text(GOOD)
    dumbbell["tcp"]["cc"] = {"python": "good.py:Good", "factor": 3.0}
    (tmp_path / "world.toml").write_text(to_toml(dumbbell))
    graph = tp.check(tmp_path / "world.toml")["graph"]
    assert graph["tcp"]["cc"] == {"python": "good.py:Good", "profile": "default", "factor": 3.0, "flag": False}
    (tmp_path / "graph.toml").write_text(to_toml(graph))
    results = [tp.run(tmp_path / name, set={"record.series": ["cwnd"]}) for name in ("world.toml", "graph.toml")]
    assert results[0].summary["flows"] == results[1].summary["flows"]
    assert set(results[0].series("cwnd")["value"]) == {4000.0}


LIMITED = "class Good(Base):\n    parameters = {'factor': {'max': 1}}"
CHANGES = {
    "file": ("", "", "other.py:Good", "other.py cannot be read: no such file"),
    "class": ("", "", "my.py:Bad", "has no class 'Bad' (classes: Base, Good)"),
    "reference": ("", "", "my.py", "'my.py' does not name a class"),
    "module": ("", "", "no.such.module:Good", "no.such.module cannot be loaded: ModuleNotFoundError"),
    "file as module": ("", "", "my:Good", "there is no module my (the class of a file is written my.py:Good)"),
    "syntax": ("class Base:", "class Base", "my.py:Good", "my.py cannot be loaded: SyntaxError: expected ':' (line 2)"),
    "import": ("class Base:", "1 / 0\nclass Base:", "my.py:Good", "ZeroDivisionError: division by zero (line 2)"),
    "method": ("on_congestion(", "on_loss(", "my.py:Good", "Good has no method 'on_congestion'"),
    "arguments": ("on_ack(self, ack, view)", "on_ack(self, ack)", "my.py:Good", "Good.on_ack does not take the arguments"),
    "nothing": ("return self.cwnd, None", "pass", "my.py:Good", "window: ValueError: None is not a pair"),
    "too little": ("return self.cwnd, None", "return 5, None", "my.py:Good", "(5, None) is not a pair"),
    "not a number": ("return self.cwnd, None", "return float('nan'), None", "my.py:Good", "(nan, None) is not a pair"),
    "endless": ("return self.cwnd, None", "return float('inf'), None", "my.py:Good", "(inf, None) is not a pair"),
    "setup": ("4 * setup.mss_bytes", "4 * setup.mss", "my.py:Good", "__init__: AttributeError"),
    "default": ("factor=2.0", "factor", "my.py:Good", "no default for its argument 'factor'"),
    "ecn": ("class Good(Base):", "class Good(Base):\n    ecn = 'yes'", "my.py:Good", "ecn = 'yes' is unknown"),
    "range": ("class Good(Base):", LIMITED, "my.py:Good", "the default of 'factor', 2.0, is out of range (up to 1)"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", CHANGES)
def test_what_is_wrong_with_a_class_is_told_with_its_place(dumbbell, tmp_path, mistake, capsys):
    before, after, reference, words = CHANGES[mistake]
    (tmp_path / "my.py").write_text(GOOD.replace(before, after) if before else GOOD)
    dumbbell["flow"][0]["cc"] = {"python": reference}
    (tmp_path / "world.toml").write_text(to_toml(dumbbell))
    for command in ("check", "run"):
        assert main.main([command, str(tmp_path / "world.toml")]) == 2
        shown = capsys.readouterr().err
        assert shown.startswith(f"error: {tmp_path}/world.toml: flow[0].cc.python: ") and words in shown
        assert len(shown.splitlines()) == 1


@pytest.mark.parametrize(
    ("cc", "words"),
    [
        ({"python": Reno, "betta": 0.5}, r"tcp\.cc\.betta: .* has no parameter \"betta\"; known: beta"),
        ({"python": Reno, "beta": 1.5}, r"tcp\.cc\.beta: 1\.5 is not a number from 0\.1 to 0\.9"),
        ({"python": Reno, "profile": "linux"}, r"tcp\.cc\.profile: .* has no profile \"linux\""),
        ({"python": Reno, "name": "reno"}, r"`name`, `python` and `native` exclude each other"),
        ({"python": 7}, r"tcp\.cc\.python: 7 does not name a class"),
        (object(), r"a value of type object has no meaning"),
        (Reno.__new__(Reno), r"give the class, not an object"),
        (int, r"int has no method 'on_ack'"),
    ],
)
def test_wrong_choices_are_refused(dumbbell, cc, words):
    with pytest.raises(tp.ScenarioError, match=words):
        tp.check(dumbbell, set={"tcp.cc": cc})


def test_the_engine_alone_has_no_algorithm_in_python(dumbbell):
    dumbbell["tcp"]["cc"] = {"python": "my.py:Good", "beta": 0.5}
    with pytest.raises(tp.ScenarioError) as caught:
        _core.check(json.dumps(dumbbell))
    assert caught.value.path == "tcp.cc.python"


def broken(where, problem):
    """Return a class that goes wrong after a second."""

    class Broken(Reno):
        now_s = 0.0

        def on_ack(self, ack, view):
            self.now_s = view.now_s
            super().on_ack(ack, view)

    def method(self, *arguments):
        if self.now_s > 1:
            return problem()
        return getattr(Reno, where)(self, *arguments) if where != "on_ack" else Broken.on_ack(self, *arguments)

    return type("Broken", (Broken,), {where: method})


def raises(error):
    def problem():
        raise error

    return problem


FAILURES = {
    "on_ack": (raises(KeyError("x")), "KeyError: 'x'"),
    "on_sent": (raises(RuntimeError("no")), "RuntimeError: no"),
    "window": (lambda: (1, 2), "(1, 2) is not a pair (cwnd_bytes, ssthresh_bytes)"),
    "pacing_rate": (lambda: 0, "0 is not None or a finite rate"),
    "next_timer": (lambda: 0.5, "is in the past"),
}


@pytest.mark.parametrize("method", FAILURES)
def test_an_exception_ends_the_run_with_the_simulated_time(dumbbell, method):
    problem, words = FAILURES[method]
    with pytest.raises(tp.AlgorithmError) as caught:
        tp.run(dumbbell, cc=broken(method, problem))
    error = caught.value
    assert error.method == method and 1 < error.time_s < 1.2 and error.algorithm.endswith(":Broken")
    assert words in str(error) and f"{method} failed at {error.time_s} s: " in str(error)
    assert isinstance(error.__cause__, Exception)


def test_a_timer_has_to_move_on(dumbbell):
    class Stuck(Told):
        def on_timer(self, view):
            pass

    with pytest.raises(tp.AlgorithmError, match="time would stand still") as caught:
        tp.run(dumbbell, cc=Stuck)
    assert caught.value.time_s == 0.5


def test_an_interrupt_stays_an_interrupt(dumbbell):
    with pytest.raises(KeyboardInterrupt):
        tp.run(dumbbell, cc=broken("on_ack", raises(KeyboardInterrupt())))


def test_an_endpoint_passes_the_exception_on_and_is_of_no_use_then(dumbbell):
    end = tp.Endpoint.connect(tcp={"cc": broken("on_sent", raises(ValueError("no")))})
    end.advance(1.1)
    end.inject(tp.Segment(ack=1, flags="S."))
    end.write(100_000)
    with pytest.raises(tp.AlgorithmError, match="on_sent failed"):
        end.inject(tp.Segment(seq=1, ack=4001))
    with pytest.raises(RuntimeError, match="failed before"):
        end.advance(1)


RAISES = GOOD + "    def on_ack(self, ack, view):\n        raise ValueError('too\\nlate')\n"


def test_the_command_line_shows_the_traceback_of_the_algorithm_and_one_message(dumbbell, tmp_path, capsys):
    (tmp_path / "my.py").write_text(RAISES)
    dumbbell["tcp"]["cc"] = "my.py:Good"
    (tmp_path / "world.toml").write_text(to_toml(dumbbell))
    for more in ([], ["--events"]):
        assert main.main(["run", str(tmp_path / "world.toml"), *more]) == 1
        lines = capsys.readouterr().err.splitlines()
        assert lines[0].startswith("Traceback") and "my.py" in lines[1] and "in on_ack" in lines[1]
        assert lines[-1].startswith("error: my.py:Good: on_ack failed at 0.0") and lines[-1].endswith("ValueError: too late")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install a package that offers two algorithms, one of them broken."""
    (tmp_path / "careful_package.py").write_text(GOOD)
    info = tmp_path / "careful-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: careful\nVersion: 1.0\n")
    offered = "careful = careful_package:Good\nbroken = careful_package:Nothing\nreno = careful_package:Good\n"
    (info / "entry_points.txt").write_text(f"[tonopah.algorithms]\n{offered}")
    monkeypatch.syspath_prepend(str(tmp_path))
    loading.find_entry_points.cache_clear()
    yield
    loading.find_entry_points.cache_clear()


def test_installed_packages_offer_algorithms_by_name(package, dumbbell, study_document, tmp_path, capsys):
    assert [entry["name"] for entry in tp.algorithms()[-2:]] == ["broken", "careful"]
    assert "careful_package:Nothing cannot be loaded" in tp.algorithms()[-2]["title"]
    assert main.main(["algorithms", "careful"]) == 0
    assert "A window that stands." in capsys.readouterr().out
    flows = tp.run(dumbbell, set={"flow.0.cc": {"name": "careful", "factor": 1.0}, "flow.1.cc": "reno"}).summary["flows"]
    assert [(flow["cc"], flow["cc_profile"]) for flow in flows] == [("careful", "default"), ("reno", "rfc")]
    with pytest.raises(tp.InputError, match=r"flow\[0\]\.cc: careful_package:Nothing cannot be loaded"):
        tp.run(dumbbell, set={"flow.0.cc": "broken"})
    study_document.update(compare={"cc": ["newreno", "careful"]}, sweep=[], figure=[], claim=[], replicates=1, quick={})
    (tmp_path / "small.toml").write_text(to_toml(study_document))
    # Each once for the table and once with series, for the report.
    assert tp.Study.load(tmp_path / "small.toml").run(quiet=True, out=tmp_path / "out") == 4


def test_the_list_of_algorithms_fits_a_narrow_terminal(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(GOOD)
    for name in ([], ["cubic"], ["reno"], ["my.py:Good"]):
        assert main.main(["algorithms", *name]) == 0
        shown = capsys.readouterr().out
        assert all(len(line) <= 100 for line in shown.splitlines())
    assert "factor" in shown and "A window that stands." in shown
    main.main(["algorithms", "cubic"])
    shown = " ".join(capsys.readouterr().out.split())
    for words in ("RFC 9438", "asks for nothing special", "0.1 to 0.9", "segments/s^3", "hystart = true", 'name = "cubic"'):
        assert words in shown
    assert json.loads(json.dumps(loading.describe_reference(f"{tmp_path}/my.py:Good", "x")))["params"][1]["default"] is False


def test_ranges_with_one_end():
    assert parameter_range({"min": 1.0, "max": None}) == "from 1"
    assert parameter_range({"min": None, "max": 2.0}) == "up to 2"
    assert parameter_range({"min": None, "max": None}) == ""


@pytest.mark.parametrize("line", ["    native_entry = (1, 2, 3)", "    def __init__(self, setup): self.native_entry = (8, 2, 8)"])
def test_the_name_of_machine_code_is_taken_by_no_class(tmp_path, dumbbell, line):
    """The engine would jump to the address that stands there."""
    (tmp_path / "my.py").write_text(f"{GOOD}{line}\n    cwnd = 3000\n")
    with pytest.raises(tp.InputError, match=r"native_entry is the name of what @tonopah\.compiled makes"):
        tp.check(dumbbell, set={"tcp.cc": f"{tmp_path}/my.py:Good"})
