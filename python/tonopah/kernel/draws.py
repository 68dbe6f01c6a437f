"""Random numbers of applications: the streams of a simulation (crates/tcp/src/rng.rs), so that a seed draws the same for both."""

import math
from collections.abc import Mapping
from typing import Any

from tonopah._core import parse_quantity

MASK = 2**64 - 1


def rotated(word: int, by: int) -> int:
    """Return a word of 64 bits rotated to the left."""
    return (word << by | word >> (64 - by)) & MASK


class Stream:
    """xoshiro256++ (Blackman, Vigna 2019), its state from SplitMix64 of a seed and the FNV-1a hash of a name."""

    def __init__(self, seed: int, name: str):
        hashed = 0xCBF29CE484222325
        for byte in name.encode():
            hashed = (hashed ^ byte) * 0x100000001B3 & MASK
        self.mixed = seed
        self.mixed = self.split_mix() ^ hashed
        self.state = [self.split_mix() for _ in range(4)]

    def split_mix(self) -> int:
        """Return the next word of SplitMix64 (Steele, Lea, Flood 2014)."""
        self.mixed = (self.mixed + 0x9E3779B97F4A7C15) & MASK
        word = (self.mixed ^ self.mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
        return word ^ word >> 31

    def bits(self) -> int:
        """Return 64 random bits."""
        a, b, c, d = self.state
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ b << 17 & MASK, rotated(d, 45)]
        return (rotated((a + (d ^ b)) & MASK, 23) + a) & MASK

    def uniform(self) -> float:
        """Return a uniform number of [0, 1)."""
        return (self.bits() >> 11) * 2.0**-53


def seed_of(seed: int, vary: Mapping[str, Any]) -> int:
    """Return what the streams of a run start from, by the `vary` of its scenario, whose `draws` names others."""
    return Stream(seed, f"vary/draws/{vary['draws']}").bits() if vary.get("draws") else seed


def period(given: Mapping[str, Any] | None, stream: Stream) -> float:
    """Return how long a period of a resolved scenario lasts, in seconds; 0 for none, which draws nothing."""
    if given is None:
        return 0.0
    if given["kind"] == "constant":
        return parse_quantity(given["length"], "duration")
    mean = parse_quantity(given["mean"], "duration")
    if given["kind"] == "exponential":
        return -mean * math.log(1.0 - stream.uniform())
    shape = float(given["shape"])
    return mean * (shape - 1.0) / shape / (1.0 - stream.uniform()) ** (1.0 / shape)
