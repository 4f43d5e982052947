"""Files that are written whole or not at all, alone or a folder of them as one.

Everything is written beside its place first and synced to the disk; then it takes its places. What
fails meanwhile is put back as it was. A folder has a record of the digests of its files, which is
withdrawn before the first file takes its place and comes back last: who reads the folder sees
whether all of it is of one writing, also after a kill or a power cut.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import itertools
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from flyloom._core import RefusalError
from flyloom.support import ending

RECORD = "SHA256SUMS"
"""The record of a folder: what sha256sum writes and `sha256sum --check` reads."""
UNFINISHED = "# flyloom is writing this folder, or was stopped while it did: write it anew\n"
"""The record while the files take their places."""
PARTS = ".*.part"
"""The names of what is being written."""

Content = str | bytes
Step = tuple[Path, Content | None]
"""A file and what is to be in it; None removes it."""

_REFUSED = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST,
    errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL,
}
"""Errors of the place that the user named; all others are those of the machine."""
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EACCES}
"""Errors of file systems that do not sync folders, and of folders that are not readable."""
_NO_LINK = {errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EXDEV}
_OLD_S = 24 * 3600
"""The age from which a part is removed if its writer is elsewhere and cannot be looked for."""


def write_whole(path: Path, content: Content) -> None:
    """Writes a file so that it is there whole or not at all, also after a power cut.

    Raises RefusalError for a place that cannot be written, OSError when the machine fails (a full
    disk); what was there before is still there then.
    """
    replace([(Path(path), content)])


def write_folder(
    folder: Path, files: Mapping[str, Content], *, stale: Sequence[str] = (),
    say: Callable[[str, int, int], None] | None = None,
) -> None:
    """Writes files, by their names in ``folder``, and their record; as one, else as `write_whole`.

    ``stale`` names files of an earlier writing that are to go. Other files stay, and in the record
    what it says of them: routes and a plan may be in one folder. ``say`` is called with ("files",
    done, total).
    """
    whole = {name: as_bytes(content) for name, content in files.items()}
    digests = _of_others(folder, {*whole, *stale}) | {name: sha256(whole[name]) for name in whole}
    record = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    replace([
        (folder / RECORD, UNFINISHED),
        *((folder / name, content) for name, content in whole.items()),
        *((folder / name, None) for name in stale),
        (folder / RECORD, record),
    ], folder, say)
    remove_leftovers(folder, itertools.chain(folder.glob(PARTS), folder.glob(f"*/{PARTS}")))


def replace(
    steps: Sequence[Step], folder: Path | None = None,
    say: Callable[[str, int, int], None] | None = None,
) -> None:
    """Takes all steps, in their order, or none. ``folder``, which they are in, and those below it
    are made where they are missing.

    The first and the last of several steps are synced apart from those between: a record that is
    withdrawn and comes back. Raises as `write_whole`.
    """
    with ending.undisturbed():
        _FileReplacement(steps, folder).run(say or (lambda _what, _done, _total: None))


def write_soon(path: Path, content: Content) -> None:
    """Writes one of many files: whole or not at all, and on the disk, but for its name, which a
    power cut can take until `sync_folder`. Raises as `write_whole`."""
    part = path.with_name(_part_name())
    with ending.undisturbed():
        try:
            _write(part, as_bytes(content))
            os.replace(part, path)
        except FileNotFoundError:
            replace([(path, content)], path.parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            raise fault(path.parent, path, error) from None


def sync_folder(folder: Path) -> None:
    """Has the names in a folder on the disk; OSError where the machine fails in that."""
    try:
        _sync_folder(folder)
    except FileNotFoundError:
        return  # nothing was written
    except OSError as error:
        raise fault(folder, folder, error) from None


class _FileReplacement:
    """Running steps: what is to be put back or removed when they cannot be finished."""

    def __init__(self, steps: Sequence[Step], folder: Path | None) -> None:
        self.steps = steps
        self.folder = folder
        self.at = steps[0][0]
        self.parts: list[Path] = []
        self.saved: dict[Path, Path | None] = {}
        self.made: list[Path] = []
        self.changed: list[Path] = []

    def run(self, say: Callable[[str, int, int], None]) -> None:
        done = False
        try:
            self._prepare(say)
            self._take_places()
            done = True
        except OSError as error:
            raise fault(self.folder or self.at, self.at, error) from None
        except ValueError as error:  # a name with a zero byte
            raise RefusalError(f"{self.at}: cannot be written: {error}") from None
        finally:
            if not done:
                self._put_back()
            for part in self.parts:
                with contextlib.suppress(OSError):
                    part.unlink(missing_ok=True)
            for folder in [] if done else reversed(self.made):
                with contextlib.suppress(OSError):
                    folder.rmdir()

    def _prepare(self, say: Callable[[str, int, int], None]) -> None:
        """Writes every file beside its place, synced to the disk, and gives what is in the places a
        second name."""
        self.fresh: list[Path | None] = []
        for i, (path, content) in enumerate(self.steps):
            ending.check()
            say("files", i, len(self.steps))
            if self.folder:
                self._make_folder(path.parent)
            self.at = path
            _check_kind(path)
            if content is None:
                self.fresh.append(None)
            else:
                part = self._part(path.parent)
                self.fresh.append(part)
                _write(part, as_bytes(content))
            if path not in self.saved:
                self.saved[path] = self._save(path)
        ending.check()

    def _part(self, folder: Path) -> Path:
        part = folder / _part_name()
        self.parts.append(part)
        return part

    def _make_folder(self, folder: Path) -> None:
        self.at = folder
        missing = [folder, *folder.parents]
        missing = list(itertools.takewhile(lambda place: not place.is_dir(), missing))
        for place in reversed(missing):
            try:
                place.mkdir()
            except FileExistsError:
                if not place.is_dir():
                    raise
                continue  # another process has made it
            self.made.append(place)
            _sync_folder(place.parent)

    def _save(self, path: Path) -> Path | None:
        """Gives what is in a place a second name; None where there is nothing."""
        if not os.path.lexists(path):
            return None
        second = self._part(path.parent)
        try:
            os.link(path, second, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINK:
                raise
            if path.is_symlink():
                os.symlink(os.readlink(path), second)
            else:
                _write(second, path.read_bytes())
                shutil.copystat(path, second)
        return second

    def _take_places(self) -> None:
        last = len(self.steps) - 1
        for i, ((path, _), part) in enumerate(zip(self.steps, self.fresh, strict=True)):
            self.at = path
            if i == last and last:
                self._sync()
            self.changed.append(path)
            if part:
                os.replace(part, path)
            else:
                path.unlink(missing_ok=True)
            if i in (0, last):
                self._sync()

    def _sync(self) -> None:
        for folder in dict.fromkeys(path.parent for path in self.changed):
            _sync_folder(folder)

    def _put_back(self) -> None:
        for path in dict.fromkeys(self.changed):
            with contextlib.suppress(OSError):
                if saved := self.saved[path]:
                    os.replace(saved, path)
                else:
                    path.unlink(missing_ok=True)


def _part_name() -> str:
    """A name that nobody can foresee; a process on the same machine can find the writer by its
    end."""
    return f".flyloom-{secrets.token_hex(8)}-{_place()}.{os.getpid()}.part"


@functools.cache
def _place() -> str:
    """A name for this host since its start and the PID namespace: within it a number stands for the
    same process. In another namespace, or on another host of a shared file system, it is another
    process's."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        found = [os.uname().nodename, boot, os.readlink("/proc/self/ns/pid")]
    except OSError:
        return f"unknown{secrets.token_hex(4)}"  # by this name no process is looked for
    return sha256("\n".join(found).encode())[:16]


