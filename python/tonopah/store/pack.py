"""A finished study in one file: a ZIP archive whose first member lists all others with their sizes and digests.

It holds data and no code: the database, the series of representative runs and the verdicts. Equal folders give equal bytes. What
is read is believed only as far as it was announced: names that are not these, sizes beyond what is listed, and bytes that are not
those of their digest are refused before anything else looks at them.
"""

import hashlib
import json
import re
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tonopah._core import engine_build, engine_version
from tonopah.errors import InputError, RunFailedError
from tonopah.store.database import explain_error, open_for_reading

FORMAT = 1
"""Raised when an archive of this version could not be read by an older program."""
LIST, DATABASE, VERDICTS = "tonopah-study.json", "runs.sqlite", "verdicts.json"
MEMBER = re.compile(r"runs\.sqlite|verdicts\.json|series/[0-9a-f]{32}\.parquet")
"""What an archive may hold besides its list: no folder, no path that leads out of one."""
SUFFIX = ".study.zip"
LONGEST_LIST = 16 << 20
MOST_BYTES = 8 << 30
"""Of all members together, unpacked; the largest shipped study has 0.2 GB."""
MOST_VERDICTS = 64 << 20
DATE = (1980, 1, 1, 0, 0, 0)
"""The first that ZIP knows: the day of packing is nobody's business."""
CHUNK = 1 << 20
REGULAR = 0o100644 << 16


@dataclass(frozen=True)
class Member:
    """A file of an archive: its name, its size in bytes, and its SHA-256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Listing:
    """What an archive says of itself: its files, and the engine whose results they are."""

    members: list[Member]
    version: str
    build: str


def pack(folder: Path, target: Path, study: str) -> list[Member]:
    """Write the results in `folder` into one file and return what it holds.

    Raises InputError where something is missing, RunFailedError where the disk refuses.
    """
    if not (folder / VERDICTS).is_file():
        raise InputError("", f"has no {VERDICTS}", f"tonopah study report {folder}", str(folder))
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        with tempfile.TemporaryDirectory(prefix="tonopah-") as place:
            copy_database(folder / DATABASE, Path(place) / DATABASE)
            series = sorted((folder / "series").glob("*.parquet"))
            files = [Path(place) / DATABASE, folder / VERDICTS, *series]
            names = [DATABASE, VERDICTS, *(f"series/{path.name}" for path in series)]
            members = [Member(name, path.stat().st_size, file_digest(path)) for name, path in zip(names, files, strict=True)]
            facts = {"format": FORMAT, "study": study, "tonopah": engine_version(), "build": engine_build()}
            listed = facts | {"files": {one.name: {"bytes": one.size, "sha256": one.sha256} for one in members}}
            with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                archive.writestr(entry(LIST), json.dumps(listed, indent=1, sort_keys=True) + "\n")
                for name, path in zip(names, files, strict=True):
                    with path.open("rb") as source, archive.open(entry(name), "w", force_zip64=True) as sink:
                        shutil.copyfileobj(source, sink, CHUNK)
        temporary.replace(target)
    except (OSError, sqlite3.Error) as error:
        raise RunFailedError(f"{target}: cannot be written: {explain_error(error)}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return members


def copy_database(source: Path, target: Path) -> None:
    """Copy a database as it is now, with what stands in its log, without free pages."""
    with closing(open_for_reading(source)) as database:
        database.execute("VACUUM INTO ?", (str(target),))


def entry(name: str) -> zipfile.ZipInfo:
    """Return the head of a member, which is the same whenever and by whomever it is written."""
    info = zipfile.ZipInfo(name, DATE)
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, REGULAR
    return info


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def unpacked(file: Path) -> Iterator[Path]:
    """Yield a temporary folder with the results of an archive, each file compared with its digest. Raises InputError."""
    with tempfile.TemporaryDirectory(prefix="tonopah-") as place:
        unpack(file, Path(place))
        try:
            yield Path(place)
        except RunFailedError as error:
            raise RunFailedError(str(error).replace(place, str(file))) from error
        except InputError as error:
            named = (error.path, error.message, error.hint, error.source)
            raise InputError(*(text and text.replace(place, str(file)) for text in named)) from error  # type: ignore[arg-type]


def unpack(file: Path, folder: Path) -> None:
    """Write the members of an archive into an empty folder. Raises InputError, also for results of another engine."""
    with opened(file) as (archive, listing):
        if listing.build != engine_build():
            ours = f"this is {engine_version()} (build {engine_build()})"
            message = f"has results of engine {listing.version} (build {listing.build}), {ours}"
            raise InputError("", message, f"use Tonopah {listing.version}, or run the study again", str(file))
        members, free = listing.members, shutil.disk_usage(folder).free
        if sum(one.size for one in members) > free:
            raise InputError("", f"does not fit: {free >> 20} MB are free in {folder.parent}", "set TMPDIR", str(file))
        (folder / "series").mkdir()
        for one in members:
            with (folder / one.name).open("wb") as sink:
                for chunk in checked_chunks(archive, one, file):
                    sink.write(chunk)


def read_verdicts(file: Path) -> bytes:
    """Return the verdicts in an archive, compared with their digest. Raises InputError."""
    with opened(file) as (archive, listing):
        found = next((one for one in listing.members if one.name == VERDICTS), None)
        if found is None or found.size > MOST_VERDICTS:
            raise refused(file, f"has no {VERDICTS}" if found is None else f"{VERDICTS} is too large")
        return b"".join(checked_chunks(archive, found, file))


@contextmanager
def opened(file: Path) -> Iterator[tuple[zipfile.ZipFile, Listing]]:
    """Yield an archive and what it announces, which is all that it holds. Raises InputError."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive, read_list(archive, file)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, UnicodeError) as error:
        # A RuntimeError is a member that is encrypted, or compressed in a way that Python does not know.
        raise refused(file, str(error)) from None
    except OSError as error:
        raise InputError("", f"cannot be read: {error.strerror or error}", None, str(file)) from None


