"""What RFC 9743 asks the authors of a specification to state: their own words beside what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tonopah.errors import InputError
from tonopah.judge.scoreboard import Row
from tonopah.scenario.document import MAX_FILE_BYTES, decoded
from tonopah.scenario.files import read_file
from tonopah.spec.validation import list_allowed

NO_CONSENSUS = "There is no statement of IETF consensus."
ITEMS = {
    "consensus": ("3.2", "Whether there is IETF consensus that it is safe for use on the Internet; required in the abstract"),
    "not_recommended": ("3.2", "Environments in which it is not recommended; required in the abstract"),
    "status": ("3.2", "The status that is sought, and evidence of deployment"),
    "controlled": ("4, 5.3.2", "For controlled environments: their scope, and what happens if they are bridged"),
    "experience": ("3.1", "Implementations, independent teams, trials"),
    "deviations": ("5.3.1", "Deviations from RFC 2914 and RFC 7141"),
    "deployment": ("5.3.2", "Incremental deployment, and behaviour with routers, proxies and home gateways"),
    "tunnels": ("6.2", "Effect of tunnels if explicit signals are used"),
    "explicit_signals": ("6.2", "The explicit signals that it uses"),
    "excluded": ("7", "Special cases that are excluded"),
    "ecn": ("7.1", "Codepoint, and conformance with RFC 3168 or RFC 9331"),
    "misbehaviour": ("7.5", "Senders, receivers and routers that do not comply"),
    "security": ("8", "Security issues"),
    "multipath": ("7.8", "Failover, shared bottlenecks, synchronisation"),
    "neighbours": ("7.9", "In data centres: with which algorithms it coexists"),
}  # fmt: skip
"""Section and text of each item by its key."""


Statement = Mapping[str, str]
"""The sentences of an author, by item; what is absent is not stated."""


def read_statement(path: str | Path) -> Statement:
    """Return the statement of a TOML file. Raises InputError for one that cannot be read."""
    stated = decoded(read_file(path, "a statement", MAX_FILE_BYTES), str(path))
    for key, sentence in stated.items():
        if key not in ITEMS or not isinstance(sentence, str):
            raise InputError(key, "is not a text of an item", list_allowed(ITEMS), str(path))
    return stated


@dataclass(frozen=True)
class StatementRow:
    """An item: what is asked, what the author says, and what was measured."""

    key: str
    section: str
    asked: str
    stated: str
    measured: str


def statement_rows(statement: Statement, rows: Sequence[Row]) -> list[StatementRow]:
    """Return all items in order."""
    found, stated = measured_facts(rows), {"consensus": NO_CONSENSUS} | dict(statement)
    return [StatementRow(key, section, asked, stated.get(key, ""), found.get(key, "")) for key, (section, asked) in ITEMS.items()]


def measured_facts(rows: Sequence[Row]) -> dict[str, str]:
    """Return what the scoreboard says to items."""
    bad = [row for row in rows if row.colour in ("red", "orange")]
    proposal = "; ".join(
        f"{row.criterion.name.lower()}: {row.word}{f' ({row.decides.where})' if row.decides else ''}" for row in bad
    )
    untested = ", ".join(row.criterion.name.lower() for row in rows if row.word == "not tested")
    return {
        "not_recommended": f"Proposed from the red and orange rows: {proposal}." if proposal else "No row is red or orange.",
        "excluded": f"Not tested here: {untested}." if untested else "",
    }
