"""Runs over the socket: what is shown is what `tonopah run` gives, whatever happens to connection and order."""

import json
import struct
import time

import numpy as np
import pytest

import tonopah
from tonopah._core import Stepwise, run, trace
from tonopah.lab import presets
from tonopah.lab.session import SessionLimits, Slots, Stopped, recorded
from tonopah.lab.tracks import ShownTrack, Tracks, reduce
from tonopah.scenario.document import parse

WORLD = {
    "duration": "4s",
    "network": {"kind": "dumbbell", "pairs": 2, "flows": 2, "bottleneck": {"rate": "5Mbps", "queue": "20p"}},
    "record": {"series": ["cwnd", "ssthresh", "rtt", "queue", "drops", "goodput", "state"], "every": "change"},
}
LONG = {**WORLD, "duration": "100000s", "record": {"series": ["cwnd"], "every": "10s"}}


class Watcher:
    """One connection of a page."""

    def __init__(self, socket):
        self.socket = socket

    def say(self, kind, **values):
        self.socket.send(json.dumps({"kind": kind, **values}))

    def begin(self, scenario, seed=1, **values):
        self.say("run", version=1, scenario=scenario, seed=seed, **values)
        return self.until("started", "refused", "ended")

    def until(self, *kinds):
        while True:
            message = self.socket.recv(300)
            if isinstance(message, bytes):
                if "series" in kinds:
                    return message
            elif (found := json.loads(message))["kind"] in kinds:
                return found

    def when(self, condition):
        """Return the head of what is shown as soon as a condition holds for it."""
        ends = time.monotonic() + 300
        while not condition(head := self.show()[0]):
            assert time.monotonic() < ends, head
            time.sleep(0.02)
        return head

    def show(self, from_s=0.0, until_s=4.0, columns=4000):
        """Return the head and the columns by series and owner."""
        self.say("show", from_s=from_s, until_s=until_s, columns=columns)
        return columns_of(self.until("series"))


def columns_of(data):
    """Return the head and the columns by series and owner of a binary message."""
    (length,) = struct.unpack_from("<I", data)
    head, at, found = json.loads(data[4 : 4 + length]), 4 + length, {}
    for column in head["columns"]:
        t, v = (np.frombuffer(data, "<f4", column["count"], at + i * 4 * column["count"]) for i in (0, 1))
        found[column["name"], column["id"]] = t.astype(float) + head["from_s"], v
        at += 8 * column["count"]
    assert at == len(data)
    return head, found


@pytest.fixture
def watcher(lab):
    with lab.socket() as socket:
        yield Watcher(socket)


def same(found, frame):
    owners = frame.columns[1]
    for number, rows in frame.groupby(owners):
        t, v = found[frame.attrs["name"], number]
        assert np.allclose(t, rows["t_s"], atol=1e-6)
        assert np.array_equal(v, rows["value"].to_numpy(np.float32), equal_nan=True)


def test_the_socket_gives_what_a_run_gives(watcher):
    watcher.begin(WORLD, 7)
    assert watcher.until("ended")["state"] == "done"
    result = tonopah.run(WORLD, 7)
    _, found = watcher.show()
    for name in WORLD["record"]["series"]:
        frame = result.series(name)
        frame.attrs["name"] = name
        assert len(frame)
        same(found, frame)
    assert {name for name, _ in found} == set(WORLD["record"]["series"])


def test_steps_of_any_size_give_the_same_run():
    text = json.dumps(WORLD)
    summary, series = run(text, 3)
    for events in (1000, 1 << 20):
        stepwise, got, over = Stepwise(text, 3), {name: [] for name in series}, False
        while not over:
            over = stepwise.advance(stepwise.now_s + 0.37, events)
            for name, columns in stepwise.series().items():
                got[name].append(columns)
        ended, rest, _ = stepwise.finish()
        assert ended == summary.json() and stepwise.finish() is None and stepwise.now_s is None
        for name, columns in series.items():
            for key, whole in columns.items():
                parts = np.concatenate([one[key] for one in [*got[name], rest[name]]])
                assert np.array_equal(parts, whole, equal_nan=True)


