"""Series around handovers."""

import pandas as pd
import pytest

from tonopah.plot import handover


@pytest.fixture
def frames():
    times = [float(t) for t in range(601)]
    return {name: pd.DataFrame({"t_s": times, "value": [1e6 + t for t in times]}) for name in ("newreno", "cubic")}


def test_time_is_counted_from_the_handover(frames):
    (drawn,) = handover.plot_around(frames, "throughput", "flow 0", [100.5, 300.0])
    assert drawn.name == "handover-throughput"
    assert set(drawn.data["handover_s"]) == {100.5, 300.0}
    first = drawn.data[(drawn.data["handover_s"] == 100.5) & (drawn.data["algorithm"] == "cubic")]
    # Mb/s, as on the axis; a second more on both sides.
    assert first["since_s"].tolist() == [t - 100.5 for t in range(90, 122)]
    assert first["value"].iloc[0] == pytest.approx(1.00009)
    assert "flow 0" in drawn.caption and "all 2" in drawn.caption


def test_only_the_first_handovers_have_panels(frames):
    (drawn,) = handover.plot_around(frames, "throughput", "flow 0", [50.0, 100.0, 150.0, 200.0, 250.0])
    assert sorted(set(drawn.data["handover_s"])) == [50.0, 100.0, 150.0, 200.0]
    assert "the first 4" in drawn.caption


def test_without_a_handover_there_is_nothing(frames):
    assert handover.plot_around(frames, "throughput", "flow 0", []) == []
