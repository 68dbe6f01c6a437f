"""What the page may say over the socket of a run. Anything else closes that socket, with the reason."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tonopah.lab.tracks import MOST_COLUMNS, ShownTrack

VERSION = 1
MOST_BYTES = 4 * 1024 * 1024
"""Of a message; the scenario is what is large in one."""
MOST_SECONDS = 1e9
"""Of simulated time: the engine's own limit, about 31 years."""

Seconds = Annotated[float, Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)]


class Message(BaseModel):
    """What all messages have in common."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Start(Message):
    """Run a scenario, given as TOML or as a document; the run before on this socket is cancelled."""

    kind: Literal["run"]
    version: Literal[1]
    toml: str | None = None
    scenario: dict[str, Any] | None = None
    seed: Annotated[int, Field(ge=0, le=2**64 - 1)] = 1
    pace: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None = None


class Attach(Message):
    """Take up a run again after a lost connection or a reload."""

    kind: Literal["attach"]
    version: Literal[1]
    run: Annotated[str, Field(max_length=64)]


class Show(Message):
    """Send the series from one second to another, in so many columns of pixels."""

    kind: Literal["show"]
    from_s: Seconds
    until_s: Seconds
    columns: Annotated[int, Field(ge=1, le=MOST_COLUMNS)]
    names: Annotated[tuple[str, ...], Field(max_length=64, strict=False)] = ()

    def part(self) -> ShownTrack:
        """Return what is to be shown. Raises MessageError."""
        if self.until_s <= self.from_s:
            raise MessageError(f"until_s: {self.until_s:g} is not after {self.from_s:g}")
        return ShownTrack(self.from_s, self.until_s, self.columns, self.names)


class Pace(Message):
    """Go on at so many simulated seconds in a second; as fast as possible if none."""

    kind: Literal["pace"]
    factor: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None


class Command(Message):
    """Pause, go on, or stop for good."""

    kind: Literal["pause", "continue", "stop"]


AnyMessage = Annotated[Start | Attach | Show | Pace | Command, Field(discriminator="kind")]
MESSAGES: TypeAdapter[AnyMessage] = TypeAdapter(AnyMessage)


class MessageError(ValueError):
    """A message that is none."""


def parse(text: str) -> Start | Attach | Show | Pace | Command:
    """Return a message. Raises MessageError with a sentence."""
    try:
        return MESSAGES.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise MessageError(f"{place}: {first['msg']}" if place else first["msg"]) from None
    except RecursionError:
        raise MessageError("is nested too deeply") from None
