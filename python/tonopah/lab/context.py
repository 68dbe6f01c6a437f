"""What a server of the lab has: its folder, its runs, its studies. And one request to it."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tonopah.errors import LimitError
from tonopah.lab.runs import FORGOTTEN_AFTER_S, Runs
from tonopah.lab.session import Session, SessionLimits
from tonopah.lab.studies import Studies


@dataclass
class Lab:
    """What every route needs."""

    folder: Path
    allow_python: bool = False
    limits: SessionLimits = field(default_factory=SessionLimits)
    forgotten_after_s: float = FORGOTTEN_AFTER_S

    def __post_init__(self) -> None:
        """Make the runs and the studies."""
        self.runs = Runs(self.folder, self.allow_python, self.limits, self.forgotten_after_s)
        self.studies = Studies(self.folder, self.allow_python)
        self.askings: set[Asking] = set()

    def stop_all(self) -> None:
        """End what goes on."""
        self.runs.stop_all()
        self.studies.stop_all()
        for asking in tuple(self.askings):
            asking.leave()


class Asking:
    """One request: the lab, and the runs that are made for it, which end with it."""

    def __init__(self, lab: Lab):
        self.lab, self.folder, self.allow_python = lab, lab.folder, lab.allow_python
        self.runs, self.studies, self.limits = lab.runs, lab.studies, lab.limits
        self.sessions: list[Session] = []
        self.gone = threading.Event()

    def session(self, document: Mapping[str, Any], seed: int) -> Session:
        """Return a run that has not begun. Raises ScenarioError and LimitError."""
        self.lab.askings.add(self)
        if len(self.lab.askings) > self.limits.waiting:
            raise LimitError(f"{self.limits.waiting} requests are being worked on or wait: ask again when they are answered")
        if self.gone.is_set():
            raise LimitError("whoever asked has gone")
        session = Session(document, seed, self.folder, self.allow_python, self.runs.slots, self.limits)
        self.sessions.append(session)
        if self.gone.is_set():
            session.stop()
        return session

    def leave(self) -> None:
        """Stop what is made for it: it is answered, whoever asked has gone, or the server ends."""
        self.gone.set()
        for session in self.sessions:
            session.stop()
        self.lab.askings.discard(self)
