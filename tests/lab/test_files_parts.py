"""Parts of files that are being written: whose they are, and who may remove them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_helpers import environment
from flyloom.support import files

DAY_S = 24 * 3600


def planted(folder: Path, name: str, age_s: float = 0) -> Path:
    part = folder / name
    part.write_text("half")
    os.utime(part, (time.time() - age_s,) * 2)
    return part


def dead() -> int:
    """The number of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def test_parts_of_a_dead_writer_here_go_at_once_and_of_others_after_a_day(tmp_path):
    number = dead()
    ours = files._part_name().replace(f".{os.getpid()}.", f".{number}.")
    elsewhere = f".flyloom-0123456789abcdef-{'0' * 16}.{number}.part"
    living = files._part_name()
    kept = [planted(tmp_path, elsewhere), planted(tmp_path, living, 2 * DAY_S),
            planted(tmp_path, f".flyloom-0.{number}.part"),
            planted(tmp_path, elsewhere.replace("0123", "3210"), DAY_S - 600)]
    gone = [planted(tmp_path, ours), planted(tmp_path, elsewhere.replace("0123", "abcd"),
                                             DAY_S + 600)]
    files.remove_leftovers(tmp_path)
    assert all(part.exists() for part in kept)
    assert not any(part.exists() for part in gone)


def test_a_file_or_link_under_the_name_of_a_part_is_not_written_into(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(files, "_part_name", lambda: ".planted.1.part")
    for plant in (lambda at: at.symlink_to("victim"), lambda at: os.link(victim, at)):
        plant(tmp_path / ".planted.1.part")
        for write in (files.write_soon, files.write_whole):
            with pytest.raises(Exception, match="cannot be written"):
                write(tmp_path / "file", "attack")
            (tmp_path / ".planted.1.part").unlink(missing_ok=True)
            plant(tmp_path / ".planted.1.part")
        (tmp_path / ".planted.1.part").unlink()
        assert victim.read_text() == "precious" and not (tmp_path / "file").exists()


def test_names_of_parts_differ_and_hold_no_counter(tmp_path):
    names = {files._part_name() for _ in range(100)}
    words = {name.split("-")[1] for name in names}
    assert len(words) == 100 and all(len(word) == 16 for word in words)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root, unshare")
def test_a_writer_in_another_pid_namespace_keeps_its_part(tmp_path):
    """Its number is that of no process here."""
    code = """
import sys
from pathlib import Path
from flyloom.support import files
write = files._write
def slow(part, content):
    write(part, content); print("wrote", flush=True); sys.stdin.readline()
files._write = slow
files.write_soon(Path("a.json"), "whole")
"""
    number = dead()
    shell = f'echo {number - 1} > /proc/sys/kernel/ns_last_pid; "$0" -c "$1"; exit $?'
    child = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--mount-proc", "bash", "-c", shell, sys.executable, code],
        cwd=tmp_path, env=environment(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    if child.stdout.readline() != "wrote\n":
        pytest.skip(f"no PID namespace: {child.communicate()[1]}")
    files.remove_leftovers(tmp_path)
    _, printed = child.communicate("\n", timeout=60)
    assert child.returncode == 0, printed
    assert (tmp_path / "a.json").read_text() == "whole"
