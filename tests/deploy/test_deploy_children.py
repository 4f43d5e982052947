"""ibsim and OpenSM killed or stopped by somebody else: said at once, by name; nothing stays."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import flyloom as fl
import pytest
from campaign import count
from deploy_helpers import needs_fabric
from flyloom.deploy import DeployError
from flyloom.deploy.live import Live
from flyloom.support import process
from patience import HANG_S, seconds
from test_deploy_life import alive, gone


def child_of(live, name):
    """The process of ibsim or OpenSM once it runs; None before."""
    if name == "ibsim":
        return live.ibsim._child
    return next((o._child for o in live.ibsim._dependants if o._child), None)


def shoot(live, name, number, delay_s, shot):
    """Sends the signal some time after the program's start; notes its process."""
    while not (child := child_of(live, name)) and not shot["over"]:
        time.sleep(0.001)
    time.sleep(delay_s)
    if not shot["over"]:
        shot["pid"] = child.pid
        os.kill(child.pid, number)


@pytest.mark.ib
@pytest.mark.campaign
@needs_fabric
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("name", ["ibsim", "opensm"])
def test_a_child_killed_or_stopped_is_named_at_once(name, number):
    """A child is killed or stopped at seeded moments of start, first sweep and reading back."""
    network = fl.network("slim_fly:q=5,p=4")
    routing = fl.route(network, "dfsssp")
    rng = random.Random(f"{name} {number}")

    def named(delay_s):
        """Whether an error names it; false where the fabric was ready before."""
        live = Live(network)
        shot = {"over": False, "pid": None}
        gun = threading.Thread(target=shoot, args=(live, name, number, delay_s, shot))
        gun.start()
        try:
            with live:
                live.load(routing)
                limit = time.monotonic() + HANG_S
                while time.monotonic() < limit:
                    live.read(network)
        except DeployError as error:
            who = "ibsim" if name == "ibsim" else "OpenSM"
            how = "killed" if number == signal.SIGKILL else "stopped"
            assert str(error).startswith(who) and how in str(error), str(error)
            assert signal.Signals(number).name in str(error) and "\n" not in str(error)
            return True
        finally:
            shot["over"] = True
            gun.join()
            assert gone([shot["pid"]], 0)
            assert not live.ibsim.workdir.exists()
        return False

    for _ in range(count(4, 60)):
        delay_s = rng.choice([0.0, 0.02, 0.1, 0.3, 0.6]) * rng.random()
        assert named(delay_s), delay_s


FAMILY = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
{then}
"""


@pytest.mark.parametrize("then", ["time.sleep(600)", "sys.exit(1)", "import os; os.abort()"])
def test_grandchildren_end_with_their_group(tmp_path, then):
    """However their parent ends: asked, killed, or by itself."""
    args = [sys.executable, "-c", FAMILY.format(then=then)]
    child = process.spawn(args, cwd=tmp_path, stdout=subprocess.PIPE)
    grandchild = int(child.stdout.readline())
    assert alive(grandchild)
    process.end(child, child.terminate, 1.0)
    assert gone([child.pid, grandchild])
    child.stdout.close()


def test_grandchildren_of_a_program_that_is_too_slow_end(tmp_path):
    code = FAMILY.format(then="time.sleep(600)").replace(
        "print(child.pid, flush=True)", "open('pid', 'w').write(str(child.pid))")
    limit_s = 1
    while not (tmp_path / "pid").exists() and limit_s < HANG_S:  # it needs time to start another
        with pytest.raises(DeployError, match=f"did not end within {limit_s} s"):
            process.run([sys.executable, "-c", code], cwd=tmp_path, timeout_s=limit_s)
        limit_s *= 4
    assert gone([int((tmp_path / "pid").read_text())])


@pytest.mark.parametrize(("code", "words"), [
    ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
    ("import os; os.kill(os.getpid(), 19)", "is stopped by SIGSTOP"),
    ("import sys; sys.exit(7)", "failed with code 7"),
])
def test_a_program_that_is_killed_or_stopped_is_reported(tmp_path, code, words):
    with pytest.raises(DeployError, match=words):
        process.run([sys.executable, "-c", code], cwd=tmp_path, timeout_s=HANG_S)


def test_what_is_watched_ends_a_program(tmp_path):
    def broken():
        raise DeployError("another is gone")

    def watched():
        with pytest.raises(DeployError, match="another is gone"):
            process.run(["sleep", str(2 * HANG_S)], cwd=tmp_path, watch=broken)

    assert seconds(watched) < HANG_S


def test_a_slow_reader_gets_all_its_input(tmp_path):
    """One that takes longer to read than the wait between two looks at it."""
    text = "x" * 1_000_000 + "\n"
    slow = f"import sys, time; time.sleep({3 * process.LOOK_S}); print(len(sys.stdin.read()))"
    got = process.run([sys.executable, "-c", slow], cwd=tmp_path, stdin_text=text, timeout_s=HANG_S)
    assert int(got) == len(text)
