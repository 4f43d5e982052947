"""Certificates against the checker that shares nothing with the proof; verdicts by name."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom import certificate_check

CASES = [
    ("slim_fly:q=5,p=2", "dfsssp", {}, 2),
    ("slim_fly:q=5,p=1", "layered", {"max_lanes": 15}, 3),
    ("torus:shape=4x4,p=2", "dor", {}, 1),
    ("torus:shape=5x4,p=1", "nue", {"max_lanes": 1}, 1),
    ("dragonfly:h=2", "dfsssp", {"lanes": "hops"}, 1),
    ("jellyfish:n=20,k=4,p=2,seed=3", "up_down", {}, 2),
    ("fat_tree:leaves=4,spines=2,parallel=2,p=2", "ftree", {}, 1),
]


def written(folder: Path, net: str, engine: str, options: dict, layers: int) -> Path:
    extra = [f"--option={key}={value}" for key, value in options.items()]
    done = flyloom("route", net, "-e", engine, "--layers", str(layers), *extra, "-o", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{c[1]}")
def test_certificates_hold_and_stop_holding_when_anything_is_changed(case, tmp_path):
    folder = written(tmp_path / "tables", *case)
    assert flyloom("verify", str(folder), "--certificate").returncode == 0
    net, _, _, layers = case
    routes = certificate_check.check(folder)
    addresses = 1 << (layers - 1).bit_length()
    assert routes % (addresses * fl.structure(net).terminals) == 0 and routes > 0

    (folder / "SHA256SUMS").unlink()  # what is altered below would be refused
    # numbers in another order, and entries that go elsewhere
    certificate = folder / "certificate.txt"
    good = certificate.read_text()
    rows = [line.split() for line in good.splitlines()]
    for row in (row for row in rows if row[0] == "port"):
        row[3:] = [str(10**9 - int(n)) for n in row[3:]]
    certificate.write_text("\n".join([*map(" ".join, rows), ""]))
    with pytest.raises(certificate_check.StatementError, match="does not rise"):
        certificate_check.check(folder)
    certificate.write_text(good)
    tables = folder / "tables.txt"
    lines = tables.read_text().splitlines()
    chance = random.Random(5)
    for _ in range(8):
        spoilt = list(lines)
        row = chance.choice([i for i, line in enumerate(lines) if line.startswith("lft ")])
        words = spoilt[row].split()
        lid = chance.randrange(3, 3 + fl.structure(net).terminals * addresses)
        words[lid] = "-"
        spoilt[row] = " ".join(words)
        tables.write_text("\n".join([*spoilt, ""]))
        try:
            assert certificate_check.check(folder) == routes
        except certificate_check.StatementError as fault:
            assert "ends at" in str(fault)
            assert flyloom("verify", str(folder)).returncode == 1
        else:
            assert flyloom("verify", str(folder)).returncode == 0


def test_the_checker_runs_alone_and_says_what_it_found(tmp_path):
    folder = written(tmp_path / "tables", *CASES[0])
    alone = tmp_path / "alone.py"
    alone.write_text(Path(certificate_check.__file__).read_text())

    def run(*words):
        return subprocess.run(
            [sys.executable, "-I", str(alone), *words], capture_output=True, text=True
        )

    assert run().returncode == 2 and "usage" in run().stderr
    assert run(str(folder)).returncode == 2  # no certificate yet
    assert flyloom("verify", str(folder), "--certificate").returncode == 0
    assert run(str(folder)).stdout == "certificate: holds for 10,000 routes\n"  # 50 x 100 x 2
    (folder / "certificate.txt").write_text("flyloom-certificate 1\n")
    assert run(str(folder)).returncode == 1
    assert len(Path(certificate_check.__file__).read_text().splitlines()) <= 310
    assert "flyloom" not in {
        line.split()[1].split(".")[0] for line in alone.read_text().splitlines()
        if line.startswith(("import ", "from "))
    }


def test_tables_that_deadlock_get_no_certificate(tmp_path):
    folder = written(tmp_path / "tables", "slim_fly:q=5,p=1", "min_hop", {}, 1)
    done = flyloom("verify", str(folder), "--certificate")
    assert done.returncode == 1 and not (folder / "certificate.txt").exists()
    done = flyloom("verify", "slim_fly:q=5,p=1", "--certificate")
    assert done.returncode == 2 and "--certificate" in done.stderr


def spoil(folder: Path, change) -> dict:
    (folder / "SHA256SUMS").unlink()
    tables = folder / "tables.txt"
    rows = [line.split() for line in tables.read_text().splitlines()]
    change(rows)
    tables.write_text("\n".join(" ".join(row) for row in rows) + "\n")
    done = flyloom("verify", str(folder), "--json")
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)["verdicts"]


def test_every_fault_has_its_verdict_with_a_count_and_a_counterexample(tmp_path):
    # a ring of four switches with one endpoint each: LID 1 is at switch 0
    ring = ("torus:shape=4,p=1", "sssp", {}, 1)

    def lft(rows, switch):
        return [row for row in rows if row[0] == "lft"][switch]

    def lose(rows):
        for switch in range(1, 4):
            lft(rows, switch)[3] = "-"

    def loop(rows):  # switches 2 and 3 send what is for switch 0 to each other
        for a, b in ((2, 3), (3, 2)):
            lft(rows, a)[3] = lft(rows, a)[3 + b]

    def astray(rows):
        lft(rows, 2)[3] = "1"

    def dead(rows):
        lft(rows, 1)[3] = "200"

    cases = [
        (lose, "no_missing_entry", 3), (loop, "no_loop", 2), (astray, "no_wrong_delivery", 1),
        (dead, "no_dead_port", 1),
    ]
    for i, (change, name, least) in enumerate(cases):
        folder = written(tmp_path / str(i), *ring)
        found = spoil(folder, change)
        assert found[name]["holds"] is False, (name, found)
        assert found[name]["routes"] >= least
        assert found[name]["counterexample"].startswith("route from ")
        assert found["no_deadlock"]["holds"] is None
        others = set(found) - {name, "no_deadlock", "within_lanes", "management"}
        assert all(found[other]["holds"] for other in others), found

    folder = written(tmp_path / "hops", *ring)
    done = flyloom("verify", str(folder), "--hop-limit", "1", "--json")
    verdict = json.loads(done.stdout)["verdicts"]["no_over_the_hop_limit"]
    assert done.returncode == 1 and verdict["holds"] is False
    assert verdict["routes"] == 4  # each switch has one switch two hops away


def test_lanes_beyond_those_there_are_have_a_verdict(tmp_path):
    folder = written(tmp_path / "t", "torus:shape=5,p=1", "dfsssp", {}, 1)
    few = flyloom("verify", str(folder), "--max-lanes", "1", "--json")
    found = json.loads(few.stdout)
    assert few.returncode == 1 and found["verified"] is False
    assert found["verdicts"]["within_lanes"]["holds"] is False
    assert "on lane 1" in found["verdicts"]["within_lanes"]["counterexample"]
    assert flyloom("verify", str(folder), "--max-lanes", "2").returncode == 0
    # lane 15 is for management: data put there is dropped
    (folder / "SHA256SUMS").unlink()
    text = (folder / "tables.txt").read_text()
    sl2vl = next(line for line in text.splitlines() if line.startswith("sl2vl"))
    words = sl2vl.split()
    words[4] = "15"
    (folder / "tables.txt").write_text(text.replace(sl2vl, " ".join(words)))
    assert flyloom("verify", str(folder)).returncode == 1
    for wrong in ("0", "16", "x"):
        assert flyloom("verify", str(folder), "--max-lanes", wrong).returncode == 2
