"""Forged folders: named edits of a good one, each of which the certificate checker must refuse.

The good folder is that of a ring of four switches with two endpoints each, LMC 1, where the tables
need two lanes: with one lane it deadlocks.
"""

from __future__ import annotations

import random
import re

import flyloom as fl
import pytest
from campaign import count
from flyloom import certificate_check
from flyloom._core import Topology

FILES = ("fabric.net", "tables.txt", "certificate.txt")


def texts_of(net, **options) -> dict[str, str]:
    topology = fl.network(net)
    routing = fl.route(topology, "dfsssp", lmc=1, **options)
    made = (topology.to_text("netlist", 1), routing.table_text(), routing.certificate_text())
    return dict(zip(FILES, made, strict=True))


@pytest.fixture(scope="module")
def good():
    return texts_of("torus:shape=4,p=2")


def put_in(folder, texts):
    for name, text in texts.items():
        data = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(data)
    return folder


def verdict(folder, texts) -> int | None:
    """How many routes hold, or None."""
    try:
        return certificate_check.check(put_in(folder, texts))
    except certificate_check.StatementError:
        return None


# ---- edits: (name, file, what to do with its text) ----


def swap(old, new, times=1):
    def edit(text):
        assert old in text, old
        return text.replace(old, new, times)
    return edit


def sub(pattern, new, times=1):
    def edit(text):
        changed, done = re.subn(pattern, new, text, count=times, flags=re.MULTILINE)
        assert done, pattern
        return changed
    return edit


def twice(pattern):
    return sub(rf"^({pattern}.*\n)", r"\1\1")


def before_end(*lines):
    return swap("end\n", "\n".join([*lines, "end", ""]))


def port_lines_of_switches(text):
    """Switches without their cables to switches."""
    return re.sub(r'^\[\d+\]\t"S-.*\n', "", text, flags=re.MULTILINE)


GUIDS = [f"0x02f1{i:08x}0000" for i in range(1, 5)]
ALL_ON_0 = " ".join("0" * 16)
ALL_STAR = f"sl2vl * * * {ALL_ON_0}"
ONE_LANE = sub(r"^sl2vl .*$", f"sl2vl * * * {ALL_ON_0}")
FABRIC = [
    ("empty", lambda text: ""),
    ("comments only", lambda text: "# nothing\n"),
    ("no lids", sub(r"# lid \d+ lmc \d+ ", "# ", 0)),
    ("one adapter without a lid", sub(r"# lid \d+ lmc \d+ ", "# ")),
    ("no cables between switches", port_lines_of_switches),
    ("one-sided cable", sub(r'^\[\d+\]\t"S-.*\n', "")),
    ("cable that leads elsewhere", sub(r'^(\[3\]\t"S-[0-9a-f]+"\[)4', r"\g<1>3")),
    ("no adapters", sub(r'\nvendid=.*\n.*\n.*\ncaguid.*\nCa.*\n\[1\].*\n', "", 0)),
    ("adapter without its switch port", sub(r'^\[\d+\]\t"H-.*\n', "")),
    ("adapter that no record has", sub(r'\nvendid=.*\n.*\n.*\ncaguid.*\nCa.*\n\[1\].*\n', "")),
    ("a port twice", twice(r'\[\d+\]\t"S-')),
    ("a switch twice", lambda text: text + "\n" + text.strip("\n").split("\n\n")[-1] + "\n"),
    ("an adapter twice", lambda text: text + "\n" + text.split("\n\n")[1] + "\n"),
    ("a GUID twice", swap("2f2000000020000", "2f2000000010000", -1)),
    ("a port GUID twice", swap("2f2000000020001", "2f2000000010001", -1)),
    ("port GUIDs that differ", sub(r"\(2f2000000020001\)", "(2f2000000020009)")),
    ("GUIDs of switches exchanged", sub("^(switchguid=.*)1(0000.*)1(0000.*)$", r"\g<1>2\g<2>2\3")),
    ("a lid twice", sub("# lid 4 lmc", "# lid 2 lmc")),
    ("ranges of lids that overlap", sub("# lid 4 lmc", "# lid 3 lmc")),
    ("an odd lid of LMC 1", sub("# lid 4 lmc", "# lid 33 lmc")),
    ("a lid of 0", sub("# lid 4 lmc", "# lid 0 lmc")),
    ("a lid too high", sub("# lid 4 lmc", "# lid 49152 lmc")),
    ("lids of other scripts", sub("# lid 4 lmc", "# lid \u0664 lmc")),
    ("a lid with an underscore", sub("# lid 4 lmc", "# lid 0_4 lmc")),
    ("a lid with a sign", sub("# lid 4 lmc", "# lid +4 lmc")),
    ("a lid with a zero", sub("# lid 4 lmc", "# lid 04 lmc")),
    ("the lid of a switch", sub("# lid 4 lmc", "# lid 18 lmc")),
    ("two switches with one lid", sub("port 0 lid 19", "port 0 lid 18")),
    ("a switch with another lid", sub("port 0 lid 19", "port 0 lid 40")),
    ("two LMCs", sub("lmc 1", "lmc 0")),
    ("another LMC", sub("lmc 1", "lmc 0", 0)),
    ("a port above the switch's", sub(r"^Switch\t\d+", "Switch\t1")),
    ("port 0", sub(r"^\[1\]\t", "[0]\t")),
    ("capital hex", swap("2f1", "2F1", -1)),
    ("two speeds of one cable", swap("4xHDR", "4xEDR")),
    ("a line in a form feed", swap("\n[1]", "\n\f[1]")),
    ("CRLF", swap("\n", "\r\n", -1)),
    ("a router", sub("^caguid", "rtguid")),
    ("a command of the simulator", lambda text: text + "do unlink\n"),
    ("another cabling by include", lambda text: text + 'include "x"\n'),
]


