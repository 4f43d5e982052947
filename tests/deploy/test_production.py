"""docs/production.md, run as it stands: a stock OpenSM with its own configuration, on ibsim."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import flyloom as fl
import pytest
from deploy_helpers import needs_fabric
from flyloom.deploy import Ibsim, tools
from printed import keep
from test_docs import ROOT, blocks, run_page

pytestmark = needs_fabric
LIMIT_S = 60

SYSTEMCTL = """\
#!{python}
import os, re, signal, subprocess, sys, time
from pathlib import Path
etc, log, pid = (Path(os.environ[name]) for name in ("ETC", "LOG", "PID"))
words = sys.argv[1:]
def swept():
    return len(re.findall("SUBNET UP", log.read_text(errors="replace"))) if log.exists() else 0
def wait(done):
    limit = time.monotonic() + {limit}
    while not done():
        if time.monotonic() > limit:
            sys.exit("systemctl: waited in vain; " + log.read_text(errors="replace")[-2000:])
        time.sleep(0.02)
def runs():
    try:
        stat = Path("/proc/" + pid.read_text() + "/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
before = swept()
if words == ["start", "opensm"]:
    child = subprocess.Popen([os.environ["OPENSM"], "-F", str(etc / "opensm.conf")],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True)
    pid.write_text(str(child.pid))
    wait(lambda: swept() > before)
elif words == ["stop", "opensm"]:
    if runs():
        os.kill(int(pid.read_text()), signal.SIGTERM)
        limit = time.monotonic() + 3
        while runs() and time.monotonic() < limit:
            time.sleep(0.02)
        if runs():
            os.kill(int(pid.read_text()), signal.SIGKILL)
            wait(lambda: not runs())
elif words == ["kill", "-s", "HUP", "opensm"]:
    os.kill(int(pid.read_text()), signal.SIGHUP)
    wait(lambda: swept() > before)
else:
    sys.exit("systemctl: " + " ".join(words))
"""


def program(path: Path, text: str) -> None:
    """Write an executable file."""
    path.write_text(text)
    path.chmod(0o755)


def site(network: str) -> str:
    """The netlist of a network under the names of a site, without LIDs: OpenSM gives them out."""
    text = re.sub(r"\blid \d+", "lid 0", fl.network(network).to_text("netlist"))
    for level, kind in (("0", "leaf"), ("1", "spine")):
        text = re.sub(rf'"ft-{level}-(\d+)"', lambda m, k=kind: f'"{k}{int(m[1]) + 1:02d}"', text)
    return re.sub(r'"host-(\d+)"', lambda m: f'"node{int(m[1]) + 1:03d} mlx5_0"', text)


@pytest.fixture
def machine(request, tmp_path, monkeypatch):
    """The machine of a fabric of the network that the test names, on which a stock OpenSM runs: its
    programs see the fabric, and `systemctl` starts, stops and signals OpenSM."""
    bin_, etc, cache, lib = (tmp_path / name for name in ("bin", "etc", "cache", "lib"))
    for folder in (bin_, etc, cache, lib, tmp_path / "work"):
        folder.mkdir()
    log = tmp_path / "opensm.log"
    with Ibsim(site(request.param)) as fabric:
        seen = {key: fabric.env()[key] for key in ("IBSIM_SOCKNAME", "SIM_HOST", "LD_PRELOAD")}
        words = " ".join(f"{key}={value}" for key, value in seen.items())
        more = f"OSM_CACHE_DIR={cache}/ OSM_TMP_DIR={tmp_path}/ LD_LIBRARY_PATH={lib}"
        for name in ("ibnetdiscover", "dump_fts", "opensm"):
            there = tools.path(name)
            program(bin_ / name, f'#!/bin/sh\n{words} {more} exec {there} "$@"\n')
        program(bin_ / "systemctl", SYSTEMCTL.format(python=sys.executable, limit=LIMIT_S))
        program(bin_ / "opensm-on-ibsim", "#!/bin/sh\n")
        conf = etc / "opensm.conf"
        subprocess.run([bin_ / "opensm", "-c", conf], cwd=tmp_path, capture_output=True,
                       timeout=LIMIT_S, check=True)
        with conf.open("a") as file:
            file.write(f"log_file {log}\nforce_log_flush TRUE\nsweep_interval 0\n"
                       f"transaction_timeout 5000\ndump_files_dir {tmp_path}\n")
        there = {"ETC": etc, "CACHE": cache, "LIB": lib, "LOG": log, "PID": tmp_path / "pid",
                 "OPENSM": bin_ / "opensm", "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
        for name, value in there.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.chdir(tmp_path / "work")
        subprocess.run([bin_ / "systemctl", "start", "opensm"], timeout=2 * LIMIT_S, check=True)
        try:
            yield tmp_path / "work"
        finally:
            subprocess.run([bin_ / "systemctl", "stop", "opensm"], timeout=LIMIT_S, check=True)


def lids_in(path: Path) -> dict[str, str]:
    """{GUID: LID} of every port that has one, of ibnetdiscover's text."""
    text = path.read_text()
    of_switches = re.findall(r'^Switch\s+\d+ "S-(\w+)".*port 0 lid (\d+)', text, re.MULTILINE)
    of_ports = re.findall(r"^\[\d+\]\((\w+)\) .*# lid (\d+) lmc", text, re.MULTILINE)
    return dict(of_switches + of_ports)


@pytest.mark.parametrize("machine", ["fat_tree:leaves=6,spines=3,parallel=2,p=4"], indirect=True)
def test_the_page_from_stock_minhop_to_our_tables_and_back(machine):
    page = (ROOT / "docs" / "production.md").read_text()
    commands = [block for block in blocks(page) if block.language != "text"]
    printed: dict[str, list[str]] = {}
    assert run_page(page, "docs/production.md", machine, printed) == len(commands) >= 9
    keep("docs/production.md", page, printed, machine.parent)
    before = lids_in(machine / "before" / "fabric.txt")
    assert len(before) == 9 + 24 and "0" not in before.values()
    assert lids_in(machine / "now.txt") == before


@pytest.mark.parametrize("machine", ["slim_fly:q=3,p=2"], indirect=True)
def test_lids_move_as_announced(machine):
    """A larger LMC than the fabric's, under the same stock OpenSM: what the announcement says is
    what ibnetdiscover finds changed."""
    def sh(command: str) -> subprocess.CompletedProcess[str]:
        paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(["bash", "-c", command], cwd=machine, text=True, timeout=LIMIT_S,
                              capture_output=True, env={**os.environ, "PATH": paths})

    assert sh("ibnetdiscover > was.txt").returncode == 0
    refused = sh("flyloom route was.txt --lmc 1 -o tables")
    said = re.search(r"(\d+) of 54 LIDs would move", refused.stderr)
    assert refused.returncode == 2 and said
    assert sh("flyloom route was.txt --lmc 1 --new-lids -o tables").returncode == 0
    lines = ("event_plugin_name flyloom_opensm",
             f"event_plugin_options {machine}/tables/tables.txt",
             "routing_engine flyloom,no_fallback", "lmc 1", "qos TRUE")
    with open(os.environ["ETC"] + "/opensm.conf", "a") as conf:
        conf.write("\n".join([*lines, ""]))
    done = sh("flyloom opensm-plugin -o $LIB && systemctl stop opensm"
              " && cp tables/guid2lid $CACHE/guid2lid && systemctl start opensm"
              " && ibnetdiscover > is.txt && dump_fts -n > lfts.txt")
    assert done.returncode == 0, done.stderr
    was, now = lids_in(machine / "was.txt"), lids_in(machine / "is.txt")
    assert was.keys() == now.keys()
    assert sum(was[guid] != now[guid] for guid in was) == int(said[1]) > 0
    plan = sh("flyloom deploy tables --current lfts.txt --found is.txt --dry-run")
    assert plan.returncode == 0 and "54 kept, 0 moved" in plan.stdout
    assert re.search(r"LFT entries\s+0\n", plan.stdout)
