"""`python -m tonopah_dev.published`: laws and published results, each run again here."""

import argparse
import sys
from collections.abc import Sequence

from tonopah_dev.command import add_page_arguments, compare_and_write, run_command
from tonopah_dev.published import page
from tonopah_dev.published.comparison import AgainstPublished

ABOUT = "Run the cases of laws and published experiments and compare each number with its reference."
EXAMPLES = (
    "python -m tonopah_dev.published                      run all, rewrite docs/generated/validation-published.md",
    "python -m tonopah_dev.published --check              write nothing, exit code 1 if a case disagrees",
    "python -m tonopah_dev.published --check --case 'copa/*' --json",
)


def main(given: Sequence[str] | None = None) -> int:
    """Carry out the command and return its exit code."""

    def act(arguments: argparse.Namespace) -> int:
        return compare_and_write(AgainstPublished(), page.write, arguments)

    return run_command("published", ABOUT, add_page_arguments, act, *EXAMPLES, given=given)


if __name__ == "__main__":
    sys.exit(main())
