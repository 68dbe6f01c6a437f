"""The study file as it is written (docs/studies.md): one class for each table. part.py and resolution.py make a study of it.

What the scenario inside may contain is the engine's business. `json_schema` describes the file to editors and to the manual.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from tonopah.cc.references import name_in
from tonopah.kernel.engines import ENGINES, SIMULATED
from tonopah.metrics import readable
from tonopah.spec.claim import CRITERIA, Claim, FigureName
from tonopah.spec.derived import KINDS, AnyDerived
from tonopah.spec.figure import FigureTable
from tonopah.spec.history import HistoryEntry, in_order
from tonopah.spec.published import Published
from tonopah.spec.validation import (
    AxisPath,
    Choices,
    Filled,
    Many,
    Model,
    PatternPath,
    Values,
    between,
    distinct,
    distinct_names,
    refuse,
    shorten,
)
from tonopah.spec.vary import AnyVary, Vary

STATISTICS = ("mean", "median")
MAX_REPLICATES = 100_000
LABEL = "label"

TAGS = {kind.__name__ for kind in (*CRITERIA, *KINDS.values())}
"""Names of the alternatives of unions, which pydantic puts into the places of errors."""

Replicates = Annotated[int, *between(1, MAX_REPLICATES)]


def label_of(cc: Any) -> str | None:
    """Return what a compared algorithm is called: its label, or its name or class, then its profile and its parameters."""
    if isinstance(cc, Mapping):
        if LABEL in cc:
            return cc[LABEL] if isinstance(cc[LABEL], str) and cc[LABEL].strip() else None
        own, name = name_in(cc)
        rest = [f"{key}={value}" for key, value in cc.items() if key not in (own, "profile")]
        more = [*([str(cc["profile"])] if "profile" in cc else []), *rest]
    else:
        name, more = cc, []
    return " ".join([name.rpartition(":")[2], *more]) if isinstance(name, str) else None


def unlabelled(cc: Any) -> Any:
    """Return a compared algorithm as the engine knows it: how it is called is no parameter."""
    return {key: value for key, value in cc.items() if key != LABEL} if isinstance(cc, Mapping) else cc


def check_algorithm(cc: Any) -> Any:
    """Refuse what is not an algorithm."""
    if label_of(cc) is None:
        if isinstance(cc, Mapping) and LABEL in cc:
            raise refuse(f"{shorten(cc[LABEL])} is no label", 'text, such as label = "CUBIC"')
        hint = 'a name, { name = "cubic", profile = "linux" }, or { python = "my_algorithm.py:MyCC" }'
        raise refuse(f"{shorten(cc)} is not an algorithm", hint)
    return cc


CompareEntry = Annotated[
    Any, AfterValidator(check_algorithm), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})
]


class Variant(Model):
    """One of the compared: changes of the scenario, and the label that names it everywhere."""

    label: str = Field(description="Its name in tables and figures.")
    changes: dict[AxisPath, Any] = Field(alias="set", description="What it changes in the scenario: `{ path = value }`.")


class Compare(Model):
    """What is compared: algorithms, or any other variants of the scenario; both may stand together."""

    cc: Filled[CompareEntry] = Field(
        (),
        description="Algorithms: names, tables like `{ name, profile, … }`, or `{ python = … }`. In a table `label` is its name "
        "in figures, tables and claims; without it that is name, profile and parameters.",
    )
    variant: Many[Variant] = Field((), description="Variants of the scenario.")

    @model_validator(mode="after")
    def check_labels(self) -> "Compare":
        """Refuse a comparison of nothing, and two of the same label."""
        if not self.cc and not self.variant:
            raise refuse("is missing", 'cc = ["newreno", "cubic"], or [[compare.variant]]', ("cc",))
        try:
            distinct(tuple(variant.label for variant in self.variants))
        except ValueError as error:
            raise refuse(str(error), at=("cc" if self.cc else "variant",)) from None
        return self

    @property
    def variants(self) -> list[Variant]:
        """All of the compared, algorithms first."""
        algorithms = [Variant(label=label_of(cc) or "", set={"tcp.cc": unlabelled(cc)}) for cc in self.cc]
        return [*algorithms, *self.variant]


def check_axes(vary: dict[str, Any]) -> dict[str, Any]:
    """Refuse a sweep of nothing."""
    if not vary:
        raise refuse("varies nothing", 'vary = { "network.flows" = [10, 20] }')
    return vary


class Sweep(Model):
    """Axes that vary together (crossed when there are several); everything else keeps its nominal value."""

    vary: Annotated[dict[PatternPath, Values], AfterValidator(check_axes)] = Field(
        description="Axes and their values: `{ path = [values] }`; `*` in a path stands for every entry of an array."
    )
    own_label: str = Field("", alias="label", description="Name of the axis in figures; its path in words if absent.")

    @property
    def label(self) -> str:
        """Its name in figures."""
        return self.own_label or " × ".join(map(readable, self.vary))


class Quick(Model):
    """The reduced size of `--quick`."""

    replicates: Replicates = Field(3, description="Number of replicates.")
    duration: str | None = Field(None, description="Duration of a run.")
    values: dict[PatternPath, Choices] = Field(default_factory=dict, description="Values of axes: `{ path = [values] }`.")
    changes: dict[AxisPath, Any] = Field(
        default_factory=dict, alias="set", description="Any other change of the scenario: `{ path = value }`."
    )


def check_changes(changes: dict[str, Any]) -> dict[str, Any]:
    """Refuse an alternative that changes nothing."""
    if not changes:
        raise refuse("changes nothing", '{ "tcp.recv_buffer" = "10000B" }')
    return changes


class Alternative(Model):
    """Another value that could have been assumed as well."""

    value: str = Field(description="The other value, in words.")
    changes: Annotated[dict[PatternPath, Any], AfterValidator(check_changes)] = Field(
        alias="set",
        description="What it changes in the scenario: `{ path = value }`; `*` in a path stands for every entry of an array.",
    )
    reason: str = Field("", description="Why it is as likely.")


def distinct_values(alternatives: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    """Refuse two alternatives of the same value."""
    distinct(tuple(alternative.value for alternative in alternatives))
    return alternatives


class Assumption(Model):
    """What the original does not say."""

    parameter: str = Field(description="What is assumed.")
    value: str = Field(description="Its value here.")
    reason: str = Field(description="Why this value.")
    alternatives: Annotated[Many[Alternative], AfterValidator(distinct_values)] = Field(
        default=(), description="Other values; `tonopah study sensitivity` shows which verdicts hang on them."
    )


class Missing(Model):
    """What the original shows and this study cannot."""

    what: str = Field(description="What is not there.")
    reason: str = Field(description="Why.")


class ScenarioFile(Model):
    """A scenario in a file of its own."""

    file: str = Field(description="Its path from the folder of the study.")


class RowsFile(Model):
    """Rows of a published table in a file of their own."""

    file: str = Field(description="Its path from the folder of the study.")


class PartKeys(Model):
    """The keys of a part; at the top of the file they are the defaults of every part."""

    scenario: dict[str, Any] | None = Field(
        None,
        description="The network and its traffic, as in [scenario.md](generated/scenario.md), or `{ file = … }`, "
        "or `{ source = … }`. A part's tables are merged into the file's; a table of another `kind`, an array or a value "
        "replaces it.",
    )
    compare: Compare | None = Field(None, description="What is compared.")
    baseline: str | None = Field(
        None,
        description="Label that the others are compared with; the first if absent, or if a part does not compare the file's.",
    )
    replicates: Replicates = Field(10, description="Number of replicates; *k* has seed *k*, with `--seeds FROM` FROM + *k* - 1.")
    vary: AnyVary = Field(
        default_factory=Vary,
        description="What varies between replicates beside what the scenario draws; `false` for nothing. Nothing by default in a "
        "part whose scenario is from a `source`.",
    )
    engine: Literal[*ENGINES] = Field(  # pyright: ignore[reportInvalidTypeForm]
        SIMULATED,
        description='Who carries the flows: our simulated senders, or the TCP of a kernel: `"linux"`, `"uml"` (docs/kernel.md), '
        "one run at a time. Runs in real time differ, so that every point has all replicates.",
    )
    statistic: Literal[*STATISTICS] = Field(  # pyright: ignore[reportInvalidTypeForm]
        "mean", description='`"mean"` (t intervals, t tests) or `"median"` (order statistics, sign tests; for skewed results).'
    )
    sweep: Many[Sweep] = Field((), description="Axes that are varied.")
    figure: Many[FigureTable] = Field((), description="What is drawn.")
    derived: Annotated[Many[AnyDerived], AfterValidator(distinct_names)] = Field(
        (), description="Metrics that are derived from each run."
    )
    quick: Quick = Field(default_factory=Quick, description="What `--quick` reduces.")  # pyright: ignore[reportArgumentType]
    assumed: Many[Assumption] = Field((), description="What the original does not say.")


class PartHead(Model):
    """The keys of a part that the top of the file does not share."""

    id: str = Field(description="Its name in claims and tables.")
    title: str = Field("", description="Heading of its section in the report.")
    text: dict[str, str] = Field(default_factory=dict, description="`network`: a sentence that the report shows there.")


class PartTable(PartKeys, PartHead):
    """One network with its comparison. A key that it does not have is that of the file; an array replaces the file's."""


