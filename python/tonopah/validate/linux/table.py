"""What `tonopah validate` prints: a table of the cases, the goals that were missed."""

from collections.abc import Sequence
from itertools import groupby

from tonopah.terminal.grid import Grid
from tonopah.validate.frame import goal_table
from tonopah.validate.linux.measures import FlowResult, LinuxResult, mbps, share_text
from tonopah.validate.linux.recordings import LinuxCase

FEW = 2
"""Up to so many cases all goals are printed, not only those that were missed."""
BESIDE_COLUMNS = (
    "case", "share %, ours", "share %, Linux", "difference, points", "goodput Mb/s, ours/Linux", "p", "p, Holm", "goals",
)  # fmt: skip
COLUMNS = ("window\nerror %", "window\nratio", "goodput\nratio", "retransmits\nours/Linux", "episodes\nours/Linux")


def tables(results: Sequence[LinuxResult]) -> list[Grid]:
    """Return the tables: one of measures for each kernel, then the goals."""
    compared = [result for result in results if result.refused is None]
    windows = [result for result in compared if result.flows]
    found = [case_table(kernel, list(group)) for kernel, group in groupby(windows, lambda result: result.case.kernel)]
    goals = goal_table(compared, "kernel", every=len(compared) <= FEW)
    several = [result for result in compared if result.beside is not None]
    return found + ([beside_table(several)] if several else []) + ([goals] if goals.rows else [])


def case_table(kernel: str, results: Sequence[LinuxResult]) -> Grid:
    """Return the measures of the cases of one kernel: a line for each flow."""
    rows = []
    for result in results:
        for index, flow in enumerate(result.flows):
            name = result.case.name if index == 0 else ""
            label = f"{name} ({flow.algorithm})" if len(set(result.case.cc)) > 1 else name
            rows.append([label or f"  flow {index}", *cells(flow), result.verdict if index == 0 else ""])
    return Grid(f"Linux {kernel}", ("case", *COLUMNS, "goals"), rows, keys=1)


def beside_table(results: Sequence[LinuxResult]) -> Grid:
    """Return shares and goodput of the cases that were recorded several times: a line for each case."""
    title, columns = "Several recordings of two flows: shares of flow 0", [name.replace(", ", "\n") for name in BESIDE_COLUMNS]
    return Grid(title, tuple(columns), [beside_cells(result) for result in results], keys=1)


def beside_cells(result: LinuxResult) -> list[str]:
    """Return a case that was recorded several times as text, by BESIDE_COLUMNS."""
    found = result.beside
    assert found is not None
    apart = found.difference
    return [
        result.case.name, share_text(found.ours), share_text(found.kernel),
        f"{100 * apart.value:+.1f} ({100 * apart.low:+.1f} – {100 * apart.high:+.1f})",
        f"{mbps(found.ours.mean_goodput_bps)}/{mbps(found.kernel.mean_goodput_bps)}",
        f"{found.p:.3f}", f"{found.p_adjusted:.3f}", result.verdict,
    ]  # fmt: skip


def cells(flow: FlowResult) -> list[str]:
    """Return the measures of one flow as text."""
    return [
        f"{100 * flow.window_error:.1f}",
        f"{flow.window_ratio:.3f}",
        f"{flow.goodput_ratio:.4f}",
        f"{flow.retransmits}/{flow.kernel_retransmits}",
        f"{len(flow.episodes)}/{len(flow.kernel_episodes)}",
    ]


def not_compared(results: Sequence[LinuxResult]) -> list[str]:
    """Return one line for each kind of reason why cases were not compared."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for result in results:
        if result.refused is not None:
            reason, _, detail = result.refused.partition(": ")
            reasons.setdefault(reason, {}).setdefault(detail, []).append(result.case.id)
    return [f"{reason}: {'; '.join(with_cases(*entry) for entry in details.items())}" for reason, details in reasons.items()]


def with_cases(detail: str, names: Sequence[str]) -> str:
    """Return a reason with the cases it holds for, or their number if they are many."""
    return f"{detail} ({', '.join(names) if len(names) <= FEW else f'{len(names)} cases'})"


def about(case: LinuxCase) -> str:
    """Return the link and the losses of a case in words."""
    words = [f"{case.mbps:g} Mb/s, {2 * case.owd_ms:g} ms base RTT, queue of {case.queue} packets"]
    if case.drop:
        words.append(f"data packets dropped: {', '.join(str(number) for number in case.drop)}")
    if case.loss:
        words.append(f"random loss {100 * case.loss:g} %")
    if case.bytes is not None:
        words.append(f"transfer of {case.bytes:,} B")
    if case.starts_ms:
        starts = ", ".join(f"{start / 1000:g}" for start in case.starts_ms)
        words.append(f"{case.secs:g} s; flow 1 starts {starts} s after flow 0")
    elif case.flows > 1:
        words.append(f"{case.flows} flows, {case.stagger_ms / 1000:g} s apart")
    if not case.sack:
        words.append("without SACK")
    return "; ".join(words)
