"""The built wheel in an environment of its own: the whole job, and what it says of what is absent.

It is a virtual environment with the wheel unpacked, and links to those installed packages that the
wheel's metadata names, with what these need in turn: what `pip install` would bring.
"""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from checkout import ROOT
from deploy_helpers import needs_fabric

MANUAL = ROOT / "data/wheel/data/share/man/man1"
LIMIT_S = 900


def maturin(*words, **more):
    found = shutil.which("maturin", path=str(Path(sys.executable).parent))
    if not found or not shutil.which("cargo"):
        pytest.skip("maturin or cargo is not installed")
    place = {"VIRTUAL_ENV": str(Path(sys.executable).parents[1])}
    done = subprocess.run([found, *words], cwd=ROOT, env={**os.environ, **place}, timeout=LIMIT_S,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel with the core of `make setup`: cargo has nothing to compile."""
    out = tmp_path_factory.mktemp("wheel")
    maturin("build", "--profile", "dev", "--offline", "-o", out)
    (found,) = out.glob("*.whl")
    return found


def metadata_of(wheel):
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (n for n in packed.namelist() if n.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(packed.read(name))


def needed(lines, extras=()):
    """The distributions that requirements name, and all that these need."""
    found, left = set(), list(lines)
    while left:
        line = left.pop()
        name = re.match(r"[A-Za-z0-9._-]+", line)[0]
        extra = re.search(r"extra == ['\"](\w+)", line)
        if (extra and extra[1] not in extras) or "python_version <" in line or name in found:
            continue
        try:
            theirs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # of another system
        found.add(name)
        left += [one for one in theirs if "extra ==" not in one]
    return found


class Bare:
    """A virtual environment with the wheel and what its metadata names, and nothing else."""

    def __init__(self, place, wheel, extras=()):
        self.place = place
        venv.create(place / "env", with_pip=False)
        self.python = place / "env/bin/python"
        (self.site,) = (place / "env").glob("lib/python3*/site-packages")
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(self.site)
        for name in needed(metadata_of(wheel).get_all("Requires-Dist"), extras):
            files = metadata.files(name) or []
            tops = {file.parts[0] for file in files if ".." not in file.parts}
            for top in tops - {"__pycache__"}:
                source = Path(metadata.distribution(name).locate_file(top))
                if source.exists() and not (self.site / top).exists():
                    (self.site / top).symlink_to(source)

    def run(self, *words):
        """``python -m flyloom words...`` of this environment."""
        keep = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        return subprocess.run(
            [self.python, "-m", "flyloom", *map(str, words)], cwd=self.place, text=True,
            env={**keep, "XDG_CACHE_HOME": str(self.place / "cache")}, capture_output=True,
            timeout=LIMIT_S)


@pytest.fixture(scope="module")
def core(wheel, tmp_path_factory):
    return Bare(tmp_path_factory.mktemp("core"), wheel)


@pytest.fixture(scope="module")
def whole(wheel, tmp_path_factory):
    return Bare(tmp_path_factory.mktemp("whole"), wheel, ("report",))


def test_the_wheel_has_what_the_package_reads_and_nothing_of_ours_alone(wheel):
    with zipfile.ZipFile(wheel) as packed:
        inside = {name: packed.read(name) for name in packed.namelist() if "_core" not in name}
    for name in ("plugin.c", "readback.c", "tables.c", "tables.h", "tables_store.c",
                 "tables_store.h"):
        assert inside[f"flyloom/deploy/_c/{name}"] == (ROOT / "runtime/opensm" / name).read_bytes()
    for path in [ROOT / "runtime/ranks/ranks.c", *(ROOT / "runtime/mpi").iterdir()]:
        assert inside[f"flyloom/ranks/_c/{path.name}"] == path.read_bytes()
    for path in (ROOT / "examples").glob("*.toml"):
        assert inside[f"flyloom/examples/{path.name}"] == path.read_bytes()
    listed = subprocess.run(["git", "ls-files", "python/flyloom"], cwd=ROOT, text=True, check=True,
                            capture_output=True).stdout.split()
    wanted = {name.removeprefix("python/") for name in listed if "_core" not in name}
    assert wanted <= set(inside)
    assert not [name for name in inside if "tests" in name or "/.venv" in name]
    for path in MANUAL.glob("*.1"):
        (at,) = (name for name in inside if name.endswith(f".data/data/share/man/man1/{path.name}"))
        assert inside[at] == path.read_bytes()
    about = metadata_of(wheel)
    assert about["License-Expression"] == "Apache-2.0" and about["Requires-Python"] == ">=3.11"
    assert {"report", "sci", "lp", "search", "dask", "all"} <= set(about.get_all("Provides-Extra"))
    assert about.get_all("Classifier") and about.get_payload().startswith("# flyloom")


def test_the_sdist_has_what_the_wheel_is_made_of(wheel, tmp_path):
    maturin("sdist", "-o", tmp_path)
    (found,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(found) as packed:
        entries = {entry.name.partition("/")[2]: entry for entry in packed.getmembers()}
        names = set(entries)
        for name, entry in entries.items():  # a link would lead to nowhere, or to an older file
            assert entry.isdir() or entry.isreg(), name
            if (ROOT / name).is_file() and name != "Cargo.toml":
                inside = packed.extractfile(entry).read()
                assert inside == (ROOT / name).read_bytes() or name == "Cargo.lock", name
    crates = subprocess.run(["git", "ls-files", "crates/*.rs", "crates/*/Cargo.toml"],
                            cwd=ROOT, text=True, check=True, capture_output=True).stdout.split()
    outside = ("crates/xtask/", "crates/conformance/")
    crates = [name for name in crates if not name.startswith(outside)]
    assert set(crates) <= names
    included = set()
    for source in crates:  # what a crate includes comes too
        text = (ROOT / source).read_text()
        for quoted in re.findall(r'include(?:_str|_bytes)?!\(\s*"([^"]+)"', text):
            path = (ROOT / source).parent / quoted
            included.add(str(path.resolve().relative_to(ROOT)))
    assert included and included <= names, included - names
    with zipfile.ZipFile(wheel) as packed:
        package = {f"python/{n}" for n in packed.namelist()
                   if n.startswith("flyloom/") and "_core.abi3" not in n}
    assert package <= names and "Cargo.lock" in names
    assert {str(path.relative_to(ROOT)) for path in MANUAL.glob("*.1")} <= names


def test_the_core_alone_works_and_names_the_extras(core):
    assert core.run("--version").stdout.startswith("flyloom ")
    assert json.loads(core.run("design", "slim_fly:q=5,p=4", "--json").stdout)["switches"] == 50
    assert core.run("cables", "slim_fly:q=3,p=1", "-o", "wire").returncode == 0
    assert core.run("catalog", "list").returncode == 0
    about = json.loads(core.run("doctor", "--json").stdout)
    absent = {row["extra"] for row in about["extras"] if row["absent"]}
    assert absent == {"report", "sci", "lp", "search", "dask", "pandas", "polars"}
    assert str(core.site) in str(about["plugin"]["sources"]) or not about["plugin"]["can_be_built"]
    for words, extra in (
        (("throughput", "slim_fly:q=3,p=1"), "lp"),
        (("search", "--order", "8", "--degree", "3", "--method", "sat"), "search"),
        (("run", "deployed_slim_fly.toml", "--on", "dask://a:1"), "dask"),
        (("compare", "ring:n=5,p=1", "ring:n=6,p=1", "-o", "compared"), "report"),
    ):
        core.run("example", "deployed_slim_fly")
        done = core.run(*words)
        assert done.returncode == 3, (words, done.stdout, done.stderr)
        assert len(done.stderr.splitlines()) == 1 and f"'flyloom[{extra}]'" in done.stderr


def test_an_example_runs_and_is_reported(whole):
    wrote = whole.run("example", "deployed_slim_fly")
    assert (wrote.returncode, wrote.stdout) == (0, "deployed_slim_fly.toml\n")
    same = (ROOT / "examples/deployed_slim_fly.toml").read_text()
    assert (whole.place / "deployed_slim_fly.toml").read_text() == same
    small = whole.place / "small.toml"
    small.write_text('schema = 1\nname = "small"\n[topology]\nfamily = "slim_fly"\nq = 3\np = 1\n'
                     '[routing]\nengine = "dfsssp"\n[ebb]\npatterns = 10\n')
    ran = whole.run("run", "small.toml", "--workers", "1")
    assert ran.returncode == 0, ran.stderr
    page = (whole.place / "out/small/report.html").read_text()
    assert "<svg" in page
    (whole.place / "out/small/report.html").unlink()
    assert whole.run("report", "out/small").returncode == 0
    assert (whole.place / "out/small/report.html").is_file()
    made = whole.run("compare", "ring:n=5,p=1", "ring:n=6,p=1", "-o", "compared")
    assert made.returncode == 0, made.stderr
    assert list((whole.place / "compared").iterdir())


@needs_fabric
@pytest.mark.ib
def test_the_wheel_loads_tables_into_opensm(core):
    done = core.run("deploy", "ring:n=4,p=1", "--engine", "dfsssp")
    assert done.returncode == 0, done.stderr
    assert "identical" in done.stdout
    assert list((core.place / "cache/flyloom").glob("opensm-*/libflyloom_opensm.so"))