class StudyHead(Model):
    """The keys of a study that introduce it."""

    question: str = Field(description="What the study asks.")
    title: str = Field("", description="Heading of the report; the question if absent.")
    headline: str | FigureName = Field(
        "",
        description="What the report answers first: id of a claim, or a figure `{ metric, over, part }`; the first if absent.",
    )
    text: dict[str, str] = Field(default_factory=dict, description="`network`, `claims`: sentences that the report shows there.")


class StudyFile(PartKeys, StudyHead):
    """One question, its networks, what is compared on them, and the claims to be judged."""

    MISPLACED: ClassVar = {
        "mechanism": ("has moved out of studies", "a file of its own: python -m tonopah.reports.mechanisms FOLDER --file FILE"),
    }

    part: Filled[PartTable] = Field((), description="Networks with their comparisons; without any, the file is one part.")
    claim: Many[Claim] = Field((), description="Claims to be judged.")
    published: Many[Published] = Field((), description="Tables of the original.")
    missing: Many[Missing] = Field((), description="What the original shows and this study cannot.")
    history: Annotated[Many[HistoryEntry], AfterValidator(in_order)] = Field(
        (), description="When the criteria of the claims were set, and every later change with its reason."
    )

    @model_validator(mode="after")
    def check_ids(self) -> "StudyFile":
        """Refuse two parts, claims or published tables of the same id."""
        names: dict[str, tuple[str, Any]] = {
            "part": ("parts", self.part), "claim": ("claims", self.claim), "published": ("tables", self.published),
        }  # fmt: skip
        for key, (what, entries) in names.items():
            if len({entry.id for entry in entries}) < len(entries):
                raise refuse(f"two {what} have the same id", at=(key,))
        return self


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a study file (draft 2020-12)."""
    return without_null(StudyFile.model_json_schema(by_alias=True))


def without_null(schema: Any) -> Any:
    """Return a schema in which a value that may be absent is not said to be null: TOML has none."""
    if isinstance(schema, list):
        return [without_null(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: without_null(value) for key, value in schema.items() if not (key == "default" and value is None)}
    kinds = made.get("anyOf")
    if isinstance(kinds, list) and {"type": "null"} in kinds:
        rest = [kind for kind in kinds if kind != {"type": "null"}]
        del made["anyOf"]
        return (rest[0] | made) if len(rest) == 1 else made | {"anyOf": rest}
    return made
