"""Worlds that engines are held against one another on, and what the command says of them."""

from tonopah.cli.main import main
from tonopah.scenario.document import to_toml


def world(**more):
    """Return a dumbbell whose flow starts at random."""
    bottleneck = {"rate": "5Mbps", "delay": "10ms", "queue": {"kind": "drop_tail", "limit": "1bdp"}}
    network = {"kind": "dumbbell", "pairs": 1, "flows": 1, "bottleneck": bottleneck}
    return {"duration": "4s", "warmup": "1s", "tcp": {"profile": "linux", "cc": "cubic"}, "network": network} | more


FIXED = {"start_jitter": "0s"}


def written(folder, document):
    file = folder / "world.toml"
    file.write_text(to_toml(document), encoding="utf-8")
    return str(file)


def refusal(capsys, *arguments):
    """Return what a command says that is refused."""
    assert main(["cross", *arguments]) == 2
    return capsys.readouterr().err
