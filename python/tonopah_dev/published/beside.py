"""Cases of algorithms beside CUBIC and Reno, against measurements of Linux whose data are public.

Tolerances and worlds were set before the first run: ± 0.10 of the share for BBRv1, which has stood since, and ± 0.05, half of
what `evaluate` decides by, for what was added later.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tonopah_dev.published import worlds as measures
from tonopah_dev.published.case import PublishedCase, about
from tonopah_dev.published.worlds import Group, PublishedWorld

BUFFERS = (1, 2, 4, 8, 16, 32)
"""In bandwidth-delay products."""
WARE: Mapping[tuple[str, str], tuple[str, float, tuple[float, ...]]] = {
    ("bbr", "cubic"): ("figure 2a", 0.10, (0.865, 0.601, 0.503, 0.465, 0.414, 0.346)),
    ("bbr", "reno"): ("figure 2c", 0.10, (0.888, 0.638, 0.482, 0.487, 0.474, 0.441)),
    ("bbr3", "cubic"): ("figure 5a", 0.05, (0.489, 0.492, 0.534, 0.519, 0.386, 0.076)),
}
"""Of one flow beside one, 10 Mb/s, 40 ms: figure, tolerance, and its share of what both have, the mean of the three trials of
240 s in data/ware_topology_exps_data of github.com/fatihsarpkaya/bbr-shared-bottleneck. The figures themselves show Mb/s."""
SARPKAYA = "Linux, measured: Sarpkaya et al., IFIP Networking 2025"


def ware(groups: list[Group], buffer: int) -> PublishedWorld:
    """Return the network of Ware et al. (IMC 2019), in which they were measured."""
    return PublishedWorld(groups, 10, 40, f"{round(buffer * 10 * 40 / 12)}p", 240, 40, 1)


def bbr() -> Iterator[PublishedCase]:
    """BBRv1 and BBRv3 beside one flow over buffers, and several beside one."""
    for (ours, other), (figure, half, shares) in WARE.items():
        for buffer, share in zip(BUFFERS, shares, strict=True):
            world, name = ware([Group(ours), Group(other)], buffer), f"{ours}-{other}/{buffer}-bdp"
            yield beside(name, f"{SARPKAYA}, {figure}", f"share of {ours}", world, share, half)
    for ours, share in ((2, 0.585), (4, 0.766)):
        world, name = ware([Group("bbr", ours), Group("cubic")], 4), f"bbr-cubic/{ours}-and-1"
        yield beside(name, f"{SARPKAYA}, figure 2a", "share of bbr", world, share, 0.10)
    # One beside 16: read off a figure, whose data are not among those.
    world = ware([Group("bbr"), Group("cubic", 16)], 32)
    yield beside("bbr-cubic/1-and-16", SARPKAYA, "share of bbr", world, 0.145, 0.10)


def l4s() -> Iterator[PublishedCase]:
    """Prague beside CUBIC in DualPI2, over a minute from the start, with marks for CUBIC and without."""
    queue: Mapping[str, Any] = {"kind": "dualpi2", "target": "5ms"}
    for name, ecn, share in (("with-ecn", "classic", 0.453), ("without-ecn", "off", 0.443)):
        groups = [Group("prague"), Group("cubic", tcp={"ecn": ecn})]
        # The means of 50 runs each, of five sizes of buffer, which make no difference there (their README says why).
        source = "Linux, measured: Sarpkaya et al., PAM 2025; github.com/fatihsarpkaya/L4S-PAM2025, Data/1vs1, 100 Mb/s, 10 ms"
        world = PublishedWorld(groups, 100, 10, queue, 60, 0, 1)
        yield beside(f"prague-cubic/{name}", source, "share of prague", world, share, 0.05)


CAUSES = {
    "bbr-cubic/32-bdp": "Ours has 0.26: the mean is allowed, its interval reaches below. The cause is not known.",
    "bbr3-cubic/2-bdp": "Ours has 0.53, as all six are above Linux; the cause of that bias is not known.",
    "bbr3-cubic/8-bdp": "Ours has 0.56, as all six are above Linux; the cause of that bias is not known.",
    "bbr3-cubic/32-bdp": "Linux's BBRv3 has next to nothing in this queue, 0.08, ours 0.27. The cause is not known.",
    "prague-cubic/with-ecn": "Ours are even, 0.50; Linux's Prague has a tenth less. The cause is not known.",
    "prague-cubic/without-ecn": "Ours are even, 0.50; Linux's Prague has a tenth less. The cause is not known.",
}
"""Of the cases that do not agree, after their first run with engine 0.18.0."""


def beside(name: str, source: str, quantity: str, world: PublishedWorld, share: float, half: float) -> PublishedCase:
    """Return a case of a share."""
    allowed = about(share, min(half, share), half)
    return PublishedCase(name, source, quantity, world, measures.first_share, **allowed, seeds=8, cause=CAUSES.get(name, ""))
