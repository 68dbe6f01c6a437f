"""The shipped studies tcp-fr, netsim and asran: reduced to a second they judge every claim by its name."""

import pytest
from conftest import without_scripts

import tonopah as tp
from tonopah.analysis import consistency
from tonopah.spec.reader import reduce_spec


@pytest.mark.parametrize("name", ["tcp-fr", "netsim", "asran"])
def test_a_small_run_judges_every_claim(name, tmp_path):
    study = tp.Study.load(name)
    study.spec = without_scripts(reduce_spec(study.spec))
    for part in study.spec.parts:
        part.figures = part.figures[-1:]
        part.scenario["duration"] = "1s"
        part.replicates = 2
        # Two of the values: enough for a trend.
        for sweep in part.sweeps:
            sweep.vary.update({axis: values[:2] for axis, values in sweep.vary.items()})
    study.run(quiet=True, out=tmp_path)
    text = study.report().read_text()
    for claim in study.spec.claims:
        assert f'<span class="id">{claim.id}</span>' in text
    assert study.missing() == 0


def broken(name):
    """Return the rules that the published tables of a study break, each as (table, rule)."""
    tables = tp.Study.load(name).spec.published
    return [(found.table, found.rule) for table in tables for found in consistency.check(table) if not found.holds]


def test_the_netsim_tables_contradict_their_text():
    tables = {table.id: table for table in tp.Study.load("netsim").spec.published}
    assert [len(tables[i].rows) for i in ("tables-1-3-4", "tables-2-5", "tables-6-9")] == [18, 12, 48]
    best = "the best of a column is the one that the text names"
    # 60 Mb/s: Reno carries 66.99 Mb/s in total, CUBIC 66.66; twelve applications: BIC waits 4.141 s, CUBIC 4.183 s.
    assert ("tables-2-5", best) in broken("netsim")
    assert ("tables-6-9", best) in broken("netsim")
    assert ("step-5", "generated = duration / interval × size") in broken("netsim")
    # Every throughput is received bytes × 8 / 10 s.
    assert not any(rule.startswith("throughput =") for _, rule in broken("netsim"))


def test_the_asran_tables_hold_once_acks_are_counted():
    """Table 6 pools data and ACKs, and Jain's index is over two data and two ACK flows: so the script has it."""
    assert broken("asran") == []
