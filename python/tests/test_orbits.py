"""The path of least delay over satellites of a TLE set: Hypatia's round trips (Kassing et al. 2020) over Kuiper's first shell."""

import math
import re
import tomllib

import pytest

import tonopah as tp
from tonopah.cli.main import main

sgp4 = pytest.importorskip("sgp4.api")

EPOCH = 18_263.0
"""2000-01-01 00:00 UTC, in days from 1949-12-31, as SGP4 counts them."""
PLACES = ["--from", "Manila=14.6042,120.9822", "--to", "Dalian=38.913811,121.602322", "--rate", "10Mbps"]


def elements(planes=34, each=34, revolutions_a_day=14.8, inclination=51.9):
    """The two-line elements of a shell, as Hypatia makes them: from 2000 on, every second plane shifted by half a distance."""
    from sgp4.exporter import export_tle

    motion = revolutions_a_day * 2 * math.pi / 1440
    lines = [f"{planes} {each}"]
    for plane in range(planes):
        for index in range(each):
            made = sgp4.Satrec()
            anomaly = 2 * math.pi * ((index + 0.5 * (plane % 2)) / each)
            made.sgp4init(
                sgp4.WGS72, "i", 1 + plane * each + index, EPOCH, 0.0, 0.0, 0.0, 1e-7, 0.0,
                math.radians(inclination), anomaly, motion, 2 * math.pi * plane / planes,
            )  # fmt: skip
            lines += [f"Kuiper-630 {plane * each + index}", *export_tle(made)]
    return "\n".join(lines) + "\n"


def test_manila_and_dalian_are_25_to_48_ms_apart_over_kuiper(tmp_path, monkeypatch, capsys):
    (tmp_path / "tles.txt").write_text(elements())
    monkeypatch.chdir(tmp_path)
    assert main(["import", "tle", "tles.txt", *PLACES, "--elevation", "25.2", "--seconds", "200"]) == 0
    said = capsys.readouterr().out
    least, most, mean = (float(word) for word in re.search(r"round trips ([\d.]+) to ([\d.]+) ms, ([\d.]+) in", said).groups())
    # 30 degrees over a flat Earth, as there, are 25.2 over a round one. Its figures are 25 to 48 ms, 40 in the mean.
    assert [round(value) for value in (least, most, mean)] == [25, 48, 40]
    link = tomllib.loads((tmp_path / "tles.toml").read_text())["network"]["bottleneck"]
    # Hypatia's list of its routes has new ones from 18, 27.6, 74.3, 125.9 and 128.7 s on; here each second is looked at.
    delay_ms = [float(change["delay"].removesuffix("us")) / 1e3 for change in link["changes"]]
    jumps = [link["changes"][i]["at"] for i in range(1, len(delay_ms)) if abs(delay_ms[i] - delay_ms[i - 1]) > 0.25]
    new = [18, 27.6, 74.3, 125.9, 128.7]
    assert [float(at.removesuffix("us")) / 1e6 for at in jumps] == [pytest.approx(math.ceil(at) + 0.5, abs=0.5) for at in new]
    assert len(link["changes"]) > 150
    assert tp.run(tmp_path / "tles.toml", set={"duration": "2s"}).flows["delay_min_s"][0] > least / 2e3 - 1e-3


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        ("hello\n", PLACES, "tles.txt: holds no whole set of two-line elements"),
        ("2 1\n" + elements(1, 1).partition("\n")[2], PLACES, "line 1: says 2 planes of 1, and 1 satellites follow"),
        ("", PLACES[:4], "--rate: is missing"),
        ("", ["--from", "Manila", *PLACES[2:]], "--from: 'Manila' is no place"),
        (elements(1, 1), [*PLACES, "--elevation", "95"], "--elevation: 95 is no elevation"),
        (elements(1, 1), [*PLACES, "--seconds", "2"], "no path at any second"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, monkeypatch, capsys, text, more, words):
    (tmp_path / "tles.txt").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["import", "tle", "tles.txt", *more]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "tles.toml").exists()


def test_places_are_for_satellites_alone(capsys):
    assert main(["import", "fcc", "x.csv", "--from", "1,1"]) == 2
    assert "--from: has no effect on fcc (it is for tle)" in capsys.readouterr().err
