"""Completion, through what bash, zsh and fish ask: values of arguments and options, and files."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from cli_helpers import command, environment
from flyloom._core import Shop, format_examples, registry

NAMES = {kind: [part["name"] for part in registry() if part["kind"] == kind]
         for kind in ("topology", "engine")}


@pytest.fixture
def place(tmp_path):
    """A folder with a network, tables, a catalogue and what is none of these."""
    for name in ("net.edges", "net.json.gz", "mine.toml", "notes.md", "weights.npy", ".hidden.net"):
        (tmp_path / name).touch()
    for name in ("tables", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "tables" / "tables.txt").touch()
    (tmp_path / "other" / "deep.net").touch()
    return tmp_path


def bash(words, cwd=None, at=None):
    """What bash gets for words that it has broken already; the last is completed."""
    done = subprocess.run(
        command(), cwd=cwd, capture_output=True, text=True, timeout=60,
        env=environment(_FLYLOOM_COMPLETE="complete_bash", COMP_WORDS="\n".join(words),
                        COMP_CWORD=str(len(words) - 1 if at is None else at)))
    assert done.stderr == "" and done.returncode in (0, 1)
    return done.stdout.split()


def ask(line, cwd=None):
    return bash(["flyloom", *line.split(" ")], cwd)


def test_names_of_every_kind(place):
    assert ask("design sl") == ask("design slim_") != []
    assert ask("route ring:n=4 -e d") == ["dfsssp", "dor"]
    assert {*ask("route ring:n=4 --engine ")} >= {*NAMES["engine"], "opensm:minhop"}
    assert ask("compare-routing ring:n=4 --engines nue,dfs") == ["nue,dfsssp"]
    assert ask("congestion ring:n=4 --pattern ten") == []
    assert "stencil" in ask("congestion ring:n=4 --pattern ste")
    for flag in ("pattern", "traffic"):
        assert len(ask(f"congestion ring:n=4 --{flag} receivers:")) == 4
        assert len(ask(f"congestion ring:n=4 --{flag} receivers:3,c")) == 2
    assert ask("throughput ring:n=4 --traffic long") == ["longest_matching"]
    assert ask("cost ring:n=4 --catalog fdr") == ["fdr10-2014"]
    assert {*ask("catalog show ")} == {*Shop.built_in()}
    assert ask("route ring:n=4 --lanes ") == ["online", "lightest", "heaviest", "random", "hops"]
    assert ask("size --families slim_fly,fat_t") == ["slim_fly,fat_tree"]
    assert ask("list me") == ["measures", "methods"]
    assert ask("sim message --costs s") == ["slingshot", "shared_memory"]
    assert ask("workload best barrier ranks=4 --costs ndr") == ["ndr"]
    assert ask("workload best reduce") == ["reduce", "reduce_scatter"]
    assert ask("map ring:n=4 --graph st") == ["stencil", "stencil_2d", "stencil_3d"]
    assert ask("size -n 9 --sort diam") == ["diameter"] == ask("compare --sort diam")[:1]
    assert ask("sim message ring:n=4 --set link.") == ["link.latency_ns=", "link.rate_gbps="]
    assert {*ask("sim message --set costs.")} > {"costs.L=", "costs.preset="}
    assert {*ask("workload best barrier --set ")} > {"L=", "o=", "switch.delay_ns="}
    assert "switch.virtual_channels=" in ask("sim flit ring:n=4 --set switch.")
    assert "switch.virtual_channels=" in ask("sim packet ring:n=4 --set switch.")
    assert ask("resilience ring:n=4 --remove s") == ["switches"]
    assert ask("edge") == ["edge-load"] and ask("help edge") == ["edge-load"]
    assert ask("example deployed_slim_f") == ["deployed_slim_fly"]
    assert "slurm-tree" in ask("export ring:n=4 --to slu")
    assert ask("sim message ring:n=4 --placement str") == ["stripe"]
    assert ask("workload best alltoall --placement random_") == ["random_groups", "random_switches"]
    assert ask("map ring:n=4 --method greedy+ann") == ["greedy+anneal"]
    assert ask("sim packet ring:n=4 --workload stencil_") == ["stencil_2d", "stencil_3d"]
    assert ask("workload make hp") == ["hpl"]
    assert ask("route ring:n=4 --out") == ["--out"]


def test_networks_and_tables_are_files_too(place):
    assert ask("design net", place) == ["net.edges", "net.json.gz"]
    assert ask("verify ta", place) == ["tables"]
    assert ask("design ta", place) == [], "the shell goes through folders better than we do"
    assert ask("design other/", place) == ["other/deep.net"]
    assert {*ask("verify ", place)} == {
        *NAMES["topology"], "mine.toml", "net.edges", "net.json.gz", "tables", "other/"}
    assert ask("run ", place) == ["mine.toml", "other/", "tables/"]
    assert "mine.toml" in ask("cost ring:n=4 --catalog mi", place)
    assert ask("throughput ring:n=4 --traffic we", place) == ["weights.npy"]
    assert ask("design .", place) == [".hidden.net"]
    assert ask("design nowhere/x", place) == ask("design a\0b".replace("\0", "%"), place) == []


def test_an_inline_form_goes_on_with_its_parameters():
    wanted = {f"{p['name']}=" for part in registry() for p in part["params"]
              if (part["kind"], part["name"]) == ("topology", "dragonfly")} | {"gbps="}
    assert {*ask("design dragonfl")} == {f"dragonfly:{name}" for name in wanted}
    assert {*bash(["flyloom", "design", "dragonfly", ":"])} == wanted
    broken = ["flyloom", "design", "dragonfly", ":", "h", "=", "2,"]
    left = {f"2,{name}" for name in wanted - {"h="}}
    assert {*bash(broken)} == left
    assert {*ask("design dragonfly:h=2,")} == {f"dragonfly:h={one}" for one in left}


def test_what_bash_breaks_is_put_together():
    assert bash(["flyloom", "route", "ring", ":", "n", "=", "4", "-e", "opensm", ":", "mi"]) \
        == ["minhop"]
    assert "minhop" in bash(["flyloom", "route", "x.net", "-e", "opensm", ":"])
    assert bash(["flyloom", "route", "x.net", "--engine", "=", "dfs"]) == ["dfsssp"]
    assert "minhop" in bash(["flyloom", "route", "x.net", "--engine", "=", "opensm", ":"])
    assert ask("route x.net --engine opensm:mi") == ["opensm:minhop"]


@pytest.mark.parametrize(("words", "at"), [
    ([], 0), (["flyloom"], 0), (["flyloom"], 7), (["flyloom", "="], 1), (["flyloom", ""], "x"),
    (["flyloom", "design", "'a"], 2), (["flyloom", "nothing", ""], 2),
    (["flyloom", "--plugin", "gone.py", ""], 3), ([":", ":"], 1),
])
def test_nonsense_gets_no_traceback(words, at):
    bash(words, at=at)


def test_the_parts_of_users_are_known(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import flyloom as fl\n\n\n@fl.topology\ndef my_own_net(n: int = 3, m: int = 4):\n"
        "    '''One of mine.'''\n")
    found = bash(["flyloom", "design", "--plugin", "mine.py", "my_"], tmp_path)
    assert {*found} >= {"my_own_net:n=", "my_own_net:m="}


def test_zsh_and_fish_are_answered():
    for shell, more in [("zsh", {}), ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"})]:
        done = subprocess.run(
            command(), capture_output=True, text=True, timeout=60,
            env=environment(_FLYLOOM_COMPLETE=f"complete_{shell}",
                            _TYPER_COMPLETE_ARGS="flyloom route ring:n=4 --engine dfs", **more))
        assert "dfsssp" in done.stdout and "dor" not in done.stdout and done.stderr == ""


def test_bash_itself_completes(tmp_path):
    """Bash runs the script that --show-completion prints, with this checkout's program."""
    program = tmp_path / "flyloom"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m flyloom.cli "$@"\n')
    program.chmod(0o755)
    env = environment(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}", SHELL="/bin/bash",
                      _FLYLOOM_COMPLETE="source_bash")
    script = subprocess.run(command(), env=env, capture_output=True, text=True, timeout=60).stdout
    assert "complete " in script
    del env["_FLYLOOM_COMPLETE"]
    for words, at, wanted in [
        ("flyloom route x.net -e opensm : minh", 6, "minhop"), ("flyloom desi", 1, "design"),
    ]:
        line = (f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={at}; "
                "_flyloom_completion flyloom; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True,
                              timeout=60)
        assert done.stdout.split() == [wanted], done.stderr


