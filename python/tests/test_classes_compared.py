"""CUBIC in Python beside the engine's, and classes in studies and sweeps."""

import importlib

import pytest
from test_python_algorithm import events, worlds

import tonopah as tp
from tonopah.examples.cubic import Cubic


@pytest.mark.parametrize("recovery", ["sack", "rack"])
def test_cubic_in_python_gives_the_same_packet_events_as_cubic_in_rust(dumbbell, recovery):
    for world in list(worlds(dumbbell)):
        world["tcp"] |= {"recovery": recovery}
        assert events(world, {"name": "cubic", "profile": "rfc"}) == events(world, Cubic)
    assert events(world, {"python": Cubic, "beta": 0.5}) != events(world, Cubic)


def test_a_class_that_was_imported_is_swept_and_studied_and_one_of_the_program_says_what_to_do(dumbbell, tmp_path, monkeypatch):
    (tmp_path / "gentle_cubic.py").write_text(
        "from tonopah.examples.cubic import Cubic\n\n\nclass Gentle(Cubic):\n    def on_congestion(self, event, view):\n"
        "        super().on_congestion(event, view)\n        self.cwnd_bytes *= 1.1\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    gentle = importlib.import_module("gentle_cubic").Gentle
    study = tp.Study(
        "Is it gentle?", dumbbell | {"duration": "5s"}, [gentle, {"python": Cubic, "beta": 0.8}, "cubic"], replicates=1
    )
    study.run(quiet=True, out=tmp_path / "out")
    assert sorted(study.table()["algorithm"]) == ["Cubic beta=0.8", "Gentle", "cubic"]
    table = tp.sweep(dumbbell | {"duration": "5s"}, {"network.bottleneck.delay": ["5ms"]}, gentle, replicates=1)
    assert list(table["algorithm"]) == ["Gentle"]
    with pytest.raises(tp.InputError, match=r'compare.cc\[0\].*write it into a file and import it, or name it: "FILE.py:Own"'):
        tp.Study("?", dumbbell, [type("Own", (Cubic,), {"__module__": "__main__"})])
