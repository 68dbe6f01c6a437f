"""What `tonopah validate` prints: a table of the cases, the goals that were missed."""

from collections.abc import Sequence
from itertools import groupby

from tonopah.metrics import count_text
from tonopah.terminal.grid import Grid
from tonopah.validate.measures import CaseResult, FlowResult, mbps, share_text

FEW = 2
"""Up to so many cases all goals are printed, not only those that were missed."""
BESIDE_COLUMNS = (
    "case", "share %, ours", "share %, Linux", "difference, points", "goodput Mb/s, ours/Linux", "p", "p, Holm", "goals",
)  # fmt: skip
COLUMNS = ("window\nerror %", "window\nratio", "goodput\nratio", "retransmits\nours/Linux", "episodes\nours/Linux")


def tables(results: Sequence[CaseResult]) -> list[Grid]:
    """Return the tables: one of measures for each kernel, then the goals."""
    compared = [result for result in results if result.refused is None]
    windows = [result for result in compared if result.flows]
    found = [case_table(kernel, list(group)) for kernel, group in groupby(windows, lambda result: result.case.kernel)]
    goals = goal_table(compared, every=len(compared) <= FEW)
    several = [result for result in compared if result.beside is not None]
    return found + ([beside_table(several)] if several else []) + ([goals] if goals.rows else [])


def case_table(kernel: str, results: Sequence[CaseResult]) -> Grid:
    """Return the measures of the cases of one kernel: a line for each flow."""
    rows = []
    for result in results:
        for index, flow in enumerate(result.flows):
            name = result.case.name if index == 0 else ""
            label = f"{name} ({flow.algorithm})" if len(set(result.case.cc)) > 1 else name
            rows.append([label or f"  flow {index}", *cells(flow), verdict(result) if index == 0 else ""])
    return Grid(f"Linux {kernel}", ("case", *COLUMNS, "goals"), rows, keys=1)


def beside_table(results: Sequence[CaseResult]) -> Grid:
    """Return shares and goodput of the cases that were recorded several times: a line for each case."""
    title, columns = "Several recordings of two flows: shares of flow 0", [name.replace(", ", "\n") for name in BESIDE_COLUMNS]
    return Grid(title, tuple(columns), [beside_cells(result) for result in results], keys=1)


def beside_cells(result: CaseResult) -> list[str]:
    """Return a case that was recorded several times as text, by BESIDE_COLUMNS."""
    found = result.beside
    assert found is not None
    apart = found.difference
    return [
        result.case.name, share_text(found.ours), share_text(found.kernel),
        f"{100 * apart.value:+.1f} ({100 * apart.low:+.1f} – {100 * apart.high:+.1f})",
        f"{mbps(found.ours.mean_goodput_bps)}/{mbps(found.kernel.mean_goodput_bps)}",
        f"{found.p:.3f}", f"{found.p_adjusted:.3f}", verdict(result),
    ]  # fmt: skip


def single_draws(results: Sequence[CaseResult]) -> str | None:
    """Return what is to be kept in mind of single recordings of flows that compete, if there are any."""
    count = sum(result.refused is None and result.case.kind == "shared" for result in results)
    if not count:
        return None
    return f"{count_text(count, 'case')} with two flows: one recording each, that is one draw of many."


def cells(flow: FlowResult) -> list[str]:
    """Return the measures of one flow as text."""
    return [
        f"{100 * flow.window_error:.1f}",
        f"{flow.window_ratio:.3f}",
        f"{flow.goodput_ratio:.4f}",
        f"{flow.retransmits}/{flow.kernel_retransmits}",
        f"{len(flow.episodes)}/{len(flow.kernel_episodes)}",
    ]


def verdict(result: CaseResult) -> str:
    """Return how many of the goals are missed, if any."""
    met, total = sum(check.met for check in result.checks), len(result.checks)
    return "pass" if met == total else f"MISS {total - met}/{total}"


def goal_table(results: Sequence[CaseResult], every: bool) -> Grid:
    """Return the goals, `every` one or those that were missed, each with the name of its case."""
    rows = [
        [result.case.id, check.name, check.ours, check.kernel, check.goal, "pass" if check.met else "MISS"]
        for result in results
        for check in result.checks
        if every or not check.met
    ]
    return Grid("Goals" if every else "Goals missed", ("case", "goal", "ours", "kernel", "allowed", ""), rows, keys=2)


def not_compared(results: Sequence[CaseResult]) -> list[str]:
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
