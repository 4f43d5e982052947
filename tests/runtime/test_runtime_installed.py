"""The installed runtime: its programs start from wherever the folder is, without any variable."""

from __future__ import annotations

import shutil

from test_runtime import build, call


def test_installed_programs_find_their_library(tmp_path):
    release = build("release")
    call("cmake", "--install", release, "--prefix", tmp_path / "first")
    shutil.move(tmp_path / "first", tmp_path / "moved")
    for name, words in (("flyloom-perf", ["explain", "barrier", "--ranks", 4]),
                        ("flyloom-check", ["--help"])):
        program = next((tmp_path / "moved").rglob(name))
        assert str(tmp_path / "moved") in call("ldd", program)
        assert call(program, *words, more={"LD_LIBRARY_PATH": ""})
