"""A bot's source: the files it is made of, and importing it from them.

The bundle is the bot's module with every local module it imports: what its version is a digest
of, and what travels to workers. Local means beside the bot's file, or under the same top-level
package; the standard library, installed packages and Ladder itself are not part of a bot.
"""

from __future__ import annotations

import ast
import atexit
import hashlib
import importlib
import importlib.util
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from types import FunctionType, ModuleType

from ladder import errors
from ladder.errors import BotLoadError
from ladder.isolate.portrait import why
from ladder.paths import content_of, is_file, user_path

SHIPPED = "bots"
SHIPPED_FOLDER = Path(errors.__file__).resolve().parent.parent / SHIPPED


@dataclass(frozen=True)
class Source:
    """The files a bot is made of, by path relative to their common root."""

    module: str  # "my_bot" for my_bot.py, "bots.pasa.levels" for a module of a package
    files: tuple[tuple[str, bytes], ...]  # the bot's own file first, then the rest by name

    @property
    def digest(self) -> str:
        """Of the contents; the name of a single file does not matter."""
        digest = hashlib.blake2b(digest_size=16)
        for number, (name, content) in enumerate(self.files):
            shown = name if number or "." in self.module else "bot"
            digest.update(b"%s\0%d\0%s" % (shown.encode(), len(content), content))
        return digest.hexdigest()


def is_path(where: str) -> bool:
    """Whether the part of a reference before its class is a file, not a module."""
    return where.endswith(".py") or "/" in where or "\\" in where


def locate(where: str) -> Path:
    """The source file of a bot file or module; no line of it, or of its packages, is run.

    Raises: BotLoadError.
    """
    if is_path(where):
        path = user_path(where)
        _require_file(path)
        if path.suffix != ".py":
            raise BotLoadError(f"{path.resolve()}: not a Python file (its name should end in .py)")
        return path.resolve()
    file = getattr(sys.modules.get(where), "__file__", None)
    if file is None:
        file = _origin_of(where)
    if file is None or not file.endswith(".py"):
        raise BotLoadError(f"{where}: has no source file")
    return Path(file).resolve()


def _require_file(path: Path) -> None:
    if is_file(path):
        return
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise BotLoadError(f"{path}: no such file") from None
    except OSError as error:
        raise BotLoadError(f"{path}: cannot be read: {error.strerror}") from None
    what = "is a directory" if stat.S_ISDIR(mode) else "is a pipe or a device"
    raise BotLoadError(f"{path}: {what}, not a Python file")


def _origin_of(module: str) -> str | None:
    """What importing would find, package by package; `find_spec` would import the packages."""
    places: list[str] | None = None
    name = ""
    spec = None
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = None
        if not name.endswith(".") and not name.startswith("."):
            found = (finder.find_spec(name, places) for finder in sys.meta_path)
            spec = next((each for each in found if each is not None), None)
        if spec is None:
            raise BotLoadError(f"{module}: cannot be imported: No module named {name!r}")
        places = list(spec.submodule_search_locations or [])
    return spec.origin if spec is not None and spec.has_location else None


def is_shipped(where: str) -> bool:
    """Whether a file or module is one that came with Ladder. Raises: BotLoadError.

    A module is, if its top package is: importing runs that first, and in an editable installation
    another package of the name may stand before it while the modules below are found.
    """
    if SHIPPED_FOLDER not in locate(where).parents:
        return False
    return is_path(where) or SHIPPED_FOLDER in locate(where.partition(".")[0]).parents


def bundle_of(where: str) -> Source:
    """The files of a bot file or module, none of them run. Raises: BotLoadError."""
    path = locate(where)
    if is_path(where):
        return Source(path.stem, _bundle(path, path.parent))
    depth = where.count(".") + (path.name == "__init__.py")
    return Source(where, _bundle(path, path.parents[depth]))


def with_shipped_parts(source: Source) -> tuple[tuple[str, bytes], ...]:
    """The files, and those of the bots that ship with Ladder which they import."""
    root = SHIPPED_FOLDER.parent
    files = dict(source.files)
    todo = list(source.files)
    while todo:
        name, content = todo.pop()
        for found in _local_imports(content, root / name, root):
            path = found.relative_to(root).as_posix()
            if SHIPPED_FOLDER in found.parents and path not in files:
                files[path] = _read(found)
                todo.append((path, files[path]))
    return tuple(files.items())


def module_of(path: str) -> str:
    """The module that a file of a bundle makes.

    >>> module_of("bots/pasa/levels.py"), module_of("mine/__init__.py"), module_of("my_bot.py")
    ('bots.pasa.levels', 'mine', 'my_bot')
    """
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def read_file(path: Path) -> tuple[Source, ModuleType]:
    """A bot file with its local imports, and the module it makes. Raises: BotLoadError."""
    _require_file(path)
    source = Source(path.stem, _bundle(path.resolve(), path.resolve().parent))
    return source, _import_file(path.resolve(), source)


def read_module(name: str) -> tuple[Source, ModuleType]:
    """An importable module with its local imports. Raises: BotLoadError."""
    with loading(name):
        module = importlib.import_module(name)
    file = getattr(module, "__file__", None)
    if file is None:
        raise BotLoadError(f"{name}: has no source file")
    path = Path(file).resolve()
    depth = name.count(".") + (path.name == "__init__.py")
    return Source(name, _bundle(path, path.parents[depth])), module


