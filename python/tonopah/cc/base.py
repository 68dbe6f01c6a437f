"""The base class of a congestion control written in Python. docs/python-algorithm.md shows how to write and compare one."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from tonopah._core import Ack, Congestion, Lost, RateSample, Sent, Setup, View
from tonopah.cc.misspelt import check_names

__all__ = ["Ack", "Congestion", "CongestionControl", "Lost", "RateSample", "Sent", "Setup", "View"]


class CongestionControl:
    """A congestion control in Python: derive a class, write `on_ack` and `on_congestion`, keep `cwnd_bytes` up to date.

    One object is created for each end of each connection when its handshake is complete. It receives the same signals as
    the algorithms in Rust, and nothing from the network. Sizes are in bytes, times in seconds since the start of the run,
    rates in bits per second, as in `tonopah.Endpoint`. An absent value is None; a limit that is not set is infinity, so that
    it can be compared.

    Keyword arguments of the class with a number or a truth value as default are its parameters: the table `cc` of a
    scenario sets them (`cc = { python = "my.py:MyCC", beta = 0.7 }`). Numbers arrive as float. `parameters` may give
    their ranges and meanings.

    A run is repeatable only if the algorithm is: draw random numbers from `random.Random(setup.seed)`, read no clock, and
    keep no state in globals.

    Parameters
    ----------
    setup : Setup
        Facts of the connection: segment size, initial window and threshold in bytes, seed.
    """

    title: ClassVar[str] = ""
    """Name in words; the first line of the docstring if empty."""
    reference: ClassVar[str] = ""
    """Document that defines it."""
    parameters: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """By parameter: `min`, `max`, `unit`, `doc`, `source`, all optional."""
    owns_window: ClassVar[bool] = False
    """Whether its window applies in recovery too: losses are retransmitted, but nothing else changes the window (as in BBR)."""
    ecn: ClassVar[str | None] = None
    """The ECN mode that it requires, if any: `classic`, `dctcp`, `accecn` or `l4s`."""
    timestamps: ClassVar[bool] = False
    """Whether it requires timestamps, for `ack.one_way_s`."""
    strict: ClassVar[bool] = False
    """Whether the sender keeps two rules that Linux does not: the loss of a retransmission, which RACK finds, is a congestion of
    its own with `event.again` (RFC 5681 section 4.3), and a mark at a window of one segment stops the sender until its
    retransmission timer expires (RFC 3168 section 6.1.2)."""

    starts: ClassVar[bool] = False
    """Whether `tcp.start` may take over its first slow start: `begin` is then told the window while that lasts, and `on_ack` is
    called with `view.may_grow` false."""

    observed: ClassVar[tuple[str, ...]] = ()
    """Attributes that are shown as variables (`record.internals`) of a class without `observe`: numbers, and None where there is
    nothing to show."""
    states: ClassVar[tuple[str, ...]] = ()
    """The words of the variable `state`."""

    does_nothing: ClassVar[tuple[str, ...]] = (
        "on_recovery_end", "on_sent", "on_lost", "on_idle", "on_timer", "next_timer", "pacing_rate", "observe",
    )  # fmt: skip
    """Methods that the engine calls only if they are overridden."""

    cwnd_bytes: float
    """The congestion window, at least one segment at all times."""
    ssthresh_bytes: float
    """The slow-start threshold, at least one segment; infinity while it is not set."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Refuse a class that sets an attribute almost called like one that the engine reads."""
        super().__init_subclass__(**arguments)
        check_names(cls, CongestionControl)

    def __init__(self, setup: Setup):
        self.cwnd_bytes = setup.initial_window_bytes
        self.ssthresh_bytes = setup.initial_ssthresh_bytes

    def on_ack(self, ack: Ack, view: View) -> None:
        """Process an ACK that carries information, in every state, including duplicates.

        Classic growth belongs under `if view.may_grow`.

        Parameters
        ----------
        ack : Ack
            What the ACK acknowledged, with its RTT and delivery-rate samples.
        view : View
            State of the sender.
        """
        raise NotImplementedError

    def on_congestion(self, event: Congestion, view: View) -> None:
        """Set the window at the start of an episode of congestion.

        After a timeout (`event.cause == "timeout"`) cwnd is usually `event.loss_window_bytes`; if `event.first` is
        false, the episode has set ssthresh before, and lowers it once more only if `event.again`.

        Parameters
        ----------
        event : Congestion
            Cause of the episode, and the loss window in bytes.
        view : View
            State of the sender.
        """
        raise NotImplementedError

    def window(self) -> tuple[float, float | None]:
        """Return the windows; the engine calls it after each call of another method.

        Returns
        -------
        (float, float or None)
            cwnd and ssthresh in bytes, rounded down; None or infinity if ssthresh is not set.
        """
        return self.cwnd_bytes, self.ssthresh_bytes

    def begin(self, window: tuple[int, float]) -> None:
        """Take over the windows of a start (`tcp.start`); called only if `starts` is true.

        Parameters
        ----------
        window : (int, float)
            cwnd and ssthresh in bytes, which `window` is to return from now on; infinity while ssthresh is not set.
        """
        self.cwnd_bytes, self.ssthresh_bytes = window

    def on_recovery_end(self, view: View) -> None:
        """Process the end of recovery: the recovery point has been acknowledged."""

    def on_undo(self, before: tuple[int, float], view: View) -> None:
        """Undo an episode that was spurious.

        Unless overridden it restores at least the windows of `before`, and ssthresh to at least three quarters of that cwnd
        (as in Linux).

        Parameters
        ----------
        before : (int, float)
            The windows when the episode began, as returned by `window`.
        view : View
            State of the sender.
        """
        cwnd, ssthresh = before
        self.cwnd_bytes = max(self.cwnd_bytes, cwnd)
        current = math.inf if self.ssthresh_bytes is None else self.ssthresh_bytes
        self.ssthresh_bytes = max(current, ssthresh, cwnd // 2 + cwnd // 4)

    def on_sent(self, sent: Sent) -> None:
        """Process the transmission of a segment."""

    def on_lost(self, lost: Lost, view: View) -> None:
        """Process a segment newly marked lost; precedes `on_congestion`, if that follows."""

    def on_idle(self, idle_s: float, view: View) -> None:
        """Process the first new data after an idle period with nothing outstanding.

        Shrink the window only if `view.slow_start_after_idle` is true.

        Parameters
        ----------
        idle_s : float
            Length of the idle period in seconds.
        view : View
            State of the sender.
        """

    def on_timer(self, view: View) -> None:
        """Process the expiry of the timer that `next_timer` set."""

    def next_timer(self) -> float | None:
        """Return the time in seconds at which to call `on_timer`, not in the past, or None."""

    def pacing_rate(self) -> float | None:
        """Return the pacing rate in bits per second; None leaves it to the connection."""

    def observe(self) -> Mapping[str, float]:
        """Return variables by name, finite numbers (of `state` a word of `states`): called only if a run records them.

        Names are identifiers of up to 40 letters that end in their unit, 64 at most. An absent value is left out.
        """
        return {}