def _write(path: Path, content: bytes) -> None:
    """Writes a new file: never over one that is there, nor through a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(path, "wb", opener=lambda name, _: os.open(name, flags, 0o666)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Has the names in a folder written to the disk, where the file system can."""
    try:
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        if error.errno in _NO_SYNC:
            return
        raise
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(number)


def fault(named: Path, path: Path, error: OSError) -> Exception:
    """The exception when ``path`` cannot be written: a refusal where it is the place that was
    ``named``, else the error of the machine with the name of the file."""
    why = error.strerror or str(error)
    if error.errno in _REFUSED:
        which = "" if path == named else f"{path}: "
        return RefusalError(f"{named}: cannot be written: {which}{why}")
    return OSError(error.errno, f"cannot be written: {why}", str(path))


def _check_kind(path: Path) -> None:
    """OSError where something else than a file is in its place."""
    if path.exists() and not path.is_file():
        kind = errno.EISDIR if path.is_dir() else errno.EEXIST
        raise OSError(kind, os.strerror(kind) if path.is_dir() else "is no regular file")


def check_file(path: Path) -> None:
    """Refuses what cannot be a file to write, before the work, in the words of `write_whole`; makes
    nothing."""
    try:
        _check_kind(path)
        if not stat.S_ISDIR(os.stat(path.parent).st_mode):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise fault(path, path, error) from None