def test_an_excerpt_holds_the_packet_events_of_its_time():
    text = json.dumps(WORLD)
    # What a sender tells besides is no event of a packet.
    lines = [line for line in trace(text, 3, json=True).splitlines() if '"transport"' in line]
    wanted = [line for line in lines if 1.0 <= json.loads(line)["t_s"] <= 1.2]
    stepwise = Stepwise(text, 3, excerpt=(1.0, 1.2, 10**6))
    stepwise.advance(1.3, 10**9)
    assert stepwise.finish()[2].splitlines() == wanted and len(wanted) > 100
    few = Stepwise(text, 3, excerpt=(1.0, 1.2, 10))
    few.advance(1.3, 10**9)
    assert few.finish()[2].splitlines() == wanted[:10]


def test_few_columns_keep_every_peak():
    rng = np.random.default_rng(1)
    t, v = np.sort(rng.uniform(0, 10, 100_000)), rng.normal(size=100_000).astype(np.float32)
    v[rng.random(len(v)) < 0.1] = np.nan
    shown = ShownTrack(0.0, 10.0, 300)
    few_t, few_v = reduce(t, v, shown)
    assert len(few_t) <= 2 * 302
    for edge in range(300):
        inside = (t >= edge / 30) & (t < (edge + 1) / 30)
        kept = (few_t >= edge / 30) & (few_t < (edge + 1) / 30)
        assert np.nanmax(v[inside]) == np.nanmax(few_v[kept]) and np.nanmin(v[inside]) == np.nanmin(few_v[kept])


def test_a_part_begins_with_the_value_that_holds_there():
    tracks = Tracks()
    tracks.extend({"cwnd": {"t_s": np.array([0.0, 1.0, 5.0]), "id": np.zeros(3, np.uint32), "value": np.array([1.0, 2.0, 3.0])}})
    t, v = tracks.tracks["cwnd", 0].between(2.0, 3.0)
    assert t.tolist() == [1.0, 5.0] and v.tolist() == [2.0, 3.0]


def test_a_difference_is_that_of_the_samples(lab):
    changed = {**WORLD, "tcp": {"cc": "cubic"}}
    with lab.socket() as one, lab.socket() as other:
        before, after = Watcher(one), Watcher(other)
        ids = before.begin(WORLD, 7)["run"], after.begin(changed, 7)["run"]
        assert [watch.until("ended")["state"] for watch in (before, after)] == ["done", "done"]
        asked = {"before": ids[0], "after": ids[1], "from_s": 0.0, "until_s": 4.0, "columns": 4000}
        status, _, body = lab.request("POST", "/api/difference", json.dumps(asked).encode())
        assert status == 200
        head, found = columns_of(body)
        assert {one["name"] for one in head["columns"]} == {"cwnd", "ssthresh", "rtt", "queue", "goodput"}
        series = [tonopah.run(world, 7).series("cwnd").query("flow == 1") for world in (WORLD, changed)]
        times, values = found["cwnd", 1]
        for at in (0.5, 1.7, 3.9):
            told = values[times <= at][-1]
            wanted = [rows[rows["t_s"] <= at]["value"].iloc[-1] for rows in series]
            assert told == pytest.approx(wanted[1] - wanted[0], rel=1e-6), at
        for wrong in ({"before": "none"}, {"until_s": 0.0}, {"columns": 10**9}, {"from_s": "x"}):
            assert lab.ask("difference", **{**asked, **wrong})[0] == 422


def test_two_tabs_do_not_disturb_each_other(lab):
    with lab.socket() as one, lab.socket() as other:
        first, second = Watcher(one), Watcher(other)
        ids = {first.begin(WORLD, 1)["run"], second.begin(WORLD, 2)["run"]}
        assert len(ids) == 2
        ends = [watch.until("ended") for watch in (first, second)]
        assert [end["summary"]["seed"] for end in ends] == [1, 2]


def test_a_lost_connection_takes_its_run_up_again(lab):
    with lab.socket() as socket:
        name = Watcher(socket).begin(LONG, pace=0.5)["run"]
    with lab.socket() as socket:
        again = Watcher(socket)
        again.say("attach", version=1, run=name)
        assert again.until("started", "gone")["run"] == name
        again.say("stop")
        assert again.until("ended")["state"] == "stopped"


