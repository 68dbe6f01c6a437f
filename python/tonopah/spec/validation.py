"""The ground of the study file's models: closed tables, the types of their values, and refusals that name place and remedy."""

import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, ClassVar, TypeVar, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from tonopah._core import parse_quantity
from tonopah.errors import InputError, near_names
from tonopah.scenario.paths import split_path
from tonopah.spec.renamed import RENAMED, RENAMED_METRICS, RENAMED_TABLES

EXPECTED = {
    "string_type": "text", "string_unicode": "text", "int_type": "a whole number", "int_from_float": "a whole number",
    "float_type": "a number", "finite_number": "a finite number", "bool_type": "true or false", "dict_type": "a table",
    "model_type": "a table", "tuple_type": "an array", "list_type": "an array",
}  # fmt: skip
"""What was expected, by pydantic's name of the error."""

T = TypeVar("T")
Array = TypeVar("Array", tuple[Any, ...], list[Any])

MAX_SHOWN = 80
"""Longer text is cut in messages."""
MAX_LISTED = 40
"""Names that a hint lists."""

SHORT = reprlib.Repr()
SHORT.maxlevel, SHORT.maxstring, SHORT.maxother = 4, MAX_SHOWN, MAX_SHOWN


def shorten(value: Any) -> str:
    """Return a value as it is written in Python, cut where it is long or deep."""
    return SHORT.repr(list(value) if isinstance(value, tuple) else value)


