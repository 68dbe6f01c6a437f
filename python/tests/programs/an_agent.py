"""An algorithm as machine code and an environment for agents, as a user writes them; they run where the extras are installed."""

import sys
from pathlib import Path

import tonopah as tp


@tp.compiled
class Careful(tp.CongestionControl):
    """Grows by one segment per round trip while the queue is short."""

    def on_ack(self, ack: tp.Ack, view: tp.View) -> None:
        if view.may_grow and ack.rtt_s is not None and view.min_rtt_s is not None and ack.rtt_s < view.min_rtt_s + 0.01:
            self.cwnd_bytes += view.mss_bytes * ack.acked_bytes / self.cwnd_bytes

    def on_congestion(self, event: tp.Congestion, view: tp.View) -> None:
        self.cwnd_bytes = max(self.cwnd_bytes / 2, 2 * view.mss_bytes)


def main(folder: Path) -> None:
    careful: type[tp.CongestionControl] = Careful
    names = [str(one["name"]) for one in tp.algorithms()]
    (folder / "names.txt").write_text("\n".join([careful.__name__, *names]))
    try:
        from tonopah.gym import CongestionEnv
    except ImportError:
        print("no Gymnasium")
        return
    env = CongestionEnv(interval_s=0.1)
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    print(observation.shape, float(reward), terminated or truncated, info["interval"].delivered_bps)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
