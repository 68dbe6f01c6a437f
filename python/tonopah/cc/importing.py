"""Imports the file of an algorithm and the modules beside it as if no run had imported them before.

What a class, a module or a generator of random numbers in them keeps must not go from one run to the next: a run depends on its
scenario and its seed only. Code is compiled from the source that its digest covers, never taken from `__pycache__`: Python
trusts a cached file when the time (in whole seconds) and the size of the source are the same.
"""

import importlib.util
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

from tonopah.digest import digest

MODULE_PREFIX = "tonopah_algorithm_"
"""Begins the name of every module that is the file of an algorithm."""
NOT_BESIDE = {"tonopah", "__main__", "__mp_main__"}
"""Names of modules that are never loaded anew."""
LOADING = threading.RLock()
"""Held while `sys.modules` and `sys.meta_path` are changed."""


class LoadedFile(NamedTuple):
    """The module in a file, and the sources that it consists of by module: its own has no name, those beside it have theirs."""

    module: ModuleType
    sources: Mapping[str, bytes]
    files: Mapping[Path, bytes]


@lru_cache(maxsize=64)
def compile_source(source: bytes, file: str) -> CodeType:
    """Return the code of a module; compiling executes nothing of it."""
    return compile(source, file, "exec", dont_inherit=True)


class FromSource(SourceFileLoader):
    """Compiles a module from its source and remembers the source."""

    source: bytes | None = None
    """None until the module is loaded."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the module."""
        self.source = self.get_data(self.path)
        return compile_source(self.source, self.path)


class Beside(MetaPathFinder):
    """Finds modules in the folder of an algorithm, as Python does for a script; none hides a module of the standard library."""

    def __init__(self, folder: Path):
        self.folder = str(folder)
        self.found: dict[str, ModuleSpec] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return where a module is, if it is in the folder or in a package there."""
        top, _, below = name.partition(".")
        if (below and top not in self.found) or top in sys.stdlib_module_names or top in NOT_BESIDE:
            return None
        for place in (path or ()) if below else (self.folder,):
            finder = FileFinder(place, (ExtensionFileLoader, EXTENSION_SUFFIXES), (FromSource, [".py"]))
            spec = finder.find_spec(name)
            # A folder without __init__.py is a package only if nothing else has its name.
            if spec and (spec.loader or PathFinder.find_spec(name, path) is None):
                self.found[name] = spec
                return spec
        return None


_left: dict[str, ModuleType] = {}
"""Modules beside the algorithm that was loaded last. They stay importable while it runs."""


def load_file(file: Path, code: bytes) -> LoadedFile:
    """Return a new module with this code, which stands in `file`; the modules beside it are loaded anew, too."""
    name = f"{MODULE_PREFIX}{digest(code)}_{digest(str(file))}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    with LOADING:
        before = sys.modules.get(name)
        sys.modules[name] = module
        try:
            with importable_from(file.parent) as beside:
                exec(compile_source(code, str(file)), vars(module))
        except BaseException:
            del sys.modules[name]
            if before:
                sys.modules[name] = before
            raise
    sources, files = {"": code}, {file: code}
    for other, found in sorted(beside.found.items()):
        if isinstance(found.loader, FromSource) and found.loader.source is not None:
            sources[other] = files[Path(found.loader.path)] = found.loader.source
    return LoadedFile(module, sources, files)


@contextmanager
def importable_from(folder: Path) -> Iterator[Beside]:
    """Make modules in a folder importable, each as if it had not been imported before; the caller's own modules come back."""
    for name, module in _left.items():
        if sys.modules.get(name) is module:
            del sys.modules[name]
    _left.clear()
    beside, hidden = Beside(folder), take_out(str(folder))
    sys.meta_path.insert(0, beside)
    try:
        yield beside
    finally:
        sys.meta_path.remove(beside)
        _left.update({name: sys.modules[name] for name in beside.found if name in sys.modules and name not in hidden})
        sys.modules.update(hidden)


def take_out(folder: str) -> dict[str, ModuleType]:
    """Take the modules that an algorithm in `folder` would import from there out of `sys.modules` and return them."""
    hidden = {}
    # Only names in the folder are looked up: to look at all modules would copy their memory to a forked process.
    for top in {name.partition(".")[0] for name in os.listdir(folder)} - sys.stdlib_module_names - NOT_BESIDE:
        module = sys.modules.get(top)
        place = module and (getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), ""))
        if place and str(place).startswith((f"{folder}{os.sep}{top}.", f"{folder}{os.sep}{top}{os.sep}")):
            for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
                hidden[name] = sys.modules.pop(name)
    return hidden
