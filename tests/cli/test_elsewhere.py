"""Systems without what only Linux has: macOS, as far as it can be simulated here."""

from __future__ import annotations

import os
import pathlib
import sys

import flyloom as fl
import pytest
from flyloom.deploy import ibsim, opensm, tools
from flyloom.support import machine, process
from flyloom.support.errors import DeployError

LINUX_ONLY = ("sched_getaffinity", "waitid", "P_PID", "WEXITED", "WSTOPPED", "WNOWAIT")
EXPERIMENT = """\
schema = 1
name = "small"
[topology]
family = "slim_fly"
q = 3
p = 1
[routing]
engine = "dfsssp"
[ebb]
samples = 10
[sweep.grid]
"routing.engine" = ["dfsssp", "sssp"]
"""


@pytest.fixture
def elsewhere(monkeypatch):
    """No /proc, no prctl, and none of the functions that the os module has on Linux only."""
    for name in LINUX_ONLY:
        monkeypatch.delattr(os, name)
    monkeypatch.setattr(process, "_libc", object())
    whole = pathlib.Path.read_text

    def read_text(path, *words, **more):
        if str(path).startswith(("/proc/", "/sys/")):
            raise FileNotFoundError(str(path))
        return whole(path, *words, **more)

    monkeypatch.setattr(pathlib.Path, "read_text", read_text)
    monkeypatch.setattr(ibsim, "_SOCKETS", pathlib.Path("/nowhere/unix"))


@pytest.mark.usefixtures("elsewhere")
def test_what_the_machine_has_is_asked_by_other_means(monkeypatch):
    monkeypatch.delenv("RAYON_NUM_THREADS", raising=False)
    assert machine.processors() == os.cpu_count()
    assert machine.free()[0] > 0 and machine.threads() >= 0
    assert opensm._cpu_s_of(os.getpid()) == 0.0


@pytest.mark.usefixtures("elsewhere")
def test_children_are_run_and_their_ends_are_reported(tmp_path):
    def python(code, **more):
        return process.run([sys.executable, "-c", code], cwd=tmp_path, **more)

    assert python("print(input())", stdin_text="heard") == "heard\n"
    with pytest.raises(DeployError, match="failed with code 3: no"):
        python("import sys; sys.exit(print('no', file=sys.stderr) or 3)")
    with pytest.raises(DeployError, match="was killed by SIGKILL"):
        python("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(DeployError, match="did not end within 0.2 s"):
        python("import time; time.sleep(60)", timeout_s=0.2)
    child = process.spawn([sys.executable, "-c", "input()"], cwd=tmp_path)
    try:
        child.wait(20)
        assert process.trouble(child) == "ended with code 1"  # nothing to read
    finally:
        process.kill(child)


@pytest.mark.usefixtures("elsewhere")
def test_an_experiment_runs_in_two_processes(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(EXPERIMENT)
    assert fl.run(file, out=tmp_path / "out", workers=2).points == 2


@pytest.mark.usefixtures("elsewhere")
def test_the_fabric_stage_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(tools, "path", lambda name: name)
    with pytest.raises(DeployError, match="ibsim's sockets are those of Linux"):
        fl.deploy(fl.route("ring:n=4,p=1", "dfsssp"))
