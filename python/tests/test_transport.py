"""Whole transports in shared libraries: what they say of themselves, and what can be wrong with that."""

import json
import os
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

import tonopah as tp
from tonopah.cli.main import main

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler (cc)")
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "native"

OPTIONS = """
static const char *const WORDS[] = { "cubic", "newreno", NULL };
static const struct tonopah_option OPTIONS[] = {
    { "cc", 1, 0, 1, "", "congestion control", WORDS },
    { "initial_rtt_ms", 333, 1, 10000, "ms", "first RTT", NULL },
};
"""


def build(folder, name="stopwait", *defines, source=None):
    """Compile stopwait.c, with a fault of its own (-DFAULT_…) or with another source."""
    file, target = EXAMPLES / "stopwait.c", folder / f"lib{name}.so"
    if source is not None:
        file = folder / f"{name}.c"
        file.write_text(source, encoding="utf-8")
    flags = ["-O2", "-shared", "-fPIC", f"-I{tp.get_include()}", *defines]
    subprocess.run(["cc", *flags, "-o", str(target), str(file), "-lm", "-lpthread"], check=True)
    return target


@pytest.fixture(scope="module")
def stopwait(tmp_path_factory):
    return build(tmp_path_factory.mktemp("transport"))


@pytest.mark.parametrize("compiler", [["cc", "-std=c99", "-x", "c"], ["c++", "-std=c++17", "-x", "c++"]])
def test_the_header_compiles_without_a_warning(tmp_path, compiler):
    if not shutil.which(compiler[0]):
        pytest.skip(f"there is no {compiler[0]}")
    (tmp_path / "one").write_text('#include "tonopah_transport.h"\n#include "tonopah.h"\n')
    flags = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{tp.get_include()}"]
    subprocess.run([*compiler, *flags, str(tmp_path / "one")], check=True)


def test_a_transport_is_described(stopwait, capsys):
    assert main(["algorithms", str(stopwait), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["kind"], said["title"], said["protocol"], said["max_streams"]) == ("transport", "stop and wait", 17, 1)
    assert said["states"] == ["handshake", "open"] and said["options"] == []
    assert main(["algorithms", str(stopwait)]) == 0
    assert "UDP (17)" in capsys.readouterr().out


def test_options_have_words_and_ranges(tmp_path, capsys):
    plain = (EXAMPLES / "stopwait.c").read_text(encoding="utf-8")
    at = plain.index("static const char *const STATES")
    source = (plain[:at] + OPTIONS + plain[at:]).replace("17, 1, NULL, 0, STATES", "17, 1, OPTIONS, 2, STATES")
    library = build(tmp_path, "options", source=source)
    assert main(["algorithms", str(library), "--json"]) == 0
    cc, rtt = json.loads(capsys.readouterr().out)["options"]
    assert (cc["words"], cc["default"], cc["max"]) == (["cubic", "newreno"], 1, 1)
    assert (rtt["words"], rtt["default"], rtt["unit"], rtt["max"]) == ([], 333, "ms", 10_000)
    assert main(["algorithms", str(library)]) == 0
    out = capsys.readouterr().out
    assert "cubic, newreno" in out and "1 to 10000" in out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("VERSION, SIZE", "7, SIZE", "has version 7 of the interface, the engine has 1"),
        ("VERSION, SIZE", "1, 160", "was compiled with a header whose struct has 160 bytes, the engine's has 168"),
        ("write_, read_,", "write_, 0,", "tonopah_transport.read is NULL"),
        ("17, 1, NULL, 0,", "17, 0, NULL, 0,", "tonopah_transport.max_streams = 0"),
        ("17, 1, NULL, 0,", "17, 1, NULL, 3,", "tonopah_transport.option_count = 3"),
        ('{ "handshake", "open" }', '{ "hand shake", "open" }', "'hand shake' is no name of a state"),
        ("tonopah_transport = {", "another = {", "has no symbol tonopah_algorithm"),
    ],
)
def test_a_library_that_says_something_wrong(tmp_path, old, new, said, capsys):
    plain = (EXAMPLES / "stopwait.c").read_text(encoding="utf-8")
    assert old in plain
    library = build(tmp_path, "wrong", source=plain.replace(old, new))
    assert main(["algorithms", str(library)]) == 2
    assert said in capsys.readouterr().err


def test_each_kind_of_library_is_told_from_the_other(stopwait, tmp_path):
    given = {"duration": "1s", "network": {"kind": "dumbbell", "flows": 1}}
    with pytest.raises(tp.InputError, match=r"libstopwait\.so is a transport \(it has tonopah_transport\)") as raised:
        tp.check(given | {"tcp": {"cc": {"native": str(stopwait)}}})
    assert raised.value.hint == 'transport = { native = "libstopwait.so" }'
    reno = build(tmp_path, "reno", source=(EXAMPLES / "reno.c").read_text(encoding="utf-8"))
    with pytest.raises(tp.InputError, match=r"libreno\.so is a congestion control \(it has tonopah_algorithm\)") as raised:
        tp.check(given | {"traffic": {"transport": {"native": str(reno)}}})
    assert (raised.value.path, raised.value.hint) == ("traffic.transport.native", 'cc = { native = "libreno.so" }')


SIZE = 168
"""Of the struct, as its second field says."""
RELATIVE = (8, 0x403)
"""Relocations by which a pointer of the struct is its addend: R_X86_64_RELATIVE, R_AARCH64_RELATIVE."""
DAMAGED = int(os.environ.get("TONOPAH_DAMAGED_LIBRARIES", "20"))


def places_of_the_struct(library):
    """Return where in a file the fields of its struct are that are no pointers, and where its pointers: in relocations."""
    at = library.index(struct.pack("<II", 1, SIZE))
    entries = ((place, *struct.unpack_from("<QQ", library, place)) for place in range(0, len(library) - 24, 8))
    pointers = [place + 16 for place, to, kind in entries if kind in RELATIVE and (to - at) % 0x1000 < SIZE]
    return list(range(at, at + SIZE)), [byte for place in pointers for byte in range(place, place + 8)]


def test_damaged_libraries_give_an_answer_or_a_sentence(stopwait, tmp_path):
    """20 of them; `make mutate` tries 1,000 (TONOPAH_DAMAGED_LIBRARIES)."""
    plain, draw = stopwait.read_bytes(), random.Random(1)
    fields, pointers = places_of_the_struct(plain)
    assert len(pointers) >= 8 * 10
    flow = {"from": "left0", "to": "right0", "app": {"kind": "bulk", "bytes": "20kB"}}
    refused = 0
    for number in range(DAMAGED):
        library, data = tmp_path / f"libdamaged{number}.so", bytearray(plain)
        for _ in range(draw.randint(1, 4)):
            data[draw.choice(pointers if number % 2 else fields)] = draw.randrange(256)
        library.write_bytes(data)
        given = {"duration": "1s", "network": {"kind": "dumbbell"}, "flow": [flow | {"transport": {"native": str(library)}}]}
        try:
            tp.run(given)
        except (tp.InputError, tp.AlgorithmError) as error:
            refused += 1
            assert library.name in str(error)
        library.unlink()
    assert 0 < refused < DAMAGED
