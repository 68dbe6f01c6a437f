"""What a server of the lab has: its folder, its runs, its studies."""

from dataclasses import dataclass, field
from pathlib import Path

from tonopah.lab.runs import FORGOTTEN_AFTER_S, Runs
from tonopah.lab.session import SessionLimits
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

    def stop_all(self) -> None:
        """End what goes on."""
        self.runs.stop_all()
        self.studies.stop_all()
