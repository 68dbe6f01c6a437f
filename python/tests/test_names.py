"""Names of files and anchors: two ids never share one, and any name is safe."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tonopah.names import DIGEST_DIGITS, figure_id, key_slug, slug

SAFE = re.compile(r"[a-z0-9_-]+")


@pytest.mark.parametrize("text", ["wifi", "wifi-grows", "six60", "a_b", "x"])
def test_an_id_that_is_safe_is_its_own_name(text):
    assert slug(text) == text


def test_a_key_keeps_its_words():
    assert key_slug("network.bottleneck.queue.limit") == "network-bottleneck-queue-limit"
    assert figure_id("wifi", "line", "network.flows", "goodput_bps") == "wifi--line--network-flows--goodput_bps"
    assert figure_id("", "bar", "loss_ratio") == "bar--loss_ratio"


@pytest.mark.parametrize(
    ("one", "other"),
    [("a b", "a-b"), ("A", "a"), ("α", "β"), ("a.b", "a-b"), ("é", "e"), ("", " "), ("a" * 300, "a" * 301), ("a-", "a")],
)
def test_two_ids_have_two_names(one, other):
    for name in (slug, key_slug):
        assert name(one).lower() != name(other).lower()
        assert SAFE.fullmatch(name(one)) and SAFE.fullmatch(name(other))


def test_what_looks_like_the_name_of_another_id_gets_a_digest():
    taken = slug("a b")
    assert re.fullmatch(rf"a-b-[0-9a-f]{{{DIGEST_DIGITS}}}", taken)
    assert slug(taken) != taken
    assert key_slug(key_slug("a b").replace("-", ".")) != key_slug("a b")


@given(st.lists(st.text(alphabet=string.ascii_letters + "-._ 09äα", max_size=60), min_size=2, max_size=2, unique=True))
def test_names_are_one_to_one(pair):
    assert slug(pair[0]) != slug(pair[1])
    assert key_slug(pair[0]) != key_slug(pair[1])


def test_the_longest_name_of_a_figure_is_a_file_name():
    name = figure_id("ä" * 300, "heatmap-difference", *("x." * 200 + str(i) for i in range(3)))
    assert len(f"{name}--median--99.csv".encode()) <= 255
