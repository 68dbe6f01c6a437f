"""Hold what the engine takes for a data packet, in instructions, against stored numbers: the second half of `.ci/instructions`.

`python -m tonopah_dev.instructions --check '' COMPILER PROFILE < TABLE` refuses a growth above 1 %;
`--store WHY COMPILER PROFILE` stores the numbers of the table with the reason. Only the standard library is used.
"""

import json
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STORED = Path(__file__).parents[2] / ".ci" / "instructions.toml"
MOST_GROWTH = 0.01
"""By so much of its stored number a scenario may grow."""
STORE = ".ci/instructions --store 'WHY'"


@dataclass(frozen=True)
class Counts:
    """Instructions per data packet by scenario, the build that they hold for, and why they are what they are."""

    compiler: str
    profile: str
    reason: str
    per_packet: dict[str, int]

    @staticmethod
    def read(text: str) -> "Counts":
        """Read what `text` gave. Raises KeyError and tomllib.TOMLDecodeError of a file that it did not write."""
        values = tomllib.loads(text)
        return Counts(values["compiler"], values["profile"], values["reason"], values["instructions_per_packet"])

    def text(self) -> str:
        """Return the counts as the file that is stored, in TOML."""
        lines = [f"# Instructions per data packet, written by {STORE}; `make instructions-check` holds the engine to them."]
        lines += [f"{name} = {json.dumps(getattr(self, name), ensure_ascii=False)}" for name in ("compiler", "profile", "reason")]
        lines += ["", "[instructions_per_packet]", *(f"{name} = {count}" for name, count in self.per_packet.items())]
        return "\n".join(lines) + "\n"


def per_packet(table: str) -> dict[str, int]:
    """Return the last column of the table that `.ci/instructions` prints, by scenario."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return {row[0]: int(row[-1]) for row in rows}


def compare(stored: Counts, counted: Counts) -> tuple[list[str], list[str]]:
    """Return a sentence for each scenario, and those of what is refused: a growth above 1 %, or a number that is missing.

    Counts of another compiler or profile are not compared: that they differ says nothing of the engine.
    """
    for what, then, now in (("compiler", stored.compiler, counted.compiler), ("profile", stored.profile, counted.profile)):
        if then != now:
            return [
                f"instructions are not compared: stored are those of the {what} {then}, this is {now}; store new ones: {STORE}"
            ], []
    told, refused = [], []
    for name in sorted(stored.per_packet.keys() | counted.per_packet.keys()):
        then, now = stored.per_packet.get(name), counted.per_packet.get(name)
        if then is None or now is None:
            refused.append(
                f"{name}: its instructions are not {'stored' if then is None else 'counted'}; store new numbers: {STORE}"
            )
            continue
        growth = now / then - 1.0
        sentence = f"{name}: {now:,} instructions per data packet, stored are {then:,} ({100.0 * growth:+.2f} %)"
        if growth > MOST_GROWTH:
            refused.append(f"{sentence}; more than {100.0 * MOST_GROWTH:g} % is refused. Whoever means it stores it: {STORE}")
        else:
            told.append(f"{sentence}; store them, so that this is kept: {STORE}" if growth < -MOST_GROWTH else sentence)
    return told, refused


def main(given: Sequence[str], table: str, path: Path = STORED) -> int:
    """Check the counts of a table, or store them at `path`; return the exit code."""
    action, reason, compiler, profile = given
    counted = Counts(compiler, profile, reason.strip(), per_packet(table))
    if action == "--store":
        if not counted.reason:
            print(f"nothing is stored without a reason: {STORE}", file=sys.stderr)
            return 2
        path.write_text(counted.text(), encoding="utf-8")
        return 0
    told, refused = compare(Counts.read(path.read_text(encoding="utf-8")), counted)
    print(*told, *refused, sep="\n", file=sys.stderr if refused else sys.stdout)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.read()))
