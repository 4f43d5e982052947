"""Parts that are known: what each is, and where it came from.

A part is known from when its decorator ran: in a script, in a file of ``--plugin``, in a package.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError, kinds, parts

KINDS = (
    "topology", "engine", "measure", "pattern", "placement", "method", "export", "application",
)
"""Of parts that can be written in Python."""

OF_USERS = {"traffic": "pattern", "workload": "application", "collective": "application",
            "opensm-engine": "engine"}
"""Kinds that users' parts call otherwise than the core."""

NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, eq=False)
class PluginPart:
    """A part that is written in Python: a user's, or ours."""

    kind: str
    """One of ``KINDS``."""
    name: str
    function: Callable[..., Any]
    file: str
    """Where it is written; a name in angle brackets where that is no file; empty: in flyloom."""
    line: int
    module: str
    digest: str
    """Of the source it stands on: its package, or its file; empty for what flyloom brings."""
    version: str
    """Name and version of the distribution it came with; empty for a file."""
    row: dict[str, Any] = field(repr=False)
    """As ``registry()`` of the core has the built-in ones."""
    more: dict[str, Any] = field(default_factory=dict, repr=False)
    """What only its kind has."""

    def __reduce__(self) -> tuple[Any, ...]:
        """For workers of Dask: what is installed there is loaded there, all else travels."""
        if self.version:
            return _installed, (self.module, self.kind, self.name, self.digest)
        import cloudpickle

        module = sys.modules.get(self.module)
        travels = module is not None and self.module != "__main__"
        if travels:
            cloudpickle.register_pickle_by_value(module)
        try:
            packed = cloudpickle.dumps(self.function)
        finally:
            if travels:
                cloudpickle.unregister_pickle_by_value(module)
        return _unpacked, (packed, self.kind, self.name, self.file, self.line, self.module,
                           self.digest, self.row, self.more)


def _unpacked(
    packed: bytes, kind: str, name: str, file: str, line: int, module: str, digest: str,
    row: dict[str, Any], more: dict[str, Any],
) -> PluginPart:
    import cloudpickle

    function = cloudpickle.loads(packed)
    return PluginPart(kind, name, function, file, line, module, digest, "", row, more)


def _installed(module: str, kind: str, name: str, digest: str) -> PluginPart:
    """The part of an installed module, the same one as where it came from."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise RefusalError(f"{name}: {module} is not installed here: {error}") from None
    part = KNOWN.get((kind, name))
    if part is None or part.digest != digest:
        raise RefusalError(f"{name}: another version of {module} is installed here")
    return part


KNOWN: dict[tuple[str, str], PluginPart] = {}
"""By kind and name, in the order in which they became known."""

_loading: list[tuple[str, str]] = []
"""The distribution and the text of what is being loaded, where these are known."""


@contextlib.contextmanager
def loading(version: str = "", text: str = "") -> Iterator[None]:
    """While it lasts, parts become known as those of a distribution, or of a file's text."""
    _loading.append((version, text))
    try:
        yield
    finally:
        _loading.pop()


@functools.cache
def built_in(kind: str) -> frozenset[str]:
    """The names of everything of a kind that is built in."""
    words = [word for word, one, _ in kinds() if OF_USERS.get(one, one) == kind]
    return frozenset(row["name"] for word in words for row in parts(word))


def add(
    kind: str, function: Callable[..., Any], row: dict[str, Any], more: dict[str, Any],
) -> None:
    """Makes a part known; RefusalError where its name cannot be, or is another's."""
    name = function.__name__
    if not NAME.fullmatch(name):
        raise RefusalError(f"{name}: no name of a part; small letters, digits and _")
    if name in built_in(kind):
        raise RefusalError(f"{name}: there is a built-in {kind} of that name; another name")
    plain = inspect.unwrap(function)
    file, line = plain.__code__.co_filename, plain.__code__.co_firstlineno
    version, text = _loading[-1] if _loading else ("", "")
    other = KNOWN.get((kind, name))
    if other and file != other.file and plain.__module__ != other.module:
        raise RefusalError(
            f"{name}: two plug-ins are called so: {other.file}, line {other.line}, and {file},"
            f" line {line}; another name for one of them"
        )
    ours = plain.__module__.partition(".")[0] == "flyloom"
    digest = "" if ours else _digest(plain, version, text)
    row = {"kind": kind, "name": name, **row, **({} if ours else {"plugin": version or file})}
    where = "" if ours else file
    KNOWN[kind, name] = PluginPart(
        kind, name, function, where, line, plain.__module__, digest, version, row, more
    )


def _digest(function: Callable[..., Any], version: str, text: str) -> str:
    """The digest of the package that a function stands in; of its file, or what there is of it."""
    from hashlib import sha256  # takes as long to load as all else here

    found = sha256(version.encode())
    module = function.__module__.partition(".")[0]
    folders = getattr(sys.modules.get(module), "__path__", ())
    for path in [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]:
        found.update(f"{path.name}\n".encode() + path.read_bytes())
    if folders:
        return found.hexdigest()[:32]
    if not text:
        try:
            text = Path(function.__code__.co_filename).read_text("utf-8", "replace")
        except OSError:  # a notebook, or nothing that was kept
            with contextlib.suppress(OSError, TypeError):
                text = inspect.getsource(function)
    if not text:
        text = repr((function.__code__.co_code, function.__code__.co_consts))
    found.update(text.encode())
    return found.hexdigest()[:32]


class PluginCodeError(RefusalError):
    """A refusal that says where in a user's code it arose."""


@contextlib.contextmanager
def located(name: str, file: str) -> Iterator[None]:
    """What a user's code raises is a refusal in one line: ``name``, its place in ``file``, why.

    Code of ours, which has no ``file``, refuses by ``name`` alone.
    """
    try:
        yield
    except (MemoryError, PluginCodeError):
        raise
    except RefusalError as error:
        where = f"{_place(error, file)}: " if file else ""
        raise PluginCodeError(f"{name}: {where}{_why(error)}") from error
    except (Exception, SystemExit) as error:
        raise PluginCodeError(f"{name}: {_place(error, file)}: {_why(error)}") from error


@contextlib.contextmanager
def decorating(kind: str, function: Callable[..., Any]) -> Iterator[None]:
    """What cannot be of a function is a refusal that names the function and its place."""
    plain = inspect.unwrap(function)
    if not inspect.isfunction(plain):
        raise RefusalError(f"@flyloom.{kind}: {plain!r} is no function")
    code = plain.__code__
    try:
        yield
    except RefusalError as error:
        place = f"{code.co_filename}, line {code.co_firstlineno}"
        raise PluginCodeError(f"@flyloom.{kind} {function.__name__}: {place}: {error}") from None


def _place(error: BaseException, file: str) -> str:
    """Where an error arose, in ``file`` where it passed there."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"{file}, line {error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if not frame.filename.startswith("<frozen ")]
    frames = [frame for frame in frames if frame.filename == file] or frames
    return f"{frames[-1].filename}, line {frames[-1].lineno}"


def _why(error: BaseException) -> str:
    """An error in one line; what it is called, but for a refusal."""
    text = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    if isinstance(error, RefusalError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
