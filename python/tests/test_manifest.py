"""What a folder of results says about its study: written, read back, and refused where it cannot be read."""

import json
import math

import pytest

import tonopah as tp
from tonopah.spec.manifest import Manifest, Reached, Target
from tonopah.store.database import checksum
from tonopah.store.store import Store

FACTS = {
    "name": "s", "document": {"question": "?"}, "source": "s.toml", "home": "/there", "quick": False, "replicates": {"": 3},
}  # fmt: skip


def test_a_manifest_is_read_as_it_was_written():
    target, reached = Target(5.0, 50, ("jain",)), Reached(math.inf, "jain of cubic", 1, 3, 10, False)
    for more in ({}, {"target": target, "reached": {"": reached}}):
        manifest = Manifest(**FACTS, **more)
        assert Manifest.from_json(json.loads(json.dumps(manifest.to_json())), "out") == manifest


END = {"half_width": 1.0, "where": "", "look": 1, "looks": 3, "replicates": 3, "narrow": True}
WITH_TARGET = {"target": {"percent": 5.0, "at_most": 9, "metrics": []}, "reached": {"": END}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (WITH_TARGET | {"reached": {}}, "the precision that was reached is not given by part"),
        ({"target": WITH_TARGET["target"]}, "cannot read: KeyError: 'reached'"),
        (WITH_TARGET | {"reached": {"": END | {"looks": 0}}}, "cannot read: ValueError: looks is 0"),
        (WITH_TARGET | {"reached": {"": END | {"look": "1"}}}, "cannot read: TypeError: look is str"),
        (WITH_TARGET | {"reached": {"": END | {"narrow": 1}}}, "cannot read: TypeError: narrow is int"),
        (WITH_TARGET | {"target": {"percent": True, "metrics": []}}, "cannot read: TypeError: percent is bool"),
        ({"source": "a\0b"}, "holds a null byte"),
        ({"home": "a\0b"}, "holds a null byte"),
        (None, "out: contains no prepared study"),
        ([], "out: contains a study that this version cannot read"),
        ({"document": None}, "cannot read: TypeError"),
        ({"replicates": 3}, "cannot read: TypeError: replicates are not given by part"),
        ({"replicates": {"": 0}}, "cannot read: ValueError: 0 replicates of part ''"),
        (WITH_TARGET | {"target": {"percent": 5}}, "cannot read: KeyError: 'metrics' (run the study again, into another folder)"),
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


def test_odd_parts_of_an_older_version_are_refused(study_document, tmp_path):
    with Store(tmp_path) as store:
        store.remember("study", FACTS | {"document": study_document | {"part": [1]}})
    with pytest.raises(tp.InputError, match="part"):
        tp.Study.open(tmp_path)


def test_a_study_without_end_of_its_nesting_is_damaged(tmp_path):
    text = "[" * 100_000 + "]" * 100_000
    with Store(tmp_path) as store:
        store.execute("INSERT INTO study VALUES (?, ?, ?)", ("study", text, checksum("study", text)))
    with pytest.raises(tp.RunFailedError, match="is damaged"):
        tp.Study.open(tmp_path)


def test_a_folder_whose_study_is_wrong_is_named(study_document, tmp_path):
    with Store(tmp_path) as store:
        store.remember("study", FACTS | {"document": study_document | {"sweeps": []}})
    with pytest.raises(tp.InputError) as caught:
        tp.Study.open(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}: sweeps: unknown key")
