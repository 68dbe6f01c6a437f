"""House rules 1, 3 and 6 of CONTRIBUTING.md, and which files may name other simulators and the reports.

Exceptions stand in `house/exceptions.toml`. The list may only shrink: what is no violation any more has to leave it.
"""

import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from house import python, rust

ROOT = Path(__file__).parents[2]
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 400, 60
WORDS = re.compile(r"\bns-?[23]|_ns[23]|Ns[23]|\bNS-?[23]|[Nn]et[Ss]im|\b[Aa]uthors?\b|\breport's\b")
MAY_NAME = (
    "/compat/", "/scenario/", "profiles.rs", "renamed.", "crates/tcp/src/settings.rs", "python/tonopah/reports/",
    "python/tonopah/peers/", "python/tonopah_dev/", "/tests/", "tests.rs", "reference_dcf.rs",
)  # fmt: skip
"""Where other simulators and the reports are named: their agents, the schema, the tables of profiles, tests."""


@cache
def sources() -> dict[str, str]:
    """Return the sources of the product by path."""
    folders = ("crates/tcp/src", "crates/sim/src", "crates/py/src", "python/tonopah", "python/tonopah_dev")
    files = [path for folder in folders for ending in ("rs", "py") for path in (ROOT / folder).rglob(f"*.{ending}")]
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(files) if path.is_file()}


def is_test(path: str) -> bool:
    return path.endswith("tests.rs") or "/tests/" in path or "reference_" in path


def reader_of(path: str):
    return rust if path.endswith(".rs") else python


@cache
def names(ending: str) -> set[str]:
    """Return the names of the functions of the house in one language."""
    return {name for path, text in sources().items() if path.endswith(ending) for name, _ in reader_of(path).functions(text)}


def long_files(files: dict[str, str]) -> list[str]:
    return [path for path, text in files.items() if text.count("\n") > MOST_LINES]


def long_functions(files: dict[str, str]) -> list[str]:
    return [
        f"{path} {name}"
        for path, text in files.items()
        if not is_test(path)
        for name, lines in reader_of(path).functions(text)
        if lines > MOST_LINES_OF_A_FUNCTION
    ]


def bare_booleans(files: dict[str, str]) -> list[str]:
    return [
        f"{path} {name}"
        for path, text in files.items()
        if not is_test(path)
        for name in reader_of(path).bare_booleans(text, names(path[-3:]))
    ]


def profiles_left_out(text: str) -> str:
    """Return a file without its tests, its tables of profiles, and the sources of its parameters."""
    text = text.split("#[cfg(test)]", maxsplit=1)[0]
    text = re.sub(r"const \w+: &\[\(&str, Value\)\] =.*?\];", "", text, flags=re.DOTALL)
    text = re.sub(r'const \w+: &str = "[^"]*";', "", text)
    text = re.sub(r"compat/\w+\.rs", "", text)
    text = re.sub(r"\n *(?:const \w+: )?(?:&?\[?Profile\b|profiles: &\[).*?\n {0,8}\]", "", text, flags=re.DOTALL)
    return re.sub(r'\.source\(\s*"(?:\\.|[^"\\])*",?\s*\)', "", text, flags=re.DOTALL)


def foreign_words(files: dict[str, str]) -> list[str]:
    rest = {path: text for path, text in files.items() if not any(place in path for place in MAY_NAME)}
    return [path for path, text in rest.items() if WORDS.search(profiles_left_out(text))]


SHARED = re.compile(r"rc::Rc|\bCell<|RefCell|Mutex|make_mut\(|get_mut_unchecked|static mut|thread::|\basync ")
"""State that several owners could change. An `Arc` of settings that nobody changes is none."""


def shared_state(files: dict[str, str]) -> list[str]:
    """House rule 3: of the crates that simulate."""
    simulating = {path: text for path, text in files.items() if path.startswith(("crates/tcp/src", "crates/sim/src"))}
    return [path for path, text in simulating.items() if not is_test(path) and SHARED.search(rust.code_of(text))]


RULES = {rule.__name__: rule for rule in (long_files, long_functions, bare_booleans, foreign_words, shared_state)}


def exceptions(rule: str) -> list[str]:
    return tomllib.loads((Path(__file__).parent / "house" / "exceptions.toml").read_text()).get(rule, [])


@pytest.mark.parametrize("rule", RULES)
def test_the_house_keeps_its_rules_but_for_a_list_that_only_shrinks(rule):
    found, allowed = Counter(RULES[rule](sources())), Counter(exceptions(rule))
    assert not found - allowed, "breaks the rule"
    assert not allowed - found, "no exception any more: take it off the list"


PLANTED = {
    "long_files": {"crates/tcp/src/x.rs": "//\n" * 401},
    "long_functions": {
        "crates/tcp/src/x.rs": "    fn f() {\n" + "        g();\n" * 60 + "    }\n",
        "python/tonopah/x.py": "def f():\n" + "    g()\n" * 60,
    },
    "bare_booleans": {
        "crates/tcp/src/x.rs": 'fn g(now: Time) {\n    self.view(now, // "no"\n        false)\n}\n',
        "python/tonopah/x.py": "run_study(spec, True)\n",
    },
    "shared_state": {"crates/sim/src/x.rs": "let table = Arc::make_mut(&mut self.table);\n"},
    "foreign_words": {"crates/sim/src/x.rs": "// As in ns-2.\n", "python/tonopah/x.py": '"""What an author counts."""\n'},
}


@pytest.mark.parametrize("rule", RULES)
def test_a_planted_violation_is_found(rule, monkeypatch):
    monkeypatch.setattr("test_house.names", lambda ending: {"view", "run_study"})
    for path, text in PLANTED[rule].items():
        assert RULES[rule]({path: text}), path


def test_what_looks_like_a_violation_and_is_none():
    assert not bare_booleans({"crates/tcp/src/x.rs": 'fn view(a: bool) {}\nfn g() { Some(true); view("true", x == true) }\n'})
    assert not foreign_words({"crates/sim/src/compat/x.rs": "// As in ns-2.\n"})
    assert not foreign_words({"crates/sim/src/x.rs": "let returns3 = authority;\n"})
