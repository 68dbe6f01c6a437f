"""The runs of all tabs: who watches which, and what becomes of one that nobody watches any more."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tonopah.errors import LimitError
from tonopah.lab.session import Session, SessionLimits, Slots

FORGOTTEN_AFTER_S = 30.0
"""A reload or a lost connection takes a run up again within this time; after it the run is cancelled."""


class Runs:
    """The runs of this server; used in its event loop only."""

    def __init__(self, folder: Path, allow_python: bool, limits: SessionLimits, forgotten_after_s: float = FORGOTTEN_AFTER_S):
        self.folder, self.allow_python, self.limits = folder, allow_python, limits
        self.forgotten_after_s = forgotten_after_s
        self.slots = Slots(limits.at_once)
        self.sessions: dict[str, Session] = {}
        self.viewers: dict[str, int] = {}
        self.beginning = 0

    async def start(self, document: Mapping[str, Any], seed: int, pace: float | None) -> Session:
        """Return a new run, with one viewer. Raises ScenarioError and LimitError."""
        if len(self.sessions) + self.beginning >= self.limits.waiting:
            raise LimitError(f"{self.limits.waiting} runs are open or waiting: close another tab first")
        self.beginning += 1
        try:
            session = await asyncio.to_thread(Session, document, seed, self.folder, self.allow_python, self.slots, self.limits)
        finally:
            self.beginning -= 1
        session.pace = pace
        self.sessions[session.id], self.viewers[session.id] = session, 1
        return session

    def attach(self, name: str) -> Session | None:
        """Return a run that goes on or has ended not long ago, with one viewer more."""
        session = self.sessions.get(name)
        if session is not None:
            self.viewers[name] += 1
        return session

    def leave(self, session: Session, at_once: bool = False) -> None:
        """Note that a viewer has gone; the last one's run is cancelled, soon or at once."""
        self.viewers[session.id] -= 1
        if at_once:
            self.forget(session)
        else:
            asyncio.get_running_loop().call_later(self.forgotten_after_s, self.forget, session)

    def forget(self, session: Session) -> None:
        """Cancel and drop a run that nobody watches."""
        if self.viewers.get(session.id) == 0:
            session.stop()
            del self.sessions[session.id], self.viewers[session.id]

    def stop_all(self) -> None:
        """Stop every run: the server ends."""
        for session in self.sessions.values():
            session.stop()
