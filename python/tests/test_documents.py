"""What documents name is there, and what they keep is not old: files, decisions, generated pages, the list of pages."""

import ast
import io
import re
import subprocess
import tokenize
from pathlib import Path

import pytest

import tonopah
from tonopah.cli.main import GROUPS
from tonopah.template import RESULTS, read_results
from tonopah_dev.pages.kept import TEMPLATES
from tonopah_dev.pages.reference import PAGES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = DOCS / "generated"
NAME = re.compile(r"(?<![\w./*{}<>-])((?:[\w.-]+/)*[\w-]+\.(?:md|rs|py))\b(?!\.?\w)")
STAND_FOR_OTHERS = {"FILE.py", "my.py", "scoreboard.md", "artifact.md"}
"""A user's file, and those that commands write."""
STATUS = re.compile(r"\A# (\d{4}): .+\n\nStatus: (in force|superseded by (\d{4}))\n")
ENGINE = re.compile(r"\bEngine (\d+\.\d+\.\d+)\.|\| Tonopah \| (\d+\.\d+\.\d+) \||, engine (\d+\.\d+\.\d+), \d{4}-")
"""How a page says of which engine it is: a page of results, the page on speed, the verdicts of a study."""
BEHIND = 3
"""So many minor versions behind the engine a page or result is too old."""
MARKDOWN_LINES = 12_000
PICTURES_BYTES = 300_000


def files():
    """Return the paths of the repository's files, new ones included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no checkout")
    return [path for path in done.stdout.splitlines() if (ROOT / path).is_file()]


def endings(paths):
    """Return every way to name a file: its path, and what is left of it without its first folders."""
    return {"/".join(path.split("/")[first:]) for path in paths for first in range(path.count("/") + 1)}


def comments(path, text):
    """Return what a file says to a reader: the comments of a program, all of a document in force, nothing of other files."""
    if path in {"ARCHITECTURE.md", "docs/maintenance.md"} or path.startswith("docs/decisions/"):
        found = STATUS.match(text)
        return "" if found and found[3] else text
    if path.endswith(".rs"):
        return "\n".join(line[line.index("//") :] for line in text.splitlines() if "//" in line)
    if path.endswith(".py"):
        said = [one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type == tokenize.COMMENT]
        values = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
        return "\n".join([*said, *(one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str))])
    if path.startswith(".ci/") or path in {"Makefile", "mkdocs.yml", "pyproject.toml", "Cargo.toml"}:
        return "\n".join(line for line in text.splitlines() if line.lstrip().startswith("#"))
    return ""


def names_without_file(path, text, known):
    """Return the Markdown, Rust and Python files that a file names and nobody has."""
    return [name for name in NAME.findall(comments(path, text)) if name not in known and name not in STAND_FOR_OTHERS]


def test_every_file_that_a_comment_or_a_document_in_force_names_is_there():
    paths = files()
    known = endings([*paths, *(f"docs/generated/{name}.md" for name in TEMPLATES)])
    read = [path for path in paths if path.endswith((".rs", ".py", ".md")) or "/" not in path or path.startswith(".ci/")]
    missing = {
        path: names
        for path in read
        if "vendor" not in path and (names := names_without_file(path, (ROOT / path).read_text(encoding="utf-8"), known))
    }
    assert missing == {}


def test_a_name_without_a_file_is_found():
    known = endings(["crates/tcp/src/cc/reno.rs", "docs/models.md"])
    text = "//! As `cc/reno.rs`, docs/models.md; see gone.rs.\nlet a = 1; // and cc/nowhere.rs"
    assert names_without_file("a.rs", text, known) == ["gone.rs", "cc/nowhere.rs"]
    assert names_without_file("a.py", '"""By lost.md."""\nx = "no.py"  # as reno.rs\n', known) == ["lost.md"]
    old = "# 0006: old\n\nStatus: superseded by 0014\n\n`host.rs`\n"
    assert names_without_file("docs/decisions/0006-old.md", old, known) == []
    assert names_without_file("docs/decisions/0006-old.md", old.replace("superseded by 0014", "in force"), known) == ["host.rs"]


def wrong_decisions(texts):
    """Return the decisions without a status, with another's number, or superseded by one that is not in force."""
    found = {name: STATUS.match(text) for name, text in texts.items()}
    in_force = {status[1] for status in found.values() if status and not status[3]}
    return [
        name
        for name, status in found.items()
        if not status or not name.startswith(status[1]) or (status[3] and status[3] not in in_force)
    ]


def test_every_decision_has_a_status():
    texts = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "decisions").glob("*.md")}
    assert len(texts) >= 14
    assert wrong_decisions(texts) == []