def cut(text: str) -> str:
    """Return text as it is, cut where it is long."""
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def refuse(message: str, hint: str | None = None, at: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """Return the error of a validator: what is wrong, what is allowed, and the steps from the validated value to the place."""
    return PydanticCustomError("refused", "{message}", {"message": message, "hint": hint, "at": at})


def list_allowed(known: Iterable[str], what: str = "allowed", value: Any = None) -> str:
    """Return a hint that lists the known names, and the most similar one to what was written."""
    names = list(known)
    close = near_names(value, names, 1) if isinstance(value, str) else []
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    listed = ", ".join(cut(name) for name in names[:MAX_LISTED]) or "nothing"
    return f"{what}: {listed}{more}" + "".join(f"; did you mean {name}?" for name in close)


class Model(BaseModel):
    """A table of the study file: closed, immutable, and without conversions between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    HINTS: ClassVar[Mapping[str, str]] = {}
    """How a required key that is missing is written."""
    MISPLACED: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Keys that stand elsewhere: what is wrong with them here, and where they belong."""

    @classmethod
    def known_keys(cls) -> list[str]:
        """Return the keys of the table, as they are written in the file."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @model_validator(mode="before")
    @classmethod
    def check_keys(cls, table: Any) -> Any:
        """Refuse what is not a table, keys without meaning, and missing ones."""
        if isinstance(table, cls):
            return table
        check_table(table, cls.known_keys(), cls.MISPLACED)
        for name, field in cls.model_fields.items():
            key = field.alias or name
            if field.is_required() and table.get(key, "") == "":
                raise refuse("is missing", cls.HINTS.get(key), (key,))
        return table


def check_table(table: Any, known: list[str], misplaced: Mapping[str, tuple[str, str]]) -> None:
    """Refuse what is not a table, or has a key that is not among the known ones."""
    if not isinstance(table, Mapping):
        raise refuse(f"{shorten(table)} is not a table")
    for key, value in table.items():
        if not isinstance(key, str):
            raise refuse(f"the key {shorten(key)} is not text")
        if key in misplaced:
            raise refuse(*misplaced[key], (key,))
        if key not in known:
            new = RENAMED.get(key)
            if new in known:
                raise refuse("has a new name", f"write {new}", (key,))
            raise refuse("unknown key", list_allowed(known, value=key), (key,))
        if value is None:
            raise refuse("has no value", at=(key,))


def to_array(value: Any) -> tuple[Any, ...]:
    """Return an array as a tuple."""
    if not isinstance(value, list | tuple):
        raise refuse(f"{shorten(value)} is not an array")
    return tuple(value)


def to_texts(value: Any) -> tuple[str, ...]:
    """Return text, or an array of it, as a tuple without repetitions."""
    entries = value if isinstance(value, list | tuple) else [value]
    if not entries:
        raise refuse("is empty")
    for i, entry in enumerate(entries):
        if not isinstance(entry, str):
            raise refuse(f"{shorten(entry)} is not text", at=(i,) if isinstance(value, list | tuple) else ())
    return distinct(tuple(entries))


def distinct(values: Array) -> Array:
    """Refuse an array in which a value appears twice."""
    try:
        if len(set(values)) == len(values):
            return values
    except TypeError:
        pass  # Tables cannot be hashed; they are few.
    seen: list[Any] = []
    for value in values:
        if value in seen:
            raise refuse(f"{shorten(value)} appears twice")
        seen.append(value)
    return values


def distinct_names(tables: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse two tables of the same name."""
    distinct(tuple(table.name for table in tables))
    return tables


def to_path(path: str) -> str:
    """Refuse text that is not a path into a scenario, and a path of older study files."""
    table, dot, rest = path.partition(".")
    if table in RENAMED_TABLES:
        raise refuse("has a new name", f"write {RENAMED_TABLES[table]}{dot}{rest}")
    try:
        split_path(path)
    except InputError as error:
        raise refuse(error.message, error.hint) from None
    return path


def to_pattern(path: str) -> str:
    """Refuse text that is not a path in which `*` may stand for every entry of an array."""
    to_path(re.sub(r"(?<=\.)\*(?=\.|$)", "0", path))
    return path


def to_seconds(value: Any) -> float:
    """Return a time like "9.1s" in seconds."""
    try:
        return parse_quantity(value if isinstance(value, str) else "", "duration")
    except ValueError:
        raise refuse(f"{shorten(value)} is not a time", 'like "500ms", "9.1s" or "10min"') from None


def to_interval(value: Any) -> tuple[float, float]:
    """Return an interval of time like ["5s", "30s"] in seconds."""
    example = 'like ["5s", "30s"]'
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise refuse(f"{shorten(value)} is not an interval", f"two times, {example}")
    for i, time in enumerate(value):
        try:
            to_seconds(time)
        except PydanticCustomError as error:
            raise refuse(error.message(), (error.context or {})["hint"], (i,)) from None
    start, end = map(to_seconds, value)
    if not start < end:
        raise refuse("ends before it begins", example)
    return start, end


def between(low: float, high: float) -> Any:
    """Return what restricts a number to a range, here and in the JSON schema."""

    def check(value: float) -> float:
        if not low <= value <= high:
            shown = f"{value:g}" if isinstance(value, float) else str(value)
            raise refuse(f"{shown} is out of range", f"{low} to {high}")
        return value

    return AfterValidator(check), Field(json_schema_extra={"minimum": low, "maximum": high})


def one_of(value: Any, known: Iterable[str], at: tuple[str | int, ...] = (), what: str = "allowed") -> None:
    """Refuse a value that is not among the known ones."""
    names = list(known)
    if value not in names:
        raise refuse(f"{shorten(value)} is unknown", list_allowed(names, what, value), at)


def current_metrics(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse the old name of a metric."""
    for name in names:
        words = [RENAMED_METRICS.get(word, word) for word in name.split(".")]
        if ".".join(words) != name:
            raise refuse(f"{shorten(name)} has a new name", f"write {'.'.join(words)}")
    return names


Many = Annotated[tuple[T, ...], FailFast(), BeforeValidator(to_array)]
"""An array; the first wrong entry ends the check, however long it is."""
Filled = Annotated[tuple[T, ...], FailFast(), Field(min_length=1), BeforeValidator(to_array)]
"""An array that is not empty."""
Texts = Annotated[tuple[str, ...], BeforeValidator(to_texts, json_schema_input_type=str | list[str])]
"""Text, or an array of it: several readings side by side."""
CurrentMetrics = AfterValidator(current_metrics)
"""For an array of metrics: none may have its old name."""
AxisPath = Annotated[str, AfterValidator(to_path)]
"""A path into the scenario, like network.flows."""
PatternPath = Annotated[str, AfterValidator(to_pattern)]
"""A path in which `*` stands for every entry of an array, like link.*.queue."""
Choices = Annotated[list[Any], Field(min_length=1)]
"""Some values of an axis."""
Values = Annotated[Choices, AfterValidator(distinct)]
"""The values of an axis."""
Seconds = Annotated[float, BeforeValidator(to_seconds, json_schema_input_type=str)]
"""A time like "9.1s"."""
Interval = Annotated[tuple[float, float], BeforeValidator(to_interval, json_schema_input_type=list[str])]
"""Start and end of an interval of time."""


def validate(kind: Any, value: Any, path: str = "", tags: Collection[str] = ()) -> Any:
    """Return `value` as `kind`, a model or another type. Raises InputError with the path of the first mistake.

    `tags` gives the names of the alternatives of unions, which pydantic puts into its places and a file does not have.
    """
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise explain(error.errors(include_url=False)[0], path, tags) from None


def tagged_union(
    kinds: Mapping[str, type[BaseModel]], key_of: Callable[[Mapping[str, Any]], str], check: Callable[[Any], Any]
) -> Any:
    """Return the type of a field whose class a table's key, as `key_of` finds it, names; `check` refuses tables of no class."""

    def class_of(given: Any) -> str:
        return kinds[key_of(given)].__name__ if isinstance(given, Mapping) else type(given).__name__

    members = tuple(Annotated[kind, Tag(kind.__name__)] for kind in dict.fromkeys(kinds.values()))
    return Annotated[Union[members], Discriminator(class_of), BeforeValidator(check)]  # noqa: UP007 - made from a table


def explain(error: ErrorDetails, path: str, tags: Collection[str]) -> InputError:
    """Return an error of pydantic in the words of Tonopah."""
    context, kind = error.get("ctx", {}), error["type"]
    steps = [step for step in error["loc"] if step not in tags and step != "[key]"]
    if kind == "refused":
        return InputError(join(path, (*steps, *context["at"])), context["message"], context["hint"])
    here, value = join(path, steps), shorten(error["input"])
    if kind in EXPECTED:
        return InputError(here, f"{value} is not {EXPECTED[kind]}")
    if kind == "literal_error":
        known = [word.strip().strip("'") for word in context["expected"].replace(" or ", ", ").split(",")]
        return InputError(here, f"{value} is unknown", list_allowed(known, value=error["input"]))
    if kind == "too_short":
        return InputError(here, "is empty")
    return InputError(here, f"{value} cannot be used: {error['msg']}")


def join(path: str, steps: Iterable[str | int]) -> str:
    """Return the path of a place inside another: `part[1]` and ("sweep", 0) give `part[1].sweep[0]`."""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{cut(step)}" if path else cut(step)
    return path
