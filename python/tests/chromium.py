"""The browser of tests."""

from collections.abc import Iterator

import pytest

from tonopah_dev.browser.browser import Browser, find_chromium


def chromium() -> Iterator[Browser]:
    """Yield Chromium; skip the test, with a reason, where there is none."""
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium on this machine: install it, or name one by TONOPAH_CHROMIUM")
    with Browser(program) as found:
        yield found
