"""The path of least delay over satellites of a TLE set: Hypatia's round trips (Kassing et al. 2020) over Kuiper's first shell."""

import math
import re
import tomllib

import pytest

import tonopah as tp
from tonopah.cli.main import main

sgp4 = pytest.importorskip("sgp4.api")

PLACES = ["--from", "Manila=14.6042,120.9822", "--to", "Dalian=38.913811,121.602322", "--rate", "10Mbps"]


def elements(planes=34, each=34, altitude_km=630.0, inclination=51.9):
    """The two-line elements of a shell, as Hypatia makes them: every second plane is shifted by half a distance."""
    from sgp4.exporter import export_tle

    motion = math.sqrt(398_600.4418 / (6378.135 + altitude_km) ** 3) * 60
    lines = [f"{planes} {each}"]
    for plane in range(planes):
        for index in range(each):
            made = sgp4.Satrec()
            anomaly = 2 * math.pi * ((index + 0.5 * (plane % 2)) / each)
            made.sgp4init(
                sgp4.WGS72, "i", 1 + plane * each + index, 18262.0, 0.0, 0.0, 0.0, 1e-7, 0.0,
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
    # 30 degrees over a flat Earth, as there, are 25.2 over a round one.
    assert least >= 25 and most <= 48 and least < mean < most
    link = tomllib.loads((tmp_path / "tles.toml").read_text())["network"]["bottleneck"]
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
