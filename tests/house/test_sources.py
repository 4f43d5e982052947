"""What a finished point stands on: a change of that is computed anew, a change elsewhere is not."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import flyloom as fl
import pytest
from cli_helpers import PACKAGE, command, environment
from flyloom import _core, report
from flyloom.lab import sources
from test_executors import SHORT

ROOT = PACKAGE.parent
GRAPH = json.loads(_core.__sources__)
POINT, FABRIC = "flyloom.lab.point", "flyloom.lab.fabric"


def fnv(content: bytes) -> str:
    """FNV-1a of 128 bits, by its definition."""
    found = 0x6C62272E07BB014262B821756295C58D
    for byte in content:
        found = (found ^ byte) * 0x1000000000000000000013B % 2**128
    return f"{found:032x}"


def manifests() -> dict[str, dict]:
    """What cargo says of every crate of the workspace, by the name that code has for it."""
    printed = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"],
        cwd=ROOT, capture_output=True, text=True,
    )
    assert printed.returncode == 0, printed.stderr
    packages = json.loads(printed.stdout)["packages"]
    names = {package["name"]: target["name"] for package in packages
             for target in package["targets"] if target["kind"][0] in ("lib", "cdylib")}
    names["flyloom-capi"] = "capi"  # its library is called flyloom_map, for programs in C
    return {names[package["name"]]: package for package in packages if package["name"] in names}


def test_the_core_knows_which_crate_uses_which_as_cargo_does():
    crates = manifests()
    by_package = {package["name"]: name for name, package in crates.items()}
    for name, package in crates.items():
        if name == "_core":
            continue
        uses = {by_package[d["name"]] for d in package["dependencies"]
                if d.get("path") and d["kind"] != "dev"}
        assert set(GRAPH["nodes"][name][1]) == uses | {"outside"}, name
    assert set(crates) - {"_core"} == {n for n in GRAPH["nodes"] if "/" not in n} - {"outside"}


def test_the_digests_are_of_the_sources_that_are_here():
    """The file as a whole; a core that was built from others is to be built again."""
    for path in sorted((ROOT / "crates/py/src").glob("*.rs")):
        if path.stem != "lib":
            assert GRAPH["nodes"][f"py/{path.stem}"][0] == fnv(path.read_bytes()), path.name
    folder, text = ROOT / "crates/base", b""
    for path in [*sorted((folder / "src").rglob("*.rs")), folder / "Cargo.toml"]:
        content = path.read_bytes()
        assert b"include_str!(" not in content
        text += f"{path.relative_to(ROOT)}\n{len(content)}\n".encode() + content
    assert GRAPH["nodes"]["base"][0] == fnv(text)


def test_every_name_of_the_core_has_its_file():
    reported = {name for name in dir(_core) if not name.startswith("__")}
    assert set(GRAPH["names"]) == reported
    assert GRAPH["names"]["Topology"] == "py/topology"
    assert "py/enter" in GRAPH["nodes"]["py/topology"][1]


def test_a_class_stands_on_the_files_of_its_methods():
    """Also where its struct is in another file: whoever is given an object can call them."""
    texts = {path.stem: path.read_text() for path in (ROOT / "crates/py/src").glob("*.rs")}
    homes = {name: stem for stem, text in texts.items()
             for name in re.findall(r"#\[pyclass.*\n(?:.*\n)??pub struct (\w+)", text)}
    apart = {(homes[name], stem) for stem, text in texts.items()
             for name in re.findall(r"#\[pymethods\]\nimpl (\w+)", text) if homes[name] != stem}
    assert {("classes", "topology"), ("classes", "routing")} <= apart
    for home, methods in apart:
        assert f"py/{methods}" in GRAPH["nodes"][f"py/{home}"][1], (home, methods)


LOADED = """\
import json, sys
from flyloom.lab import point
task = point.PointTask(0, "", point.NetworkSource("k", family="slim_fly", params={"q": 3}), {
    "routing": {"engine": ENGINE, "lmc": 1}, "verify": {"hop_limit": 64},
    "ebb": {"samples": 3}}, True, True, 0, "", "", None)
