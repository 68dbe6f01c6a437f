"""What the page asks for, a handler each: a JSON object in, JSON or a file out."""

import json
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from tonopah._core import engine_version, schema
from tonopah.errors import InputError, LimitError
from tonopah.lab import algorithms as lab_algorithms
from tonopah.lab import compare, files, lessons, linux_cases, moment, presets, recorded
from tonopah.lab.context import Asking
from tonopah.lab.messages import MOST_SECONDS, Show
from tonopah.lab.session import EVERY, FURTHER, OVER, Session
from tonopah.lab.session import SERIES as RECORDED
from tonopah.lab.tracks import STATISTICS, difference
from tonopah.metrics import METRICS, metric
from tonopah.runs.simulation import BINNED, INTERNAL, OWNERS, SERIES, algorithms
from tonopah.scenario.document import parse, to_toml

MOST_REPLICATES = 30
Handler = Callable[[Asking, dict[str, Any]], Any]


def wanted(asked: dict[str, Any], key: str, kind: type, default: Any = None) -> Any:
    """Return a value of a request. Raises InputError if it is of another type, or missing without a default."""
    value = asked.get(key, default)
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not fits or (isinstance(value, bool) and kind is not bool):
        raise InputError(key, f"{value!r} is not what is asked for here", f"a value of type {kind.__name__}")
    return value


def start(lab: Asking, _: dict[str, Any]) -> dict[str, Any]:
    """Return what the page needs to know once."""
    series = {
        name: {
            "label": METRICS[name].label, "unit": METRICS[name].unit, "factor": METRICS[name].factor,
            "definition": METRICS[name].definition, "of": OWNERS.get(name, "flow"),
            "binned": name in BINNED,
        } for name in SERIES
    }  # fmt: skip
    for entry in algorithms():
        for name in (f"{INTERNAL}{shown['name']}" for shown in entry["internals"] or ()):
            one = metric(name)
            about = {"label": one.label, "unit": one.unit, "factor": one.factor, "definition": one.definition}
            series[name] = {**about, "of": "flow", "binned": False}
    networks = ((name, metric(name)) for name in compare.METRICS)
    return {
        "version": engine_version(), "schema": json.loads(schema()), "presets": presets.load(), "series": series,
        "recordings": recorded.listed(),
        "algorithms": [entry["name"] for entry in algorithms()], "allow_python": lab.allow_python,
        "record": {**EVERY, "series": RECORDED, "further": FURTHER},
        "compared": [{"metric": name, "label": one.label, "unit": one.unit, "factor": one.factor} for name, one in networks],
    }  # fmt: skip


