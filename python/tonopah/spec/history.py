"""The history of a study's criteria (`[[history]]`): when they were set, and every later change with its reason.

What counts as a criterion, and its hash, stands in criteria.py.
"""

import datetime
import re
from typing import Annotated

from pydantic import AfterValidator, Field

from tonopah.spec.validation import Model, Texts, refuse, shorten

HASH_DIGITS = 16


def to_date(text: str) -> str:
    """Refuse text that is not a date."""
    try:
        if datetime.date.fromisoformat(text).isoformat() == text:
            return text
    except ValueError:
        pass
    raise refuse(f"{shorten(text)} is not a date", 'like "2026-11-22"')


def to_hash(text: str) -> str:
    """Refuse text that cannot be the hash of criteria."""
    if not re.fullmatch(rf"[0-9a-f]{{{HASH_DIGITS}}}", text):
        raise refuse(
            f"{shorten(text)} is not a hash", f"{HASH_DIGITS} hexadecimal digits, as `tonopah study criteria` prints them"
        )
    return text


class HistoryEntry(Model):
    """The criteria were set, or changed, on this day."""

    date: Annotated[str, AfterValidator(to_date)] = Field(description='Day of the change, like `"2026-11-22"`.')
    hash: Annotated[str, AfterValidator(to_hash)] = Field(
        description="Hash of the criteria from then on; `tonopah study criteria` prints it."
    )
    reason: str = Field(description="Why they were changed; of the first entry, where they come from.")
    claims: Texts = Field((), description="Claims whose criteria changed; all if absent.")


def in_order(entries: tuple[HistoryEntry, ...]) -> tuple[HistoryEntry, ...]:
    """Refuse a history that does not go forward."""
    for i in range(1, len(entries)):
        if entries[i].date < entries[i - 1].date:
            raise refuse(f"{entries[i].date} is before the entry above it", f"{entries[i - 1].date} or later", (i, "date"))
        if entries[i].hash == entries[i - 1].hash:
            raise refuse("is that of the entry above it: nothing changed", None, (i, "hash"))
    return entries
