"""JavaScript of others that reports and lab carry: versions, sources, digests, licences.

`.ci/vendor` fetches what is listed here; `python/tests/test_vendor.py` checks it.
"""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "vendor"


@dataclass(frozen=True)
class VendoredLibrary:
    """A library as published in the npm registry: package, version, the file of the package, its SHA-256, and its licence."""

    package: str
    version: str
    published: str
    sha256: str
    licence: str

    @property
    def text(self) -> str:
        """The file as published."""
        return (FOLDER / Path(self.published).name).read_text(encoding="utf-8")

    @property
    def licence_text(self) -> str:
        """The licence, which every copy has to carry."""
        return (FOLDER / self.licence).read_text(encoding="utf-8")


SCRIPTS = (
    VendoredLibrary(
        "d3", "7.9.0", "dist/d3.min.js", "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539", "d3.LICENSE"
    ),
    VendoredLibrary(
        "@observablehq/plot",
        "0.6.17",
        "dist/plot.umd.min.js",
        "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb",
        "Plot.LICENSE",
    ),
    VendoredLibrary(
        "uplot",
        "1.6.32",
        "dist/uPlot.iife.min.js",
        "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        "uPlot.LICENSE",
    ),
)
"""In the order in which a page loads them."""

STYLE = VendoredLibrary(
    "uplot", "1.6.32", "dist/uPlot.min.css", "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04", "uPlot.LICENSE"
)
COMPONENTS = VendoredLibrary(
    "htm",
    "3.1.1",
    "preact/standalone.module.js",
    "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
    "htm.LICENSE",
)
"""htm with Preact in it, as one module: what the lab's page is made of. Its licence file holds those of both."""
