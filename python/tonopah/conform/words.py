"""Verdicts, and what ends a case before its checks are through."""

from typing import Final

HOLDS: Final = "holds"
DEVIATES: Final = "deviates"
DOES_NOT_BIND: Final = "does not bind"
NOT_OBSERVABLE: Final = "not observable"
NOT_APPLICABLE: Final = "not applicable"
VERDICTS = (HOLDS, DEVIATES, DOES_NOT_BIND, NOT_OBSERVABLE, NOT_APPLICABLE)


class CaseEndedError(Exception):
    """A case that cannot go on; the verdict that this is, and why."""

    verdict = DEVIATES


class DeviatesError(CaseEndedError):
    """What the case is about did not happen."""


class DoesNotBindError(CaseEndedError):
    """The world did not bring about what the case is about."""

    verdict = DOES_NOT_BIND


class NotObservableError(CaseEndedError):
    """The subject does not show what the case reads."""

    verdict = NOT_OBSERVABLE


class NotApplicableError(CaseEndedError):
    """The subject has not what the case tests."""

    verdict = NOT_APPLICABLE
