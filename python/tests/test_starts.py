"""Starts of the engine around algorithms, also around classes in Python."""

import pytest

import tonopah as tp


class Half(tp.CongestionControl):
    """Halves, and leaves its slow start to the engine."""

    starts = True

    def on_ack(self, ack, view):
        if view.may_grow:
            self.cwnd_bytes += ack.acked_bytes * view.mss_bytes / self.cwnd_bytes

    def on_congestion(self, event, view):
        self.ssthresh_bytes = max(0.5 * self.cwnd_bytes, 2 * view.mss_bytes)
        self.cwnd_bytes = event.loss_window_bytes if event.cause == "timeout" else self.ssthresh_bytes


class Own(Half):
    """Has a slow start of its own."""

    starts = False


def world(cc, **tcp):
    return {
        "duration": "8s",
        "network": {
            "kind": "dumbbell", "pairs": 1, "access": {"rate": "1Gbps", "delay": "1ms"},
            "bottleneck": {"rate": "20Mbps", "delay": "48ms", "queue": "4bdp"},
        },
        "tcp": {"profile": "linux", "cc": cc, **tcp},
        "flow": [{"from": "left0", "to": "right0"}],
        "record": {"series": ["ssthresh"], "internals": ["start"], "every": "change"},
    }  # fmt: skip


def first_threshold(result):
    values = result.series("ssthresh")["value"]
    return next(value for value in values if value < 1e12)


def test_a_class_in_python_takes_a_start():
    """HyStart leaves slow start at the same window around a class as around CUBIC."""
    own, cubic = (tp.run(world(cc, start="hystart")) for cc in (Half, "cubic"))
    assert first_threshold(own) == first_threshold(cubic)
    assert list(own.series("cc.start")["value"])[:2] == [1.0, 0.0]


def test_a_class_that_does_not_ask_for_it_is_refused_with_what_to_do():
    with pytest.raises(tp.ScenarioError, match=r"tcp.start: .*Own has a start of its own .*starts = True"):
        tp.run(world(Own, start="hystart"))
    with pytest.raises(tp.ScenarioError, match=r"tcp.cwnd_validation: .*sets its window itself .*starts = True"):
        tp.run(world(Own, cwnd_validation="ratelimited"))


def test_machine_code_has_no_start():
    class Native(Half):
        """Its machine code keeps the window."""

        native_entry = (0, 0, 0)

    with pytest.raises(tp.InputError, match=r"Native.starts = True is not for machine code"):
        tp.run(world(Native))
