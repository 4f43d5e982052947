"""The manual pages: one a command, as the commands are, and as man reads them."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from checkout import ROOT
from flyloom.cli import GROUPS
from flyloom.cli.common import app

PLACE = ROOT / "data" / "wheel" / "data" / "share" / "man" / "man1"
PAGES = {path.stem: path.read_text("utf-8") for path in sorted(PLACE.glob("*.1"))}


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that is listed, by the name of its page."""
    for group in [*GROUPS, "measures"]:
        importlib.import_module(f"flyloom.cli.{group}")

    def inside(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield name, command
        for word, one in getattr(command, "commands", {}).items():
            if not one.hidden:
                yield from inside(f"{name}-{word}", one)

    return inside("flyloom", typer.main.get_command(app))


def test_the_pages_are_those_of_the_commands():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "man-pages", "--check"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_command_that_changed_is_found(tmp_path):
    """The check is of what is there: a page altered, one too many and one gone."""
    folder = tmp_path / "data/wheel/data/share/man/man1"
    shutil.copytree(PLACE, folder)
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(ROOT / "scripts" / "man-pages", tmp_path / "scripts")
    (folder / "flyloom-route.1").write_text(PAGES["flyloom-route"].replace("lmc", "mcl"))
    (folder / "flyloom-gone.1").write_text("")
    (folder / "flyloom-plan.1").unlink()
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 1
    assert done.stdout.startswith("flyloom-gone.1, flyloom-plan.1, flyloom-route.1: ")


def test_every_command_has_a_page_with_its_options():
    known = dict(commands())
    assert {*known} == {*PAGES}
    for name, command in known.items():
        options = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*",
                                 PAGES[name].replace("\\-", "-").split(".SH OPTIONS")[1]))
        wanted = {word for param in command.params if not param.hidden
                  for word in param.opts if word.startswith("-")}
        assert {*wanted, "--help"} <= options, name


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_built_as_pages_are(name):
    text = PAGES[name]
    lines = text.splitlines()
    assert lines[0].startswith('.\\" ') and lines[1].startswith(".TH ")
    heads = [line.removeprefix(".SH ") for line in lines if line.startswith(".SH ")]
    order = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "ARGUMENTS", "OPTIONS", "EXAMPLES",
             "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"]
    assert heads == [head for head in order if head in heads]
    assert {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SEE ALSO"} <= {*heads}
    assert re.fullmatch(rf"{re.escape(name)} - \S.*", lines[3].replace("\\-", "-")), lines[3]
    requests = {line.split()[0] for line in lines if line.startswith(".")}
    assert requests <= {'.\\"', ".TH", ".SH", ".SS", ".TP", ".B", ".BR", ".PP", ".nf", ".fi"}
    assert not [line for line in lines if line.startswith("'") or re.search(r"[^ -~]", line)]


def test_man_reads_them_without_a_warning():
    pages = [str(PLACE / f"{name}.1") for name in PAGES]
    checks = [["mandoc", "-Tlint", "-Wwarning", *pages], ["groff", "-man", "-ww", "-z", "-Tutf8",
                                                          *pages]]
    there = [words for words in checks if shutil.which(words[0])]
    if not there:
        pytest.skip("neither mandoc nor groff is installed")
    for words in there:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")
