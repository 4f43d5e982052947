"""Nothing survives a fabric, however its owner ends; several fabrics run side by side."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import flyloom.deploy
import pytest
from deploy_helpers import DATA, needs_fabric, read_net
from flyloom.deploy import DeployError, Ibsim, OpenSM, readback, tools
from flyloom.support import process
from patience import HANG_S

NET = DATA / "sf_q5.net"
SWITCH = "S-0002c90200000310"  # not the one of the first endpoint, where all tools attach


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pids, timeout_s=HANG_S):
    limit = time.monotonic() + timeout_s
    while any(map(alive, pids)) and time.monotonic() < limit:
        time.sleep(0.02)
    return not any(map(alive, pids))


# short naps: a signal just before a long sleep would go unheard until its end
IDLE = "for _ in range(1200): time.sleep(0.05)"
OWNER = """
    import sys, threading, time
    from pathlib import Path
    from flyloom.deploy import Ibsim, OpenSM

    def work():
        with Ibsim(Path(sys.argv[1]).read_text()) as ibsim, OpenSM(ibsim, "minhop") as opensm:
            print(ibsim.pid, opensm.pid, ibsim.workdir, flush=True)
            sys.stdin.readline()
            {then}
"""


def start_owner(then, call="work()"):
    """A process that owns a fabric; returns it, the pids of its children, and their folder."""
    code = textwrap.dedent(OWNER).format(then=then) + "\n" + call + "\n"
    package_root = Path(flyloom.deploy.__file__).parents[2]
    env = dict(os.environ, PYTHONPATH=str(package_root))
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(NET)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    words = owner.stdout.readline().split()
    assert len(words) == 3, owner.communicate()[1]
    pids = [int(words[0]), int(words[1])]
    assert all(map(alive, pids))
    owner.stdin.write("go on\n")
    owner.stdin.flush()
    return owner, pids, Path(words[2])


@needs_fabric
@pytest.mark.parametrize(
    ("signal_number", "code", "tidy"),
    [
        (signal.SIGKILL, -signal.SIGKILL, False),
        (signal.SIGTERM, 128 + signal.SIGTERM, True),
        (signal.SIGINT, -signal.SIGINT, True),
    ],
)
def test_a_signal_to_the_owner_ends_all(signal_number, code, tidy):
    owner, pids, folder = start_owner(IDLE)
    owner.send_signal(signal_number)
    owner.communicate(timeout=HANG_S)
    assert owner.returncode == code
    assert gone(pids)
    assert folder.exists() != tidy
    if not tidy:
        subprocess.run(["rm", "-r", str(folder)], check=True)


@needs_fabric
def test_an_exception_ends_all():
    owner, pids, folder = start_owner("raise ValueError('mine')")
    assert "ValueError: mine" in owner.communicate(timeout=HANG_S)[1]
    assert gone(pids, 0)
    assert not folder.exists()


@needs_fabric
def test_an_owner_that_leaves_in_a_hurry_ends_all():
    owner, pids, folder = start_owner("import os; os._exit(3)")
    owner.communicate(timeout=HANG_S)
    assert owner.returncode == 3
    assert gone(pids)
    subprocess.run(["rm", "-r", str(folder)], check=True)


@needs_fabric
def test_a_worker_thread_may_start_a_fabric_and_end():
    """The death signal of Linux goes by threads; the fabric must not die with its starter."""
    held = []

    def start():
        ibsim = Ibsim(NET.read_text())
        ibsim.start()
        held.append(ibsim)

    starter = threading.Thread(target=start)
    starter.start()
    starter.join()
    try:
        time.sleep(0.3)
        assert len(readback.parse_discover(readback.discover(held[0]))) == 250
    finally:
        held[0].stop()


@needs_fabric
def test_a_frozen_opensm_is_killed():
    with Ibsim(NET.read_text()) as ibsim, OpenSM(ibsim, "minhop") as opensm:
        pids = [ibsim.pid, opensm.pid]
        os.kill(opensm.pid, signal.SIGSTOP)
        start = time.monotonic()
    assert time.monotonic() - start < HANG_S
    assert gone(pids, 0)


@needs_fabric
def test_an_opensm_that_ends_by_itself_is_reported():
    with Ibsim(NET.read_text()) as ibsim, OpenSM(ibsim, "minhop") as opensm:
        mark = opensm.mark()
        os.kill(opensm.pid, signal.SIGKILL)
        with pytest.raises(DeployError, match="OpenSM ended by itself"):
            opensm.wait_sweep(after=mark, timeout_s=HANG_S)


@needs_fabric
def test_several_fabrics_do_not_see_each_other():
    net = read_net(NET)
    with Ibsim(net.text) as one, Ibsim(net.text) as two, OpenSM(one, "minhop"), OpenSM(two, "dor"):
        before = readback.parse_discover(readback.discover(two))
        one.unlink(SWITCH)
        assert len(readback.parse_discover(readback.discover(one))) == 250 - 1 - 4
        assert readback.parse_discover(readback.discover(two)) == before
        assert len(before) == 250


@needs_fabric
def test_the_console_pulls_swaps_and_refuses():
    net = read_net(NET)
    a, b, c, d = (f"S-{guid:016x}" for guid in net.switches[:4])
    guid = {name: int(name.removeprefix("S-"), 16) for name in (a, b, c, d)}
    with Ibsim(net.text) as ibsim:
        (pa, fa), (pb, fb) = (net.neighbours(guid[name])[0] for name in (a, c))
        ibsim.unlink(a, pa)
        ibsim.unlink(c, pb)
        qa, qb = net.far[guid[a], pa][1], net.far[guid[c], pb][1]
        ibsim.link(a, pa, f"S-{fb:016x}", qb)
        ibsim.link(c, pb, f"S-{fa:016x}", qa)
        nodes = readback.parse_discover(readback.discover(ibsim))
        assert (nodes[guid[a]].ports[pa].far_guid, nodes[guid[a]].ports[pa].far_port) == (fb, qb)
        assert (nodes[guid[c]].ports[pb].far_guid, nodes[guid[c]].ports[pb].far_port) == (fa, qa)
        for command in ("nonsense", 'unlink "S-nowhere"', f'unlink "{a}"[99]'):
            with pytest.raises(DeployError, match="ibsim refused"):
                ibsim.console(command)
        with pytest.raises(DeployError, match="ibsim refused"):
            ibsim.link(a, 5, b, 5)
        with pytest.raises(DeployError, match="one line"):
            ibsim.console("route\nquit")


@needs_fabric
def test_a_bad_netlist_is_reported():
    with pytest.raises(DeployError, match="the netlist has no node"):
        Ibsim("nothing here")
    text = NET.read_text().replace('"S-0002c90200000010"[1]\t', '"S-0002c90200000010"[77]\t')
    broken = text if text != NET.read_text() else text.replace("[1]", "[77]", 1)
    with pytest.raises(DeployError, match="ibsim ended with code"), Ibsim(broken, timeout_s=HANG_S):
        pass


@needs_fabric
def test_use_outside_the_block_is_reported():
    ibsim = Ibsim(NET.read_text())
    with pytest.raises(DeployError, match="inside its with block"):
        ibsim.console("dump")
    with ibsim:
        pass
    ibsim.stop()  # again: no harm
    with pytest.raises(DeployError, match="inside its with block"):
        readback.discover(ibsim)


@needs_fabric
def test_a_work_folder_of_ones_own_is_kept(tmp_path):
    with Ibsim(NET.read_text(), workdir=tmp_path / "w") as ibsim, OpenSM(ibsim, "minhop") as opensm:
        names = {entry.name for entry in opensm.dumps.iterdir()}
        assert {"opensm-subnet.lst", "opensm-lfts.dump", "opensm.fdbs"} <= names
        with pytest.raises(DeployError, match="OpenSM wrote no absent"):
            opensm.dump("absent")
    assert opensm.subnet_lst.startswith("{ ")
    assert opensm.cpu_s > 0
    with pytest.raises(DeployError, match="inside its with block"):
        opensm.resweep()


def test_a_program_that_hangs_or_fails_is_reported(tmp_path):
    start = time.monotonic()
    with pytest.raises(DeployError, match=r"sleep did not end within 0\.2 s"):
        process.run(["sleep", str(2 * HANG_S)], cwd=tmp_path, timeout_s=0.2)
    assert time.monotonic() - start < HANG_S, "it is not waited for"
    with pytest.raises(DeployError, match="failed with code 1"):
        process.run(["false"], cwd=tmp_path)
    with pytest.raises(DeployError, match="cannot start"):
        process.run([str(tmp_path / "absent")], cwd=tmp_path)
    assert process.run(["cat"], cwd=tmp_path, stdin_text="x") == "x"


def test_a_missing_tool_is_reported_with_its_package(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(tools, "_SBIN", "/nowhere")
    monkeypatch.setattr(tools, "_PREFIXES", [])
    assert all(found is None for _, found, _ in tools.check())
    assert ("opensm", "opensm") in tools.missing()
    with pytest.raises(DeployError, match="ibsim is not here: apt-get install ibsim-utils"):
        Ibsim(NET.read_text()).start()