def read_toml(_: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return TOML as a document."""
    return {"document": parse(wanted(asked, "toml", str), "the scenario")}


def write_toml(_: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a document as TOML."""
    return {"toml": to_toml(wanted(asked, "document", dict))}


def check(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Check a scenario without running it."""
    return session_of(lab, asked).started()


def export_run(lab: Asking, asked: dict[str, Any]) -> Response:
    """Return a file of a run."""
    content, kind = files.export(session_of(lab, asked), wanted(asked, "form", str), lab.folder, lab.allow_python)
    return Response(content, media_type=kind)


def session_of(lab: Asking, asked: dict[str, Any]) -> Session:
    """Return a run that has not begun, outside the sockets."""
    document, seed = wanted(asked, "document", dict), wanted(asked, "seed", int, 1)
    return lab.session(document, seed)


def compare_two(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return what differs between two scenarios, over several seeds: the page itself compares two runs."""
    replicates = wanted(asked, "replicates", int)
    if not 2 <= replicates <= MOST_REPLICATES:
        raise InputError("replicates", f"{replicates} is out of range", f"2 to {MOST_REPLICATES}")
    before, after = wanted(asked, "document", dict), wanted(asked, "other", dict)
    return compare.compare(
        lambda document, seed: session_of(lab, {"document": document, "seed": seed}),
        before,
        after,
        wanted(asked, "seed", int, 1),
        replicates,
    )


def run_of(lab: Asking, asked: dict[str, Any], key: str) -> Session:
    """Return a run that a page watches. Raises InputError."""
    session = lab.runs.sessions.get(wanted(asked, key, str))
    if session is None:
        raise InputError(key, "this run is not known any more", "run it again")
    return session


def subtract(lab: Asking, asked: dict[str, Any]) -> Response:
    """Return the series of one run less those of another, as over the socket of a run."""
    before, after = run_of(lab, asked, "before"), run_of(lab, asked, "after")
    for key, run in (("before", before), ("after", after)):
        if run.state not in OVER:
            raise InputError(key, "this run is not over yet", "ask when it is")
    try:
        shown = Show.model_validate({"kind": "show", **{key: asked.get(key) for key in ("from_s", "until_s", "columns")}}).part()
    except ValueError as error:
        raise InputError("from_s", "no part of the time and width can be shown", str(error)) from None
    return Response(difference(before.tracks, after.tracks, shown), media_type="application/octet-stream")


def list_packets(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the packet events of a moment of a run."""
    return moment.excerpt(session_of(lab, asked), wanted(asked, "from_s", float), wanted(asked, "until_s", float))


def list_algorithms(lab: Asking, _: dict[str, Any]) -> dict[str, Any]:
    """Return the registry, and the classes in Python files of the folder if they may be executed."""
    return {"algorithms": algorithms(), "own": lab_algorithms.classes(lab.folder) if lab.allow_python else []}


def response(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return one point of a response function."""
    loss = wanted(asked, "loss", float)
    if loss not in lab_algorithms.LOSSES:
        raise InputError("loss", f"{loss:g} is not measured", ", ".join(f"{one:g}" for one in lab_algorithms.LOSSES))
    world = lab_algorithms.response_world(asked.get("cc"), loss)
    session = lab.session(world, 1)
    session.start()
    session.thread.join()
    if session.summary is None:
        raise LimitError((session.error or {"message": "the run was stopped"})["message"])
    return lab_algorithms.response_point(session.summary, loss)


def sky(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return where the satellites of a run are at a time."""
    session = run_of(lab, asked, "run")
    at_s = wanted(asked, "at_s", float)
    if not 0 <= at_s <= MOST_SECONDS:
        raise InputError("at_s", f"{at_s:g} s is out of range", f"0 to {MOST_SECONDS:g} s")
    return moment.sky(session, at_s)


def coast(_: Asking, __: dict[str, Any]) -> dict[str, Any]:
    """Return the coastlines of the map of satellites."""
    return {"lines": moment.coast()}


def linux(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the cases of Linux recorded with an algorithm, or the measures of one of them."""
    cc = wanted(asked, "cc", str)
    if asked.get("case") is None:
        return {"cases": list(linux_cases.cases_of(cc)), "columns": linux_cases.COLUMNS}
    return linux_cases.compared(cc, wanted(asked, "case", str), lab.runs.slots, lab.gone)


def list_studies(lab: Asking, _: dict[str, Any]) -> dict[str, Any]:
    """Return all studies."""
    return {"studies": lab.studies.listed()}


def study(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Do something with a study, and return how far it is."""
    name, action = wanted(asked, "name", str), wanted(asked, "do", str, "look")
    # A first look takes the size of which there is something to see.
    quick = None if action == "look" and asked.get("quick") is None else wanted(asked, "quick", bool, default=False)
    if action not in ("look", "start", "stop", "report"):
        raise InputError("do", f"{action!r} is unknown", "look, start, stop or report")
    if quick is not None and action != "look":
        {"start": lab.studies.start, "stop": lab.studies.stop, "report": lab.studies.write_report}[action](name, quick)
    return lab.studies.status(name, quick)


def explore(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a metric of a study over an axis."""
    x, facet = (wanted(asked, key, str) if asked.get(key) is not None else None for key in ("x", "facet"))
    if facet is not None and x is None:
        raise InputError("facet", "without an axis there are no facets", "give x too")
    name, quick = wanted(asked, "name", str), wanted(asked, "quick", bool, default=False)
    return lab.studies.explore(name, quick, wanted(asked, "metric", str), x, facet)


def point(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the runs of a point of a study."""
    name, quick, where = wanted(asked, "name", str), wanted(asked, "quick", bool, default=False), wanted(asked, "where", dict, {})
    return lab.studies.runs(name, quick, wanted(asked, "part", str), wanted(asked, "algorithm", str), where)


def list_lessons(lab: Asking, _: dict[str, Any]) -> dict[str, Any]:
    """Return the shipped lessons and those of the folder."""
    return {"lessons": lessons.listed(lab.folder)}


def windows(_: Asking, __: dict[str, Any]) -> dict[str, Any]:
    """Return the windows of the recordings of Linux."""
    return recorded.windows()


def statistic(lab: Asking, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a number of a series of a run."""
    kind = wanted(asked, "statistic", str)
    if kind not in STATISTICS:
        raise InputError("statistic", f"{kind!r} is unknown", ", ".join(STATISTICS))
    return {"value": run_of(lab, asked, "run").tracks.statistic(wanted(asked, "series", str), wanted(asked, "owner", int), kind)}


HANDLERS: dict[str, Handler] = {
    "start": start, "document": read_toml, "toml": write_toml,
    "check": check, "export": export_run, "packets": list_packets,
    "compare": compare_two, "difference": subtract,
    "algorithms": list_algorithms, "response": response, "linux": linux, "sky": sky, "coast": coast,
    "studies": list_studies, "study": study, "explore": explore, "point": point, "lessons": list_lessons,
    "statistic": statistic, "recorded": windows,
}  # fmt: skip