def test_a_decision_without_a_status_is_found():
    texts = {
        "0001-a.md": "# 0001: A\n\nStatus: in force\n",
        "0002-b.md": "# 0002: B\n\n## Context\n",
        "0003-c.md": "# 0003: C\n\nStatus: superseded by 0009\n",
        "0004-d.md": "# 0004: D\n\nStatus: superseded by 0001\n",
        "0005-e.md": "# 0006: E\n\nStatus: in force\n",
    }
    assert wrong_decisions(texts) == ["0002-b.md", "0003-c.md", "0005-e.md"]


def stated_engines():
    """Return the version of the engine of every kept page and result; "" where none is stated."""
    pages = [*GENERATED.glob("*.md"), *(DOCS / "findings").glob("*.md")]
    found = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in pages if path.stem not in TEMPLATES}
    stated = {name: next(filter(None, match.groups())) if (match := ENGINE.search(text)) else "" for name, text in found.items()}
    # What follows from the registry and the schema alone is compared with them by another test.
    stated = {name: version for name, version in stated.items() if Path(name).name not in PAGES}
    return stated | {f"generated/{name}": read_results(GENERATED / name / RESULTS)["engine"] for name in TEMPLATES}


def versions_behind(stated, engine):
    """Return by how many minor versions each is behind the engine; one of another first number is far behind."""
    first, minor = (int(part) for part in engine.split(".")[:2])
    parts = {name: [int(part) for part in version.split(".")] for name, version in stated.items()}
    return {name: minor - own[1] + 1000 * (first - own[0]) for name, own in parts.items()}


def test_every_kept_page_and_result_says_of_which_engine_it_is():
    stated = stated_engines()
    assert {"generated/validation.md", "generated/performance.md", "generated/evaluations", "findings/asran.md"} <= set(stated)
    assert [name for name, version in stated.items() if not version] == []


def test_no_kept_page_or_result_is_three_versions_behind_the_engine():
    behind = versions_behind(stated_engines(), tonopah.engine_version())
    assert {name for name, count in behind.items() if count >= BEHIND} == set()


def test_an_old_page_is_found():
    stated = {"a.md": "0.14.0", "b.md": "0.15.3", "c.md": "0.17.0"}
    assert versions_behind(stated, "0.17.0") == {"a.md": 3, "b.md": 2, "c.md": 0}
    assert versions_behind({"a.md": "0.17.0"}, "1.0.0")["a.md"] >= BEHIND
    assert ENGINE.search("3 of 4 goals are met. Engine 0.17.0. More.")[1] == "0.17.0"
    assert ENGINE.search("| Tonopah | 0.14.0 | rustc |")[2] == "0.14.0"
    assert ENGINE.search("`tonopah study run l4s`, engine 0.15.0, 2026-11-24:")[3] == "0.15.0"


def groups_of_the_site():
    """Return the pages of each group of mkdocs.yml, those of its parts too."""
    yaml = pytest.importorskip("yaml", reason="the extra `site` is not installed")
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]

    def leaves(entry):
        if isinstance(entry, str):
            return [entry]
        return [page for below in (entry.values() if isinstance(entry, dict) else entry) for page in leaves(below)]

    return {group: leaves(pages) for entry in nav if isinstance(entry, dict) for group, pages in entry.items()}


def groups_of_the_index():
    """Return the pages that each section of docs/README.md links to, by their names on the site."""
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return {group: {on_the_site(target) for target in re.findall(r"\]\(([^)]+)\)", body)} for group, body in sections}


def on_the_site(target):
    """Return the name on the site of what docs/README.md links to."""
    outside = {"data/linux/README.md": "recordings-linux.md", "data/linux-aqm/README.md": "recordings-queues.md"}
    if target.endswith(f"/{RESULTS}"):
        return f"{target.removesuffix(f'/{RESULTS}')}.md"
    if target == "../README.md":
        return "overview.md"
    if target.startswith("../"):
        return next((name for end, name in outside.items() if target.endswith(end)), Path(target).name.lower())
    return target


def test_the_index_lists_the_pages_of_the_site_in_the_same_groups():
    site, index = groups_of_the_site(), groups_of_the_index()
    assert list(site) == list(index)
    for group, pages in site.items():
        listed = {page for page in pages if not page.startswith(("decisions/", "findings/"))}
        assert listed == {page for page in index[group] if page.endswith(".md")}, group


def test_the_groups_are_those_of_the_command_line():
    groups = [group.lower() for group in groups_of_the_site()]
    assert groups == ["start", *GROUPS, "change"]
    text = (DOCS / "README.md").read_text(encoding="utf-8").lower()
    for group, commands in GROUPS.items():
        said = re.search(rf"^## {group}\n\n`tonopah (.*)`$", text, re.MULTILINE)
        assert said and set(said[1].replace("`", "").split(", ")) == set(commands), group


def test_the_documents_stay_as_small_as_they_are_meant_to_be():
    pages = [path for path in files() if path.endswith(".md")]
    assert sum(len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in pages) <= MARKDOWN_LINES
    assert sum(path.stat().st_size for path in (GENERATED / "validation").glob("*.svg")) <= PICTURES_BYTES
