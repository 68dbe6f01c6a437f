"""`tonopah identify --check`: recordings of Linux whose algorithm is known, judged as any trace, beside what must hold."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tonopah.errors import InputError
from tonopah.identification.api import NONE, Identification, identify_sending
from tonopah.identification.features import features
from tonopah.identification.judging import UNKNOWN, Judge
from tonopah.identification.simulations import KIN, Simulated
from tonopah.validate.frame import read_table
from tonopah.validate.linux.recordings import LinuxCase, shipped
from tonopah.validate.linux.worlds import MSS_BYTES

UNREAD = Path(__file__).parents[2] / "tests" / "data" / "linux"
"""What else TCP_INFO had of the recordings: in the repository, and not in the package."""
SINGLY_SEGMENTS = {"6.1": 11_564, "6.18": 2_898}
"""So many segments the recorded receivers acknowledged one by one, as the packet logs show (`validate/linux/worlds.py`)."""
FORGOTTEN = 32
"""ACKs after which the smoothed RTT has forgotten that of the handshake: it weighs (7/8)^32, a sixtieth."""
TABLE = re.compile(r"(?<=<!-- check -->\n).*?(?=<!-- /check -->)", re.DOTALL)
GOALS = {"10 Mb/s, 40 ms": 0.95, "50 Mb/s, 100 ms": 0.90}
"""Shares that must be right, of the links of which there is a recording of every algorithm."""


@dataclass(frozen=True)
class Checked:
    """What a recording was taken for."""

    case: LinuxCase
    found: Identification
    right: bool
    place: int
    """Of the right name in the ranking, from 0."""
    in_set: bool
    unknown_without: bool
    """None of ours, with the algorithm and its kin left out."""

    @property
    def link(self) -> str:
        """Its link in words."""
        return f"{self.case.mbps:g} Mb/s, {2 * self.case.owd_ms:g} ms"


def recordings() -> list[LinuxCase]:
    """Return the recordings of one flow with SACK over a link that loses by its queue alone, and does not mark."""
    return [one for one in shipped().cases if one.kind == "steady" and one.sack and one.mark is None]


def curves(case: LinuxCase, folder: Path = UNREAD, flow: int = 0) -> dict[str, Any]:
    """Return a flow of a recording as `identify_sending` takes it. Raises InputError without the columns of the repository.

    The smoothed RTT reaches its peak: a loss is followed by a round trip of selective ACKs, each a sample of a full queue. Linux
    counts from the first segment that an ACK covers: a delayed one adds the time between two segments, which is taken off.
    """
    path = folder / case.kernel / f"{case.name}.unread.parquet"
    if not path.is_file():
        raise InputError(
            "--check", f"{path} is not there", "a checkout of the repository: the package has a part of the recordings"
        )
    samples = shipped().samples(case)
    mine = (samples["flow"] == flow).to_numpy()
    samples, more = samples[mine], read_table(path)[mine]
    t_s, outstanding = samples["t_us"].to_numpy() / 1e6, (more["unacked"] - more["sacked"]).to_numpy()
    # The first data leaves right after the last sample without it.
    t_s = t_s - t_s[max(0, int(np.flatnonzero(outstanding > 0)[0]) - 1)]
    delivered, srtt_s = np.maximum(more["delivered"].to_numpy() - 1, 0), more["srtt_us"].to_numpy() / 1e6
    singly = SINGLY_SEGMENTS[case.kernel]
    srtt_s = srtt_s - np.where(delivered > singly, float(t_s[-1]) / float(delivered[-1]), 0.0)
    known = delivered >= FORGOTTEN
    again = np.maximum(np.diff(samples["total_retrans"].to_numpy(), prepend=0), 0)
    return {
        "t_s": t_s, "outstanding_bytes": outstanding * MSS_BYTES, "delivered_bytes": delivered * MSS_BYTES,
        "rtt": np.vstack([[0.0, srtt_s[0]], np.column_stack([t_s, srtt_s])[known]]), "retransmissions_s": np.repeat(t_s, again),
        "mss_bytes": MSS_BYTES, "singly_bytes": singly * MSS_BYTES,
    }  # fmt: skip


def checked(case: LinuxCase, names: Sequence[str] = ()) -> Checked:
    """Return what a recording is taken for among candidates, the usual ones without names."""
    found = identify_sending(**curves(case), beside="none", candidates=names)
    shown, name = found.shown, case.cc[0]
    assert shown
    alike, candidates = KIN[0] if name in KIN[0] else (name,), shown.judge.candidates
    right = [place for place, one in enumerate(candidates) if one.name in alike and one.profile == "linux"]
    first = shown.judged.order[0]
    place = next(place for place, one in enumerate(shown.judged.order) if one in right)
    rest = without(shown.judge.simulated, [p for p, one in enumerate(candidates) if one.is_kin(candidates[right[0]])])
    left = Judge(rest).judge(features(shown.sending, shown.path))
    return Checked(case, found, first in right, place, any(one in right for one in shown.judged.names), left.unknown > UNKNOWN)


def without(simulated: Simulated, out: Sequence[int]) -> Simulated:
    """Return simulations without those of some candidates."""
    kept = [place for place in range(len(simulated.candidates)) if place not in out]
    rows = np.isin(simulated.owner, kept)
    owner = np.searchsorted(kept, simulated.owner[rows])
    return Simulated([simulated.candidates[place] for place in kept], simulated.rows[rows], owner, simulated.draw[rows])


def check(wanted: Sequence[LinuxCase], tell: Callable[[Checked], None] = lambda one: None) -> list[Checked]:
    """Return what recordings are taken for."""
    found = []
    for case in wanted:
        found.append(checked(case))
        tell(found[-1])
    return found


def table(found: Sequence[Checked]) -> str:
    """Return a Markdown table with a row for each link."""
    lines = [
        "| link | recordings | right | in the first three | *none of ours* | … with it left out | named beside it | confidence |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for link, some in by_link(found):
        none = sum(one.found.answer == NONE for one in some)
        named = sum(len(one.found.shown.judged.names) - 1 for one in some if one.found.shown) / len(some)
        sure = float(np.mean([one.found.shown.judged.confidence for one in some if one.found.shown]))
        lines.append(
            f"| {link} | {len(some)} | {sum(one.right for one in some)} | {sum(one.place < 3 for one in some)} | {none} | "
            f"{sum(one.unknown_without for one in some)} | {named:.1f} | {sure:.2f} |"
        )
    return "\n".join(lines) + "\n"


def by_link(found: Sequence[Checked]) -> list[tuple[str, list[Checked]]]:
    """Return recordings by their links, in order."""
    links = dict.fromkeys(one.link for one in found)
    return [(link, [one for one in found if one.link == link]) for link in links]


def missed(found: Sequence[Checked]) -> Iterator[str]:
    """Yield what must hold and does not, over the links of which every algorithm was recorded."""
    some = [one for one in found if one.link in GOALS]
    if not some:
        return
    for link, group in by_link(some):
        if sum(one.right for one in group) < GOALS[link] * len(group):
            yield f"{link}: fewer than {GOALS[link]:.0%} are right"
    count = len(some)
    judged = [one.found.shown.judged for one in some if one.found.shown]
    named = [(one.right, judgement.confidence) for one, judgement in zip(some, judged, strict=True) if one.found.answer != NONE]
    shares = np.array(named, float).mean(axis=0) if named else np.zeros(2)
    holds = {
        "all in the first three": all(one.place < 3 for one in some),
        "at most 12 % none of ours": sum(one.found.answer == NONE for one in some) <= 0.12 * count,
        "at least 80 % none of ours with the algorithm left out": sum(one.unknown_without for one in some) >= 0.8 * count,
        "at least 97 % with the right name in the set": sum(one.in_set for one in some) >= 0.97 * count,
        "at most 2 names in the mean": sum(len(one.names) for one in judged) <= 2 * count,
        "confidence within 0.08 of the share that is right": abs(shares[0] - shares[1]) <= 0.08,
        "no wrong answer with confidence 0.98": not any(sure >= 0.98 and not right for right, sure in named),
    }
    yield from (f"it does not hold: {text}" for text, true in holds.items() if not true)


def write_table(path: Path, text: str) -> None:
    """Put the table into a page, between its two marks. Raises InputError."""
    try:
        page = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"cannot be read: {error}", "a page with <!-- check --> and <!-- /check -->") from None
    if not TABLE.search(page):
        raise InputError(str(path), "has no place for the table", "lines <!-- check --> and <!-- /check -->")
    path.write_text(TABLE.sub(lambda _: text, page), encoding="utf-8")
