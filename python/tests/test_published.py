"""Published tables: the known contradictions of the five reports come out by rule."""

import pytest

import tonopah as tp
from tonopah.analysis import consistency
from tonopah.spec.published import Published
from tonopah.spec.validation import validate

ALGORITHM = {"name": "algorithm"}
DELIVERY = {"name": "delivery", "is": "delivery"}


def findings(columns, rows, **more):
    table = validate(Published, {"id": "T", "caption": "c", "columns": columns, "rows": rows, **more}, "published[0]")
    return consistency.check(table)


def broken(columns, rows, **more):
    return [finding for finding in findings(columns, rows, **more) if not finding.holds]


def test_hystart_delivery_and_drop_add_to_more_than_one():
    columns = [ALGORITHM, DELIVERY, {"name": "drop", "is": "drop"}]
    rows = [["Base", 0.81554, 0.2396], ["HyStart", 0.86891, 0.1906], ["fine", 0.9, 0.1]]
    wrong = broken(columns, rows)
    assert [finding.record for finding in wrong] == ["Base", "HyStart"]
    assert "0.81554 + 0.2396 = 105.51 %" in wrong[0].sentence


def test_hystart_differences_in_percent_are_those_of_the_values():
    columns = [ALGORITHM, {"name": "drop", "is": "drop"}, DELIVERY]
    rows = [["Base", 0.2396, 0.81554], ["HyStart", 0.1906, 0.86891]]
    change = {"of": "HyStart", "to": "Base"}
    stated = [{"column": "drop", "percent": -20.434, **change}, {"column": "delivery", "percent": 6.545, **change}]
    kept = [finding for finding in findings(columns, rows, differences=stated) if finding.rule.startswith("stated")]
    assert [finding.holds for finding in kept] == [True, True]
    wrong = broken(columns, rows, differences=[{"column": "delivery", "percent": 6.645, **change}])
    assert "is +6.544 %, printed 6.645 %: they do not agree" in wrong[-1].sentence


def test_asran_throughput_is_the_mean_over_data_and_acks():
    columns = [ALGORITHM, {"name": "throughput", "unit": "kb/s", "is": "throughput"}, {"name": "sent", "is": "sent"},
               {"name": "received", "is": "received"}, {"name": "delivery", "unit": "%", "is": "delivery"}]  # fmt: skip
    rows = [["NewReno", 6086.4, 43556, 43480, 99.8255], ["ASRAN", 5889.16, 43135, 42966, 99.6082]]
    given = {"duration": "30s", "packet": "1472B", "offered": "100Mbps"}
    wrong = broken(columns, rows, given=given)
    assert {finding.rule for finding in wrong} == {"throughput = packets × size × 8 / duration"}
    assert "17067 kb/s" in wrong[0].sentence
    # Data and ACKs as two flows of FlowMonitor, in its kb/s of 1024 bit.
    kibi = [column | ({"unit": "Kib/s"} if column["name"] == "throughput" else {}) for column in columns]
    assert broken(kibi, rows, given=given | {"acks_counted": True}) == []
    # Delivery is received / sent to the last digit, and throughput is below what was offered.
    held = [finding for finding in findings(columns, rows, given=given) if finding.holds]
    assert sorted({finding.rule for finding in held}) == ["delivery = received / sent", "throughput ≤ offered load"]
    assert broken(columns, [["NewReno", 6214.7, 43556, 43480, 99.8355]], given=given | {"packet": "536B"})[0].rule.startswith(
        "deliv"
    )


NETSIM = [{"name": "algorithm"}, {"name": "application"}, {"name": "generated", "unit": "bytes", "is": "generated_bytes"},
          {"name": "received", "unit": "bytes", "is": "received_bytes"},
          {"name": "throughput", "unit": "Mb/s", "is": "throughput"}]  # fmt: skip
RENO = ((20647320, 16.51786), (34699820, 27.75986), (3089360, 2.471488), (22333620, 17.8669), (1149020, 0.919216),
        (1819160, 1.455328))  # fmt: skip
