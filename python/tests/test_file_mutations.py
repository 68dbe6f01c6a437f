"""Every kind of file that is read, with random changes: it is read or refused with a sentence, soon, and memory stays small.

TONOPAH_MUTATIONS=100000 (`make mutate`) sets how many of each, a tenth of them of archives and databases, which take longer.
"""

import faulthandler
import os
import random
import tempfile
import time
from pathlib import Path

import file_kinds
import fuzz_readers
import page_links
import pytest
from memory import memory_taken

from tonopah.errors import InputError

COUNT = int(os.environ.get("TONOPAH_MUTATIONS", "0"))
LONGEST_S = 5.0
"""Processor time for one of them."""
MOST_BYTES = 500_000_000
SLOW = ("packs", "stores")


@pytest.mark.parametrize("name", file_kinds.KINDS)
def test_a_mutated_file_is_read_or_refused(name):
    if name in ("graphml", "gml"):
        pytest.importorskip("networkx")
    kind, draw = file_kinds.KINDS[name], random.Random(None if COUNT else 1)
    seeds, longest_s, accepted = kind.seeds(), 0.0, 0
    count = (COUNT or 20) // (10 if name in SLOW else 1)
    with memory_taken() as taken, tempfile.TemporaryDirectory() as folder:
        assert all(file_kinds.read_once(kind, seed, Path(folder)) for seed in seeds)
        for _ in range(count):
            data = kind.change(draw.choice(seeds), draw.choice(seeds), kind.tokens, draw)
            faulthandler.dump_traceback_later(120, exit=True)
            began = time.process_time()
            try:
                accepted += file_kinds.read_once(kind, data, Path(folder))
                longest_s = max(longest_s, time.process_time() - began)
                assert longest_s < LONGEST_S
            except BaseException:
                fuzz_readers.keep(name, data)
                raise
            finally:
                faulthandler.cancel_dump_traceback_later()
    print(f"\n{name}: {count} changed, {accepted} read; longest {longest_s:.2f} s, {taken.bytes / 1e6:.0f} MB")
    assert taken.bytes < MOST_BYTES


def test_each_link_is_one_world_in_the_page_and_on_the_command_line(monkeypatch):
    letters = file_kinds.linked()[0].decode()
    if page_links.in_page(letters) is None:
        pytest.skip("needs Node")
    assert page_links.read(letters)["duration"] == "2s"
    with pytest.raises(InputError):
        page_links.read(letters[:-9])
    monkeypatch.setattr(page_links.links, "read", lambda _: ({"duration": "3s"}, 7))
    with pytest.raises(AssertionError, match="another world"):
        page_links.read(letters)
