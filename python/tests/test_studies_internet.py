"""The shipped studies l4s, datacenter, home and pantheon: reduced to moments they have every number that a claim reads."""

import json

import pytest

import tonopah as tp
from tonopah.analysis import tables
from tonopah.spec.claim import NotTestable
from tonopah.spec.reader import reduce_spec

CLAIMS = {
    "l4s": ("Q2", "Q3", "Q4", "Q5a", "Q5b", "Q5c", "Q5d", "Q6", "Q7"),
    "datacenter": ("D1", "D2", "D3", "W6a", "W6b", "W6c", "W6d"),
    "pantheon": ("P1", "P2", "P3", "P4", "P5", "P6", "P7"),
    "home": ("C1a", "C1b", "C1c", "C2", "C3a", "C3b", "C3c", "H1", "H2", "H3"),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_small_run_has_every_number_that_a_claim_reads(name, tmp_path):
    study = tp.Study.load(name)
    study.spec = reduce_spec(study.spec)
    assert tuple(claim.id for claim in study.spec.claims) == CLAIMS[name]
    for part in study.spec.parts:
        part.figures, part.replicates = part.figures[-1:], 1
        part.scenario |= {"duration": "1500ms", "warmup": "20ms"}
        if part.id == "search":
            part.scenario |= {"duration": "40ms", "warmup": "5ms", "cooldown": "5ms"}
        for sweep in part.sweeps:
            sweep.vary.update({axis: values[-1:] for axis, values in sweep.vary.items()})
    study.run(quiet=True, out=tmp_path)
    study.report()
    assert study.missing() == 0
    assert [claim["id"] for claim in json.loads((tmp_path / "verdicts.json").read_text())["claims"]] == list(CLAIMS[name])
    table = study.table()
    for claim in study.spec.claims:
        assert claim.tests and not any(isinstance(test, NotTestable) for test in claim.tests)
        for part, metric in {(test.part, metric) for test in claim.tests for metric in test.metrics}:
            # Small flows of a moment have no 99th percentile.
            if not metric.endswith("fct_p99_s"):
                assert table.loc[table["part"] == part, metric].notna().any(), (claim.id, part, metric)


def test_jain_of_hosts_adds_the_flows_of_a_host():
    def flow(source, sink, delivered, lifetime=10.0):
        return {"from": source, "to": sink, "delivered_bytes": delivered, "lifetime_s": lifetime}

    downloads = [flow("s0", "a", 60), *(flow(f"s{i}", "b", 20) for i in range(3))]
    assert tables.host_fairness(downloads) == {"jain_hosts": 1.0}
    assert tables.host_fairness([*downloads, flow("s0", "c", 0)]) == {"jain_hosts": pytest.approx(2 / 3)}
    # What was over before the interval does not count; where all have one receiver, senders are the hosts.
    assert tables.host_fairness([*downloads, flow("s0", "c", 0, None)]) == {"jain_hosts": 1.0}
    assert tables.host_fairness([flow("a", "s", 30), flow("b", "s", 10)]) == {"jain_hosts": pytest.approx(0.8)}
    # One pair of hosts shares with nobody, hosts without a byte have no shares, and of a sample of flows nothing is known.
    assert tables.host_fairness(downloads[:1]) == tables.host_fairness([flow("a", "s", 0), flow("b", "s", 0)]) == {}
    assert tables.host_fairness([one | {"workload": "web"} for one in downloads]) == {}
