"""What a folder of results says about its study: written, read back, and refused where it cannot be read."""

import json
import math

import pytest

import tonopah as tp
from tonopah.spec.manifest import Manifest, Reached, Target
from tonopah.store.store import Store

FACTS = {
    "name": "s", "document": {"question": "?"}, "source": "s.toml", "home": "/there", "quick": False, "replicates": {"": 3},
}  # fmt: skip


def test_a_manifest_is_read_as_it_was_written():
    target, reached = Target(5.0, 50, ("jain",)), Reached(math.inf, "jain of cubic", 1, 3, 10, False)
    for more in ({}, {"target": target, "reached": {"": reached}}):
        manifest = Manifest(**FACTS, **more)
        assert Manifest.from_json(json.loads(json.dumps(manifest.to_json())), "out") == manifest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "out: contains no prepared study"),
        ([], "out: contains a study that this version cannot read"),
        ({"document": None}, "cannot read: TypeError"),
        ({"replicates": 3}, "cannot read: TypeError: replicates are not given by part"),
        ({"replicates": {"": 0}}, "cannot read: ValueError: 0 replicates of part ''"),
        ({"target": {"percent": 5}}, "cannot read: KeyError: 'metrics' (run the study again, into another folder)"),
    ],
)
def test_what_is_no_manifest_is_refused(change, message):
    with pytest.raises(tp.InputError) as caught:
        Manifest.from_json(FACTS | change if isinstance(change, dict) else change, "out")
    assert message in str(caught.value)


def test_a_folder_of_an_older_version_opens(study_document, tmp_path):
    document = study_document | {"measure": [{"name": "fair", "kind": "jain"}]}
    with Store(tmp_path) as store:
        store.remember("study", FACTS | {"document": document})
    study = tp.Study.open(tmp_path)
    assert study.spec.parts[0].derived[0].name == "fair"
    assert study.missing() == len(study.plan.runs)


def test_a_folder_whose_study_is_wrong_is_named(study_document, tmp_path):
    with Store(tmp_path) as store:
        store.remember("study", FACTS | {"document": study_document | {"sweeps": []}})
    with pytest.raises(tp.InputError) as caught:
        tp.Study.open(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}: sweeps: unknown key")
