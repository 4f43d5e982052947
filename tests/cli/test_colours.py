"""NO_COLOR, FORCE_COLOR and TERM=dumb do what users expect of them, on a terminal and off it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest
from cli_helpers import command, environment

BAR = """
import sys
from flyloom.support import progress
progress.PATIENCE_S = progress.REFRESH_S = 0
with progress.bars() as bar:
    for done in range(4):
        if bar:
            bar("counting", done, 3)
print("the end")
"""
COLOUR = re.compile(r"\x1b\[[\d;]*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[\d;]*m")


def setting(**more: str) -> dict[str, str]:
    """An environment in which only ``more`` says something of colours."""
    unsaid = {"NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLORTERM"}
    return {**{k: v for k, v in environment().items() if k not in unsaid},
            "TERM": "xterm-256color", **more}


def on_terminal(words: list[str], **more: str) -> str:
    """What a program writes to a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=setting(**more))
    os.close(theirs)
    found = b""
    while True:
        try:
            read = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not read:
            break
        found += read
    os.close(ours)
    assert child.wait(60) == 0
    return found.decode()


def piped(words: list[str], **more: str) -> str:
    done = subprocess.run(words, env=setting(**more), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    return done.stdout + done.stderr


WORDS = [sys.executable, "-c", BAR]


@pytest.mark.parametrize("more", [{}, {"NO_COLOR": ""}, {"FORCE_COLOR": "1"}])
def test_a_bar_has_colours_on_a_terminal(more):
    shown = on_terminal(WORDS, **more)
    assert "counting" in shown and COLOUR.search(shown) and "the end" in shown


@pytest.mark.parametrize("value", ["1", "0", "no"])
def test_no_color_leaves_the_bar_and_takes_its_colours(value):
    shown = on_terminal(WORDS, NO_COLOR=value)
    assert "counting" in shown and not COLOUR.search(shown)


def test_no_color_is_stronger_than_force_color():
    assert not COLOUR.search(on_terminal(WORDS, NO_COLOR="1", FORCE_COLOR="1"))


def test_a_dumb_terminal_gets_lines_alone():
    for more in ({}, {"FORCE_COLOR": "1"}):
        shown = on_terminal(WORDS, TERM="dumb", **more)
        assert shown == "the end\r\n"


@pytest.mark.parametrize("more", [{}, {"FORCE_COLOR": "1"}, {"TTY_COMPATIBLE": "1"}])
def test_off_a_terminal_no_cursor_moves(more):
    assert piped(WORDS, **more) == "the end\n"


@pytest.mark.parametrize("words", [["route", "--help"],
                                   ["design", "ring:n=5"]])
@pytest.mark.parametrize("more", [{}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {"TERM": "dumb"}])
def test_what_commands_print_has_no_colours_to_take_away(words, more):
    if more in ({}, {"FORCE_COLOR": "1"}):
        assert "\x1b" not in on_terminal(command(*words), **more)
    assert "\x1b" not in piped(command(*words), **more)


@pytest.fixture
def wired(tmp_path):
    """A fabric as it was planned: a look at it is the last."""
    file = tmp_path / "found.net"
    subprocess.run(command("design", "ring:n=4,p=1", "-o", file), env=environment(), check=True,
                   capture_output=True, timeout=60)
    return command("verify-cables", "ring:n=4,p=1", file, "--watch", "--every", "0.1")


def test_watching_off_a_terminal_moves_no_cursor(wired):
    for more in ({}, {"FORCE_COLOR": "1"}, {"TERM": "dumb"}):
        shown = piped(wired, **more)
        assert "cables as planned" in shown
        assert not re.search(r"\x1b\[\??[\d;]*[A-HJKlh]", shown), more
    assert "\x1b" not in piped(wired) and "\x1b" not in on_terminal(wired, TERM="dumb")
    assert not COLOUR.search(on_terminal(wired, NO_COLOR="1"))
