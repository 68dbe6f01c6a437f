"""Figures for LaTeX without LaTeX: the syntax of what `--format pgf` writes, and that nothing of it needs another file.

What LaTeX itself would say of a document that includes them is tested where a pdflatex is installed.
"""

import re
import shutil
import subprocess

import pytest
from test_pictures import all_kinds, finished  # noqa: F401

from tonopah.plot.look import Look
from tonopah.plot.picture import picture

PGF = {
    "color", "definecolor", "pgfpathclose", "pgfpathcurveto", "pgfpathlineto", "pgfpathmoveto", "pgfpathquadraticcurveto",
    "pgfpathrectangle", "pgfsetroundcap",
    "pgfpointorigin", "pgfqpoint", "pgfsetbuttcap", "pgfsetdash", "pgfsetfillcolor", "pgfsetfillopacity", "pgfsetlinewidth",
    "pgfsetmiterjoin", "pgfsetrectcap", "pgfsetroundjoin", "pgfsetstrokecolor", "pgfsetstrokeopacity", "pgfsys@defobject",
    "pgfsys@transformshift", "pgfsys@useobject", "pgftext", "pgfusepath",
}  # fmt: skip
"""Commands of the packages pgf and xcolor (pgf manual, parts IX and XI)."""
LATEX = {
    "active", "begin", "begingroup", "catcode", "def", "else", "end", "endgroup", "ensuremath", "familydefault", "fi",
    "fontfamily", "fontsize", "ifmmode", "makeatletter", "makeatother", "mathdefault", "mu", "providecommand",
    "relax", "rightarrow", "selectfont", "sffamily", "sp", "textasciicircum", "textasciitilde", "textbackslash", "times",
}  # fmt: skip
ACTIVE = (r"\catcode`\^=\active\def^{\ifmmode\sp\else\^{}\fi}", r"\catcode`\%=\active\def%{\%}")
"""What matplotlib puts before a text: from then on these two letters are ordinary there."""
TOKEN = re.compile(r"\\(?:[A-Za-z@]+|.)|[{}]|%[^\n]*", re.DOTALL)
DOCUMENT = r"\documentclass{article}\usepackage[utf8]{inputenc}\usepackage{pgf}\begin{document}%s\end{document}"


@pytest.fixture(scope="module")
def pgfs(finished):  # noqa: F811
    return {f"{one.kind} {one.baseline}": picture(one, Look(3.5), "pgf").decode() for one in all_kinds(finished)}


def fault(text):
    """Return what is wrong with the syntax of a picture; empty if nothing is."""
    for prefix in ACTIVE:
        text = text.replace(prefix, "{}")
    groups = []
    for token in TOKEN.findall(text):
        command = token[1:]
        if token == "{":
            groups.append("{")
        elif token in ("\\begingroup", "\\ifmmode"):
            groups.append(command)
        elif token in ("}", "\\endgroup", "\\fi"):
            opening = {"}": "{", "\\endgroup": "begingroup", "\\fi": "ifmmode"}[token]
            if not groups or groups.pop() != opening:
                return f"{token} without {opening}"
        elif token.startswith("\\") and command[0].isalpha() and command not in PGF | LATEX:
            return f"unknown {token}"
    environments = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            environments.append(name)
        elif not environments or environments.pop() != name:
            return f"\\end{{{name}}} without its beginning"
    if groups or environments:
        return f"never ends: {(groups or environments)[-1]}"
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    special = next((line for line in lines if re.search(r"(?<!\\)[&~]", line) and "catcode" not in line), None)
    return f"special letter in {special}" if special else ""


def test_the_syntax_of_every_kind_is_sound(pgfs):
    for kind, text in pgfs.items():
        assert fault(text) == "", kind
        assert text.isascii() and {"pgfpicture", "pgfscope"} >= set(re.findall(r"\\begin\{(\w+)\}", text)), kind
        # A picture that needs other files could not be moved.
        assert "includegraphics" not in text and "pgfimage" not in text, kind


def test_what_is_unsound_is_noticed(pgfs):
    text = next(iter(pgfs.values()))
    for old, new, words in (
        ("\\endgroup", "", "never ends"),
        ("\\end{pgfscope}", "", "without its beginning"),
        ("\\pgfusepath", "\\pgfusepaht", "unknown \\pgfusepaht"),
        ("\\pgfusepath{", "\\pgfusepath}{", "} without"),
        ("\\pgftext[", "a & b \\pgftext[", "special letter"),
    ):
        assert words in fault(text.replace(old, new, 1)), old


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX is installed")
def test_latex_sets_every_kind(pgfs, tmp_path):
    for i, text in enumerate(pgfs.values()):
        (tmp_path / f"{i}.pgf").write_text(text)
    (tmp_path / "all.tex").write_text(DOCUMENT % "\\par".join(f"\\input{{{i}.pgf}}" for i in range(len(pgfs))))
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