def read_list(archive: zipfile.ZipFile, file: Path) -> Listing:
    """Return what an archive announces, after its list has been compared with its members."""
    infos = {info.filename: info for info in archive.infolist()}
    if LIST not in infos or infos[LIST].file_size > LONGEST_LIST:
        raise refused(file, f"it has no {LIST}" if LIST not in infos else f"{LIST} is too large")
    try:
        facts = json.loads(archive.read(LIST))
        members = [Member(name, whole(one["bytes"]), str(one["sha256"])) for name, one in facts["files"].items()]
        known = facts["format"] == FORMAT
        version, build = str(facts["tonopah"]), str(facts["build"])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise refused(file, f"{LIST} cannot be read: {type(error).__name__}") from None
    if not known:
        raise InputError("", f"was packed by another version, Tonopah {version}", "use that version", str(file))
    if wrong := next((one.name for one in members if not MEMBER.fullmatch(one.name)), None):
        raise refused(file, f"it names {wrong!r}, which no study has")
    if len(infos) != len(archive.infolist()) or set(infos) != {LIST, *(one.name for one in members)}:
        raise refused(file, f"it does not hold what {LIST} lists")
    if DATABASE not in infos:
        raise refused(file, f"it has no {DATABASE}")
    for one in members:
        info = infos[one.name]
        if info.file_size != one.size or info.external_attr >> 28 not in (0, REGULAR >> 28) or info.flag_bits & 1:
            raise refused(file, f"{one.name} is not the file that {LIST} lists")
    if sum(one.size for one in members) > MOST_BYTES:
        raise refused(file, f"it holds more than {MOST_BYTES >> 30} GB")
    return Listing(members, version, build)


def whole(value: Any) -> int:
    """Return a size. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("not a size")
    return value


def checked_chunks(archive: zipfile.ZipFile, member: Member, file: Path) -> Iterator[bytes]:
    """Yield the content of a member, never more than was announced; what differs from its digest is refused at its end."""
    found, left = hashlib.sha256(), member.size
    with archive.open(member.name) as source:
        while chunk := source.read(min(CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                break
            found.update(chunk)
            yield chunk
    if left or found.hexdigest() != member.sha256:
        raise refused(file, f"{member.name} is damaged")


def refused(file: Path, why: str) -> InputError:
    """Return the error of a file that is no archive of a study, or no longer."""
    return InputError(
        "", f"is no packed study, or a damaged one: {' '.join(why.split())}", "tonopah study pack makes one", str(file)
    )
