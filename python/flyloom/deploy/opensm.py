"""OpenSM on a simulated fabric: started, waited for, swept again, and stopped in order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

from flyloom.support import ending, process
from flyloom.support.errors import DeployError

from . import plugin, tools
from .ibsim import Ibsim

_FAILED = re.compile(r"No routing engine able to|Failed to setup routing engine '(?!no_fallback')")
_ROUTED = re.compile(r"(\S+) tables configured on all switches(?=.*SUBNET UP)", re.DOTALL)
_SWEPT = re.compile(rf"SUBNET UP|Errors during initialization|{_FAILED.pattern}")
_UNHEARD = re.compile(r"^.*completed (?:with|in) error \(IB_TIMEOUT\).*$", re.MULTILINE)
_ERR_LINE = re.compile(r"\bERR [0-9A-Z]{4}:|routing engine '(?!no_fallback')|No routing engine")
_TICKS = os.sysconf("SC_CLK_TCK")


def guid2lid_text(first_lid_of: Mapping[int, int], lmc_of: Mapping[int, int] | int = 0) -> str:
    """OpenSM's guid2lid file that pins LIDs.

    ``first_lid_of`` maps a port GUID (an endpoint's port; a switch's own GUID) to its first LID;
    ``lmc_of`` gives the LMC of each GUID, or one for all. DeployError when a first LID is not a
    multiple of 2^LMC, is outside 1..49151, or two ranges overlap.
    """
    lines = []
    owner: dict[int, int] = {}
    for guid, first in sorted(first_lid_of.items(), key=lambda item: item[1]):
        count = 1 << (lmc_of if isinstance(lmc_of, int) else lmc_of.get(guid, 0))
        last = first + count - 1
        if first % count or not 1 <= first <= last <= 0xBFFF:
            raise DeployError(
                f"LID {first} of 0x{guid:016x} must be a multiple of {count} in 1..49151"
            )
        for lid in range(first, last + 1):
            if owner.setdefault(lid, guid) != guid:
                raise DeployError(f"LID {lid} belongs to two ports, 0x{guid:016x} is one of them")
        lines.append(f"0x{guid:016x} 0x{first:04x} 0x{last:04x}\n\n")
    return "".join(lines)


class OpenSM:
    """A running OpenSM on an Ibsim. Use as a context manager inside the Ibsim's block.

    Entering returns when the first sweep is complete and the wanted engine has routed it;
    otherwise DeployError with OpenSM's ERR lines. There is never a fallback engine.

    ``engine``: one of OpenSM's own, or "flyloom" with ``tables``, the path of a "flyloom-tables
    1" file (runtime/opensm/tables.h), read anew at each routing. ``lmc``: 0..7. ``guid2lid``:
    text of that file (guid2lid_text()). ``root_guids``: switch GUIDs for updn, dnup, ftree.
    ``max_op_vls``: OpenSM's code, 1..5 for 1, 2, 4, 8, 15 data lanes. ``qos``: program SL2VL
    tables; "flyloom" always does. ``dumps``: write files of the fabric and its tables after each
    sweep, which takes longer than the sweep where there are many. ``extra_conf``: lines of
    OpenSM's configuration file, which win over all others. ``timeout_s`` is how long the first
    sweep may go without an answer of the
    fabric; it may take ten times that.
    """

    def __init__(
        self,
        ibsim: Ibsim,
        engine: str = "flyloom",
        *,
        lmc: int = 0,
        tables: Path | str | None = None,
        guid2lid: str | None = None,
        root_guids: Iterable[int] | None = None,
        max_op_vls: int | None = None,
        qos: bool = False,
        dumps: bool = True,
        extra_conf: Mapping[str, str] | None = None,
        timeout_s: float = 120.0,
    ) -> None:
        if not 0 <= lmc <= 7:
            raise DeployError(f"LMC is {lmc}, must be 0..7")
        if max_op_vls is not None and not 1 <= max_op_vls <= 5:
            raise DeployError(
                f"max_op_vls is {max_op_vls}, must be a code 1..5 for 1, 2, 4, 8, 15 data lanes"
            )
        if (engine == plugin.ENGINE) != (tables is not None):
            raise DeployError("engine flyloom needs tables, and no other engine takes them")
        self.ibsim = ibsim
        self.engine = engine
        self.lmc = lmc
        self.tables = Path(tables).resolve() if tables is not None else None
        self.timeout_s = timeout_s
        self._guid2lid = guid2lid
        self._root_guids = sorted(root_guids) if root_guids is not None else None
        self._max_op_vls = max_op_vls
        self._qos = qos or engine == plugin.ENGINE
        self._dumps = dumps
        self._extra_conf = dict(extra_conf or {})
        self._child: subprocess.Popen[bytes] | None = None
        self._cpu_s = 0.0
        self.dir: Path
        """Folder of all files of this OpenSM, inside the Ibsim's work folder."""

    # ---- start and end ----

    def __enter__(self) -> OpenSM:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *why: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start OpenSM and wait for its first completed sweep."""
        program = tools.path("opensm")
        self.dir = self.ibsim.workdir / f"opensm-{uuid.uuid4().hex[:8]}"
        for folder in ("cache", "dumps"):
            (self.dir / folder).mkdir(parents=True)
        if self._guid2lid is not None:
            (self.dir / "cache" / "guid2lid").write_text(self._guid2lid)
        (self.dir / "opensm.conf").write_text(self._conf())
        self.log_path.touch()
        env = self.ibsim.env() | {
            "OSM_CACHE_DIR": f"{self.dir}/cache/",
            "OSM_TMP_DIR": f"{self.dir}/dumps/",
        }
        if self.engine == plugin.ENGINE:
            library_dir = str(plugin.path().parent)
            old = env.get("LD_LIBRARY_PATH")
            env["LD_LIBRARY_PATH"] = f"{library_dir}:{old}" if old else library_dir
        self.ibsim.attach(self)
        with open(self.dir / "opensm.out", "wb") as out, ending.undisturbed():
            self._child = process.spawn(
                [program, "-F", str(self.dir / "opensm.conf")],
                cwd=self.dir,
                env=env,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.wait_sweep(after=0, timeout_s=10 * self.timeout_s, silent_s=self.timeout_s)
        if self._max_op_vls is not None:
            # the first routing sees the lanes from before OpenSM lowers them: too many
            self.resweep(self.timeout_s)

    def stop(self) -> None:
        """Stop OpenSM: asked, and killed after 3 s. May be repeated."""
        with ending.undisturbed():
            child, self._child = self._child, None
            try:
                if child is not None:
                    self._cpu_s = _cpu_s_of(child.pid) or self._cpu_s
                    process.end(child, child.terminate, 3.0 if self._ibsim_works() else 0.0)
            finally:
                self.ibsim.detach(self)

    def check(self) -> None:
        """DeployError where OpenSM ended, was killed or is stopped."""
        if self._child is not None and (ended := process.trouble(self._child)):
            raise DeployError(self._ended(ended, 0))

    # ---- sweeps ----

    def mark(self) -> int:
        """This moment, for wait_sweep(after=...): the length of the log so far, in bytes."""
        return self.log_path.stat().st_size

    def wait_sweep(
        self, after: int, timeout_s: float = 60.0, silent_s: float | None = None
    ) -> None:
        """Return when a sweep has completed since the moment ``after`` and routed as wanted.

        DeployError with OpenSM's ERR lines when the engine fails, OpenSM ends, or time is up: all
        of it, or ``silent_s`` in which the fabric answered nothing.
        """
        limit = time.monotonic() + timeout_s
        heard, answered = time.monotonic(), -1
        while True:
            ended = process.trouble(self._running())
            text = self._log_since(after)
            routed = _ROUTED.findall(text)  # in this order: a running sweep may end first
            if routed:
                break
            self.ibsim.check_alone()  # OpenSM fails, or waits, where it does not answer
            self.ibsim.tell()
            if _FAILED.search(text):
                time.sleep(0.05)  # waits for the rest of its log
                raise DeployError(f"engine {self.engine} failed:\n{self.err_lines(after)}")
            if ended:
                raise DeployError(self._ended(ended, after))
            if answered != self.ibsim.answered:
                heard, answered = time.monotonic(), self.ibsim.answered
            silent = silent_s is not None and time.monotonic() - heard > silent_s
            if silent or time.monotonic() > limit:
                waited = silent_s if silent else timeout_s
                raise DeployError(
                    f"OpenSM completed no sweep in {waited:g} s:\n{self._last_words(after)}"
                )
            time.sleep(0.01)
        if routed[-1] != self.engine:
            raise DeployError(
                f"engine {self.engine} was wanted, {routed[-1]} routed:\n{self.err_lines(after)}"
            )

    def resweep(self, timeout_s: float = 60.0) -> None:
        """Have OpenSM sweep and route anew (SIGHUP), and wait until that is complete."""
        after = self.mark()
        self.look_again()
        self.wait_sweep(after, timeout_s)

    def look_again(self) -> None:
        """Have OpenSM sweep and route anew, without waiting for it."""
        self._running().send_signal(signal.SIGHUP)

    def wait_quiet(
        self, quiet_s: float = 0.5, timeout_s: float = 60.0, after: int | None = None
    ) -> None:
        """Return when the last sweep is complete and no other has begun for ``quiet_s``.

        Where a sweep is known to come, ``after`` is a moment before it: silence does not count
        until one has ended since. On a loaded machine OpenSM may be silent before it begins.
        DeployError with OpenSM's ERR lines when OpenSM ends or time is up.
        """
        limit = time.monotonic() + timeout_s
        length, since = -1, time.monotonic()
        while length < 0 or after is not None or time.monotonic() - since < quiet_s:
            self.ibsim.check()
            now = self.mark()
            if after is not None and now != length and _SWEPT.search(self._log_since(after)):
                after = None
            if now != length:
                length, since = now, time.monotonic()
            if time.monotonic() > limit:
                what = f"was not done in {timeout_s:g} s"
                raise DeployError(f"OpenSM {what}:\n{self._last_words(0)}")
            time.sleep(0.02)

    def logged(self, pattern: str, after: int = 0) -> bool:
        """Whether a line that matches the expression was logged since a moment."""
        return re.search(pattern, self._log_since(after)) is not None

    # ---- its log, process and dumps ----

    def unheard(self) -> str | None:
        """The first line of the log that says that a device did not answer; None where all did."""
        found = _UNHEARD.search(self._log_since(0))
        return found.group(0) if found else None

    @property
    def cpu_s(self) -> float:
        """User and system CPU time of OpenSM so far (or until its stop), in seconds."""
        if self._child is not None:
            self._cpu_s = _cpu_s_of(self._child.pid) or self._cpu_s
        return self._cpu_s

    @property
    def pid(self) -> int:
        """Process id of OpenSM; DeployError when it does not run."""
        return self._running().pid

    @property
    def log_path(self) -> Path:
        """OpenSM's log."""
        return self.dir / "opensm.log"

    @property
    def dumps(self) -> Path:
        """Folder of the files that OpenSM dumps at the end of each sweep."""
        return self.dir / "dumps"

    def dump(self, name: str) -> str:
        """Text of one dump: opensm-subnet.lst, opensm-lfts.dump, opensm.fdbs, opensm-sl2vl.dump
        ... DeployError when OpenSM has not written it."""
        try:
            return (self.dumps / name).read_text()
        except FileNotFoundError:
            have = ", ".join(sorted(entry.name for entry in self.dumps.iterdir()))
            raise DeployError(f"OpenSM wrote no {name}, it wrote: {have}") from None

    @property
    def subnet_lst(self) -> str:
        """Dump of the cables: one line a port."""
        return self.dump("opensm-subnet.lst")

    @property
    def lfts(self) -> str:
        """Dump of the LFTs, in the format of the file engine."""
        return self.dump("opensm-lfts.dump")

    @property
    def fdbs(self) -> str:
        """Dump of the LFTs, in the format of ibdmchk."""
        return self.dump("opensm.fdbs")

    @property
    def sl2vl_dump(self) -> str:
        """Dump of the switches' SL2VL tables; only with ``qos`` or an engine that sets them."""
        return self.dump("opensm-sl2vl.dump")

    def err_lines(self, after: int = 0) -> str:
        """OpenSM's ERR lines since a moment, the last 20 of them."""
        lines = [line for line in self._log_since(after).splitlines() if _ERR_LINE.search(line)]
        return "\n".join(lines[-20:]) or "(no ERR line in the log)"

    # ---- configuration and the end of the process ----

    def _conf(self) -> str:
        conf = {
            "log_file": self.log_path,
            "log_flags": "0x43" if self._dumps else "0x03",  # errors, information, routing: dumps
            "force_log_flush": "TRUE",
            "accum_log_file": "TRUE",
            "dump_files_dir": f"{self.dir}/dumps",
            "routing_engine": f"{self.engine},no_fallback",
            "lmc": self.lmc,
            "sweep_interval": 0,
            "transaction_timeout": 5000,
            "qos": "TRUE" if self._qos else "FALSE",
            "partition_config_file": self.dir / "partitions.conf",
            "prefix_routes_file": self.dir / "prefix-routes.conf",
            "qos_policy_file": self.dir / "qos-policy.conf",
        }
        if self._max_op_vls is not None:
            conf["max_op_vls"] = self._max_op_vls
        if self._root_guids is not None:
            roots = self.dir / "roots"
            roots.write_text("".join(f"0x{guid:016x}\n" for guid in self._root_guids))
            conf["root_guid_file"] = roots
        if self.tables is not None:
            conf["event_plugin_name"] = plugin.EVENT_PLUGIN
            conf["event_plugin_options"] = self.tables
        conf.update(self._extra_conf)
        return "".join(f"{key} {value}\n" for key, value in conf.items())

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            raise DeployError("OpenSM does not run: use it inside its with block")
        return self._child

    def _log_since(self, after: int) -> str:
        with open(self.log_path, "rb") as log:
            log.seek(after)
            return log.read().decode(errors="replace")

    def _ibsim_works(self) -> bool:
        """Whether ibsim still answers: without it OpenSM waits for answers and cannot end."""
        try:
            self.ibsim.check_alone()
        except DeployError:
            return False
        return True

    def _ended(self, how: str, after: int) -> str:
        """``how`` OpenSM came to its end: with its last words where the end was its own doing."""
        if "stopped" in how:
            return f"OpenSM {how}"
        words = f"\n{self._last_words(after)}" if "ended" in how else ""
        return f"OpenSM ended by itself: it {how}{words}"

    def _last_words(self, after: int) -> str:
        said = (self.dir / "opensm.out").read_text(errors="replace").strip()[-1000:]
        return f"{self.err_lines(after)}\n{said}".strip()


def _cpu_s_of(pid: int) -> float:
    """CPU seconds of a process by /proc; 0.0 when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    fields = stat.rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
