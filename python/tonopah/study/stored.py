"""How much of a study is stored."""

from tonopah.store.database import NoStudyError
from tonopah.study.study import Study


def stored_runs(study: Study) -> int:
    """Return how many runs of a study are stored: none where it has not begun, or makes its store at this moment.

    Raises InputError for a store that cannot be read.
    """
    try:
        return len(study.plan.runs) - study.missing()
    except NoStudyError:
        return 0
