"""The specifications whose cases there are, and what the cases read of an algorithm."""

from tonopah.conform import bbr_more, cubic, hystart, quic, tcp
from tonopah.conform.case import Case, Spec
from tonopah.errors import InputError
from tonopah.spec.validation import list_allowed

SPECS: dict[str, Spec] = {spec.name: spec for spec in (bbr_more.SPEC, cubic.SPEC, hystart.SPEC, quic.SPEC, tcp.SPEC)}
VARIABLES = (
    "state", "max_bw_bps", "min_rtt_s", "pacing_gain", "cwnd_gain", "full_bw_reached", "extra_acked_bytes", "bw_shortterm_bps",
    "inflight_shortterm_bytes", "inflight_longterm_bytes",
)  # fmt: skip
"""What the cases read of an algorithm."""
STATES = ("startup", "drain", "down", "cruise", "refill", "up", "probe_rtt")
"""Words of `state` (`probe_bw_` before one is left out)."""


def spec_of(name: str) -> Spec:
    """Return a specification. Raises InputError."""
    if name not in SPECS:
        raise InputError("--spec", f"{name!r} is unknown" if name else "is missing", list_allowed(SPECS, value=name))
    return SPECS[name]


def cases_of(spec: Spec, ids: list[str]) -> list[Case]:
    """Return the cases with these ids, or all. Raises InputError."""
    known = {case.id: case for case in spec.cases}
    for one in ids:
        if one not in known:
            raise InputError("--case", f"{spec.name} has no case {one!r}", list_allowed(known, value=one))
    return [case for case in spec.cases if not ids or case.id in ids]


def names_of(pairs: list[str]) -> dict[str, str]:
    """Return what an algorithm calls a variable or a state, by the name that the cases have for it. Raises InputError."""
    names = {}
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        if not equals or not theirs:
            raise InputError("--map", f"{pair!r} is not NAME=NAME", "like state=my_phase or drain=EMPTYING")
        if ours not in (*VARIABLES, *STATES):
            raise InputError("--map", f"{ours!r} is nothing that the cases read", list_allowed((*VARIABLES, *STATES), value=ours))
        names[ours] = theirs
    return names
