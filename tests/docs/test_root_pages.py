"""What is said of flyloom outside of its documentation: how it is cited, the index for language
models; and `flyloom cite`."""

import json
import re
import subprocess
import sys
import tomllib
import unicodedata

import flyloom as fl
import pytest
from checkout import ROOT
from cli_helpers import document, flyloom
from flyloom.verbs import citing

ELSEWHERE = {
    "dueck-1990", "alexandrov-1995", "hoefler-2010", "gerstenberger-2013", "belli-2015",
    "mubarak-2017",
}
"""Publications whose titles no comment of the crates has: of the runtime, and of other programs."""
REFERENCES = tomllib.loads((ROOT / "python/flyloom/verbs/references.toml").read_text("utf-8"))


def letters(text):
    """The letters and digits of a text, without accents and in one case."""
    plain = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9]+", " ", plain.lower()).strip()


def test_llms_txt_is_fresh_and_its_pages_are_there():
    done = subprocess.run([sys.executable, ROOT / "scripts/llms-txt", "--check"], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    pages = re.findall(r"\]\((\S+)\)", (ROOT / "llms.txt").read_text("utf-8"))
    assert len(pages) > 50 and all((ROOT / page).is_file() for page in pages)


def test_citation_file_says_what_the_command_says():
    said = dict(re.findall(r'^([a-z-]+): "?([^"\n]+)"?$',
                           (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE))
    own = fl.cite().references[0]
    assert (said["title"], said["version"]) == (own.title, own.version) == (
        own.title, fl.__version__)
    assert said["date-released"].startswith(str(own.year))
    assert f'- name: "{own.authors[0]}"' in (ROOT / "CITATION.cff").read_text("utf-8")
    released = re.search(r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"),
                         re.MULTILINE)
    assert released.groups() == (said["version"], said["date-released"])


def test_references_agree_with_the_sources_in_the_code():
    """The code was written from the publications and names them; each title is found there."""
    code = " ".join(path.read_text("utf-8") for path in sorted((ROOT / "crates").rglob("*.rs")))
    code = letters(re.sub(r"\s*\n\s*//[/!]?\s*", " ", code).replace("`", ""))
    missing = {key for key, row in REFERENCES.items() if letters(row["title"]) not in code}
    assert missing == ELSEWHERE


def test_references_are_whole_and_of_parts_that_there_are():
    known = {f"{row['kind']} {row['name']}" for row in document("list")} | {citing.LIBRARY}
    years = [row["year"] for row in REFERENCES.values()]
    assert years == sorted(years)
    for key, row in REFERENCES.items():
        assert set(row) == {"kind", "authors", "title", "venue", "year", "of"}, key
        assert row["kind"] in citing.VENUES and set(row["of"]) <= known, key
        assert letters(row["authors"][0]).split()[-1] == key.split("-")[-2], key
        assert key.rstrip("abc").endswith(str(row["year"])), key


@pytest.mark.parametrize(("words", "keys", "without"), [
    ([], [], []),
    (["slim_fly:q=5,p=4", "dfsssp"], ["domke-2011", "besta-2014", "blach-2024"], []),
    (["lash"], ["skeie-2002"], []),
    (["opensm:lash", "min_hop"], ["skeie-2002"], ["engine min_hop"]),
    (["libflyloom"], ["gerstenberger-2013", "belli-2015"], []),
    (["greedy"], ["hoefler-2011"], []),
])
def test_parts_are_cited(words, keys, without):
    found = document("cite", *words)
    assert [row["key"] for row in found["references"]][1:] == keys
    assert found["references"][0]["key"] == f"flyloom-{fl.__version__}"
    assert found["without"] == without
    assert found == fl.cite(*words).to_dict()


def test_an_experiment_cites_its_parts(tmp_path):
    """Parts by the keys that name them, in sweeps too; a pattern called as a family is none."""
    (tmp_path / "x.toml").write_text("""\
schema = 1
name = "x"
[topology]
family = "xpander"
[map]
method = "greedy+anneal"
[sim.packet]
traffic = "ring"
[sweep.grid]
"routing.engine" = ["opensm:nue", "ecmp"]
"sim.flit.selection" = ["minimal", "par"]
[ebb]
""")
    found = fl.cite(tmp_path / "x.toml")
    assert {row.key for row in found.references[1:]} == {
        "valadarsky-2016", "hoefler-2011", "kirkpatrick-1983", "domke-2016", "hopps-2000",
        "jiang-2009", "hoefler-2008"}


def test_bibtex_is_read_as_it_is_written():
    """A reader of BibTeX of a few lines: entries, fields, balanced braces, authors apart."""
    text = flyloom("cite", "slim_fly", "up_down", "ugal_l", "--style", "bibtex").stdout
    entries = re.findall(r"^@(\w+)\{([^,\s]+),\n((?:  \w+ = \{.*\},\n)+)\}$", text, re.MULTILINE)
    assert len(entries) == text.count("@") == 5
    rows = document("cite", "slim_fly", "up_down", "ugal_l")["references"]
    for (kind, key, body), row in zip(entries, rows, strict=True):
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, re.MULTILINE))
        assert (kind, key, fields["year"]) == (row["kind"], row["key"], str(row["year"]))
        assert all(value.count("{") == value.count("}") for value in fields.values())
        assert fields["title"] == f"{{{row['title']}}}"
        assert fields["author"].strip("{}").split(" and ") == row["authors"]


@pytest.mark.parametrize(("words", "says"), [
    (["slimfly"], "there is no part 'slimfly'; did you mean slim_fly?"),
    (["none.toml"], "none.toml: cannot be read: No such file or directory"),
    (["slim_fly", "--style", "apa"], "--style apa: one of text, bibtex"),
    ([str(ROOT / "docs")], "no folder of a run: it has no effective.toml"),
])
def test_cite_refuses(words, says):
    done = flyloom("cite", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr and len(done.stderr.splitlines()) == 1


def test_cite_refuses_as_json():
    done = flyloom("cite", "slimfly", "--json")
    assert done.returncode == 2 and json.loads(done.stdout)
