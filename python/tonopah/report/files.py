"""Writing files so that an interruption leaves neither half a file nor a temporary one."""

import os
from pathlib import Path


def replace_file(target: Path, text: str) -> None:
    """Write a file as a whole or not at all. Raises OSError."""
    temporary = target.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