point.facts_of(task.source, lambda *_: None, None)
assert point.record_of(task, lambda *_: None, None, None)["ebb"]
print(json.dumps([name for name in sys.modules if name.split(".")[0] == "flyloom"]))
"""


@pytest.mark.parametrize("engine", ["dfsssp", "application"])
def test_whatever_a_point_loads_it_stands_on(engine):
    """Python itself tells what was loaded; the core is digested apart, and asks for memory."""
    done = subprocess.run([sys.executable, "-c", f"ENGINE = {engine!r}\n{LOADED}"],
                          env=environment(), capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout)) - {"flyloom._core", "flyloom.support.machine"}
    standing = set(sources.standing(POINT))
    assert loaded <= standing and {"flyloom.inputs.traffic", "engines", "py/routing"} <= standing
    assert POINT in loaded and len(loaded) > 5


def test_a_point_stands_on_no_report_no_drawing_and_no_command():
    rooms = {name.split(".")[1] for name in sources.standing(POINT) if name.startswith("flyloom.")}
    assert rooms == {"inputs", "lab", "plugins", "support", "verbs"}
    assert not {"design", "py/search", "py/sizing"} & set(sources.standing(POINT))
    assert "flyloom.deploy.opensm" in sources.standing(POINT, FABRIC)


@pytest.fixture
def copy(tmp_path):
    """A package that may be changed, and an experiment."""
    shutil.copytree(PACKAGE / "flyloom", tmp_path / "python/flyloom",
                    ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    core = Path(_core.__file__)
    (tmp_path / "python/flyloom" / core.name).symlink_to(core)
    (tmp_path / "many.toml").write_text(SHORT)
    return tmp_path


def reused(copy: Path) -> int:
    asked = [*command("run", "many.toml", "--workers", "2", "--json")]
    done = subprocess.run(asked, cwd=copy, capture_output=True, text=True, timeout=120,
                          env=environment() | {"PYTHONPATH": str(copy / "python")})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["reused"]


def comment(path: Path) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write("# a comment\n")


def test_a_comment_elsewhere_keeps_all_points_and_one_in_the_engines_none(copy):
    assert reused(copy) == 0
    package = copy / "python/flyloom"
    for elsewhere in ("report/page.py", "report/charts.py", "draw/floor.py", "cli/experiments.py",
                      "cabling/pdf.py", "lab/experiment.py", "deploy/opensm.py"):
        comment(package / elsewhere)
    assert reused(copy) == 12
    comment(package / "verbs/engines.py")
    assert reused(copy) == 0
    assert reused(copy) == 12


def test_a_changed_crate_makes_its_points_anew(tmp_path, monkeypatch):
    """A change of a crate that a point uses does; one of another, such as sizing, does not."""
    monkeypatch.setattr(report, "render", lambda _data, **_how: "")
    (tmp_path / "many.toml").write_text(SHORT)

    def reused_with(*changed: str) -> int:
        graph = json.loads(json.dumps(GRAPH))
        for name in changed:
            graph["nodes"][name][0] = "0" * 32
        monkeypatch.setattr(_core, "__sources__", json.dumps(graph))
        sources.digest_of.cache_clear()
        return fl.run(tmp_path / "many.toml", out=tmp_path, workers=1).reused

    assert reused_with() == 0
    assert reused_with() == reused_with("design", "py/sizing", "py/search") == 12
    for name in ("engines", "measure", "base", "outside", "py/routing"):
        assert reused_with(name) == 0, name
        assert reused_with(name) == 12
    sources.digest_of.cache_clear()


IMPORTS = {
    "__init__.py": "", "a.py": "import json\nfrom flyloom.b import inner\nfrom . import c\n",
    "b/__init__.py": "from .deep import inner\n",
    "b/deep.py": "def inner():\n    import flyloom.d\n",
    "c.py": "if TYPE_CHECKING:\n    import flyloom.types\n"
            "else:\n    from flyloom.e import x as y\n",
    "d.py": "from flyloom._core import Topology\n", "e.py": "", "types.py": "", "f.py": "",
    "whole.py": "from flyloom import _core\n", "lazy.py": "from flyloom import anything\n",
    "up/__init__.py": "", "up/one.py": "from ..f import z\nfrom .. import e\n",
}
SMALL = json.dumps({"nodes": {"x": ["1", ["y"]], "y": ["2", []], "z": ["3", []]},
                    "names": {"Topology": "x"}})


def test_imports_of_every_form_are_followed(tmp_path):
    for name, text in IMPORTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def found(module: str) -> set[str]:
        return set(sources.standing(module, package=tmp_path, core=SMALL))

    assert found("flyloom.a") == {"flyloom", "flyloom.a", "flyloom.b", "flyloom.b.deep",
                                  "flyloom.c", "flyloom.d", "flyloom.e", "x", "y"}
    assert found("flyloom.up.one") == {"flyloom", "flyloom.up", "flyloom.up.one", "flyloom.f",
                                       "flyloom.e"}
    assert found("flyloom.whole") == {"flyloom", "flyloom.whole", "x", "y", "z"}
    with pytest.raises(ValueError, match="name its module"):
        found("flyloom.lazy")


def test_the_manifest_says_how_keys_are_made(copy):
    reused(copy)
    manifest = json.loads((copy / "out/many/manifest.json").read_text())
    assert manifest["flyloom"] == fl.__version__ and manifest["keys"] == 2
    assert manifest["code"] == sources.digest_of(POINT)
    assert sorted(f"{point}.json" for point in manifest["points"]) == sorted(
        os.listdir(copy / "out/many/points"))
