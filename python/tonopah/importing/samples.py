"""What measured a link: rates and one-way delays over time, read from the files of public data sets.

Each reader says what it took which column for. The formats are those of the data sets' own descriptions, named beside each.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tonopah.errors import InputError
from tonopah.scenario.csv_files import read_csv
from tonopah.scenario.link_files import MOST_BPS, MOST_DELAY_S

MOST_S = 1e9
"""What a scenario takes of times."""


@dataclass
class Samples:
    """Rates from given times on, and one-way delays from given times on; either may be absent."""

    times: list[float] = field(default_factory=list)
    bps: list[float] = field(default_factory=list)
    delay_times: list[float] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    length_s: float = 0.0
    """How long the file lasts: the last row as long as the one before it, or as it says."""
    taken: list[str] = field(default_factory=list)
    """What was taken for what, and what was left out."""
    left_out: int = 0

    def add_rate(self, at_s: float, bps: float) -> None:
        """Add a rate; a row that is not after the one before it is left out."""
        if self.times and at_s <= self.times[-1]:
            self.left_out += 1
            return
        self.times.append(at_s)
        self.bps.append(bps)

    def check(self, source: str) -> "Samples":
        """Return the samples. Raises InputError for what no table of rates and no link of a scenario takes."""
        for what, values, most in (
            ("a rate (bit/s)", self.bps, MOST_BPS), ("a delay (s)", self.delays, MOST_DELAY_S),
            ("a time (s)", [*self.times, *self.delay_times, self.length_s], MOST_S),
        ):  # fmt: skip
            if wrong := next((value for value in values if not 0 <= value <= most), None):
                raise InputError("", f"{wrong:g} is {what} that no link has", f"from 0 to {most:g}", source)
        return self

    def add_delay(self, at_s: float, delay_s: float) -> None:
        """Add a delay in the same way; a row that has a rate too was counted there."""
        if self.delay_times and at_s <= self.delay_times[-1]:
            self.left_out += not self.times
            return
        self.delay_times.append(at_s)
        self.delays.append(delay_s)


def logged_bytes(text: str, source: str) -> Samples:
    """Read lines of bytes received in so many milliseconds: HSDPA (Riiser et al. 2013), Ghent (van der Hooft et al. 2016).

    Columns: time, milliseconds since the start, latitude, longitude, bytes since the last line, milliseconds since it. As JSON
    both are lists of `duration_ms`, `bandwidth_kbps` and perhaps `latency_ms` (Spiteri et al. 2018, sabre).
    """
    if text.lstrip().startswith("["):
        return listed_durations(text, source)
    found = Samples(taken=["column 5 (bytes) over column 6 (ms): the rate; the intervals of column 6 follow one another"])
    at = 0.0
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if len(words) < 6:
            raise wrong(number, line, "6 columns: time, ms, latitude, longitude, bytes, ms", source)
        size, length = (finite(word, number, line, source) for word in words[4:6])
        if length <= 0:
            found.left_out += 1
            continue
        found.add_rate(at, 8e3 * size / length)
        at += length / 1e3
    found.length_s = at
    return found


def listed_durations(text: str, source: str) -> Samples:
    """Read a JSON list of `duration_ms`, `bandwidth_kbps` and perhaps `latency_ms`."""
    rows = parsed(text, source)
    found = Samples(taken=["bandwidth_kbps: the rate for duration_ms; half of latency_ms, if there is one: the one-way delay"])
    at = 0.0
    for index, row in enumerate(rows if isinstance(rows, list) else [rows]):
        if not isinstance(row, dict) or not {"duration_ms", "bandwidth_kbps"} <= row.keys():
            raise InputError(f"[{index}]", "has no duration_ms and bandwidth_kbps", None, source)
        length, kbps = (finite(row[key], index, str(row), source) for key in ("duration_ms", "bandwidth_kbps"))
        if length <= 0:
            found.left_out += 1
            continue
        found.add_rate(at, kbps * 1e3)
        if "latency_ms" in row:
            found.add_delay(at, finite(row["latency_ms"], index, str(row), source) / 2e3)
        at += length / 1e3
    found.length_s = at
    return found


def pensieve(text: str, source: str) -> Samples:
    """Read lines of seconds and Mb/s, as Pensieve (Mao et al. 2017) has the traces of others."""
    found = Samples(taken=["column 1 (s): the time; column 2 (Mb/s): the rate"])
    begin: float | None = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if len(words) != 2:
            raise wrong(number, line, "2 columns: seconds, Mb/s", source)
        at, mbps = (finite(word, number, line, source) for word in words)
        begin = at if begin is None else begin
        found.add_rate(at - begin, mbps * 1e6)
    return found


FCC = ("unit_id", "dtime", "target", "address", "fetch_time", "bytes_total", "bytes_sec")


def fcc(text: str, source: str) -> Samples:
    """Read Measuring Broadband America (`curr_webget`, `curr_httpgetmt`): the tests of the first unit and target."""
    rows = [line for _, line in read_csv(text.splitlines(), source) if line]
    if rows and rows[0][0] != "unit_id":
        rows.insert(0, list(FCC))
    place = columns(rows, ("unit_id", "target", "fetch_time", "bytes_sec"), source)
    found, at, first = Samples(), 0.0, None
    for number, row in enumerate(rows[1:], 2):
        unit = tuple(row[place[key]] if place[key] < len(row) else "" for key in ("unit_id", "target"))
        first = first or unit
        if unit != first:
            found.left_out += 1
            continue
        micros, rate = (cell(row, place[key], number, source) for key in ("fetch_time", "bytes_sec"))
        if micros <= 0:
            found.left_out += 1
            continue
        found.add_rate(at, 8 * rate)
        at += micros / 1e6
    found.length_s = at
    unit_id, target = first or ("", "")
    found.taken = [f"bytes_sec: the rate for fetch_time (us), of unit {unit_id} and target {target}; tests follow one another"]
    return found


def irish_5g(text: str, source: str) -> Samples:
    """Read the CSV of Raca et al. 2020 (and 2018, 4G): Timestamp, DL_bitrate in kb/s, PINGAVG in ms where it was measured."""
    rows = [line for _, line in read_csv(text.splitlines(), source)]
    place = columns(rows, ("Timestamp", "DL_bitrate"), source)
    ping = rows[0].index("PINGAVG") if "PINGAVG" in rows[0] else None
    found = Samples(
        taken=["Timestamp: the time; DL_bitrate (kb/s): the rate; half of PINGAVG (ms), where it stands: the one-way delay"]
    )
    begin: datetime | None = None
    for number, row in enumerate(rows[1:], 2):
        if not any(row):
            continue
        try:
            stamp = datetime.strptime(row[place["Timestamp"]], "%Y.%m.%d_%H.%M.%S")
        except (ValueError, IndexError):
            raise wrong(number, ",".join(row), "Timestamp like 2019.12.14_10.16.30", source) from None
        begin = begin or stamp
        at = (stamp - begin).total_seconds()
        found.add_rate(at, 1e3 * cell(row, place["DL_bitrate"], number, source))
        if ping is not None and ping < len(row) and row[ping] not in ("", "-"):
            found.add_delay(at, cell(row, ping, number, source) / 2e3)
    return found


def lumos_5g(text: str, source: str) -> Samples:
    """Read the first run of Lumos5G (Narayanan et al. 2020): seq_num in seconds, Throughput in Mb/s."""
    rows = [line for _, line in read_csv(text.splitlines(), source)]
    place = columns(rows, ("run_num", "seq_num", "Throughput"), source)
    found = Samples()
    run: str | None = None
    begin: float | None = None
    for number, row in enumerate(rows[1:], 2):
        if not any(row):
            continue
        this = row[place["run_num"]] if place["run_num"] < len(row) else ""
        run = this if run is None else run
        if this != run:
            found.left_out += 1
            continue
        at = cell(row, place["seq_num"], number, source)
        begin = at if begin is None else begin
        found.add_rate(at - begin, 1e6 * cell(row, place["Throughput"], number, source))
    found.taken = [f"seq_num (s): the time; Throughput (Mb/s): the rate, of run_num {run}"]
    return found


PING = re.compile(r"^\[(\d+(?:\.\d+)?)\].*?\btime=(\d+(?:\.\d+)?) ms")


def lens(text: str, source: str) -> Samples:
    """Read round trips of LENS (Zhao, Pan 2024): IRTT as JSON, ping -D as text, or a table with columns of time and rtt."""
    if text.lstrip().startswith("{"):
        return irtt(text, source)
    if text.startswith("timestamp,rtt"):
        return lens_table(text, source)
    found = Samples(taken=["[seconds]: the time; half of time= (ms): the one-way delay"])
    begin: float | None = None
    for number, line in enumerate(text.splitlines(), 1):
        match = PING.match(line)
        if match is None:
            found.left_out += bool(line.strip())
            continue
        stamp, rtt = (finite(word, number, line, source) for word in match.groups())
        begin = stamp if begin is None else begin
        found.add_delay(stamp - begin, rtt / 2e3)
    if not found.delays:
        raise InputError(
            "line 1", "is no round trip of ping -D", "[1700000000.5] 64 bytes …: time=33.2 ms, or IRTT's JSON", source
        )
    return found


def lens_table(text: str, source: str) -> Samples:
    """Read a processed table of LENS: seconds, or nanoseconds of IRTT, and round trips in ms, of which lost ones are 0 or -1."""
    rows = [line for _, line in read_csv(text.splitlines(), source)]
    found = Samples(taken=["timestamp: the time; half of rtt (ms): the one-way delay; lost trips: left out"])
    unit = 1e9 if "uplink" in rows[0] else 1.0
    begin: float | None = None
    for number, row in enumerate(rows[1:], 2):
        if any(text.startswith("-") for text in row) or (row[1:2] == ["0"]):
            found.left_out += 1
            continue
        stamp, rtt = (cell(row, index, number, source) for index in range(2))
        begin = stamp if begin is None else begin
        found.add_delay((stamp - begin) / unit, rtt / 2e3)
    return found


def irtt(text: str, source: str) -> Samples:
    """Read the round trips of IRTT."""
    trips = parsed(text, source).get("round_trips")
    if not isinstance(trips, list):
        raise InputError("", "has no round_trips", "the JSON that irtt writes", source)
    found = Samples(
        taken=["timestamps.client.send.wall (ns): the time; half of delay.rtt (ns): the one-way delay; lost trips: left out"]
    )
    begin: float | None = None
    for index, trip in enumerate(trips):
        try:
            if str(trip["lost"]) != "false":
                found.left_out += 1
                continue
            stamp, rtt = float(trip["timestamps"]["client"]["send"]["wall"]), float(trip["delay"]["rtt"])
            if not (math.isfinite(stamp) and 0 <= rtt < math.inf):
                raise ValueError(rtt)
        except (KeyError, OverflowError, TypeError, ValueError):
            raise InputError(f"round_trips[{index}]", "has no timestamps.client.send.wall and delay.rtt", None, source) from None
        begin = stamp if begin is None else begin
        found.add_delay((stamp - begin) / 1e9, rtt / 2e9)
    return found


def leocc_delays(text: str, source: str) -> Samples:
    """Read `delay_N.txt` of LeoCC (Lai et al. 2025): a one-way delay in milliseconds for each 10 ms."""
    found = Samples(taken=["each line: the one-way delay (ms) of the next 10 ms"])
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            found.add_delay(len(found.delays) * 0.01, finite(line, number, line, source) / 1e3)
    found.length_s = 0.01 * len(found.delays)
    return found


KINDS: dict[str, Callable[[str, str], Samples]] = {
    "fcc": fcc, "hsdpa": logged_bytes, "ghent": logged_bytes, "pensieve": pensieve, "irish5g": irish_5g, "lumos5g": lumos_5g,
    "lens": lens,
}  # fmt: skip
"""Kinds of one file each, and how it is read."""


def columns(rows: list[list[str]], needed: Iterable[str], source: str) -> dict[str, int]:
    """Return where the columns of a table with a header stand."""
    names = [name.strip() for name in rows[0]] if rows else []
    if missing := [name for name in needed if name not in names]:
        raise InputError("line 1", f"has no column {', '.join(missing)}", f"found: {', '.join(names)[:200]}", source)
    return {name: names.index(name) for name in needed}


def cell(row: list[str], index: int, number: int, source: str) -> float:
    """Return the number in a cell."""
    return finite(row[index] if index < len(row) else "", number, ",".join(row), source)


def finite(word: Any, number: int, line: str, source: str) -> float:
    """Return a number that is at least 0."""
    try:
        value = float(word)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise wrong(number, line, f"{str(word)[:40]!r} should be a number from 0 on", source)
    return value


def wrong(number: int, line: str, expected: str, source: str) -> InputError:
    """Return the error of a line."""
    return InputError(f"line {number}", f"{line.strip()[:40]!r} is no row of this kind", expected, source)


def parsed(text: str, source: str) -> Any:
    """Return the content of a JSON file."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}", f"is not JSON: {error.msg}", None, source) from None
    except RecursionError:
        raise InputError("", "is nested too deeply", None, source) from None
    except ValueError as error:
        # A whole number of thousands of digits.
        raise InputError("", f"is not JSON: {error}", None, source) from None
