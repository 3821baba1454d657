"""Imports a bot's modules from the bytes of its bundle: nothing is written to any disk."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType

FOLDER = "<bot>"  # what stands for the bundle's root in file names and tracebacks
MAIN = "ladder_bot"  # module name of a bot that is a file, whatever the file's name


class BundleFinder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds and loads the modules of one bundle, ahead of installed ones of the same name."""

    def __init__(self, files: Sequence[tuple[str, bytes]]) -> None:
        self._files = dict(files)
        self._main = files[0][0] if files else None

    def _path_of(self, name: str) -> str | None:
        if name == MAIN:
            return self._main
        stem = name.replace(".", "/")
        paths = (f"{stem}/__init__.py", f"{stem}.py")
        return next((path for path in paths if path in self._files), None)

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a module of the bundle; a folder with no `__init__.py` is a package too."""
        stem = fullname.replace(".", "/")
        file = self._path_of(fullname)
        if file is None:
            if not any(name.startswith(f"{stem}/") for name in self._files):
                return None
            spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [f"{FOLDER}/{stem}"]
            return spec
        package = file.endswith("/__init__.py")
        spec = importlib.machinery.ModuleSpec(
            fullname, self, origin=f"{FOLDER}/{file}", is_package=package
        )
        spec.has_location = True
        if package:
            spec.submodule_search_locations = [f"{FOLDER}/{stem}"]
        return spec

    def get_code(self, fullname: str) -> CodeType | None:
        """The module's code."""
        file = self._path_of(fullname)
        if file is None:
            return None
        return self.source_to_code(self._files[file], f"{FOLDER}/{file}")

    def get_source(self, fullname: str) -> str | None:
        """The module's source, for tracebacks."""
        file = self._path_of(fullname)
        return None if file is None else importlib.util.decode_source(self._files[file])

    def is_package(self, fullname: str) -> bool:
        """Whether the module is a package."""
        return (self._path_of(fullname) or "").endswith("/__init__.py")


def import_bundle(module: str, files: Sequence[tuple[str, bytes]]) -> ModuleType:
    """Import a bot's module; its local imports come from the bundle too."""
    finder = BundleFinder(files)
    # Modules that came along with the rules must not hide files of the bundle (`bots`, say).
    tops = {name.partition("/")[0].removesuffix(".py") for name, _ in files}
    tops -= sys.stdlib_module_names | {"ladder"}
    for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    return importlib.import_module(module)
