"""Recordings of Linux behind the plots of the lab: each world runs, and the window is the kernel's."""

import pytest

import tonopah as tp
from tonopah.lab import recorded
from tonopah.validate.linux import worlds
from tonopah.validate.linux.recordings import shipped

CASES = recorded.cases()


def test_every_recording_of_one_run_has_a_world_and_windows():
    windows = recorded.windows()
    assert [one["name"] for one in recorded.listed()] == list(windows) and len(windows) > 100
    assert all("record" not in one["document"] and tp.check(one["document"]) for one in recorded.listed())
    for case in CASES:
        assert len(windows[case.id]) == case.flows
        for flow in windows[case.id]:
            assert (
                flow["t_s"] == sorted(flow["t_s"]) and len(flow["t_s"]) == len(flow["cwnd_bytes"]) <= 2 * recorded.INTERVALS + 2
            )


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.kernel == "6.1" and case.name in ("cubic-drop-one", "reno-drop-one")]
)
def test_what_is_thinned_keeps_the_greatest_window_and_is_near_ours(case):
    (window,) = recorded.windows()[case.id]
    assert max(window["cwnd_bytes"]) == shipped().samples(case)["cwnd_pkts"].max() * worlds.MSS_BYTES
    ours = tp.run(recorded.document(case) | {"record": {"series": ["send_window"], "every": "change"}}).series("send_window")
    assert ours["value"].max() == pytest.approx(max(window["cwnd_bytes"]), rel=0.05)
