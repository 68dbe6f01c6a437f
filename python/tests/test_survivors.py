"""Studies that said "supported" for the wrong reason: one lost packet, and completion times of those that completed."""

import json

import pytest
from conftest import toml

import tonopah as tp

FINITE = [("left0", "0s", "5MB"), ("left1", "1s", "10kB"), ("left1", "2s", "10kB"), ("left1", "3s", "10kB")]


def flow(source, start, size):
    return {"from": source, "to": source.replace("left", "right"), "start": start, "app": {"kind": "bulk", "bytes": size}}


def dumbbell(delay, loss):
    bottleneck = {"rate": "10Mbps", "delay": delay, "queue": "100p", "loss": {"kind": "packet", "p": loss}}
    return {"kind": "dumbbell", "pairs": 2, "access": {"rate": "1Gbps", "delay": "1ms"}, "bottleneck": bottleneck}


def study(folder, document):
    (folder / "study.toml").write_text(toml(document))
    made = tp.Study.load(folder / "study.toml")
    made.run(out=folder / "out", quiet=True)
    made.report()
    return made, json.loads((folder / "out" / "verdicts.json").read_text())


@pytest.fixture(scope="module")
def lost_packet(tmp_path_factory):
    """A and B have the same law: they differ in when a flow starts, which shifts the random losses."""
    flows = [flow("left0", "2s", "100kB"), flow("left1", "0s", "40kB"), flow("left1", "0s", "1213500B")]
    variants = [{"label": label, "set": {"flow.1.start": start}} for label, start in (("A", "0s"), ("B", "5s"))]
    test = {"metric": "loss0", "difference": {"of": "B"}, "below_percent": 0}
    document = {
        "question": "Does B lose fewer packets than A?", "replicates": 10, "baseline": "A",
        "scenario": {"duration": "8s", "tcp": {"cc": "cubic", "profile": "linux"}, "flow": flows,
                     "network": dumbbell("10ms", 1e-3)},
        "compare": {"variant": variants}, "figure": [{"kind": "bar", "y": ["loss0"]}],
        "derived": [{"name": "loss0", "kind": "average", "metric": "loss_ratio", "flows": [0]}],
        "claim": [{"id": "C1", "text": "B loses less.", "test": test}],
    }  # fmt: skip
    return study(tmp_path_factory.mktemp("lost"), document)


@pytest.fixture(scope="module")
def lossy(tmp_path_factory):
    variants = [{"label": label, "set": {"network.bottleneck.loss.p": p}} for label, p in (("clean", 1e-4), ("lossy", 0.1))]
    tests = {metric: {"metric": metric, "difference": {"of": "lossy"}, "below_percent": -20}
             for metric in ("completion_p99_s", "completion_s", "mine")}  # fmt: skip
    document = {
        "question": "Does a lossy link complete flows faster?", "replicates": 8, "baseline": "clean",
        "scenario": {"duration": "10s", "tcp": {"cc": "cubic", "profile": "linux"}, "flow": [flow(*one) for one in FINITE],
                     "network": dumbbell("20ms", 1e-4)},
        "compare": {"variant": variants}, "figure": [{"kind": "bar", "y": ["completion_p99_s", "completion_s"]}],
        "derived": [{"name": "mine", "kind": "average", "metric": "completion_s"}],
        "claim": [{"id": name, "text": "Flows complete faster.", "test": test} for name, test in tests.items()],
    }  # fmt: skip
    return study(tmp_path_factory.mktemp("lossy"), document)


@pytest.fixture(scope="module")
def overloaded(tmp_path_factory):
    """Half of the objects are not finished when the run ends: nobody knows their 99th percentile."""
    bottleneck = {"rate": "4Mbps", "delay": "19ms", "queue": "1000p"}
    workload = {"name": "objects", "from": ["left1"], "to": ["right1"], "arrivals": {"kind": "poisson", "rate": "6/s"},
                "size": {"kind": "constant", "bytes": "30kB"}}  # fmt: skip
    name = "workload.objects.fct_p99_s"
    document = {
        "question": "Is the 99th percentile of 30 kB objects below 28 s?", "replicates": 6,
        "scenario": {"duration": "40s", "warmup": "5s", "tcp": {"profile": "linux"},
                     "network": {"kind": "dumbbell", "pairs": 2, "bottleneck": bottleneck},
                     "flow": [{"from": "left0", "to": "right0"}], "workload": [workload]},
        "compare": {"cc": [{"name": "cubic", "profile": "linux"}]},
        "figure": [{"kind": "ecdf", "y": ["fct_s"]}, {"kind": "bar", "y": [name]}],
        "claim": [{"id": "P99", "text": "The 99th percentile is below 28 s", "test": {"metric": name, "below": 28}}],
    }  # fmt: skip
    return study(tmp_path_factory.mktemp("overloaded"), document)


def test_a_lost_packet_decides_nothing(lost_packet):
    claim = lost_packet[1]["claims"][0]
    assert claim["verdict"] == "undecided"
    assert claim["tests"][0]["readings"][0]["p_for"] == 1.0
    assert "fewer than 10 events" in claim["tests"][0]["readings"][0]["sentence"]


def test_a_lossy_link_completes_nothing_faster(lossy):
    made, found = lossy
    assert (made.table()["flows_unfinished"] > 0).any()
    assert {claim["id"]: claim["verdict"] for claim in found["claims"] if claim["verdict"] == "supported"} == {}
    p99 = found["claims"][0]["tests"][0]["readings"][0]
    assert p99["censored"] > 0 and "by ranks" in p99["sentence"] and p99["kind"] == "time"


def test_a_percentile_among_those_that_did_not_finish_is_only_known_to_be_larger(overloaded):
    made, found = overloaded
    table = made.table()
    assert (table["workload.objects.fct_known_share"] < 0.99).all()
    assert table["workload.objects.fct_p99_s"].notna().all(), "a replicate is not left out because it is bad"
    reading = found["claims"][0]["tests"][0]["readings"][0]
    assert found["claims"][0]["verdict"] in ("undecided", "contradicted")
    assert (reading["censored"], reading["effect"]["n"]) == (6, 6)
    assert "at least that long" in reading["sentence"]


def test_the_distribution_of_completion_times_ends_at_the_share_that_finished(overloaded):
    made, _ = overloaded
    lines = (made.folder / "figures" / "ecdf--fct_s.csv").read_text().splitlines()
    assert 0.1 < float(lines[-1].rpartition(",")[2]) < 0.9