def check_folder(folder: Path) -> None:
    """Refuses what cannot be a folder to write, before the work; makes nothing."""
    there = next((place for place in (folder, *folder.parents) if os.path.lexists(place)), None)
    if there and not os.path.isdir(there):
        raise RefusalError(f"{folder}: cannot be written: {there} is no folder; name another")
    if there and not os.access(there, os.W_OK):
        raise RefusalError(f"{folder}: cannot be written: Permission denied; name another folder")


@contextlib.contextmanager
def scratch(folder: Path | None = None) -> Iterator[Path]:
    """A temporary folder that is gone after the block, also when a signal ends it."""
    place = None
    with ending.in_order():
        try:
            with ending.undisturbed():
                place = tempfile.mkdtemp(prefix="flyloom-", dir=folder)
                remove = functools.partial(shutil.rmtree, place, ignore_errors=True)
                ending.leftovers.append(remove)
            yield Path(place)
        finally:
            with ending.undisturbed():
                if place is not None:
                    remove()
                    ending.leftovers.remove(remove)


@contextlib.contextmanager
def of_one_writing(folder: Path, names: Sequence[str], others: bool = True) -> Iterator[None]:
    """A block that reads the files ``names`` of a folder: RefusalError where they are not what its
    record says, nor, with ``others``, all others of it. A folder without a record is taken as it
    is.

    The record is read before the block and compared after it, so that a folder that is written
    anew meanwhile is not taken for one writing.
    """
    place = folder / RECORD
    recorded = _read_record(place) if os.path.lexists(place) else None
    yield
    if recorded is None:
        return
    help_ = f"write the folder anew, or remove {RECORD} to have it taken as it is"
    if missing := [name for name in names if name not in recorded]:
        raise RefusalError(f"{place}: has no line for {missing[0]}; {help_}")
    for name, digest in recorded.items():
        if name not in names and not others:
            continue
        try:
            found = digest_of(folder / name)
        except OSError as error:
            raise RefusalError(f"{folder / name}: {error.strerror}; {help_}") from None
        if found != digest:
            raise RefusalError(f"{folder / name}: not what {RECORD} says: altered, or of another "
                               f"writing; {help_}")


def _read_record(path: Path) -> dict[str, str]:
    """The digest of each file that a record names."""
    from flyloom.support.reading import read_text

    text = read_text(path)
    if text == UNFINISHED:
        raise RefusalError(f"{path.parent}: its writing was not finished; write the folder anew")
    recorded = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = re.fullmatch(r"([0-9a-f]{64}) [ *]([^/\\].*)", line)
        if not found or ".." in Path(found[2]).parts:
            raise RefusalError(f"{path}: line {number}: not a digest and the name of a file in "
                               "this folder, as sha256sum writes them")
        recorded[found[2]] = found[1]
    return recorded


def _of_others(folder: Path, ours: set[str]) -> dict[str, str]:
    """What the record of a folder says of files that are there and not ``ours``; nothing where
    there is no whole one."""
    if not os.path.lexists(folder / RECORD):
        return {}
    try:
        recorded = _read_record(folder / RECORD)
    except RefusalError:
        return {}
    return {
        name: digest for name, digest in recorded.items()
        if name not in ours and (folder / name).is_file()
    }


def digest_of(path: Path) -> str:
    """The SHA-256 of a file; OSError where it is none, or cannot be read."""
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "is no regular file")
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open_at_once(path: str, flags: int) -> int:
    """Opens without waiting for whoever writes a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def sha256(content: bytes) -> str:
    """The SHA-256 of bytes, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def as_bytes(content: Content) -> bytes:
    """The content of a file as bytes."""
    return content.encode() if isinstance(content, str) else content


def remove_leftovers(folder: Path, parts: Iterator[Path] | None = None) -> None:
    """Removes what processes that were killed had begun to write, in all of ``folder`` or in
    ``parts``. Files of another host or PID namespace, whose writer may live, are removed when they
    are a day old."""
    for part in folder.rglob(PARTS) if parts is None else parts:
        with contextlib.suppress(OSError, ValueError, IndexError):
            writer = int(part.name.split(".")[-2])
            here = part.name.split(".")[-3].endswith(f"-{_place()}")
            if _is_gone(writer) if here else time.time() - part.lstat().st_mtime > _OLD_S:
                part.unlink(missing_ok=True)


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False
