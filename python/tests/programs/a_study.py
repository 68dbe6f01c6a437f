"""A study without a file: question, runs, table, picture, report."""

import sys
from pathlib import Path

import pandas as pd

import tonopah as tp


def main(folder: Path) -> None:
    """Run the study and show its answer."""
    study = tp.Study(
        question="Does CUBIC use a longer path better than NewReno?",
        scenario={
            "duration": "2s",
            "network": {"kind": "dumbbell", "pairs": 2, "flows": 2, "bottleneck": {"rate": "10Mbps", "queue": "33p"}},
        },
        compare=["newreno", {"name": "cubic", "profile": "linux"}],
        sweep={"network.bottleneck.delay": ["5ms", "20ms"]},
        replicates=4,
        baseline="newreno",
    )
    study.run(out=folder / "delay", quiet=True)
    table: pd.DataFrame = study.table()
    print(table.groupby("algorithm")["goodput_bps"].mean())
    study.plot("goodput_bps", x="network.bottleneck.delay").save(folder / "goodput.pdf")
    (folder / "delay.toml").write_text(study.to_toml())
    same: tp.Study = tp.Study.load(folder / "delay.toml")
    print(same.spec.question)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
