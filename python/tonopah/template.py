"""Pages in Markdown, made from templates."""

from pathlib import Path
from typing import Any


def render(template: Path, /, **facts: Any) -> str:
    """Return the text of a template (Jinja) with these facts; a name that the template uses and nobody gives is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent), trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
        autoescape=False,
    )  # fmt: skip
    return environment.get_template(template.name).render(**facts)
