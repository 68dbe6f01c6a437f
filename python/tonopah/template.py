"""Pages in Markdown, made from templates and from the results that a comparison leaves in the repository."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SHARED = Path(__file__).parent / "report"
"""Templates that those elsewhere include: the policy of pages."""
RESULTS = "results.toml"
"""What a comparison leaves of itself: its numbers, the version of the engine and the command."""


def render(template: Path, /, **facts: Any) -> str:
    """Return the text of a template (Jinja) with these facts; a name that the template uses and nobody gives is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, SHARED]), trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined, autoescape=False,
    )  # fmt: skip
    return environment.get_template(template.name).render(**facts)


def write_results(page: Path, template: Path, facts: Mapping[str, Any]) -> Path:
    """Write a page, and its facts into a file of results in a folder with the name of the page; return the path of the page."""
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULTS).write_text(results_text(facts), encoding="utf-8")
    page.write_text(render(template, **facts), encoding="utf-8")
    return page


def read_results(path: Path) -> dict[str, Any]:
    """Return the facts of a file of results."""
    import tomli

    return tomli.loads(path.read_text(encoding="utf-8"))


def results_text(facts: Mapping[str, Any]) -> str:
    """Return facts as TOML: a line for each row of a table, so that a change of one number changes one line."""
    plain = [f"{key} = {toml_value(value)}" for key, value in facts.items() if not isinstance(value, Mapping)]
    for key, table in facts.items():
        if isinstance(table, Mapping):
            rows = [f"{json.dumps(name, ensure_ascii=False)} = {toml_value(value)}" for name, value in table.items()]
            plain += ["", f"[{key}]", *rows]
    return "\n".join(plain) + "\n"


def toml_value(value: Any) -> str:
    """Return a value as TOML; an array of arrays has a line for each."""
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
        return "[\n" + "".join(f"    {toml_value(row)},\n" for row in value) + "]"
    return json.dumps(value, ensure_ascii=False)
