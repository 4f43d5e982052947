"""The recipes of packaging/: they ask for what the package asks for; their own tools read them."""

import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest
from checkout import ROOT

PACKAGING = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
SPACK = PACKAGING / "spack/spack_repo/flyloom/packages"


def floors(lines):
    """The oldest version that is asked for of each distribution."""
    found = {}
    for line in lines:
        name, floor = re.match(r"([A-Za-z0-9-]+)>=([0-9.]+)", line).groups()
        found[name.lower()] = floor
    return found


NEEDED = floors(PROJECT["project"]["dependencies"])
BUILT_BY = floors(PROJECT["build-system"]["requires"])
EXTRAS = {name: floors(line for line in lines if not line.startswith("flyloom["))
          for name, lines in PROJECT["project"]["optional-dependencies"].items()}


def spack(name):
    """What a recipe of Spack declares: its class is made with directives that note their words."""
    said = {"depends_on": [], "version": [], "variant": [], "license": []}

    def noting(kind):
        return lambda *words, **more: said[kind].append((words, more))

    def same(*_words, **_more):
        return lambda function: function

    stands = types.ModuleType("spack.package")
    stands.__dict__.update({kind: noting(kind) for kind in said}, run_after=same,
                           on_package_attributes=same)
    stands.__all__ = [*said, "run_after", "on_package_attributes"]
    modules = {"spack": types.ModuleType("spack"), "spack.package": stands}
    for path, base in (("python", "PythonPackage"), ("cmake", "CMakePackage")):
        module = types.ModuleType(f"spack_repo.builtin.build_systems.{path}")
        setattr(module, base, type(base, (), {
            "define": staticmethod(lambda option, value: f"-D{option}={value}"),
            "define_from_variant": staticmethod(lambda option, of: f"-D{option}={{{of}}}"),
        }))
        modules[module.__name__] = module
    for part in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[part] = types.ModuleType(part)
    with pytest.MonkeyPatch.context() as patch:
        for module, value in modules.items():
            patch.setitem(sys.modules, module, value)
        made = runpy.run_path(str(SPACK / name / "package.py"))
    (recipe,) = (made[one] for one in ("PyFlyloom", "FlyloomRuntime") if one in made)
    return recipe, said


def asked(said, when=None):
    """The oldest versions that a recipe asks for, under one condition."""
    specs = (words[0] for words, more in said["depends_on"] if more.get("when") == when)
    pairs = (spec.removeprefix("py-").partition("@") for spec in specs)
    return {name: version.partition(":")[0] for name, _, version in pairs}


def test_every_recipe_is_of_this_version():
    version = CARGO["version"]
    texts = {path: path.read_text("utf-8") for path in PACKAGING.rglob("*")
             if path.is_file() and path.suffix not in (".def", ".yaml", ".pyc")}
    texts[PACKAGING / "conda/recipe.yaml"] = (PACKAGING / "conda/recipe.yaml").read_text("utf-8")
    assert len(texts) == 6
    for path, text in texts.items():
        assert version in text, path
        others = set(re.findall(r"flyloom[-@/](\d+\.\d+\.\d+)", text)) - {version}
        assert not others, path
    assert list((PACKAGING / "easybuild").glob(f"flyloom-{version}-*.eb"))


def test_typer_is_none_without_what_is_taken_from_it():
    """typer 0.29 has no types of click any more; whoever has it could not start flyloom."""
    (typer,) = (line for line in PROJECT["project"]["dependencies"] if line.startswith("typer"))
    assert typer.endswith(",<0.29")
    recipe = (PACKAGING / "conda/recipe.yaml").read_text("utf-8")
    assert "- typer >=0.12,<0.29\n" in recipe
    assert 'py-typer@0.12:0.28"' in (SPACK / "py_flyloom/package.py").read_text("utf-8")


def test_spack_asks_for_what_the_package_asks_for():
    recipe, said = spack("py_flyloom")
    found = asked(said)
    assert found.pop("rust") == CARGO["rust-version"]
    assert found.pop("python") == PROJECT["project"]["requires-python"].removeprefix(">=")
    assert found.pop("maturin") == BUILT_BY["maturin"] and found.pop("c") == ""
    assert found == NEEDED
    variants = {words[0] for words, _ in said["variant"]}
    for variant in variants:
        assert asked(said, f"+{variant}") == EXTRAS[variant], variant
    assert said["license"] == [((PROJECT["project"]["license"],), {})]
    assert [words for words, _ in said["version"]] == [(CARGO["version"],)]
    assert recipe.__doc__.split(".")[0].startswith("A workbench")