def test_lids_of_ports_end_where_those_of_multicast_begin():
    """InfiniBand, volume 1, 4.1.3: unicast LIDs are 0x0001 to 0xBFFF."""
    assert certificate_check.read("49151", certificate_check.LIDS) == 0xBFFF
    for word in ("0", "49152"):
        with pytest.raises(certificate_check.StatementError):
            certificate_check.read(word, certificate_check.LIDS)


TABLES = [
    ("one lane for all", ONE_LANE),
    ("a later general line", before_end(f"sl2vl * * * {ALL_ON_0}")),
    *((f"one lane by `{key}`", before_end(f"sl2vl {key} {ALL_ON_0}"))
      for key in ("* * 3", "* 3 *", "* 3 4", f"{GUIDS[1]} * *")),
    *((f"one lane behind {mark!r} in a comment", swap("4,p=2", f"4,p=2{mark}{ALL_STAR}"))
      for mark in ("\f", "\r", "\v", "\x1c", "\0", "\x7f")),
    ("another LMC", swap("lmc 1", "lmc 0")),
    ("no LMC", swap("lmc 1\n", "")),
    ("LMC twice", twice("lmc")),
    ("no end", swap("end\n", "")),
    ("text after the end", lambda text: text + f"sl2vl * * 1 {ALL_ON_0}\n"),
    ("two ends", lambda text: text + "end\n"),
    ("lane 15", sub(r"^(sl2vl \* \* \*) \d+", r"\1 15")),
    ("lane -1", sub(r"^(sl2vl \* \* \*) \d+", r"\1 -1")),
    ("seventeen lanes", sub("^(sl2vl .*)$", r"\1 0")),
    ("fifteen lanes", sub(r"^(sl2vl .*) \d+$", r"\1")),
    ("an entry twice", before_end(f"lft {GUIDS[0]} 2 1")),
    ("a level taken back", before_end(f"sl {GUIDS[0]} 2 .")),
    ("an entry taken back", before_end(f"lft {GUIDS[0]} 2 -")),
    ("two defaults", twice("sl default")),
    ("no default", swap("sl default 0\n", "")),
    ("levels of another source", before_end("sl from 60 1 0")),
    ("levels of a source's second LID", before_end("sl from 3 1 0")),
    ("a switch without a table", sub("^lft .*\n", "")),
    ("a table of another switch", before_end("lft 0x00000000000000aa 1 1")),
    ("a switch's own lid elsewhere", sub(r"^(lft 0x02f1000000010000 1 (\S+ ){17})0", r"\g<1>1")),
    ("port 0 for an adapter", sub(r"^(lft 0x02f1000000010000 1 \S+) \d+", r"\1 0")),
    ("a port that is not there", before_end(f"lft {GUIDS[0]} 60 99")),
    ("a port too high", sub(r"^(lft 0x02f1000000010000 1 \S+) \d+", r"\1 255")),
    ("a port with a zero", sub(r"^(lft 0x02f1000000010000 1 \S+) ", r"\1 0")),
    ("a port of another script", sub(r"^(lft 0x02f1000000010000 1 \S+) \d+", "\\1 \u0661")),
    ("no lft at all", sub("^lft .*\n", "", 0)),
    ("a header of another version", swap("flyloom-tables 1", "flyloom-tables 2")),
    ("no header", swap("flyloom-tables 1\n", "")),
    ("a short GUID", sub("^lft 0x02f1", "lft 0x2f1")),
    ("words behind a no-break space", sub("^(sl default 0)$", "\\1\u00a00")),
]
CERTIFICATE = [
    ("empty", lambda text: ""),
    ("no end", swap("end\n", "")),
    ("text after the end", lambda text: text + "port 0x02f1000000010000 9 1 2\n"),
    ("no lanes", sub("^lanes.*\n", "")),
    ("one lane fewer", sub(r"^lanes 2$", "lanes 1")),
    ("sixteen lanes", sub(r"^lanes 2$", "lanes 16")),
    ("a row twice", twice("port ")),
    ("rows too long", sub(r"^(port .*)$", r"\1 7", 0)),
    ("rows too short", sub(r"^(port .*) \d+$", r"\1", 0)),
    ("a missing row", sub("^port .*\n", "")),
    ("negative numbers", sub(r"^(port \S+ \S+) ", r"\1 -", 0)),
    ("numbers with underscores", sub(r"^(port \S+ \S+) (\d)", r"\1 0_\2", 0)),
    ("huge numbers", sub(r"^(port \S+ \S+) (\d+)", r"\1 99999999999", 0)),
    ("one number for all", sub(r"^(port \S+ \S+) .*$", r"\1 7 7", 0)),
    ("rows behind a form feed", sub(r"^(port )", r"\f\1")),
    ("rows behind NEL in a comment", sub("^port ", "# \u0085port ")),
    ("another header", swap("certificate 1", "certificate 10")),
]
EDITS = [(file, *edit) for file, edits in
         zip(FILES, (FABRIC, TABLES, CERTIFICATE), strict=True) for edit in edits]


