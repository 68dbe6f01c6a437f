"""What of this folder the machine has."""

from tonopah.errors import InputError, RunFailedError
from tonopah.kernel.hosts import NETWORKS, make_hosts
from tonopah.kernel.isolation import isolated

TABLE = {**NETWORKS, "mtu": 1500}


def lacking() -> str | None:
    """Return what keeps programs from running in our network and what to do, if anything does: one host is made for a moment."""
    try:
        isolated(lambda: len(make_hosts(["host"], TABLE)))
    except (InputError, RunFailedError, OSError) as error:
        return str(error)
    return None
