"""Links that hold a scenario: what is shared is what runs, and what no page made gets a message."""

import base64
import json
import zlib

import pytest

from tonopah.cli.main import main
from tonopah.errors import InputError
from tonopah.scenario import links

WORLD = 'duration = "2s"\n[network]\nkind = "dumbbell"\npairs = 1\nflows = 1\n'


def link_of(content: str, code: str = "utf-8", after: bytes = b"") -> str:
    packed = zlib.compress(content.encode(code), 9, -zlib.MAX_WBITS) + after
    return "https://example.org/lab/#bench/" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def test_a_shared_link_runs_as_the_file_does(tmp_path, capsys):
    (tmp_path / "world.toml").write_text(WORLD)
    file = str(tmp_path / "world.toml")
    assert main(["share", file, "--seed", "7", "--set", "tcp.cc=cubic", "--page", "https://example.org/lab/#old"]) == 0
    link = capsys.readouterr().out.strip()
    assert link.startswith("https://example.org/lab/#bench/")
    answers = []
    for arguments in ([link], [link, "--seed", "7"], [file, "--seed", "7", "--set", "tcp.cc=cubic"], [link, "--seed", "8"]):
        assert main(["run", *arguments, "--json"]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1] == answers[2] != answers[3]


def test_what_is_shared_is_checked(tmp_path, capsys):
    (tmp_path / "world.toml").write_text(WORLD.replace("flows", "flowz"))
    assert main(["share", str(tmp_path / "world.toml")]) == 2
    assert "flowz" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (link_of('{"document": {"duration": "2s"}, "seed": 1}')[:-9], "cannot be unpacked"),
        ("#bench/", "cannot be unpacked"),
        ("#bench/!!!!", "cannot be unpacked"),
        ("#bench/" + "A" * 10_000_000, "is longer than 4 MiB"),
        (link_of(json.dumps({"document": {"x": "a" * 10_000_000}, "seed": 1})), "holds more than 4 MiB"),
        (link_of("[1, 2]"), "holds no scenario"),
        (link_of('{"document": {}}'), "holds no scenario"),
        (link_of("[" * 100_000), "holds no scenario"),
        # The page reads neither.
        (link_of('{"document": {"duration": "2s"}}', after=b"more"), "cannot be unpacked"),
        (link_of('{"document": {"duration": "2s"}}', code="utf-16"), "holds no scenario"),
        (link_of('{"document": {"duration": "\\u001b[2J"}, "seed": 1}'), "control character"),
        (link_of('{"document": {"duration": "2s"}, "seed": -1}'), "is not a seed"),
        (link_of('{"document": {"duration": "2s"}, "seed": true}'), "is not a seed"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_broken_link_is_told(link, message, capsys):
    assert main(["run", link]) == 2
    told = capsys.readouterr().err
    assert message in told and len(told) < 400


def test_a_link_with_many_flows_is_refused(capsys):
    assert main(["run", link_of('{"document": {"duration": "2s", "network": {"kind": "dumbbell", "flows": 1000000000}}}')]) == 2
    assert "flows" in capsys.readouterr().err


def test_what_is_too_large_for_a_link_is_no_link():
    with pytest.raises(InputError, match="too large for a link"):
        links.write({"x": "a" * 5_000_000}, 1, "")
