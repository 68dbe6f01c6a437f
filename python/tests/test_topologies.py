"""The examples of docs/topologies.md are scenarios that run, and its pictures are those of their networks."""

import re
import tomllib
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.plot.network import draw

PAGE = Path(__file__).parents[2] / "docs" / "topologies.md"
EXAMPLES = [tomllib.loads(text) for text in re.findall(r"```toml\n(duration.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["network"]["kind"])
def test_the_examples_of_the_page_run_and_have_their_pictures(example):
    picture = PAGE.parent / "topologies" / f"{example['network']['kind']}.svg"
    assert picture.read_text(encoding="utf-8") == draw(tp.check(example)["graph"])
    short = {key: value for key, value in example.items() if key not in ("warmup", "move")}
    result = tp.run(short | {"duration": "20ms"})
    assert result.summary["conservation"]["sent"] > 0
