"""docs/reports.md is of the networks as they are, and the tables of the studies hold the numbers that are stored."""

import re
from pathlib import Path
from statistics import mean

import pytest
import tomli

import tonopah as tp
from tonopah.reports import docs, statements
from tonopah.reports.mechanisms.model import MechanismFile
from tonopah.reports.networks import network
from tonopah.reports.networks.model import MEDIAN
from tonopah.reports.numbers import stored
from tonopah.reports.statements import sweeps
from tonopah.spec.validation import validate

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reports.md").read_text(encoding="utf-8")
VERDICTS = dict.fromkeys((f"E{number}" for number in range(1, 12)), "contradicted")
REPORTS = ("asran", "ewphcc", "hystart", "netsim", "tcp-fr")


@pytest.mark.parametrize("report", REPORTS)
def test_a_page_of_findings_opens_with_every_statement_of_its_report(report):
    text = (DOCS / "findings" / f"{report}.md").read_text(encoding="utf-8")
    assert docs.findings_page(text, docs.known(DOCS)) == text, "run `make docs`"
    assert text.index("<!-- statements: ") < text.index("<!-- verdicts: ")
    assert all(one["text"] in text for one in statements.statements(report)[1])


def test_every_statement_of_the_five_reports_is_there():
    numbers = [no for report in REPORTS for one in statements.statements(report)[1] for no in one["no"].split(", ")]
    assert len(numbers) >= 164


def test_what_numbers_say_of_a_statement():
    """E8 in the author's own numbers, and by packet without the slip."""
    points = {"ewphcc": {"10": 1.0, "40": 1.031}, "vegas": {"10": 1.0, "40": 1.0}}
    assert statements.judged("ewphcc < vegas", points) == "false: 0, +3.1 %"
    assert statements.judged("ewphcc = vegas", points) == "true: 0, +3.1 %"
    assert statements.judged("ewphcc up", points) == "true: 1, 1.031"
    points["ewphcc"]["50"], points["vegas"]["50"] = 0.9, 1.0
    assert statements.judged("ewphcc < vegas", points) == "mixed: 0, +3.1, -10.0 %"
    assert statements.judged("ewphcc < tahoe", points) == ""
    row = next(row for row in statements.rows("ewphcc", docs.known(DOCS), VERDICTS) if row[0].startswith("34 "))
    assert row[1:] == ("false: 0, 0, 0, +3.1, +3.2 %",) * 2 + ("true: 0, 0, 0, -9.7, -13.1 %", "E8 contradicted")


def test_one_beside_several_and_along_an_axis():
    points = {name: {"1": number, "2": number} for name, number in (("mine", 1.0), ("a", 0.9), ("b", 1.1))}
    assert statements.judged("mine > a", points) == "true: +11.1, +11.1 %"
    assert statements.judged("mine > a and b", points) == "false: -9.1, -9.1 %"
    assert statements.judged("mine < b and a", points) == "false: +11.1, +11.1 %"
    assert statements.judged("mine = a and b", points) == "false: +11.1, +11.1 %"
    assert statements.judged("mine up", {"mine": {"1": 0.99984, "2": 10186.4}}) == "true: 0.9998, 10,186"
    for last, word in ((1.0, "true"), (1.2, "false")):
        assert statements.judged("mine peak", {"mine": {"1": 1.0, "2": 1.2, "3": last}}).startswith(word)


def test_the_page_says_where_a_text_contradicts_its_own_numbers():
    cells = [("1 one; 51, 52 two", "false: +1 %"), ("4 four", "mixed: 0"), ("5 five, of 3 0", "true: 1")]
    found = docs.contradictions(cells)
    assert found == "The text contradicts its author's own numbers in statements 1, 51, 52; in part in 4.\n\n"
    assert docs.contradictions(cells[2:]) == ""


def test_statements_on_tables_of_the_netsim_report_are_what_the_tables_say():
    """Means over the applications of a table; N3 and N4 of CUBIC beside the best other one."""
    tables = {
        table["id"]: {
            name: [mean(float(row[i]) for row in table["rows"] if row[0] == name) for i in (4, 5)]
            for name in {row[0] for row in table["rows"]}
        }
        for table in tomli.loads((DOCS.parent / "studies" / "netsim.toml").read_text(encoding="utf-8"))["published"][:3]
    }
    six30, six60, twelve = (tables[name] for name in ("tables-1-3-4", "tables-2-5", "tables-6-9"))

    def changes(i, pairs):
        return ", ".join(f"{100 * (b[i] / a[i] - 1):+.1f}" for a, b in pairs)

    def beside(i, best):
        others = [best((one[name][i], one[name]) for name in one if name != "CUBIC")[1] for one in tables.values()]
        return changes(i, zip(others, (one["CUBIC"] for one in tables.values()), strict=True))

    same = [(six30[name], twelve[name]) for name in ("Tahoe", "BIC", "CUBIC")]
    faster = [(six30["CUBIC"], six60["CUBIC"])]
    found = [changes(0, faster), changes(1, faster), changes(0, same), changes(1, same), beside(0, max), beside(1, min)]
    said = [one["author"] for one in statements.statements("netsim")[1][:6]]
    assert [re.sub(r"^\w+: (?:CUBIC )?| %.*", "", text) for text in said] == found
    assert [text.partition(":")[0] for text in said] == ["true"] * 4 + ["mixed"] * 2


