"""The lessons, worked through by a student: right answers are told so, and wrong ones too."""

import copy
import json
import shutil
import subprocess

import pytest

import tonopah
from tonopah.errors import InputError
from tonopah.lab import lessons
from tonopah.lab.app import STATIC
from tonopah.lab.session import recorded
from tonopah.scenario.paths import put

GUESSES = {
    "slow-start": 2, "sawtooth": 1, "two-flows": 1, "bloated-buffer": 1528.0, "unequal-rtts": 2, "bbr-and-cubic": 2,
    "wifi-ceiling": 4.8, "satellite": 67.0,
}  # fmt: skip
READ = {
    "slow-start": [lambda run: run.series("cwnd")["value"].max() / 1e3, lambda run: run.links["dropped_packets"][0]],
    "sawtooth": [lambda run: run.flows["cwnd_mean_bytes"][0] / 1e3, lambda run: run.flows["goodput_bps"][0] / 1e6],
    "two-flows": [
        lambda run: run.flows["goodput_bps"][1] / 1e6, lambda run: run.flows["goodput_bps"][1] / run.flows["goodput_bps"][0],
    ],
    "bloated-buffer": [lambda run: run.series("rtt")["value"].max() * 1e3, lambda run: run.links["delay_queue_mean_s"][0] * 1e3],
    "unequal-rtts": [
        lambda run: run.flows["goodput_bps"][0] / run.flows["goodput_bps"][1], lambda run: run.flows["rtt_s"][1] * 1e3,
    ],
    "bbr-and-cubic": [lambda run: run.flows["goodput_bps"][1] / 1e6, lambda run: run.flows["retransmitted_packets"][0]],
    "wifi-ceiling": [lambda run: run.flows["goodput_bps"].sum() / 1e6],
    "satellite": [
        lambda run: run.series("path_delay")["value"].max() * 1e3, lambda run: run.series("path_delay")["value"].min() * 1e3,
    ],
}  # fmt: skip
"""What a student reads from the run of each lesson, in the order of its tasks."""
REACHED = {
    "slow-start": [{"tcp.initial_ssthresh": "70kB"}],
    "sawtooth": [{"network.bottleneck.loss": {"kind": "packet", "p": 0.00025}}],
    "two-flows": [{"flow.1.start": "50s"}],
    "bloated-buffer": [{"network.bottleneck.queue": {"kind": "fq_codel"}}],
    "unequal-rtts": [{"tcp.cc": "hybla"}],
    "bbr-and-cubic": [{"network.bottleneck.queue": "600p"}],
    "wifi-ceiling": [{"network.radio.data_rate": "54Mbps"}, {"traffic.app.rate": "75pps"}],
    "satellite": [{"network.preset": "geo", "duration": "60s"}],
}
"""What a student changes, for each task of the second kind."""


SERIES = {("cwnd", 0, "max"), ("rtt", 0, "max"), ("path_delay", 0, "max"), ("path_delay", 0, "min")}
"""Of which tasks ask for a number."""
JUDGE = """
import { createInterface } from "node:readline";
const { judgeGuess, judgeTask } = await import(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const { lesson, task, run, answer } = JSON.parse(line);
  const statistic = async (...which) => run.statistics[which.join(" ")];
  const whole = { ...run, statistic };
  const judged = task === null ? judgeGuess(lesson, whole, answer) : judgeTask(lesson, lesson.tasks[task], whole, answer);
  console.log(JSON.stringify(await judged.catch((error) => ({ error: error.message }))));
}
"""


