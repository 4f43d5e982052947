"""The headers inside the runtime: each has one owner, and stands by itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from checkout import ROOT

RUNTIME = ROOT / "runtime" / "rt"
SOURCE = RUNTIME / "src"
HEADERS = sorted(SOURCE.glob("**/*.h"))
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
#: The head of a function that other files can call, as this code is laid out.
HEAD = re.compile(r"^(?!static\b|typedef\b)[A-Za-z][\w *]*?\b((?:fly|ofi)_\w+)\(", re.MULTILINE)


def functions(file: Path, end: str) -> set[str]:
    """Functions that a file defines (their parameters are followed by `{`), or declares (`;`)."""
    text = COMMENT.sub("", file.read_text())
    found = set()
    for head in HEAD.finditer(text):
        behind = re.search(r"[{;]", text[head.end():])
        if behind and behind[0] == end:
            found.add(head[1])
    return found


def test_a_header_declares_the_functions_of_its_own_file():
    """window.h those of window.c; the files of a transport, ofi_*.c, share ofi.h. Headers that no
    file is named like are for what several files together make up."""
    defined = {name: file for file in SOURCE.glob("**/*.c") for name in functions(file, "{")}
    checked, foreign = 0, []
    for header in HEADERS:
        if not header.with_suffix(".c").exists():
            continue
        for name in functions(header, ";"):
            checked += 1
            stem = defined[name].stem if name in defined else ""
            if stem != header.stem and not stem.startswith(f"{header.stem}_"):
                foreign.append(f"{header.name}: {name}")
    assert checked > 100
    assert not foreign


def test_a_file_includes_the_header_of_its_functions():
    """The header lets the compiler compare each definition with its declaration."""
    without = [file.name for file in sorted(SOURCE.glob("**/*.c"))
               if file.with_suffix(".h").exists()
               and f'#include "{file.stem}.h"' not in file.read_text()]
    assert not without


def test_every_header_compiles_by_itself(tmp_path):
    """Whatever was included before it, and also twice."""
    if not shutil.which("gcc"):
        pytest.skip("gcc is not installed")
    headers = [header for header in HEADERS
               if header.name != "ofi.h" or Path("/usr/include/rdma/fabric.h").exists()]
    for at, header in enumerate(headers):
        (tmp_path / f"{at}.c").write_text(f'#include "{header}"\n' * 2)
    done = subprocess.run(
        ["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
         f"-I{RUNTIME / 'include'}", f"-I{SOURCE}", *map(str, sorted(tmp_path.glob("*.c")))],
        capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