def test_a_run_that_nobody_watches_is_cancelled(lab):
    with lab.socket() as socket:
        name = Watcher(socket).begin(LONG, pace=0.5)["run"]
        session = lab.lab.runs.sessions[name]
    session.thread.join(300)
    assert session.state == "stopped" and name not in lab.lab.runs.sessions
    with lab.socket() as socket:
        late = Watcher(socket)
        late.say("attach", version=1, run=name)
        assert late.until("started", "gone")["kind"] == "gone"


def test_a_new_run_ends_the_one_before(lab, watcher):
    first = watcher.begin(LONG)["run"]
    session = lab.lab.runs.sessions[first]
    watcher.begin(WORLD)
    session.thread.join(300)
    assert session.state == "stopped" and first not in lab.lab.runs.sessions


def test_pause_and_pace(watcher):
    watcher.begin(LONG, pace=10.0)
    watcher.when(lambda head: head["now_s"] > 0.5)
    watcher.say("pause")
    head = watcher.when(lambda head: head["state"] == "paused")
    time.sleep(0.2)
    assert watcher.show()[0]["now_s"] == head["now_s"]
    watcher.say("pace", factor=None)
    watcher.say("continue")
    watcher.when(lambda later: later["now_s"] > 2 * head["now_s"])
    watcher.say("stop")
    assert watcher.until("ended")["state"] == "stopped"


def test_only_so_many_runs_compute_at_once(serve):
    lab = serve(limits=SessionLimits(at_once=1, waiting=2))
    with lab.socket() as one, lab.socket() as two, lab.socket() as three:
        first, second, third = Watcher(one), Watcher(two), Watcher(three)
        first.begin(LONG)
        second.begin(WORLD)
        time.sleep(0.2)
        assert second.show()[0]["state"] == "waiting"
        assert "close another tab" in third.begin(WORLD)["error"]["message"]
        first.say("stop")
        assert second.until("ended")["state"] == "done"


def test_who_waits_can_give_up():
    import threading

    slots, cancelled = Slots(1), threading.Event()
    slots.take(cancelled)
    cancelled.set()
    with pytest.raises(Stopped):
        slots.take(cancelled)


@pytest.mark.parametrize("preset", presets.load(), ids=lambda one: one["name"])
def test_each_preset_can_be_run(preset):
    scenario = recorded(parse(preset["toml"]))
    assert tonopah.check(scenario)["resolved"]["duration"] and preset["title"] and preset["text"]
    short = tonopah.run({**scenario, "duration": "300ms" if preset["name"] == "incast" else "3s"})
    assert short.summary["network"]["received_packets"] > 0


def test_the_lab_is_not_loaded_by_the_package():
    import subprocess
    import sys

    names = ("starlette", "uvicorn", "tonopah.lab")
    code = f"import sys, tonopah, tonopah.cli.main; print([m for m in sys.modules if m.startswith({names})])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_files_of_a_run(lab, tmp_path):
    import io
    import zipfile

    import pandas as pd

    def names(form):
        status, headers, body = lab.request(
            "POST", "/api/export", json.dumps({"document": WORLD, "seed": 3, "form": form}).encode()
        )
        assert status == 200, body
        return headers["content-type"], body

    result = tonopah.run(WORLD, 3)
    kind, body = names("csv")
    with zipfile.ZipFile(io.BytesIO(body)) as packed:
        found = pd.read_csv(packed.open("cwnd.csv"))
        assert kind == "application/zip" and {f"{name}.csv" for name in WORLD["record"]["series"]} == set(packed.namelist())
    assert np.array_equal(found["value"], result.series("cwnd")["value"])
    with zipfile.ZipFile(io.BytesIO(names("parquet")[1])) as packed:
        assert {"flows.parquet", "links.parquet", "cwnd.parquet"} <= set(packed.namelist())
    with zipfile.ZipFile(io.BytesIO(names("pcapng")[1])) as packed:
        assert "left0.pcapng" in packed.namelist()
    assert b"<svg" in names("svg")[1]
    assert lab.ask("export", document=WORLD, form="exe")[0] == 422