def test_the_good_folders_hold(good, tmp_path):
    # 4 switches, 8 adapters with 2 LIDs each
    assert verdict(tmp_path, good) == 4 * 8 * 2
    hops = texts_of("torus:shape=4,p=2", lanes="hops")
    assert hops["tables.txt"].count("\nsl2vl ") > 1
    assert verdict(tmp_path, hops) == 4 * 8 * 2 * 2  # a switch's adapters enter by their ports
    # what may stand there: any bytes in a comment, several blanks and tabs, capital hex
    tables = good["tables.txt"].replace("\nlft ", "\n\t lft \t").replace("0x02f1", "0x02F1")
    tables = tables.encode().replace(b"\nend", b" # \xe2\x80\xa8 \xff lmc 0\n# \x85\nend")
    assert verdict(tmp_path, good | {"tables.txt": tables}) == 4 * 8 * 2


@pytest.mark.parametrize(("file", "name", "edit"), EDITS, ids=[f"{f}: {n}" for f, n, _ in EDITS])
def test_forgeries_are_refused(good, tmp_path, file, name, edit):
    forged = edit(good[file])
    assert forged != good[file]
    assert verdict(tmp_path, good | {file: forged}) is None


def test_tables_of_another_network_are_refused(good, tmp_path):
    other = texts_of("torus:shape=5,p=2")
    for name in FILES:
        assert verdict(tmp_path, good | {name: other[name]}) is None


def by_source(good) -> str:
    """Tables with the same levels, given by source instead of by switch."""
    home = {guid: [4 * i + 2, 4 * i + 4] for i, guid in enumerate(GUIDS)}
    out = []
    for line in good["tables.txt"].split("\n"):
        words = line.split(" ")
        if words[0] == "sl" and words[1] in home:
            out += [f"sl from {lid} {words[2]} {words[3]}" for lid in home[words[1]]]
        else:
            out.append(line)
    return "\n".join(out)


def test_levels_by_source_are_walked_by_source(good, tmp_path):
    tables = by_source(good)
    assert "sl from 16 " in tables
    assert verdict(tmp_path, good | {"tables.txt": tables}) == 4 * 8 * 2
    # one adapter's packets on the other lane: either the numbers still rise or the route is
    # reported, as when all of its switch do so
    for lid in range(2, 18, 2):
        for other in "01":
            flat = re.sub(rf"(?m)^(sl from {lid} 1) \S+", rf"\1 {other * 17}", tables)
            one = verdict(tmp_path, good | {"tables.txt": flat})
            assert one is None or one >= 4 * 8 * 2
    all_on_one = re.sub(r"^(sl from \d+ 1) \S+", rf"\1 {'0' * 17}", tables, flags=re.MULTILINE)
    assert verdict(tmp_path, good | {"tables.txt": all_on_one}) is None


@pytest.mark.campaign
def test_a_changed_fabric_that_holds_is_one_that_others_read_alike(good, tmp_path):
    """Bytes and lines of fabric.net are changed; where the checker still holds, the reader of
    fabrics takes the file, and finds as many nodes and cables."""
    rng, held = random.Random(4), 0
    for _ in range(count(1500, 50_000)):
        lines = good["fabric.net"].split("\n")
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.randrange(4)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(other, lines[at])
        elif kind == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif lines[at]:
            place = rng.randrange(len(lines[at]))
            new = rng.choice('0123456789af"#[]() \t\r\f\x85-SH')
            lines[at] = lines[at][:place] + new + lines[at][place + rng.randrange(2):]
        text = "\n".join(lines)
        try:
            fabric = certificate_check.FabricFileContents(text)
        except certificate_check.StatementError:
            continue
        held += 1
        all_devices = {"keep": ["*"]}  # a changed name may be that of no host
        found = fl.structure(Topology.from_text(text, "fabric.net", None, all_devices))
        cables = len(fabric.far) // 2 - len(fabric.adapters)
        assert (found.switches, found.links) == (len(fabric.switches), cables), text
        assert found.terminals == len(fabric.adapters)
    assert held > 100
