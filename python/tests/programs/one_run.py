"""One run: tables, typed summaries, a picture, files."""

import sys
from pathlib import Path

import pandas as pd

import tonopah as tp

SCENARIO: dict[str, object] = {
    "duration": "2s",
    "network": {
        "kind": "dumbbell",
        "pairs": 2,
        "flows": 2,
        "bottleneck": {"rate": "10Mbps", "delay": "18ms", "queue": {"kind": "drop_tail", "limit": "33p"}},
    },
    "tcp": {"cc": "cubic"},
    "record": {"series": ["cwnd", "queue"], "every": "20ms"},
}


def main(folder: Path) -> None:
    """Run the scenario and write what it gave."""
    result = tp.run(SCENARIO, seed=1)
    flows: pd.DataFrame = result.flows
    print(flows[["from", "to", "goodput_bps"]])
    first: tp.FlowSummary = result.flow(0)
    goodput: float = first.goodput_bps or 0.0
    print(f"{first.from_} > {first.to}: {goodput / 1e6:.2f} Mb/s, {first.retransmitted_packets} retransmissions")
    print(f"the queue held {result.link(0).queue_mean_packets} packets")
    saved: Path = result.plot("cwnd", "queue").save(folder / "windows.svg")
    print(saved)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
