"""Figures as a page carries them: no peak is lost, values stay exact, and little room is taken."""

import base64
import itertools
import json

import numpy as np
import pytest

from tonopah.analysis.figure_model import FigureAxis, FigureData, FigureScale, Series
from tonopah.report.embed import INTERVALS, SHARES, pack_times, page_data, page_figure, thin_series


def unpack(packed):
    if "float32" in packed:
        return np.frombuffer(base64.b64decode(packed["float32"]), "<f4").astype(float)
    steps = np.frombuffer(base64.b64decode(packed["steps"]), "<u2").astype(float)
    return packed["first"] + packed["step"] * np.cumsum(steps)


def figure(kind="series", x=(0.0, 1.0), y=(1.0, 2.0), label="cubic"):
    axis = FigureAxis("t_s", "Time", "s") if kind == "series" else FigureAxis("goodput_bps", "Goodput", "Mb/s")
    series = [Series(label, 0, list(x), list(y))]
    return FigureData("series--cwnd", "", kind, "Window", "The window.", axis, FigureScale("cwnd", "Window", "kB"), series)


def test_a_short_series_is_carried_whole():
    times, values = np.arange(0, 5, 0.05), np.arange(100.0)
    one = page_figure(figure(x=times.tolist(), y=values.tolist()))
    assert unpack(one["series"][0]["x"]) == pytest.approx(times, abs=1e-9)
    assert unpack(one["series"][0]["y"]) == pytest.approx(values)
    assert "Shown" not in one["caption"]


def test_a_long_series_keeps_every_peak_and_says_what_is_left_out():
    rng = np.random.default_rng(1)
    times = np.arange(200_000) * 0.001
    values = rng.normal(100, 5, len(times))
    values[77_777], values[123_456] = 1000.0, -1000.0
    made = figure(x=times.tolist(), y=values.tolist())
    one = page_figure(made)
    shown = unpack(one["series"][0]["y"])
    assert len(shown) <= 2 * INTERVALS + 2
    assert (shown.max(), shown.min()) == (1000.0, -1000.0)
    at = unpack(one["series"][0]["x"])
    assert at[shown.argmax()] == pytest.approx(77.777, abs=1e-6) and at[shown.argmin()] == pytest.approx(123.456, abs=1e-6)
    assert np.all(np.diff(at) > 0) and at[-1] == pytest.approx(times[-1])
    assert "smallest and the largest sample of every 0.2 s; figures/series--cwnd.csv has all" in one["caption"]
    # In every interval the extremes of what is shown are those of what was recorded.
    edges = np.linspace(0, times[-1], INTERVALS + 1)
    for low, high in itertools.pairwise(edges[100:121]):
        recorded = values[(times >= low) & (times < high)]
        kept = shown[(at >= low) & (at < high)]
        assert (kept.min(), kept.max()) == pytest.approx((recorded.min(), recorded.max()), rel=1e-6)


def test_of_equal_neighbours_the_first_is_enough_but_the_end_stays():
    x, y = thin_series(np.arange(6.0), np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]))
    assert (x.tolist(), y.tolist()) == ([0.0, 3.0, 5.0], [1.0, 2.0, 2.0])


def test_a_value_that_was_not_measured_is_a_gap():
    one = page_figure(figure(x=[0.0, 1.0, 2.0, 3.0], y=[1.0, None, None, 4.0]))
    assert np.isnan(unpack(one["series"][0]["y"])).tolist() == [False, True, False]


def test_times_are_steps_where_they_are_regular_and_floats_where_not():
    assert set(pack_times(np.array([0.2, 0.25, 0.5]))) == {"first", "step", "steps"}
    irregular = np.array([0.0, 0.1, 0.1 + np.pi / 100, 7.0])
    assert unpack(pack_times(irregular)) == pytest.approx(irregular, rel=1e-6)
    assert len(unpack(pack_times(np.array([3.0])))) == 1


def test_distributions_of_many_flows_are_thinned_between_their_ends():
    values = np.sort(np.random.default_rng(2).exponential(1, 5000))
    one = page_figure(figure("ecdf", values.tolist(), (np.arange(1, 5001) / 5000).tolist()))
    shown = one["series"][0]
    assert len(shown["x"]) == len(shown["y"]) == SHARES
    assert (shown["x"][0], shown["x"][-1], shown["y"][-1]) == pytest.approx((values[0], values[-1], 1.0), rel=1e-6)
    assert "Shown: 400 of the steps" in one["caption"]


def test_no_text_ends_the_script_that_carries_it():
    text = page_data([figure(label="</script><script>alert(1)</script>")])
    assert "<" not in text
    assert json.loads(text)["series--cwnd"]["series"][0]["label"] == "</script><script>alert(1)</script>"
