"""Mechanisms (`[[mechanism]]`): what a figure of the original measured, by a number with the slip and the same without it."""

from pydantic import Field, model_validator

from tonopah.spec.validation import Model, Texts, refuse


class Without(Model):
    """Where the number without the slip is; what is left out is the same as with it."""

    part: str = Field("", description="Part in which the slip is switched off.")
    metric: str = Field("", description="Metric that does not have it.")
    label: str = Field("", description="Which of the compared does not have it.")


class Mechanism(Model):
    """One slip of a script: its number, the number without it, and what that says of the figure."""

    id: str = Field(description="Its name; each has its own.")
    text: str = Field(description="A sentence: what the figure measured.")
    part: str = Field("", description="Part with the slip.")
    metric: str = Field(description="Its metric, at the nominal point.")
    of: Texts | None = Field(None, description="Which of the compared it shows; all that both sides have if absent.")
    without: Without = Field(description="Where the number without the slip is.")

    @model_validator(mode="after")
    def check_difference(self) -> "Mechanism":
        """Refuse a number without the slip that is the same number."""
        if not (self.without.part or self.without.metric or self.without.label):
            raise refuse("is the number with the slip", '{ metric = "delay_s" }, a part or a label', ("without",))
        return self

    def pairs(self, labels: list[str]) -> list[tuple[str, str]]:
        """Return which of the compared is shown with the slip, and which without it."""
        return [(label, self.without.label or label) for label in self.of or labels]
