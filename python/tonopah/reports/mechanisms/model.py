"""What a figure of an original measured (`[[mechanism]]`): a number with a slip of its script, and the same without it.

The mechanisms of a study are in a file beside this one, by the name of the study.
"""

from importlib.resources import files
from pathlib import Path

from pydantic import Field, model_validator

from tonopah.errors import InputError, relay
from tonopah.scenario.document import load
from tonopah.spec.columns import check_metric
from tonopah.spec.model import Part, StudySpec
from tonopah.spec.resolution import choose_part
from tonopah.spec.validation import Many, Model, Texts, list_allowed, refuse, shorten, validate


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


class MechanismFile(Model):
    """The mechanisms of a study."""

    mechanism: Many[Mechanism] = Field((), description="Slips of the original, each with a number and the number without it.")


def read(study: str, spec: StudySpec, file: str | Path | None = None) -> list[Mechanism]:
    """Return the mechanisms of a study, those of a file if it is named; none of a study that has none. Raises InputError."""
    path = Path(file) if file else Path(str(files("tonopah.reports.mechanisms") / f"{study}.toml"))
    if not file and not path.is_file():
        return []
    try:
        found: MechanismFile = validate(MechanismFile, load(path))
        return [resolve(one, f"mechanism[{i}]", spec.parts) for i, one in enumerate(found.mechanism)]
    except InputError as error:
        raise relay(error, str(path)) from None


def resolve(mechanism: Mechanism, path: str, parts: list[Part]) -> Mechanism:
    """Return a mechanism that names both parts, both metrics and what is compared. Raises InputError."""
    part = choose_part(mechanism.part, path, parts)
    other = choose_part(mechanism.without.part or part.id, f"{path}.without", parts)
    metric = mechanism.without.metric or mechanism.metric
    for name, where, at in ((mechanism.metric, part, path), (metric, other, f"{path}.without")):
        check_metric(name, f"{at}.metric", "run", [column for derived in where.derived for column in derived.columns()])
    shown = mechanism.of or tuple(label for label in part.labels if (mechanism.without.label or label) in other.labels)
    for label in shown:
        without = mechanism.without.label or label
        for name, where in ((label, part), (without, other)):
            if name not in where.labels:
                raise InputError(f"{path}.of", f"{shorten(name)} is unknown", list_allowed(where.labels, value=name))
    without_slip = mechanism.without.model_copy(update={"part": other.id, "metric": metric})
    return mechanism.model_copy(update={"part": part.id, "of": shown, "without": without_slip})