def restore(source: Source) -> ModuleType:
    """Import a bot from its bundle, in a process that may not have its files, or has others."""
    if "." in source.module:
        try:
            if bundle_of(source.module).digest == source.digest:
                return importlib.import_module(source.module)
        except (BotLoadError, ImportError):
            pass
        return _import_apart(source)
    return _import_file(Path(unpacked(source)) / source.files[0][0], source)


@cache
def unpacked(source: Source) -> str:
    """A folder of this process with a source's files in it."""
    folder = tempfile.mkdtemp(prefix="ladder-bot-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, content in source.files:
        path = Path(folder, *PurePosixPath(name).parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def _import_apart(source: Source) -> ModuleType:
    """Import a module of a package beside another package of that name.

    What the bundle brings in is named anew in `sys.modules`; what was there before is put back.
    """
    alias = f"ladder_bot_{source.digest}"
    if f"{alias}.{source.module}" in sys.modules:
        return sys.modules[f"{alias}.{source.module}"]
    folder = unpacked(source)
    here = Path(folder)
    for part in source.module.split(".")[:-1]:  # packages of an earlier path would come first
        here = here / part
        (here / "__init__.py").touch()
    top = source.module.partition(".")[0]

    def of_package() -> dict[str, ModuleType]:
        return {n: m for n, m in sys.modules.items() if n.partition(".")[0] == top}

    hidden = of_package()
    for name in hidden:
        del sys.modules[name]
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        with loading(source.module):
            module = importlib.import_module(source.module)
    finally:
        sys.path.remove(folder)
        brought = of_package()
        for name in brought:
            del sys.modules[name]
        sys.modules.update(hidden)
    for name, each in brought.items():
        _rename(each, name, f"{alias}.{name}")
        sys.modules[f"{alias}.{name}"] = each
    return module


def _rename(module: ModuleType, old: str, new: str) -> None:
    """Let a module and what it defines say that its name is `new`."""
    module.__name__ = new
    todo = list(vars(module).values())
    while todo:
        value = todo.pop()
        value = getattr(value, "__func__", value) if isinstance(value, staticmethod) else value
        if isinstance(value, type | FunctionType) and value.__module__ == old:
            value.__module__ = new
            if isinstance(value, type):
                todo += vars(value).values()


class loading:
    """Turns whatever importing a bot raises into one readable line, and keeps stdout clean."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._quiet = redirect_stdout(sys.stderr)

    def __enter__(self) -> None:
        self._quiet.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._quiet.__exit__(None, None, None)
        if error is None or isinstance(error, (KeyboardInterrupt, BotLoadError)):
            return
        raise BotLoadError(f"{self._name}: {why(error)}") from error


def _import_file(path: Path, source: Source) -> ModuleType:
    """Import a file under a name of its own, its folder searched for the modules beside it."""
    name = f"ladder_bot_{source.digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BotLoadError(f"{path}: not a Python file (its name should end in .py)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.parent)
    sys.path.insert(0, folder)
    before = set(sys.modules)
    try:
        with loading(str(path)):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(folder)
        # Another bot may have another module of the same name beside it.
        for other in set(sys.modules) - before:
            file = getattr(sys.modules[other], "__file__", None)
            if file and Path(file).parent == path.parent:
                del sys.modules[other]
    return module


def _bundle(path: Path, root: Path) -> tuple[tuple[str, bytes], ...]:
    """The file and the local modules it imports, directly or not."""
    files = {path: _read(path)}
    todo = [path]
    while todo:
        current = todo.pop()
        for found in _local_imports(files[current], current, root):
            if found not in files:
                files[found] = _read(found)
                todo.append(found)
    rest = sorted((p.relative_to(root).as_posix(), c) for p, c in files.items() if p != path)
    return ((path.relative_to(root).as_posix(), files[path]), *rest)


def _read(path: Path) -> bytes:
    try:
        content = content_of(path)
        content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BotLoadError(f"{path}: cannot be read as UTF-8 Python source: {error}") from error
    return content


def _local_imports(content: bytes, path: Path, root: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        raise BotLoadError(f"{path}: {why(error)}") from error
    except (RecursionError, MemoryError):  # of the parser: an expression of ten thousand parts
        raise BotLoadError(f"{path}: is nested too deeply to be read") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _module_files(alias.name, root)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = path.parent.relative_to(root).parts
                kept = package[: len(package) - node.level + 1]
                base = ".".join((*kept, *([base] if base else [])))
            for name in ("", *(alias.name for alias in node.names)):
                yield from _module_files(".".join(part for part in (base, name) if part), root)


def _module_files(name: str, root: Path) -> Iterator[Path]:
    """The files under `root` that importing `name` runs: packages on the way, then the module."""
    if name.partition(".")[0] in ("", "ladder"):
        return
    folder = root
    for part in name.split("."):
        module, package = folder / f"{part}.py", folder / part / "__init__.py"
        if package.is_file():
            yield package
        elif module.is_file():
            yield module
        folder = folder / part
