"""What varies between the replicates of a part beside what its scenario draws: `[vary]` of a study file.

An interval over replicates tells how sure a result is only of what they vary. Starts alone leave the rest of a world in step: one
packet more of queue, or 0.1 ms more of delay, then gives another result with an interval as narrow. So a study varies a little of
everything that nobody fixed (Floyd and Jacobson 1992; Floyd and Kohler 2003, section 4). The engine draws it (`vary`).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from tonopah.errors import InputError
from tonopah.spec.validation import Model, between, refuse, to_seconds

BASE_RTT = "rtt"


def check_start(value: str) -> str:
    """Refuse what is neither a time nor the base RTT."""
    if value != BASE_RTT:
        to_seconds(value)
    return value


class Vary(Model):
    """What varies between replicates; 0 fixes a key."""

    starts: Annotated[str, AfterValidator(check_start)] = Field(
        default=BASE_RTT,
        description='Listed flows start later by a random time up to this: a time, or `"rtt"`, the base RTT of each.',
    )
    delays: Annotated[float, *between(0, 0.5)] = Field(
        default=0.02, description="Share by which the delay of each link at an end of flows moves, up or down."
    )
    buffers: Annotated[int, *between(0, 1000)] = Field(
        default=1, description="Packets by which the limit of each `drop_tail` queue moves, up or down."
    )
    background: Annotated[float, *between(0, 0.1)] = Field(
        default=0.01,
        description="Share of the slowest link of each path that datagrams take in both directions; no metric of flows has them.",
    )
    points: bool = Field(default=True, description="Whether replicate *k* has other draws at each point of a sweep.")

    def given_to(self, scenario: dict[str, Any], draws: str = "") -> None:
        """Let a scenario vary where it does not say itself what varies; `draws` names the point at which it stands."""
        flows, traffic = scenario.get("flow"), scenario.get("traffic")
        if isinstance(flows, list) and not (isinstance(traffic, Mapping) and "start_jitter" in traffic):
            for flow in flows:
                if isinstance(flow, dict):
                    flow.setdefault("start_jitter", self.starts)
        amounts = {key: value for key in ("delays", "buffers", "background") if (value := getattr(self, key))}
        wanted = amounts | ({"draws": draws} if draws and self.points else {})
        own = scenario.get("vary", {})
        if wanted and isinstance(own, Mapping):
            scenario["vary"] = wanted | dict(own)


FIXED = Vary(starts="0s", delays=0.0, buffers=0, background=0.0, points=False)
"""Nothing varies but what a scenario draws."""
AS_SCRIPT = FIXED.model_copy(update={"starts": BASE_RTT})
"""Of a scenario from a source, which repeats a script and says itself what it draws; listed flows start as in any study."""


def to_vary(value: Any) -> Any:
    """Return what `vary = false` stands for; refuse true."""
    if isinstance(value, bool):
        if value:
            raise refuse("true says nothing: replicates vary unless a key fixes it", "false, or [vary] with keys")
        return FIXED
    return value


AnyVary = Annotated[Vary, BeforeValidator(to_vary, json_schema_input_type=Vary | Literal[False])]
"""A table, or false."""


def check_amounts(vary: Vary, scenario: Mapping[str, Any], path: str) -> None:
    """Refuse a table that has no effect, since the scenario says the same keys itself. Raises InputError."""
    own = scenario.get("vary")
    stated = sorted(vary.model_fields_set & set(own)) if isinstance(own, Mapping) else []
    if stated:
        raise InputError(f"{path}.{stated[0]}", f"has no effect: scenario.vary.{stated[0]} says it", "one of the two")