class Judge:
    """The judge of the page, in Node."""

    def __init__(self, folder, name):
        node = shutil.which("node") or pytest.skip("no Node on this machine")
        (folder / "judge.mjs").write_text(JUDGE)
        command = [node, "--experimental-default-type=module", folder / "judge.mjs", STATIC / "judge.js"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lesson = next(one for one in lessons.listed() if one["name"] == name)

    def says(self, run, answer, task=None):
        """Return what it says of an answer."""
        asked = {"lesson": self.lesson, "task": task, "run": run, "answer": answer}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def run(scenario):
    """Return a run, and what of it the judge sees."""
    document = recorded(scenario)
    result, numbers = tonopah.run(document), {}
    for name, owner, kind in SERIES:
        if name in document["record"]["series"]:
            table = result.series(name)
            own = table[table.iloc[:, 1] == owner]["value"]
            numbers |= {f"{name} {owner} {kind}": float(own.agg(kind))} if len(own) else {}
    return result, {"summary": result.summary, "document": document, "statistics": numbers}


def changed(scenario, changes):
    document = copy.deepcopy(scenario)
    for path, value in changes.items():
        put(document, path, value)
    return document


def test_there_are_eight_with_three_tasks_each():
    assert len(lessons.load()) == 8 and all(len(lesson.task) == 3 for lesson, _ in lessons.load().values())


@pytest.mark.parametrize("name", list(READ))
def test_a_student_does_a_lesson(name, tmp_path):
    lesson, text = lessons.load()[name]
    assert "## What happens" in text and "## Why" in text
    (result, seen), reads, changes = run(lesson.scenario), iter(READ[name]), iter(REACHED[name])
    with Judge(tmp_path, name) as judge:
        assert judge.says(seen, GUESSES[name])["right"]
        wrong = judge.says(seen, 0 if lesson.guess.choices else 1e6)
        assert not wrong["right"] and wrong["told"]
        for number, task in enumerate(lesson.task):
            if task.kind == "read":
                value = float(next(reads)(result))
                assert judge.says(seen, value, number) == {"right": True, "told": task.right}
                for off in (value * (1 + 3 * task.within) + 1, -value):
                    told = judge.says(seen, off, number)
                    assert not told["right"] and task.hint in told["told"]
            else:
                told = judge.says(seen, None, number)
                assert not told["right"] and task.hint in told["told"]
                wanted = next(changes)
                _, solved = run(changed(lesson.scenario, wanted))
                assert judge.says(solved, None, number) == {"right": True, "told": task.right}
                _, cheated = run(changed(lesson.scenario, {**wanted, "tcp.mss": "500B"}))
                assert "Change only" in judge.says(cheated, None, number)["told"]
        assert "no such number" in judge.says({**seen, "summary": {}, "statistics": {}}, 1.0, 0)["error"]
    assert not list(reads) and not list(changes)


def of_run(name, **changes):
    return tonopah.run(recorded(changed(lessons.load()[name][0].scenario, changes)))


def test_what_the_first_lesson_says_is_what_its_run_does():
    run, (lesson, text) = of_run("slow-start"), lessons.load()["slow-start"]
    cwnd, pipe, queue = run.series("cwnd"), 10e6 * 0.044 / 8, 60 * 1500
    ratio = cwnd["value"].max() / (pipe + queue)
    told = [1 + 1448 / (pipe + queue), 1.5, 2.0]
    assert min(range(3), key=lambda i: abs(told[i] - ratio)) == lesson.guess.right
    # Round trips are apart: the path needs 44 ms, and the window of the first ones leaves in a part of it.
    rounds = (cwnd["t_s"].diff() > 0.02).cumsum()
    ends = cwnd["value"].groupby(rounds).last().iloc[:3]
    assert list(ends / ends.iloc[0]) == [1, 2, 4]
    drops, again = run.links["dropped_packets"].sum(), run.flows["retransmitted_packets"][0]
    assert drops == again and drops == pytest.approx((pipe + queue) / 1500, rel=0.1)
    other = of_run("slow-start", **{"tcp.profile": "rfc", "tcp.cc": "newreno"})
    assert "1.5 W" in text and other.series("cwnd")["value"].max() / (pipe + queue) == pytest.approx(1.5, abs=0.05)


def test_what_other_lessons_say_of_their_runs():
    late = of_run("two-flows").series("cwnd").query("t_s > 20").groupby("flow")["value"].mean()
    assert late[1] / late[0] == pytest.approx(1, abs=0.1)
    bloated = of_run("bloated-buffer")
    assert bloated.summary["flows"][0]["rto_count"] == 0 and "halve" not in lessons.load()["bloated-buffer"][1]
    beta = next(
        param["default"]
        for one in tonopah.algorithms()
        if one["name"] == "cubic"
        for param in one["params"]
        if param["name"] == "beta"
    )
    assert beta == pytest.approx(0.7) and "three tenths" in lessons.load()["bbr-and-cubic"][0].guess.why
    near, far = of_run("unequal-rtts").flows["goodput_bps"]
    assert near / far > 3.5
    cubic, bbr = of_run("bbr-and-cubic").flows["goodput_bps"]
    assert bbr > 1.2 * cubic


@pytest.mark.parametrize("head", ["title = 1", 'title = "a"\nsummary = "b"\nunknown = 1', "no TOML"])
def test_a_file_that_is_no_lesson_is_refused_with_its_name(tmp_path, head):
    path = tmp_path / "09-mine.md"
    path.write_text(f"+++\n{head}\n+++\n\ntext")
    with pytest.raises(InputError) as refused:
        lessons.read(path)
    assert "09-mine.md" in str(refused.value)
