"""What is on the disk is not believed: kept points, results, folders of tables and of cabling."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import flyloom as fl
import pytest
from cli_helpers import flyloom
from flyloom import RefusalError, read_tables, report
from flyloom.lab.kept import content_digest
from flyloom.lab.kept import kept as believed
from flyloom.support import files
from test_faults import EXPERIMENT, NET


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder in which a run of three points has finished, two writings of tables, a folder to
    wire from."""
    folder = tmp_path_factory.mktemp("finished")
    text = EXPERIMENT.format(label="x", size=3) + '[sweep.grid]\n"ebb.samples" = [3, 4, 5]\n'
    (folder / "x.toml").write_text(text)
    for words in (["run", "x.toml"], ["route", NET, "-o", "t"], ["cables", NET, "-o", "w"],
                  ["route", "mesh:shape=3x3,p=1", "-o", "u"]):
        assert flyloom(*words, cwd=folder).returncode == 0
    return folder


@pytest.fixture
def place(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "place")


def altered(text: str) -> str:
    """Another effective bisection bandwidth, in a file that is good JSON."""
    kept = json.loads(text)
    kept["ebb"]["effective_bisection_bandwidth"] = 0.125
    return json.dumps(kept)


def of_another_version(text: str) -> str:
    """A point with a digest that is right, by the rule as it is documented."""
    kept = json.loads(text)
    del kept["sha256"], kept["lanes"]
    return json.dumps({**kept, "sha256": content_digest(kept)})


def as_foreign(path: Path, other: Path) -> None:
    shutil.copy(other, path)


SPOILT = {
    "cut": lambda p, o: p.write_text(p.read_text()[:-40]),
    "empty": lambda p, o: p.write_text(""),
    "altered": lambda p, o: p.write_text(altered(p.read_text())),
    "another point's": as_foreign,
    "another version's": lambda p, o: p.write_text(of_another_version(p.read_text())),
    "no object": lambda p, o: p.write_text("[1, 2]"),
    "no text": lambda p, o: p.write_bytes(b"\xff\x00\xfe"),
    "deep": lambda p, o: p.write_text("[" * 200_000),
    "long number": lambda p, o: p.write_text('{"sha256": ' + "9" * 5000 + "}"),
    "link to nothing": lambda p, o: (p.unlink(), p.symlink_to("nothing")),
    "link to itself": lambda p, o: (p.unlink(), p.symlink_to(p.name)),
    "endless": lambda p, o: (p.unlink(), p.symlink_to("/dev/zero")),
    "pipe": lambda p, o: (p.unlink(), os.mkfifo(p)),
    "folder": lambda p, o: (p.unlink(), p.mkdir()),
}


def said(place: Path) -> list[tuple[str, str]]:
    """The stages of a run, and its lines about them."""
    lines: list[tuple[str, str]] = []
    fl.run(place / "x.toml", out=place / "out", say=lambda *reported: lines.append(reported[:2]))
    return lines


def test_spoilt_points_are_computed_anew_with_a_line(place, monkeypatch):
    """The rows are those of an undisturbed run, byte for byte."""
    # takes longest, and is not asked for
    monkeypatch.setattr(report, "render", lambda _data, **_how: "")
    results = place / "out" / "x"
    good = (results / "rows.parquet").read_bytes()
    one, *_, other = sorted((results / "points").iterdir())
    content = one.read_bytes()
    for name, spoil in SPOILT.items():
        spoil(one, other)
        reported = said(place)
        lines = [line for stage, line in reported if stage == "anew"]
        assert len(lines) == 1 and one.name in lines[0], (name, reported)
        assert lines[0].endswith("; computed anew")
        assert [stage for stage, _ in reported].count("kept") == 2
        assert (results / "rows.parquet").read_bytes() == good, name
        if name == "folder":  # not ours to remove
            one.rmdir()
        elif name in ("endless", "pipe"):
            one.unlink()
        else:
            assert one.read_bytes() == content, name
            assert [stage for stage, _ in said(place)].count("kept") == 3
        one.write_bytes(content)
    one.write_text("cut")
    done = flyloom("run", "x.toml", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{one.name}: cut, or not what a run keeps; computed anew\n" in done.stdout


def test_a_point_is_kept_with_the_digest_of_its_content(finished):
    for path in (finished / "out" / "x" / "points").iterdir():
        text = path.read_text()
        record = believed(path)
        assert record["digest"] == path.stem and "sha256" not in record
        for at in range(0, len(text), 97):  # any digit altered is noticed
            if text[at].isdigit():
                digit = "7" if text[at] != "7" else "8"
                copy = finished / "copy" / path.name
                copy.parent.mkdir(exist_ok=True)
                copy.write_text(text[:at] + digit + text[at + 1:])
                assert isinstance(believed(copy), str), at


def test_altered_results_are_not_reported(place):
    results = place / "out" / "x" / "results.json"
    report = results.with_name("report.html")
    before = report.read_bytes()
    results.write_text(results.read_text().replace("torus", "clique").replace("mesh", "clique"))
    done = flyloom("report", "out/x", cwd=place)
    assert done.returncode == 2 and report.read_bytes() == before
    assert re.fullmatch("flyloom: out/x/results.json: not what manifest.json says: .*\n",
                        done.stderr)
    assert flyloom("run", "x.toml", cwd=place).returncode == 0
    assert flyloom("report", "out/x", cwd=place).returncode == 0
    recorded = json.loads(results.with_name("manifest.json").read_text())["sha256"]
    for name, digest in recorded.items():
        printed = subprocess.run(["sha256sum", results.with_name(name)], capture_output=True,
                                 text=True, check=True).stdout
        assert printed.split()[0] == digest


READERS = [["verify"], ["repair", "--random", "1"], ["ebb", "--samples", "2"], ["congestion"],
           ["lanes"]]


def test_sha256sum_agrees_with_the_record(place):
    for folder in ("t", "w"):
        done = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"],
                              cwd=place / folder, capture_output=True, text=True)
        names = {str(p.relative_to(place / folder)) for p in (place / folder).rglob("*")
                 if p.is_file()} - {"SHA256SUMS"}
        assert done.returncode == 0
        assert sorted(done.stdout.splitlines()) == sorted(f"{name}: OK" for name in names)


