"""One run on several threads."""

import json
import os
import threading
import time
from pathlib import Path

import pytest

import tonopah as tp
from tonopah._core import LimitError, run_many, run_on_threads
from tonopah.cli import main
from tonopah.execution.options import cores
from tonopah.scenario.document import to_json, to_toml

ONE_THREAD = "stations of a radio channel hear each other at once"


@pytest.fixture
def parking_lot():
    return {
        "duration": "3s",
        "network": {
            "kind": "parking_lot", "hops": 8, "access": {"rate": "1Gbps", "delay": "5ms"},
            "link": {"rate": "10Mbps", "delay": "5ms", "queue": "1bdp"},
        },
        "tcp": {"cc": "cubic"},
    }  # fmt: skip


@pytest.fixture
def wireless():
    return {"duration": "1s", "network": {"kind": "adhoc", "nodes": 4, "flows": 2}}


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_threads_change_no_bit(parking_lot, threads):
    summary, _ = tp._core.run(to_json(parking_lot), 7)
    divided, _, undivided = run_on_threads(to_json(parking_lot), 7, threads)
    assert (undivided, divided.json()) == (None, summary.json())


def test_a_run_that_cannot_be_divided_has_one_thread_and_says_why(parking_lot, wireless):
    assert tp.run(parking_lot, threads=2).undivided is None
    result = tp.run(wireless, threads=4)
    assert (result.undivided, result.summary) == (ONE_THREAD, tp.run(wireless).summary)


def test_an_algorithm_in_python_has_one_thread(parking_lot):
    class Fixed(tp.CongestionControl):
        """Always ten segments."""

        def on_ack(self, ack, view):
            self.cwnd_bytes = 14_600

        def on_congestion(self, event, view):
            pass

    result = tp.run(parking_lot | {"duration": "100ms"}, cc=Fixed, threads=2)
    assert "algorithm in Python" in str(result.undivided)


@pytest.mark.parametrize("threads", [0, -1, 1025, True, 1.5])
def test_numbers_that_are_none_of_threads(parking_lot, threads):
    with pytest.raises(tp.InputError, match=r"threads: .* is not a number of threads.*1 to 1024"):
        tp.run(parking_lot, threads=threads)


def test_limits_hold_for_all_threads_together(parking_lot):
    long = to_json(parking_lot | {"duration": "100s"})
    with pytest.raises(LimitError, match="20000 events are its limit") as divided:
        run_on_threads(long, 1, 2, max_events=20_000)
    with pytest.raises(LimitError) as plain:
        tp._core.run(long, 1, max_events=20_000)
    assert str(divided.value) == str(plain.value)
    short = to_json(parking_lot)
    events = json.loads(tp._core.run(short, 1)[0].json())["events"]
    # The parts count their events only now and then.
    for most in (events, events + 1):
        assert run_on_threads(short, 1, 2, max_events=most)[0].json() == tp._core.run(short, 1)[0].json()
    with pytest.raises(LimitError):
        run_on_threads(short, 1, 2, max_events=events - 1)
    # The world of each part counts.
    _, _, undivided = run_on_threads(to_json(parking_lot | {"duration": "10ms"}), 1, 2, max_memory=170_000)
    assert "every part has the whole world" in str(undivided)


@pytest.mark.skipif(cores() < 2 or not Path("/proc/self/task").exists(), reason="needs Linux and two cores")
@pytest.mark.parametrize(("runs", "rate", "threads"), [(1, "100Mbps", 2), (2, "100Mbps", 2), (3, "10Mbps", 2), (1, "10Mbps", 1)])
def test_fewer_runs_than_threads_share_them_where_it_is_worth_it(parking_lot, runs, rate, threads):
    parking_lot["network"]["link"]["rate"] = rate
    world = to_json(parking_lot | {"duration": "8s"})
    before, done, most = set(os.listdir("/proc/self/task")), threading.Event(), []

    def watch():
        while not done.is_set():
            most.append(len(set(os.listdir("/proc/self/task")) - before))
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    texts = {}
    run_many([(world, seed) for seed in range(runs)], 2, lambda index, text, series: texts.update({index: text}) is None)
    done.set()
    watcher.join()
    # One more is that which watches.
    assert max(most) == threads + 1
    assert texts == {seed: tp._core.run(world, seed)[0].json() for seed in range(runs)}


def test_the_command_line(capsys, parking_lot, wireless, tmp_path):
    def call(world, *options):
        path = tmp_path / "world.toml"
        path.write_text(to_toml(world))
        code = main.main(["run", str(path), "--json", *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    plain = call(parking_lot)
    assert call(parking_lot, "--threads", "2") == plain and plain[0] == 0
    code, out, err = call(wireless, "--threads", "2")
    assert (code, out, err) == (0, call(wireless)[1], f"warning: --threads: one thread: {ONE_THREAD}\n")
    code, _, err = call(parking_lot, "--threads", "0")
    assert code == 2 and "threads: 0 is not a number of threads" in err and "1 to 1024" in err
    _, _, err = call(parking_lot, "--threads", "2", "--events")
    assert "warning: --threads: one thread: its packets are watched in their order" in err
