"""The tables of `tonopah algorithms`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tonopah.cc.references import key_of
from tonopah.metrics import parameter, parameter_range
from tonopah.terminal.grid import plain_table

if TYPE_CHECKING:
    from rich.table import Table


OF_REPORTS = "as reports have them, with their faults"


def lists(algorithms: list[dict[str, Any]]) -> list["Table"]:
    """Return the list of algorithms, and below it, under a heading of its own, that of those which only reports have."""
    apart = [entry for entry in algorithms if entry.get("compat")]
    rest = [entry for entry in algorithms if not entry.get("compat")]
    return [algorithm_table(rest), *([algorithm_table(apart, OF_REPORTS)] if apart else [])]


def algorithm_table(algorithms: list[dict[str, Any]], title: str | None = None) -> "Table":
    """Return algorithms with their profiles."""
    table = plain_table()
    table.title, table.title_justify = title, "left"
    for name in ("name", "title", "profiles"):
        table.add_column(name, no_wrap=name == "name")
    for entry in algorithms:
        profiles = ", ".join(profile["name"] for profile in entry["profiles"])
        table.add_row(entry["name"], entry["title"], profiles)
    return table


NARROW = 110
"""In fewer columns the numbers of a parameter stand below its name, so that its meaning has room."""


def algorithm_tables(algorithm: dict[str, Any], width: int = NARROW) -> list["Table"]:
    """Return all there is to say of one algorithm: where it is from and what it asks for, its parameters, its profiles."""
    if algorithm.get("kind") == "transport":
        return transport_tables(algorithm)
    tables = [facts_table(algorithm)]
    if algorithm["params"]:
        tables.append(parameter_table(algorithm) if width >= NARROW else narrow_parameter_table(algorithm))
    if algorithm["profiles"]:
        tables.append(profile_table(algorithm))
    if algorithm["internals"]:
        tables.append(internals_table(algorithm))
    return tables


def internals_table(algorithm: dict[str, Any]) -> "Table":
    """Return the variables that an algorithm shows (`record.internals`)."""
    table = plain_table()
    for name in ("variable", "unit", "meaning"):
        table.add_column(name, no_wrap=name != "meaning")
    for shown in algorithm["internals"]:
        words = f" ({', '.join(algorithm['states'])})" if shown["name"] == "state" and algorithm["states"] else ""
        table.add_row(shown["name"], shown["unit"], shown["doc"] + words)
    return table


def facts_table(algorithm: dict[str, Any]) -> "Table":
    """Return where an algorithm is defined, what it asks of its connection and how a scenario names it."""
    from rich.table import Table

    name, profiles = algorithm["name"], algorithm["profiles"]
    table = Table(title=f"{name}: {algorithm['title']}", title_justify="left", title_style="bold", box=None, show_header=False)
    table.add_row("defined in", algorithm["reference"])
    table.add_row("asks for", requirements_text(algorithm["requirements"]))
    # That of today's kernels, where there is one.
    known = sorted(profiles, key=lambda profile: profile["name"] == "linux")[-1:]
    words = [f'{key_of(name)} = "{name}"', *(f'profile = "{p["name"]}"' for p in known)]
    words += [f"{p['name']} = {parameter(p['default'])}" for p in algorithm["params"][:1]]
    table.add_row("written", f"cc = {{ {', '.join(words)} }}")
    return table


def transport_tables(transport: dict[str, Any]) -> list["Table"]:
    """Return all that a whole transport in a library says of itself."""
    from rich.table import Table

    name, protocol = transport["name"], transport["protocol"]
    facts = Table(title=f"{name}: {transport['title']}", title_justify="left", title_style="bold", box=None, show_header=False)
    facts.add_row("defined in", transport["reference"])
    facts.add_row("protocol", "UDP (17)" if protocol == 17 else str(protocol))
    facts.add_row("streams", str(transport["max_streams"]))
    facts.add_row("states", ", ".join(transport["states"]) or "none")
    facts.add_row("written", f'transport = {{ native = "{name}" }}')
    if not transport["options"]:
        return [facts]
    table = plain_table()
    for head in ("option", "default", "allowed", "unit", "meaning"):
        table.add_column(head, justify="right" if head == "default" else "left", no_wrap=head != "meaning")
    for option in transport["options"]:
        words = option["words"]
        default = words[int(option["default"])] if words else parameter(option["default"])
        allowed = ", ".join(words) or parameter_range(option)
        table.add_row(option["name"], default, allowed, option["unit"], option["doc"])
    return [facts, table]


def requirements_text(requirements: Mapping[str, Any]) -> str:
    """Return what an algorithm asks of its connection, in words."""
    texts = (
        (requirements["owns_window"], "its own window in recovery too"),
        (requirements["ecn"], f"congestion marks of the form {requirements['ecn']}"),
        (requirements["timestamps"], "timestamps"),
    )
    return "; ".join(text for asked, text in texts if asked) or "nothing special"


def parameter_table(algorithm: dict[str, Any]) -> "Table":
    """Return the parameters of an algorithm: default, range, unit, meaning, and below it the source of the default."""
    table = plain_table()
    for name in ("parameter", "default", "range", "unit"):
        table.add_column(name, justify="right" if name == "default" else "left", no_wrap=True)
    table.add_column("meaning, and where the default is from")
    for entry in algorithm["params"]:
        meaning = "\n".join(text for text in (entry["doc"], entry["source"] and f"({entry['source']})") if text)
        table.add_row(entry["name"], parameter(entry["default"]), parameter_range(entry), entry["unit"] or "", meaning)
    return table


def narrow_parameter_table(algorithm: dict[str, Any]) -> "Table":
    """Return the same in two columns: below the name of a parameter its default, its range and its unit."""
    table = plain_table()
    table.add_column("parameter", no_wrap=True)
    table.add_column("meaning, and where the default is from")
    for entry in algorithm["params"]:
        numbers = f"{parameter(entry['default'])} {entry['unit'] or ''}".rstrip()
        name = "\n".join(text for text in (entry["name"], f"  {numbers}", f"  {parameter_range(entry)}") if text.strip())
        table.add_row(name, " ".join(text for text in (entry["doc"], entry["source"] and f"({entry['source']})") if text))
    return table


def profile_table(algorithm: dict[str, Any]) -> "Table":
    """Return the profiles of an algorithm: the values that they set, and the loss recovery that they bring."""
    table = plain_table()
    table.add_column("profile", no_wrap=True)
    table.add_column("recovery", no_wrap=True)
    table.add_column("sets")
    for profile in algorithm["profiles"]:
        changes = ", ".join(f"{key} = {parameter(value)}" for key, value in profile["set"].items())
        table.add_row(profile["name"], profile["recovery"] or "the connection's", changes or "nothing: the defaults")
    return table
