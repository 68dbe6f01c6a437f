"""Makes docs/reference/bbr: what `bbr3` does in six cases of the BBR draft, as qlogs of metrics and states without packets.

`python -m tonopah_dev.pages.bbr_logs docs/reference/bbr [CASE…]`. `tonopah compare-trace` holds the log of another stack, in the
world of the same case, against them.
"""

import gzip
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tonopah.conform.api import conform, worlds
from tonopah.export import qlog
from tonopah.writing import replace_file

CASES = ("01", "05", "09", "10", "16", "21")
EVERY = "2ms"
"""Interval of the metrics: at each change a log would have a megabyte."""
PACKETS = '"name":"transport:packet_'


def logs(cases: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the text of the log of each case, of its last run: the one that is judged."""
    made = worlds(conform("bbr3", "bbr-draft", case=list(cases)))
    for case in cases:
        last = max(name for name in made if name.partition("-")[0] == case)
        scenario = made[last] | {"record": made[last].get("record", {}) | {"every": EVERY, "internals": "all"}}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "log.sqlog"
            qlog.run(scenario, None, 1, file)
            records = file.read_text(encoding="utf-8").split(qlog.RECORD_SEPARATOR)
        yield case, qlog.RECORD_SEPARATOR.join(record for record in records if PACKETS not in record)


def main(arguments: Sequence[str]) -> None:
    """Write the logs of these cases into the folder, of all six if none is given."""
    folder = Path(arguments[0])
    for case, text in logs(arguments[1:] or CASES):
        path = folder / f"{case}.sqlog.gz"
        replace_file(path, gzip.compress(text.encode(), 9, mtime=0))
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
