"""What transport builders report, and no other test has: growth that the application does not use, and a shaper's burst."""

import pytest

import tonopah as tp

LINE = {"kind": "dumbbell", "pairs": 1, "access": {"rate": "1Gbps", "delay": "1ms"}}


class Ok(tp.CongestionControl):
    """Reno, which grows where it may."""

    asks = True

    def on_ack(self, ack, view):
        """Grow."""
        if (self.asks and not view.may_grow) or not ack.acked_bytes:
            return
        if self.cwnd_bytes < self.ssthresh_bytes:
            self.cwnd_bytes += ack.acked_bytes
        else:
            self.cwnd_bytes += view.mss_bytes * ack.acked_bytes / self.cwnd_bytes

    def on_congestion(self, event, view):
        """Halve."""
        self.ssthresh_bytes = max(0.5 * self.cwnd_bytes, 2 * view.mss_bytes)
        self.cwnd_bytes = event.loss_window_bytes if event.cause == "timeout" else self.ssthresh_bytes


class Bug(Ok):
    """The same, which grows although the application does not use its window: the author's bug that `compare` has to find."""

    asks = False


def test_growth_that_the_application_does_not_use_is_seen_where_the_line_falls():
    from tonopah.judge.definitions import definitions

    falls = definitions().experiments["E35"].case["limited, the line falls"]
    bottleneck = {"rate": "20Mbps", "delay": "18ms", "queue": "67p", **falls["link"]}
    world = {
        "duration": "60s", "warmup": "5s", "network": {**LINE, "bottleneck": bottleneck}, "tcp": {"profile": "linux"},
        "flow": [{"from": "left0", "to": "right0", "app": falls["app"]}], "record": {"series": ["cwnd"], "every": "100ms"},
    }  # fmt: skip
    found = {cls: tp.run(world, cc=cls) for cls in (Ok, Bug)}
    cwnd = {cls: run.series("cwnd")["value"].max() for cls, run in found.items()}
    lost = {cls: run.summary["flows"][0]["dropped_packets"] for cls, run in found.items()}
    assert cwnd[Bug] > 10 * cwnd[Ok] and lost[Bug] > 1.1 * lost[Ok], (cwnd, lost)


def test_a_shaper_s_burst_is_what_bbr_takes_for_its_rate():
    queue = {"kind": "tbf", "rate": "17.6Mbps", "burst": "5MB", "queue": {"kind": "drop_tail", "limit": "1000p"}}
    app = {"kind": "request_response", "requests": 3, "response": "20MB", "think": "10s"}
    world = {
        "duration": "60s", "network": {**LINE, "bottleneck": {"rate": "519Mbps", "delay": "18ms", "queue": queue}},
        "tcp": {"profile": "linux", "cc": "bbr", "buffers": "tuned"}, "flow": [{"from": "left0", "to": "right0", "app": app}],
        "record": {"internals": ["bw_bps", "state"], "every": "100ms"},
    }  # fmt: skip
    run = tp.run(world)
    assert run.series("cc.bw_bps")["value"].max() == pytest.approx(519e6, rel=0.1)
    assert run.summary["flows"][0]["loss_ratio"] > 0.2
    assert tp.run(world, set={"tcp.cc": "cubic", "record.internals": []}).summary["flows"][0]["loss_ratio"] < 0.05


def test_a_table_of_udp_has_no_none(capsys, tmp_path):
    from tonopah.cli.main import main
    from tonopah.scenario.document import to_toml

    app = {"kind": "cbr", "rate": "1Mbps", "size": "500B", "transport": "udp", "ecn": "ect1"}
    world = {"duration": "1s", "network": LINE, "flow": [{"from": "left0", "to": "right0", "app": app}]}
    assert tp.check(world)["resolved"]["flow"][0]["app"]["ecn"] == "l4s"
    (tmp_path / "w.toml").write_text(to_toml(world))
    assert main(["run", str(tmp_path / "w.toml")]) == 0
    assert "None" not in capsys.readouterr().out


def test_one_connection_has_phases_and_answers_of_different_sizes():
    bottleneck = {"rate": "20Mbps", "delay": "18ms", "queue": "100p"}
    phases = [{"at": "5s"}, {"at": "8s", "rate": "100Mbps"}]
    app = {"kind": "cbr", "rate": "1Mbps", "size": "1448B", "phases": phases}
    world = {
        "duration": "12s", "network": {**LINE, "bottleneck": bottleneck}, "tcp": {"profile": "linux", "cc": "cubic"},
        "flow": [{"from": "left0", "to": "right0", "app": app}], "record": {"series": ["throughput"], "every": "1s", "bin": "1s"},
    }  # fmt: skip
    rate = tp.run(world).series("throughput")["value"].to_numpy() / 1e6
    assert rate[1:5] == pytest.approx([1] * 4, rel=0.05) and rate[6] == 0 and rate[-1] == pytest.approx(19.2, rel=0.05)
    with pytest.raises(tp.ScenarioError, match=r"flow\[0\]\.app\.phases\[1\]\.at: 5s is not after the phase before"):
        tp.check(world, set={"flow.0.app.phases": [{"at": "5s"}, {"at": "5s"}]})
    app = {"kind": "request_response", "requests": 20, "responses": ["20kB", "200kB"], "think": "100ms"}
    world = {**world, "flow": [{"from": "left0", "to": "right0", "app": app}]}
    flow = tp.run(world, set={"tcp.slow_start_after_idle": False, "record.series": []}).summary["flows"][0]
    assert flow["requests"] == 20 and flow["delivered_bytes"] == 10 * 220_000
    # A round trip of 40 ms each, and 8 or 80 ms of transmission.
    assert 0.07 < flow["request_s"] < 0.1 and flow["request_p95_s"] > 0.12
