"""Every network of a report whose author published a script, a module for each report.

A parameter that is a switch takes a slip of the script away; its default is the script's. Tolerances were fixed before the first
run: deterministic networks to a percent, chaotic ones by intervals.
"""

from typing import Any

from tonopah.errors import InputError
from tonopah.reports.networks import asran, ewphcc, hystart, tcp_fr
from tonopah.reports.networks.model import Network
from tonopah.reports.numbers import REPORTS

NETWORKS = (
    ewphcc.WIRED, ewphcc.MIXED, ewphcc.SATELLITE, ewphcc.WIRELESS, tcp_fr.WIFI, tcp_fr.PAN, tcp_fr.COMPARISON, tcp_fr.HOSTS,
    hystart.WIFI, hystart.LRWPAN, asran.WIRED, asran.PAN, asran.UAV, asran.FAIRNESS,
)  # fmt: skip


def network(name: Any, path: str = "source") -> Network:
    """Return the network with this name. Raises InputError."""
    for one in NETWORKS:
        if one.name == name:
            return one
    number, _, own = str(name).partition("-")
    renamed = f"{REPORTS.get(number)}-{own}"
    if any(one.name == renamed for one in NETWORKS):
        raise InputError(path, f"{name!r} has a new name", f"write {renamed}")
    raise InputError(path, f"{name!r} is unknown", f"allowed: {', '.join(one.name for one in NETWORKS)}")