CUBIC = ((21283880, 17.0271), (35197680, 28.15814), (3048480, 2.438784), (20753900, 16.60312), (1779740, 1.423792),
         (1255600, 1.00448))  # fmt: skip
ROWS = [[name, i + 1, 36500000, *row] for name, rows in (("Reno", RENO), ("CUBIC", CUBIC)) for i, row in enumerate(rows)]


def test_netsim_400_ms_must_be_400_microseconds():
    given = {"duration": "10s", "packet": "1460B", "interval": "400ms"}
    wrong = broken(NETSIM, ROWS[:1], given=given)
    assert [finding.rule for finding in wrong] == ["generated = duration / interval × size"]
    assert "An interval of 400 µs would fit" in wrong[0].sentence
    assert broken(NETSIM, ROWS, given=given | {"interval": "400us"}) == []


def test_netsim_cubic_is_not_the_best_in_total():
    best = {"column": "throughput", "highest": "CUBIC", "by": "algorithm", "of": "sum", "text": "N3"}
    wrong = broken(NETSIM, ROWS, claims=[best])
    assert len(wrong) == 1
    assert "by the table Reno has it (Reno 66.991, CUBIC 66.655 Mb/s" in wrong[0].sentence
    assert broken(NETSIM, ROWS, claims=[best | {"highest": "Reno"}]) == []


def test_the_best_is_sought_in_each_part_of_a_table():
    columns = [{"name": "applications"}, ALGORITHM, {"name": "delay", "unit": "s", "is": "delay"}]
    rows = [[6, "BIC", 3.9], [6, "CUBIC", 3.7], [12, "BIC", 4.141], [12, "CUBIC", 4.183]]
    best = {"column": "delay", "lowest": "CUBIC", "by": "algorithm", "per": "applications"}
    assert [finding.record for finding in broken(columns, rows, claims=[best])] == ["12"]


def test_jains_index_has_a_least_value():
    columns = [ALGORITHM, {"name": "index", "is": "jain"}]
    rows = [["CUBIC", 0.258838], ["ASRAN", 0.516844], ["NewReno", ""]]
    assert [finding.record for finding in broken(columns, rows, given={"flows": 2})] == ["CUBIC"]
    assert broken(columns, rows, given={"flows": 4}) == []


def test_throughput_is_bytes_by_time_to_the_last_digit():
    rows = [["Tahoe", 1, 36500000, 9101640, "7.281312"], ["Tahoe", 2, 36500000, 9101640, "7.281313"]]
    wrong = broken(NETSIM, rows, given={"duration": "10s"})
    assert [finding.record for finding in wrong] == ["Tahoe, application 2"]
    too_much = broken(NETSIM, [["x", 1, 1000, 9101640, 7.281312]], given={"duration": "10s"})
    assert [finding.rule for finding in too_much] == ["throughput ≤ offered load"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": [["a"]]}, "published[0].rows[0]: has 1 cells"),
        ({"rows": [["a", "much"]]}, "published[0].rows[0][1]: 'much' is not a number"),
        ({"columns": [ALGORITHM, {"name": "x", "is": "speed"}]}, "columns[1].is: 'speed' is unknown"),
        ({"columns": [ALGORITHM, {"name": "x", "unit": "furlong"}]}, "columns[1].unit: 'furlong' is unknown"),
        ({"given": {"duration": "30B"}}, "given.duration: '30B' has the wrong unit"),
        ({"claims": [{"column": "delivery"}]}, "claims[0]: needs highest or lowest"),
        ({"claims": [{"column": "delivery", "highest": "Vegas"}]}, "claims[0].highest: 'Vegas' is unknown (allowed: a)"),
        ({"differences": [{"column": "delivery", "of": "a", "to": "b", "percent": 1}]}, "differences[0].to: 'b' is unknown"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    table = {"id": "T", "caption": "c", "columns": [ALGORITHM, DELIVERY], "rows": [["a", 1]]}
    with pytest.raises(tp.InputError) as caught:
        validate(Published, table | change, "published[0]")
    assert message in str(caught.value)