def test_every_reader_refuses_two_writings_mixed(place):
    """Each file of another writing in turn, or gone: refused by its name, whatever is asked."""
    names = [line.split()[1] for line in (place / "t" / "SHA256SUMS").read_text().splitlines()]
    assert len(names) == 6
    for i, name in enumerate(names):
        path = place / "t" / name
        good = path.read_bytes()
        for other in ((place / "u" / name).read_bytes(), good + b"\n", None):
            if other == good:
                continue
            path.unlink() if other is None else path.write_bytes(other)
            with pytest.raises(RefusalError, match=f"t/{name}: "):
                read_tables(place / "t")
        verb, *more = READERS[i % len(READERS)]
        done = flyloom(verb, "t", *more, cwd=place)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert re.fullmatch(f"flyloom: t/{name}: .*\n", done.stderr)
        path.write_bytes(good)
    for verb, *more in READERS:
        assert flyloom(verb, "t", *more, cwd=place).returncode in (0, 1)


def test_records_that_are_none_are_refused(place):
    record = place / "t" / "SHA256SUMS"
    good = record.read_text()
    for text, said in (
        ("", "has no line for network.json"), (files.UNFINISHED, "was not finished"),
        ("words\n", "line 1: not a digest"), (good + f"{'0' * 64}  ../x\n", "line 7"),
        (good + f"{'0' * 64}  /etc/passwd\n", "line 7"), (good + f"{'0' * 64}  .\n", "t/?: .*"),
        (good.replace("tables.txt", "other.txt"), "has no line for tables.txt"),
    ):
        record.write_text(text)
        with pytest.raises(RefusalError, match=said):
            read_tables(place / "t")
    os.mkfifo(place / "t" / "pipe")
    record.write_text(good + f"{'0' * 64}  pipe\n")
    with pytest.raises(RefusalError, match="t/pipe: is no regular file"):
        read_tables(place / "t")
    record.unlink()
    assert read_tables(place / "t").lmc == 0, "by hand, or by an earlier version: taken as it is"


def test_a_folder_written_while_it_is_read_is_refused(place):
    """The record is read first and compared last: what comes between is noticed."""
    with pytest.raises(RefusalError, match="not what SHA256SUMS says"), \
            files.of_one_writing(place / "t", ["tables.txt"]):
        shutil.copytree(place / "u", place / "t", dirs_exist_ok=True)


def test_the_folder_to_wire_from_is_of_one_writing(place):
    plan = place / "w" / "plan.json"
    assert flyloom("verify-cables", "w", "w/network.json", cwd=place).returncode == 0
    with open(place / "w" / "order.csv", "a") as order:
        order.write("ticked\n")  # people write into the lists
    assert flyloom("verify-cables", "w", "w/network.json", cwd=place).returncode == 0
    plan.write_text(plan.read_text().replace('"rack', '"crate'))
    done = flyloom("verify-cables", "w", "w/network.json", cwd=place)
    assert done.returncode == 2 and "w/plan.json: not what SHA256SUMS says" in done.stderr


def test_an_old_certificate_goes_and_foreign_files_stay(place):
    assert flyloom("verify", "t", "--certificate", cwd=place).returncode == 0
    (place / "t" / "notes.txt").write_text("mine")
    (place / "t" / "mine").mkdir()
    for words in (["route", NET, "-o", "t"], ["lanes", "u", "--lanes", "online", "-o", "t"],
                  ["repair", "u", "--random", "1", "-o", "t"]):
        (place / "t" / "certificate.txt").touch()
        assert flyloom(*words, cwd=place).returncode == 0
        assert not (place / "t" / "certificate.txt").exists()
        assert (place / "t" / "notes.txt").read_text() == "mine" and (place / "t" / "mine").is_dir()
        assert flyloom("verify", "t", cwd=place).returncode == 0


def test_files_are_on_the_disk_before_their_names(monkeypatch, tmp_path):
    """Each file is synced before it takes its place, the folder before the record and after it."""
    done = []
    fsync, rename = os.fsync, os.replace

    def noted_sync(number):
        done.append(("sync", os.path.basename(os.readlink(f"/proc/self/fd/{number}"))))
        fsync(number)

    def noted_rename(old, new):
        done.append(("rename", os.path.basename(old), os.path.basename(new)))
        rename(old, new)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_rename)
    files.write_folder(tmp_path / "f", {"a": "1", "b": "2"})
    renames = [step for step in done if step[0] == "rename"]
    assert [name for _, _, name in renames] == ["SHA256SUMS", "a", "b", "SHA256SUMS"]
    for step in renames:
        assert done.index(("sync", step[1])) < done.index(renames[0])
    last = done.index(renames[-1])
    assert done[last - 1] == done[last + 1] == ("sync", "f")
    assert done[done.index(renames[0]) + 1] == ("sync", "f")


def test_without_hard_links_what_was_there_still_comes_back(monkeypatch, tmp_path):
    def refused(*_args, **_more):
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "link", refused)
    files.write_whole(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "new"
    (tmp_path / "b").mkdir()
    with pytest.raises(RefusalError, match="b: cannot be written: Is a directory"):
        files.replace([(tmp_path / "a", "newer"), (tmp_path / "b", "")])
    assert (tmp_path / "a").read_text() == "new"
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}
