"""Where an algorithm is named, a whole transport in a library may be: `cc = { transport = "libx.so", … }` or `cc = "libx.so"`.

Such a `cc` becomes the key `transport` of its flow or workload, or of `traffic` if it is that of all flows, before a scenario is
bound.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tonopah.cc.permission import permission
from tonopah.cc.references import is_library, is_of_transport, name_in
from tonopah.cc.shared_object import ALGORITHM, TRANSPORT
from tonopah.errors import InputError

LABEL = "label"


def name_transports(scenario: dict[str, Any], folder: Path) -> None:
    """Give flows whose `cc` names a transport that transport. Raises InputError where none can be."""
    for place in ("traffic", "tcp"):
        if not isinstance(scenario.get(place, {}), dict):
            # The engine tells what is wrong with it.
            return
    common = scenario.get("tcp", {})
    if transport := transport_of(common.get("cc"), folder):
        give(common, scenario.setdefault("traffic", {}), transport, "tcp.cc")
    for key in ("flow", "workload"):
        entries = scenario.get(key)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            for holder, place in ((entry, ""), (entry.get("tcp") if isinstance(entry, dict) else None, ".tcp")):
                path = f"{key}[{index}]{place}.cc"
                if not isinstance(holder, dict) or not (transport := transport_of(holder.get("cc"), folder)):
                    continue
                give(holder, entry, transport, path)


def give(holder: dict[str, Any], owner: dict[str, Any], transport: dict[str, Any], path: str) -> None:
    """Move a transport from the `cc` of one table to another. Raises InputError if that has one."""
    if "transport" in owner:
        raise InputError(path, "is a transport, but there is one already", "give it once")
    del holder["cc"]
    owner["transport"] = transport


def transport_of(cc: Any, folder: Path) -> dict[str, Any] | None:
    """Return the table `transport` that a `cc` stands for, None if it names an algorithm."""
    key, named = name_in(cc)
    if isinstance(cc, Mapping) and key == "transport":
        options = {name: value for name, value in cc.items() if name not in ("transport", LABEL)}
        return {"native": named, **({"options": options} if options else {})}
    if is_library(named) and not isinstance(cc, Mapping) and has_transport(named, folder):
        return {"native": named}
    return None


def has_transport(reference: str, folder: Path) -> bool:
    """Tell whether a library has a transport and no algorithm, by its names: nothing of it is executed."""
    stored = permission().stored
    if stored is not None:
        known = stored.get(reference)
        return bool(known and is_of_transport(known.description))
    try:
        content = (folder / reference).read_bytes()
    except OSError:
        return False
    return f"\0{TRANSPORT}\0".encode() in content and f"\0{ALGORITHM}\0".encode() not in content
