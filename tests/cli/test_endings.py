"""Ctrl-C and SIGTERM at any moment from start to end: 130, 143, one line, nothing left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from campaign import count
from cli_helpers import command, environment
from deploy_helpers import needs_fabric
from patience import HANG_S
from test_faults import EXPERIMENT, NET, SHORT

SIGNALS = {signal.SIGINT: (130, "interrupted\n"), signal.SIGTERM: (143, "terminated\n")}
VERBS = {
    "list": [], "design": ["slim_fly:q=9"], "route": ["slim_fly:q=7", "-o", "tables"],
    "verify": ["slim_fly:q=9", "--json"], "cables": [NET, "-o", "cables"],
    "repair": ["slim_fly:q=5,p=4", "--random", "2", "-o", "repaired"],
    "run": ["x.toml", "--fresh"],
}
"""Short commands of each kind: those that load little or much, compute, draw, write."""


@pytest.fixture
def place(tmp_path):
    """A folder to work in."""
    (tmp_path / "x.toml").write_text(EXPERIMENT.format(label="x", size=3))
    return tmp_path


def start(asked: list[str], place: Path) -> subprocess.Popen:
    return subprocess.Popen(asked, cwd=place, env=environment(TMPDIR=str(place)), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def hears(child: subprocess.Popen) -> bool:
    """Whether our handlers are in place: Python itself catches no SIGTERM."""
    try:
        status = Path(f"/proc/{child.pid}/status").read_text()
    except OSError:
        return False
    caught = next((line for line in status.splitlines() if line.startswith("SigCgt")), "SigCgt 0")
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def wait_until_it_hears(child: subprocess.Popen) -> None:
    limit = time.monotonic() + HANG_S
    while not hears(child) and child.poll() is None:
        assert time.monotonic() < limit
        time.sleep(0.0005)


def ended(child: subprocess.Popen, sent: list[signal.Signals], about: object) -> bool:
    """Checks that one of the signals sent ended a command, or that they came after its end."""
    _out, err = child.communicate(timeout=HANG_S)
    for code, line in (SIGNALS[number] for number in sent):
        if child.returncode == code:
            assert err.endswith(line) and len(err.splitlines()) == 1, (about, err)
            return True
    assert (child.returncode, err) == (0, ""), (about, child.returncode, err)
    return False


def strike_all_through(asked: list[str], place: Path, moments: list[float] | None, step: float):
    """The command struck at ``moments``, fractions of its length, or at every step of it."""
    lengths = []
    for _ in range(2):  # the shorter one: a machine may have been busy meanwhile
        child = start(asked, place)
        wait_until_it_hears(child)
        began = time.monotonic()
        child.communicate(timeout=HANG_S)
        lengths.append(time.monotonic() - began)
    length = min(lengths)
    if moments is None:
        moments = [i * step / length for i in range(int(length / step) + 2)]
    struck = 0
    for i, fraction in enumerate(moments):
        number = list(SIGNALS)[i % 2]
        child = start(asked, place)
        wait_until_it_hears(child)
        time.sleep(fraction * length)
        child.send_signal(number)
        struck += ended(child, [number], (asked, fraction * length))
        left = [p for p in place.rglob("*") if p.name.endswith(".part")]
        assert not left, (asked, fraction, left)
    return struck


@pytest.mark.campaign
@pytest.mark.parametrize("verb", VERBS)
def test_a_signal_at_any_moment(place, verb):
    chance = random.Random(verb)
    moments = [(i + chance.random()) / 10 for i in range(10)] if count(1, 0) else None
    asked = command(verb, *VERBS[verb])
    assert strike_all_through(asked, place, moments, 0.01) > 3


@pytest.mark.campaign
@pytest.mark.skipif(not count(0, 1), reason="hundreds of commands: in `make campaign`")
@pytest.mark.parametrize("verb", sorted(SHORT.keys() - {"deploy", "search"}))
def test_a_signal_at_every_moment_of_every_verb(place, verb):
    for made in (["design", NET, "-o", "n.json"], ["run", "x.toml"]):
        subprocess.run(command(*made), cwd=place, env=environment(), check=True,
                       capture_output=True)
    asked = command(verb, *(word.format(net="n.json") for word in SHORT[verb]))
    assert strike_all_through(asked, place, None, 0.01) > 0


@pytest.mark.ib
@needs_fabric
@pytest.mark.campaign
def test_two_signals_at_any_moment_of_deploy(tmp_path):
    """The second while the first is being obeyed: it changes nothing. No folder, no process."""
    chance = random.Random("deploy")
    asked = command("deploy", "slim_fly:q=3", "--json")
    for _ in range(count(10, 200)):
        child = start(asked, tmp_path)
        wait_until_it_hears(child)
        time.sleep(chance.random() * 1.2)
        sent = [chance.choice(list(SIGNALS)) for _ in range(2)]
        child.send_signal(sent[0])
        time.sleep(chance.random() * 0.05)
        if child.poll() is None:
            child.send_signal(sent[1])
        # Where both were pending when the process next ran, the system chose which it heard first.
        ended(child, sent, "deploy")
        assert not list(tmp_path.iterdir())
        running = subprocess.run(["pgrep", "-f", f"flyloom-{child.pid}-"], capture_output=True)
        assert running.stdout == b""


def test_the_installed_program_ends_alike(place):
    program = Path(sys.executable).with_name("flyloom")
    if not program.exists():
        pytest.skip("flyloom is not installed beside this Python")
    for i, (number, wait) in enumerate([(s, w) for s in SIGNALS for w in (0.0, 0.04, 0.09)]):
        child = start([str(program), "run", "x.toml", "--fresh"], place)
        wait_until_it_hears(child)
        time.sleep(wait)
        child.send_signal(number)
        assert ended(child, [number], i)


def test_little_is_loaded_before_signals_are_heard():
    """What stands between Python's first line and ours is the interpreter's own start."""
    code = ("import sys; before = set(sys.modules); import flyloom.cli; "
            "print(*sorted(set(sys.modules) - before))")
    done = subprocess.run([sys.executable, "-I", "-c", code], text=True, capture_output=True,
                          check=True)
    light = {"__future__", "errno", "flyloom", "flyloom.cli", "flyloom.support",
             "flyloom.support.ending", "importlib", "importlib._bootstrap",
             "importlib._bootstrap_external", "warnings"}
    assert set(done.stdout.split()) <= light


def test_a_signal_that_the_parent_ignores_stays_ignored(place):
    child = start(["bash", "-c", "trap '' INT; exec " + " ".join(command("run", "x.toml"))], place)
    wait_until_it_hears(child)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=HANG_S)
    assert (child.returncode, err) == (0, "")


BLOCKS = """\
import os, signal, sys
from flyloom.support import ending
ending.listen()
def strike(number=signal.SIGINT): os.kill(os.getpid(), number)
def say(word): print(word, flush=True)
"""


@pytest.mark.parametrize(("code", "out", "ends"), [
    ("try:\n    strike()\nfinally: say('tidied')", "", 130),
    ("with ending.in_order():\n    try: strike()\n    finally: say('tidied')", "tidied\n", 130),
    ("with ending.undisturbed():\n    strike(); say('done')\nsay('after')", "done\n", 130),
    # cleaning up is not disturbed by a second signal, nor its number changed
    ("with ending.in_order():\n    try: strike()\n    finally:\n        strike(signal.SIGTERM)\n"
     "        say('tidied')", "tidied\n", 130),
    # an exception that a library swallows does not let the command go on
    ("with ending.in_order():\n    try: strike(signal.SIGTERM)\n    except BaseException: pass\n"
     "    say('swallowed')\nsay('after')", "swallowed\n", 143),
    ("with ending.in_order():\n    try:\n        with ending.undisturbed():\n            strike()\n"
     "            say('whole')\n        say('after')\n    finally: say('tidied')",
     "whole\ntidied\n", 130),
    ("with ending.undisturbed():\n    with ending.in_order(): strike()\n    say('whole')\nsay('x')",
     "whole\n", 130),
    ("with ending.undisturbed():\n    strike()\n    try: ending.check()\n"
     "    finally: say('put back')", "put back\n", 130),
    # Ctrl-C that is an answer; SIGTERM is none, and the next Ctrl-C ends
    ("try:\n    with ending.in_order(answers=True): strike()\n"
     "except KeyboardInterrupt: say('best')\nstrike()\nsay('after')", "best\n", 130),
    ("try:\n    with ending.in_order(answers=True): strike(signal.SIGTERM)\n"
     "except KeyboardInterrupt: say('best')", "", 143),
    # a child that is not yet another program says nothing
    ("if os.fork() == 0: strike(); say('after')\nelse: os.wait(); say('parent'); strike()",
     "parent\n", 130),
])
def test_blocks(code, out, ends):
    done = subprocess.run([sys.executable, "-c", BLOCKS + code], env=environment(), text=True,
                          capture_output=True, timeout=HANG_S)
    line = {130: "interrupted\n", 143: "terminated\n"}[ends]
    assert (done.returncode, done.stdout, done.stderr) == (ends, out, line)


def test_as_a_library_signals_are_left_alone():
    code = ("import os, signal\nfrom flyloom.support import files\n"
            "try:\n    with files.scratch() as place: os.kill(os.getpid(), signal.SIGINT)\n"
            "except KeyboardInterrupt: print(place.exists())")
    done = subprocess.run([sys.executable, "-c", code], env=environment(), text=True,
                          capture_output=True, timeout=HANG_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")


def test_main_within_a_program_gives_its_handlers_back():
    code = ("import signal, sys\nfrom flyloom.cli import main\nsys.argv = ['flyloom', 'list']\n"
            "before = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]\n"
            "try: main()\nexcept SystemExit: pass\n"
            "after = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]\n"
            "print(before == after)")
    done = subprocess.run([sys.executable, "-c", code], env=environment(), text=True,
                          capture_output=True, timeout=HANG_S)
    assert done.stdout.splitlines()[-1] == "True" and os.path.exists(sys.executable)


def test_watching_before_anything_is_known_ends_with_130(tmp_path):
    """Later Ctrl-C stops watching, and the code tells what was seen."""
    asked = command("verify-cables", NET, "missing.txt", "--watch", "--every", "60")
    child = start(asked, tmp_path)
    assert "cannot be read" in child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=HANG_S)
    assert (child.returncode, err) == (130, "interrupted\n")
