"""JavaScript of others is what was published, and carries its licence."""

import hashlib
from pathlib import Path

import pytest

from tonopah.report import vendor

LIBRARIES = (*vendor.SCRIPTS, vendor.STYLE, vendor.COMPONENTS)


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda one: one.published)
def test_a_library_is_as_published(library):
    # What the file says of itself is its version; the digest is that of the file in the package of the registry.
    assert hashlib.sha256(library.text.encode()).hexdigest() == library.sha256
    assert library.version in library.text[:200] or library in (vendor.STYLE, vendor.COMPONENTS)
    assert "Copyright" in library.licence_text and "WARRANT" in library.licence_text.upper()


def test_nothing_else_is_vendored():
    known = {name for one in LIBRARIES for name in (one.published.rsplit("/", 1)[-1], one.licence)}
    assert {path.name for path in vendor.FOLDER.iterdir()} == known


def test_a_script_can_stand_in_a_page():
    for library in vendor.SCRIPTS:
        assert "</script" not in library.text.lower() and "<!--" not in library.text


def test_the_checker_of_accessibility_is_as_published():
    # Of the registry's package axe-core 4.14.1; only tests load it.
    folder = Path(__file__).parent / "lab" / "vendor"
    digest = hashlib.sha256((folder / "axe.min.js").read_bytes()).hexdigest()
    assert digest == "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
    assert "Mozilla Public License" in (folder / "axe.LICENSE").read_text(encoding="utf-8")