def test_only_the_command_that_is_completed_is_loaded():
    """Completing loads what running the command loads, and nothing that the answer does not
    need."""
    code = ("import sys, atexit\nfrom flyloom import cli\n"
            "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\ncli.main()")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
        env=environment(_FLYLOOM_COMPLETE="complete_bash", COMP_WORDS="flyloom route x -e dfs",
                        COMP_CWORD="4"))
    assert done.stdout.split() == ["dfsssp"]
    loaded = {*done.stderr.split()}
    assert "flyloom.cli.routes" in loaded
    assert not loaded & {"flyloom.cli.sizing", "flyloom.cli.fabric", "pyarrow", "altair", "scipy",
                         "networkx", "flyloom.verbs.routes"}


def test_files_of_every_format_of_workloads_are_completed(tmp_path):
    """A file of each has the name of its example; of several ranks the first stands for all."""
    wanted = set()
    for kind, _, files in format_examples():
        if kind == "workload-file":
            for name, content in files:
                (tmp_path / f"a-{name}").write_bytes(content)
            ends = [name for name, _ in files]
            index = [name for name in ends if not any(digit in name for digit in "0123456789")]
            wanted.add(f"a-{(index or ends)[0]}")
    (tmp_path / "a-notes.md").touch()
    found = set(ask("sim message --workload a-", cwd=tmp_path))
    assert found >= wanted and not found & {"a-notes.md", "a-run-1.txt", "a-run.1.et"}