def test_a_sweep_says_what_no_number_is_stored_of():
    known = statements.Known({}, {"ewphcc, wireless": [["vegas/speed/5", "delay", 2.0, 5], ["ewphcc/speed/5", "delay", 3.0, 5]]})
    assert known.ours("ewphcc", "wireless/speed/delay") == {"vegas": {"5": 2.0}, "ewphcc": {"5": 3.0}}
    kept = docs.known(DOCS).sweeps
    for one in sweeps.sweeps():
        points = {row[0] for row in kept[f"{one.report}, {one.name}"]}
        labels = {own: stored_as for stored_as, own in one.of.labels.items()}
        assert {f"{labels.get(of, of)}/{one.axis}/{value:g}" for of, value in one.jobs()} <= points, one


def test_the_page_is_of_the_networks_as_they_are():
    assert docs.page(PAGE) == PAGE, "run `make docs`"


def test_the_examples_of_the_page_are_understood():
    study, mechanism = (tomli.loads(text) for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
    assert tp.Study.load(study).plan.runs
    assert validate(MechanismFile, mechanism).mechanism


def label_at(part, one, point, parameter):
    """Return what of a part has the parameters of a stored point, whatever the value on its axis."""
    wanted = one.complete(point)
    for variant in part.variants:
        here = part.scenario["script"] | {path.removeprefix("script."): value for path, value in variant.changes.items()}
        if all(here[key] == value for key, value in wanted.items() if key != parameter):
            return variant.label
    return None


def stored_cells(part, over, origin):
    """Return the stored numbers of the network of a part along an axis, as text by label, value and column."""
    one, parameter = network(part.scenario["source"].removeprefix("reports:")), over.removeprefix("script.")
    found = {}
    for (report, name, algorithm, axis, value), by_origin in stored().items():
        stands = report == one.report and name in one.stored_as() and one.axes.get(axis, "") == parameter
        point = one.point(algorithm, axis, value) if stands else None
        if point is None or origin not in by_origin:
            continue
        label = label_at(part, one, {**point, **one.stored_as()[name]}, parameter)
        for metric, numbers in by_origin[origin].items():
            if (known := metric.removesuffix(MEDIAN)) in one.columns:
                column = f"{one.metrics}.{one.columns[known][0]}"
                found[label, value if parameter else "", column] = f"{sum(numbers) / len(numbers):.8g}"
    return found


TYPED = "two hosts, the default seed"
"""A table beside a script whose numbers were typed from the report."""


@pytest.mark.parametrize("name", ["ewphcc", "tcp-fr", "hystart", "asran"])
def test_tables_of_stored_numbers_hold_what_is_stored(name):
    spec = tp.Study.load(name).spec
    tables = [table for table in spec.published if table.columns[0].name == "compared" and table.id != TYPED]
    assert tables
    for table in tables:
        part = spec.part(table.part)
        held = {
            (row[0], row[1] if table.over else "", column.metric): cell
            for row in table.rows
            for column, cell in zip(table.columns, row, strict=True)
            if column.metric and cell
        }
        origins = [stored_cells(part, table.over, origin) for origin in ("author", "stock")]
        assert any(held.items() <= cells.items() for cells in origins), table.id


def test_networks_are_named_after_their_reports():
    """Not by numbers, but where an old name is told its new one."""
    numbered = re.compile(r"\b00[0-4]-[a-z*]|\b(?:seed|author|report) 00[0-4]\b")
    pages = [page for page in DOCS.rglob("*.md") if "decisions" not in page.parts]
    found = [
        (page.name, line) for page in pages for line in page.read_text(encoding="utf-8").splitlines() if numbered.search(line)
    ]
    assert [line for _, line in found if not line.startswith("Names of former versions")] == []


def test_no_cell_of_a_statement_is_silent():
    held = docs.known(DOCS)
    for report in ("ewphcc", "tcp-fr", "hystart", "netsim", "asran"):
        whole, found = statements.statements(report)
        for one in found:
            cells = statements.columns({**one, "sound": "judged"}, whole, report, held, {})
            assert "–" not in cells and all(cells), f"{report} {one['no']}: {cells}"


def test_what_is_erratic_goes_both_ways():
    assert statements.along_axis("erratic", [1.0, 2.0, 1.5, 3.0]) == "true"
    assert statements.along_axis("erratic", [1.0, 2.0, 1.95, 3.0]) == "false"
