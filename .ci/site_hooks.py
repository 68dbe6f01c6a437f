"""What `make site` adds to mkdocs: pages that stand outside docs/, pages made from results, and links that cross the border of docs/."""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tonopah_dev.pages.kept import TEMPLATES, kept_page
from tonopah.template import RESULTS

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {
    "README.md": "overview.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "python/tonopah/data/linux/README.md": "recordings-linux.md",
    "python/tonopah/data/linux-aqm/README.md": "recordings-queues.md",
}
"""Paths in the repository of pages outside docs/, and their names on the site."""
BY_NAME = {name: path for path, name in OUTSIDE.items()}
GENERATED = "generated"
"""Folder in docs/ of the pages that are made; of some of them git has the results alone."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, and those that are made from their results, whether `make docs` has written them or not."""
    for name in TEMPLATES:
        path = f"{GENERATED}/{name}.md"
        if written := files.get_file_from_path(path):
            files.remove(written)
        files.append(File.generated(config, path, content=kept_page(Path(config.docs_dir, GENERATED), name)))
    for path, name in OUTSIDE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to pages of the site; what is not on it keeps its name and loses its link."""
    here = page.file.src_uri
    folder = str(PurePosixPath(BY_NAME.get(here, f"docs/{here}")).parent)

    def replace(link: re.Match[str]) -> str:
        image, text, target, anchor = link.groups()
        path = normpath(f"{folder}/{target}")
        known = OUTSIDE.get(path, path.removeprefix("docs/"))
        if known.endswith(f"/{RESULTS}"):
            known = f"{PurePosixPath(known).parent}.md"
        found = files.get_file_from_path(known)
        if found is None and not (ROOT / path).exists():
            raise ValueError(f"{here}: {target} leads nowhere")
        if found is None:
            return text
        # As a file beside: mkdocs makes the address of it.
        return f"{image}[{text}]({relpath(known, PurePosixPath(here).parent)}{anchor or ''})"

    return LINK.sub(replace, markdown)
