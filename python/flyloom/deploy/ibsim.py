"""A simulated InfiniBand fabric: one ibsim process, its console, and the programs run on it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Protocol

from flyloom.support import ending, process
from flyloom.support.errors import DeployError

from . import tools

if TYPE_CHECKING:
    from flyloom.support.progress import Progress

_NODE = re.compile(r'^\s*(Switch|Hca|Ca|Rt)\s+(\d+)\s+"([^"]+)"', re.MULTILINE)
_REFUSED = re.compile(r"unknown - skipped|^# .*(can't|not found|bad |expected)", re.MULTILINE)
_PROMPT = b"sim> "
_SOCKETS = Path("/proc/net/unix")
_NODE_ID_MAX = 31  # the longest id in ibsim's attach request
_LID_CAP = 49152  # LIDs 0..49151: all unicast ones, and the most that ibsim's LFTs take


@dataclass(frozen=True)
class IbsimCapacities:
    """The capacities that ibsim must have."""

    nodes: int
    switches: int
    ports: int
    """Switch ports plus one each, plus endpoint ports."""
    first_endpoint: str | None
    """Node id of the first endpoint."""
    pairs: int
    """In-port and out-port of a switch, port 0 among both: SL2VL tables."""


def size_of(netlist_text: str) -> IbsimCapacities:
    """Count the nodes and ports of an ibsim netlist; DeployError when it has no node."""
    nodes = switches = ports = pairs = 0
    first = None
    for kind, count, node_id in _NODE.findall(netlist_text):
        nodes += 1
        ports += int(count) + (kind == "Switch")
        switches += kind == "Switch"
        pairs += (int(count) + 1) ** 2 if kind == "Switch" else 0
        if kind != "Switch" and first is None:
            first = node_id
    if not nodes:
        raise DeployError('the netlist has no node, needs lines like: Switch 36 "S-..."')
    return IbsimCapacities(nodes, switches, ports, first, pairs)


class IbsimDependentProgram(Protocol):
    """A program that depends on a running ibsim."""

    def check(self) -> None:
        """Raises DeployError if the program does not work any more."""

    def stop(self) -> None:
        """Ends the program."""


class Ibsim:
    """A running ibsim on a netlist. Use as a context manager: nothing survives the block.

    ``netlist_text`` is in ibsim's own format (that of ibnetdiscover). ``workdir`` is a folder for
    its files, made when absent and then kept; without it a temporary one that goes away.
    ``at`` is the node where OpenSM and the tools attach, the first endpoint where it is None.
    ``nodes``, ``switches``, ``ports`` raise ibsim's limits above the counts of the netlist.
    Several run side by side: sockets are abstract and named by chance. At most 10 programs at a
    time attach to one (OpenSM is one of them). Errors are DeployError.

    Inside the block SIGTERM ends this process in order (as sys.exit(143)), if nobody else
    handles it and the block is in the main thread; SIGKILL takes the children along.
    """

    def __init__(
        self,
        netlist_text: str,
        workdir: Path | str | None = None,
        *,
        at: str | None = None,
        nodes: int | None = None,
        switches: int | None = None,
        ports: int | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        self.size = size_of(netlist_text)
        self.limits = (
            max(nodes or 0, self.size.nodes + 16),
            max(switches or 0, self.size.switches + 16),
            max(ports or 0, self.size.ports + 256),
        )
        self.timeout_s = timeout_s
        self.at = at or self.size.first_endpoint
        """Node id of the endpoint where OpenSM and the tools attach."""
        self.name = f"flyloom-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self.workdir: Path
        """Folder of all files of this fabric."""
        self.progress: Progress | None = None
        """Gets the stages of :meth:`expect`, while a program on the fabric is waited for."""
        self._stage: tuple[str, int, int] | None = None
        self._netlist_text = netlist_text
        self._wanted_dir = Path(workdir) if workdir is not None else None
        self._child: subprocess.Popen[bytes] | None = None
        self._dependants: list[IbsimDependentProgram] = []  # OpenSMs, stopped before ibsim
        self._output = bytearray()
        self._news = threading.Condition()
        self._reader: threading.Thread | None = None
        self._old_sigterm: Callable[[int, FrameType | None], Any] | int | None = None
        self._block = ending.in_order()

    # ---- start and end ----

    def __enter__(self) -> Ibsim:
        self._catch_sigterm()
        self._block.__enter__()
        try:
            self.start()
        except BaseException as why:
            self.__exit__(type(why))
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *why: object) -> None:
        try:
            self.stop()
        finally:
            self._block.__exit__(kind, *why)

    def start(self) -> None:
        """Start ibsim and wait until it serves; DeployError with its words when it does not."""
        program = tools.path("ibsim")
        if not _SOCKETS.exists():
            raise DeployError(f"there is no {_SOCKETS}: ibsim's sockets are those of Linux")
        if self._wanted_dir is None:
            with ending.undisturbed():
                self.workdir = Path(tempfile.mkdtemp(prefix="flyloom-ibsim-"))
        else:
            self.workdir = self._wanted_dir.resolve()
            self.workdir.mkdir(parents=True, exist_ok=True)
        net = self.workdir / "fabric.net"
        net.write_text(self._netlist_text)
        n, s, p = (str(limit) for limit in self.limits)
        args = [program, "-s", "-N", n, "-S", s, "-P", p, "-L", str(_LID_CAP), str(net)]
        with open(self.workdir / "ibsim.err", "wb") as err, ending.undisturbed():
            self._child = process.spawn(
                args,
                cwd=self.workdir,
                env=dict(os.environ, IBSIM_SOCKNAME=self.name),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=err,
            )
        self._reader = threading.Thread(
            target=self._read_output, args=(self._child.stdout,), daemon=True
        )
        self._reader.start()
        process.wait_until(self._serves, self.timeout_s, "ibsim did not open its sockets")
        self._await_prompt(0, self.timeout_s)

    def stop(self) -> None:
        """Stop every OpenSM, then ibsim, then remove a temporary folder. May be repeated."""
        with ending.undisturbed():
            self._stop()

    def _stop(self) -> None:
        try:
            for opensm in list(self._dependants):
                opensm.stop()
        finally:
            child, self._child = self._child, None
            try:
                if child is not None:
                    process.end(child, lambda: self._write(child, "quit"), 2.0)
                    if self._reader is not None:
                        self._reader.join(2.0)
                    for pipe in (child.stdin, child.stdout):
                        _close(pipe)
            finally:
                if self._wanted_dir is None and hasattr(self, "workdir"):
                    shutil.rmtree(self.workdir, ignore_errors=True)
                self._restore_sigterm()

    @property
    def pid(self) -> int:
        """Process id of ibsim; DeployError when it does not run."""
        return self._running().pid

    def attach(self, dependant: IbsimDependentProgram) -> None:
        """Have ``dependant.check()`` called while we wait, and ``stop()`` before ibsim stops."""
        self._dependants.append(dependant)

    def detach(self, dependant: IbsimDependentProgram) -> None:
        """Undo attach()."""
        if dependant in self._dependants:
            self._dependants.remove(dependant)

    def check_alone(self) -> None:
        """DeployError where ibsim ended, was killed or is stopped."""
        self._running()

    def check(self) -> None:
        """DeployError that names what does not work any more: ibsim, or an OpenSM on it."""
        self._running()
        for dependant in self._dependants:
            dependant.check()
        self.tell()

    @property
    def answered(self) -> int:
        """Requests that the fabric has answered so far: ibsim writes once for each."""
        try:
            counts = Path(f"/proc/{self.pid}/io").read_text()
        except OSError:
            return 0
        return int(counts.partition("syscw: ")[2].split()[0])

    def expect(self, what: str, answers: int) -> None:
        """Begins a stage of about this number of answers, which ``progress`` gets."""
        self._stage = (what, self.answered, max(1, answers)) if self.progress else None

    def tell(self) -> None:
        """Tells ``progress`` how far the stage is."""
        if self._stage and self.progress:
            what, before, answers = self._stage
            self.progress(what, min(self.answered - before, answers), answers)

    # ---- use ----

    def env(self, node_id: str | None = None) -> dict[str, str]:
        """Environment in which a program sees the fabric, attached at a node of the netlist
        (default: ``at``). OpenSM's file places lie in the work folder."""
        node_id = node_id or self.at
        if node_id is None:
            raise DeployError("the netlist has no endpoint to attach at: add a Ca record")
        if len(node_id) > _NODE_ID_MAX:
            raise DeployError(f"node id {node_id!r} is longer than {_NODE_ID_MAX} characters")
        return dict(
            os.environ,
            IBSIM_SOCKNAME=self.name,
            SIM_HOST=node_id,
            LD_PRELOAD=tools.path("umad2sim library"),
        )

    def run(
        self,
        args: Sequence[str],
        *,
        node_id: str | None = None,
        stdin_text: str = "",
        timeout_s: float = 120.0,
        ok_codes: Sequence[int] | None = (0,),
    ) -> str:
        """Run one of the InfiniBand tools on the fabric and return its standard output."""
        self.check()
        program = tools.path(args[0]) if tools.check_one(args[0]) else args[0]
        with tempfile.TemporaryDirectory(prefix="client-", dir=self.workdir) as cwd:
            return process.run(
                [program, *args[1:]],
                cwd=Path(cwd),
                env=self.env(node_id),
                stdin_text=stdin_text,
                timeout_s=timeout_s,
                ok_codes=ok_codes,
                watch=self.check,
            )

    def console(self, command: str, timeout_s: float = 30.0) -> str:
        """Give ibsim's console a command (``unlink "S-.."[5]``) and return its answer.

        DeployError when ibsim calls the command an error.
        """
        if "\n" in command or not command.strip():
            raise DeployError("a console command is one line of text")
        with self._news:
            start = len(self._output)
        self._write(self._running(), command)
        answer = self._await_prompt(start, timeout_s)
        if _REFUSED.search(answer):
            raise DeployError(f"ibsim refused {command!r}: {answer.strip()}")
        return answer

    def unlink(self, node_id: str, port: int | None = None) -> str:
        """Pull the cable at a node's port, or all cables of the node."""
        return self.console(f'unlink "{node_id}"' + (f"[{port}]" if port is not None else ""))

    def relink(self, node_id: str, port: int | None = None) -> str:
        """Put back what unlink() pulled."""
        return self.console(f'relink "{node_id}"' + (f"[{port}]" if port is not None else ""))

    def link(self, node_a: str, port_a: int, node_b: str, port_b: int) -> str:
        """Put a cable between two free ports."""
        return self.console(f'link "{node_a}"[{port_a}] "{node_b}"[{port_b}]')

    # ---- the process and its answers ----

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            raise DeployError("ibsim does not run: use it inside its with block")
        if found := process.trouble(self._child):
            words = self._words()
            raise DeployError(f"ibsim {found}{': ' if words else ''}{words}")
        return self._child

    def _words(self) -> str:
        err = self.workdir / "ibsim.err"
        return err.read_text(errors="replace").strip()[-2000:] if err.exists() else ""

    def _serves(self) -> bool:
        self._running()
        return f"@{self.name}:out9" in _SOCKETS.read_text()

    def _write(self, child: subprocess.Popen[bytes], command: str) -> None:
        try:
            assert child.stdin is not None, "a pipe by start"
            child.stdin.write(command.encode() + b"\n")
            child.stdin.flush()
        except (OSError, ValueError) as why:
            raise DeployError(f"ibsim takes no command any more: {self._words()}") from why

    def _read_output(self, pipe: IO[bytes]) -> None:
        while True:
            try:
                chunk = os.read(pipe.fileno(), 65536)
            except (OSError, ValueError):
                chunk = b""
            with self._news:
                self._output += chunk
                self._news.notify_all()
            if not chunk:
                return

    def _await_prompt(self, start: int, timeout_s: float) -> str:
        limit = time.monotonic() + timeout_s
        with self._news:
            while not self._output[start:].endswith(_PROMPT):
                left = limit - time.monotonic()
                if left <= 0:
                    raise DeployError(f"ibsim's console did not answer within {timeout_s:g} s")
                if self._reader is None or not self._reader.is_alive():
                    break
                self._running()
                self._news.wait(min(left, process.LOOK_S))
            text = bytes(self._output[start:])
        if not text.endswith(_PROMPT):
            self._running()
            raise DeployError(f"ibsim's console ended: {self._words()}")
        return text[: -len(_PROMPT)].decode(errors="replace")

    def _catch_sigterm(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._old_sigterm = signal.signal(signal.SIGTERM, _exit_in_order)

    def _restore_sigterm(self) -> None:
        if self._old_sigterm is None or signal.getsignal(signal.SIGTERM) is not _exit_in_order:
            return
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._old_sigterm)
            self._old_sigterm = None


def _exit_in_order(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is None:
        return
    with contextlib.suppress(OSError):
        pipe.close()
