"""A sweep in one call, with an algorithm of one's own beside it."""

import sys
from pathlib import Path

import tonopah as tp


class Careful(tp.CongestionControl):
    """Grows by a segment for each window and halves on loss."""

    def on_ack(self, ack: tp.Ack, view: tp.View) -> None:
        """Grow where the window was used."""
        if view.may_grow:
            self.cwnd_bytes += max(1, view.mss_bytes * ack.acked_bytes // self.cwnd_bytes)

    def on_congestion(self, event: tp.Congestion, view: tp.View) -> None:
        """Halve."""
        self.cwnd_bytes = max(self.cwnd_bytes // 2, 2 * view.mss_bytes)


SCENARIO: dict[str, object] = {
    "duration": "2s",
    "network": {
        "kind": "dumbbell",
        "pairs": 2,
        "flows": 2,
        "bottleneck": {"rate": "5Mbps", "loss": {"kind": "packet", "p": 0.01}},
    },
}


def main(folder: Path) -> None:
    """Write a table of means with their intervals."""
    table = tp.sweep(SCENARIO, vary={"network.bottleneck.delay": ["5ms", "20ms"]}, compare=["reno", "cubic"], replicates=4)
    table.to_csv(folder / "sweep.csv", index=False)
    mine = tp.run(SCENARIO, cc=Careful)
    print(mine.flow(0).goodput_bps, table["goodput_bps"].max())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
