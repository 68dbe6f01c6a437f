"""Tables of a study for papers: a row for each point and each of the compared, as LaTeX (booktabs) or for a terminal."""

from collections.abc import Sequence

from tonopah.analysis.tables import PartTables, is_measured
from tonopah.metrics import lower
from tonopah.plot.picture import tex
from tonopah.report.tables import ReportTable, point_table

NOMINAL = "at the nominal point"


def paper_tables(sources: Sequence[PartTables], metrics: Sequence[str] = ()) -> list[ReportTable]:
    """Return a table for each axis of each part, and one for its nominal point: the metrics of its figures, or those named."""
    found = []
    for source in sources:
        part = source.part
        asked = metrics or [y for figure in part.figures if figure.kind not in ("series", "table", "ecdf") for y in figure.y]
        names = [name for name in dict.fromkeys(asked) if is_measured(source.runs, name, part.labels)]
        alone = [(runs, sweep) for runs, sweep in zip(source.plan.sweeps, part.sweeps, strict=True) if len(sweep.vary) == 1]
        for chosen, vary, where in [
            (source.plan.base, {}, NOMINAL),
            *((runs, sweep.vary, f"over {lower(sweep.label)}") for runs, sweep in alone),
        ]:
            points = [{axis: value} for axis, values in vary.items() for value in values] or [{}]
            runs = source.runs[source.runs["run"].isin(chosen)]
            if not runs.empty and names:
                made = point_table(part, runs, points, names)
                title = f"{part.title}, {where}" if part.title else f"{where[0].upper()}{where[1:]}"
                head = [part.axis_label(name) if name in vary else name for name in made.head]
                found.append(ReportTable(title, head, made.rows))
    return found


def latex(table: ReportTable) -> str:
    """Return a table as LaTeX: `tabular` with the rules of booktabs; a difference stands below the value that it is of."""
    texts = sum(not any(below for _, below in column) and not any("±" in text for text, _ in column) for column in columns(table))
    lines = [f"% {table.caption}", rf"\begin{{tabular}}{{{'l' * texts}{'r' * (len(table.head) - texts)}}}", r"\toprule"]
    lines += [" & ".join(tex(name) for name in table.head) + r" \\", r"\midrule"]
    for row in table.rows:
        lines.append(" & ".join(cell(text) for text, _ in row) + r" \\")
        if any(below for _, below in row):
            lines.append(" & ".join(rf"\footnotesize {cell(below)}" if below else "" for _, below in row) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def columns(table: ReportTable) -> list[list[tuple[str, str]]]:
    """Return the columns before the first that holds a value with its interval, and that one."""
    found = [list(column) for column in zip(*table.rows, strict=True)]
    first = next((i for i, column in enumerate(found) if any("±" in text for text, _ in column)), len(found))
    return found[:first]


def cell(text: str) -> str:
    """Return a cell for LaTeX: a number with its interval as mathematics."""
    escaped = tex(text).replace("±", r"$\pm$").replace(r"\%", r"\,\%").replace(" \\,\\%", r"\,\%")
    return escaped.replace("-", "$-$") if text[:1] in "+-" else escaped