def test_the_runtimes_recipe_gives_options_that_cmake_knows():
    recipe, said = spack("flyloom_runtime")
    lists = (ROOT / recipe.root_cmakelists_dir / "CMakeLists.txt").read_text("utf-8")
    known = set(re.findall(r"^option\((\w+)", lists, re.MULTILINE))
    recipe.run_tests = False
    given = dict(word.removeprefix("-D").split("=") for word in recipe.cmake_args(recipe()))
    assert set(given) <= known and given["FLY_TESTS"] == "False"
    variants = {words[0] for words, _ in said["variant"]}
    assert {value.strip("{}") for value in given.values()} - {"False"} == variants
    least = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", lists)[1]
    assert asked(said)["cmake"] == least


def test_conda_asks_for_what_the_package_asks_for():
    text = (PACKAGING / "conda/recipe.yaml").read_text("utf-8")
    lines = dict(re.findall(r"^    - ([a-z0-9-]+) >=([0-9.]+)", text, re.MULTILINE))
    assert lines.pop("python") == PROJECT["project"]["requires-python"].removeprefix(">=")
    assert lines.pop("maturin") == BUILT_BY["maturin"]
    run, rest = (dict(re.findall(r"- ([a-z0-9-]+) >=([0-9.]+)", part)) for part in re.search(
        r"  run:\n(.*?)  run_constraints:\n(.*?)\n\n", text, re.DOTALL).groups())
    run.pop("python")
    assert run == NEEDED
    extras = {name: floor for rows in EXTRAS.values() for name, floor in rows.items()}
    assert rest.items() <= extras.items() and {**run, **rest} == lines


def test_conda_reads_its_recipe():
    """rattler-build's own parser: no unknown key, and it can be rendered."""
    rattler = pytest.importorskip("rattler_build")
    recipe = rattler.Stage0Recipe.from_yaml((PACKAGING / "conda/recipe.yaml").read_text("utf-8"))
    variants = rattler.VariantConfig(
        {"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"], "python": ["3.11.*"]})
    (made,) = recipe.render(variants)
    assert "flyloom" in str(made) and CARGO["version"] in str(made)


def test_easybuild_reads_its_file():
    """An easyconfig is Python; each extension comes after what it needs."""
    (path,) = (PACKAGING / "easybuild").glob("*.eb")
    said = runpy.run_path(str(path))
    assert path.name == f"{said['name']}-{said['version']}-gfbf-2025b.eb"
    assert said["toolchain"] == {"name": "gfbf", "version": "2025b"}
    given = {name.lower(): version for name, version in (*said["dependencies"], *said["exts_list"],
                                                         *said["builddependencies"])}
    wanted = {**NEEDED, **BUILT_BY, "rust": CARGO["rust-version"],
              "python": PROJECT["project"]["requires-python"].removeprefix(">=")}
    wanted["arrow"] = wanted.pop("pyarrow")  # PyArrow comes with Arrow, NumPy with SciPy-bundle
    wanted.pop("numpy")
    for name, floor in wanted.items():
        assert numbers(given[name]) >= numbers(floor), name
    assert said["exts_list"][-1] == ("flyloom", CARGO["version"])


def numbers(version):
    """A version as numbers."""
    return [int(part) for part in version.split(".")]


def test_apptainers_file_has_its_sections():
    """The sections that Apptainer knows; the base has a Rust that is new enough."""
    text = (PACKAGING / "apptainer/flyloom.def").read_text("utf-8")
    known = {"labels", "files", "post", "environment", "runscript", "test", "help"}
    assert set(re.findall(r"^%(\w+)", text, re.MULTILINE)) == known
    assert text.startswith("Bootstrap: docker\nFrom: rust:")
    rust = re.search(r"^From: rust:([0-9.]+)-", text, re.MULTILINE)[1]
    assert numbers(rust) >= numbers(CARGO["rust-version"])
    steps = re.search(r"^%post\n(.*?)^%", text, re.MULTILINE | re.DOTALL)[1]
    done = subprocess.run(["bash", "-n"], input=steps, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    spython = pytest.importorskip("spython.main.parse.parsers")
    assert spython.get_parser("singularity")(str(PACKAGING / "apptainer/flyloom.def")).parse()


def test_lmod_reads_its_module():
    """Run by Lua, with Lmod's functions noting their words."""
    lua = next((found for name in ("lua", "lua5.4", "lua5.3", "lua5.1")
                if (found := shutil.which(name))), None)
    if lua is None:
        pytest.skip("Lua is not installed")
    noting = "\n".join(f"function {name}(...) print('{name}', ...) end"
                       for name in ("help", "whatis", "conflict", "prepend_path"))
    joined = "function pathJoin(a, b) return a .. '/' .. b end"
    module = (PACKAGING / "modulefiles/flyloom.lua").read_text("utf-8")
    done = subprocess.run([lua, "-"], input=f"{noting}\n{joined}\n{module}", text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.startswith("prepend")]
    assert ["prepend_path", "PATH", f"/opt/flyloom/{CARGO['version']}/bin"] in rows
    assert all(Path(row[2]).is_relative_to(f"/opt/flyloom/{CARGO['version']}") for row in rows)
