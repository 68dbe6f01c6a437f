"""The fuzzer of the readers: what it finds is kept, and some inputs of each kind give a trace or a sentence."""

import random

import file_kinds
import fuzz_readers
import pytest


@pytest.mark.parametrize("target", ["captures", "qlogs", "packetdrill", "links", "packs"])
def test_inputs_that_go_new_ways_are_changed_again(target):
    count = len(file_kinds.KINDS[target].seeds()) + 10
    tried, answers, met = fuzz_readers.fuzz(target, iter(range(count)), random.Random(3))
    assert tried == count and answers and len(met) > 50


def test_what_a_reader_raises_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz_readers, "ARTIFACTS", tmp_path)
    draw = random.Random(5)
    kind = file_kinds.KINDS["captures"]._replace(
        read=lambda file: 1 // (file.read_bytes()[0] != 7), change=lambda data, *_: bytes([draw.randrange(256)]) + data[1:]
    )
    monkeypatch.setitem(file_kinds.KINDS, "captures", kind)
    with pytest.raises(ZeroDivisionError):
        fuzz_readers.fuzz("captures", iter(range(5000)), draw)
    (kept,) = (tmp_path / "captures").iterdir()
    assert kept.read_bytes()[0] == 7
