"""The base class of a congestion control written in Python. docs/python-algorithm.md shows how to write and compare one."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from tonopah._core import Ack, Congestion, Lost, RateSample, Sent, Setup, View

__all__ = ["Ack", "Congestion", "CongestionControl", "Lost", "RateSample", "Sent", "Setup", "View"]


class CongestionControl:
    """A congestion control in Python: derive a class, write `on_ack` and `on_congestion`, keep `cwnd_bytes` up to date.

    One object is made for each end of each connection when its handshake is done. It is told what the algorithms in Rust
    are told, and nothing of the network. Sizes are in bytes, times in seconds since the start of the run, rates in bits per
    second, as in `tonopah.Endpoint`. What is absent is None; a limit that is not set is infinity, so that it can be
    compared.

    Keyword arguments of the class with a number or a truth value as default are its parameters: the table `cc` of a
    scenario sets them (`cc = { python = "my.py:MyCC", beta = 0.7 }`). Numbers arrive as float. `parameters` may give
    their ranges and meanings.

    A run is repeatable only if the algorithm is: draw random numbers from `random.Random(setup.seed)`, look at no clock,
    keep nothing in globals.
    """

    title: ClassVar[str] = ""
    """In words; the first line of the docstring unless given."""
    reference: ClassVar[str] = ""
    """Where it is defined."""
    parameters: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """By parameter: `min`, `max`, `unit`, `doc`, `source`, each if wanted."""
    owns_window: ClassVar[bool] = False
    """Its window holds in recovery too; losses are repaired, but nothing else shapes the window (as BBR has it)."""
    ecn: ClassVar[str | None] = None
    """The form of congestion marks that it reads, if it depends on one: `classic`, `dctcp`, `accecn` or `l4s`."""
    timestamps: ClassVar[bool] = False
    """It needs timestamps, for `ack.one_way_s`."""

    does_nothing: ClassVar[tuple[str, ...]] = (
        "on_recovery_end", "on_sent", "on_lost", "on_idle", "on_timer", "next_timer", "head_timeout", "pacing_rate", "observe",
    )  # fmt: skip
    """Methods of this class that the engine need not call; one that is overridden is called."""

    cwnd_bytes: float
    """The congestion window, at least one segment at all times."""
    ssthresh_bytes: float
    """The slow-start threshold, at least one segment; infinity while it is not set."""

    def __init__(self, setup: Setup):
        self.cwnd_bytes = setup.initial_window_bytes
        self.ssthresh_bytes = setup.initial_ssthresh_bytes

    def on_ack(self, ack: Ack, view: View) -> None:
        """Hear of every ACK that carries information, in every state, duplicates included.

        Classic growth belongs under `if view.may_grow`.
        """
        raise NotImplementedError

    def on_congestion(self, event: Congestion, view: View) -> None:
        """Hear once per episode of congestion, and set the window.

        After a time-out (`event.cause == "timeout"`) cwnd is usually `event.loss_window_bytes`; if `event.first` is
        false, the episode has set ssthresh before.
        """
        raise NotImplementedError

    def window(self) -> tuple[float, float | None]:
        """Return cwnd and ssthresh in bytes; parts of bytes are cut off, None or infinity means that ssthresh is not set.

        It is asked after each call of another method.
        """
        return self.cwnd_bytes, self.ssthresh_bytes

    def on_recovery_end(self, view: View) -> None:
        """Hear that the recovery point has been acknowledged."""

    def on_undo(self, before: tuple[int, float], view: View) -> None:
        """Hear that the episode was spurious; `before` is what `window` returned when it began.

        Unless overridden the reduction is taken back: no window below `before`, and ssthresh at least three quarters of
        that cwnd (as in Linux).
        """
        cwnd, ssthresh = before
        self.cwnd_bytes = max(self.cwnd_bytes, cwnd)
        current = math.inf if self.ssthresh_bytes is None else self.ssthresh_bytes
        self.ssthresh_bytes = max(current, ssthresh, cwnd // 2 + cwnd // 4)

    def on_sent(self, sent: Sent) -> None:
        """Hear that a segment left."""

    def on_lost(self, lost: Lost, view: View) -> None:
        """Hear that a segment was newly marked lost; comes before `on_congestion`, if that follows."""

    def on_idle(self, idle_s: float, view: View) -> None:
        """Hear of the first new data after `idle_s` of silence with nothing outstanding.

        The window is to shrink only if `view.slow_start_after_idle` says so.
        """

    def on_timer(self, view: View) -> None:
        """Hear that the time of `next_timer` has come, and set another or none."""

    def next_timer(self) -> float | None:
        """Return when to call `on_timer`, or None; not before the present time."""

    def head_timeout(self) -> float | None:
        """Return how old the oldest segment has to be for a duplicate ACK to send it again; with recovery `vegas`."""

    def pacing_rate(self) -> float | None:
        """Return the rate to send at in bits per second; None leaves it to the connection."""

    def observe(self) -> Mapping[str, float]:
        """Return internals by name, for traces; finite numbers."""
        return {}
