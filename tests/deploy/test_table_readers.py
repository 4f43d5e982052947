"""The three readers of tables.txt (C, Rust, Python) accept one language and mean the same by it."""

from __future__ import annotations

import random
import subprocess
from itertools import product

import flyloom as fl
import pytest
from campaign import count
from deploy_helpers import needs_compiler, tables_program
from flyloom import certificate_check

pytestmark = needs_compiler

LIDS, PORTS = 14, 4  # of the ring with LMC 1: LIDs 2 to 13, switches with ports 0 to 3
SL2VL = "sl2vl {} " + " ".join(["{}"] * 16)


@pytest.fixture(scope="module")
def ring():
    return fl.torus(shape=[4], p=1)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return tables_program(tmp_path_factory.mktemp("tables"))


# ---- what each reader makes of a text, in one shape: {(kind, GUID, ...): value} ----


def by_c(program, folder, texts: list[bytes]) -> list[dict | None]:
    for i, text in enumerate(texts):
        (folder / f"{i}").write_bytes(text)
    out = []
    for first in range(0, len(texts), 500):  # as many as a command line holds
        names = map(str, range(first, min(first + 500, len(texts))))
        done = subprocess.run(
            [program, "read", str(LIDS), str(PORTS), *names], cwd=folder, capture_output=True,
            timeout=600, check=False,
        )
        assert not done.stderr, done.stderr[-2000:]
        for line in done.stdout.decode("latin-1").split("\n")[:-1]:
            word, *rest = line.split(" ")
            if word == "accepted":
                out.append({})
            elif word == "refused":
                out.append(None)
            elif word == "lft":
                out[-1]["lft", int(rest[0], 16)] = rest[1:]
            elif word == "sl":
                out[-1]["sl", int(rest[0], 16), int(rest[1])] = rest[2]
            elif word == "vl" and rest[0] == "endpoint":
                out[-1]["vl"] = rest[3]
            elif word == "vl":
                out[-1]["vl", int(rest[0], 16), int(rest[1]), int(rest[2])] = rest[3]
            elif word == "lmc":
                out[-1]["lmc"] = int(rest[0])
    for found in filter(None, out):  # levels are printed where they are not those of source 0
        for guid in guids_of(found):
            for source in range(LIDS + 1):
                found.setdefault(("sl", guid, source), found["sl", guid, 0])
    assert len(out) == len(texts)
    return out


def guids_of(found: dict) -> set[int]:
    return {key[1] for key in found if key[0] == "lft"}


def by_checker(text: bytes) -> dict | None:
    try:
        tables = certificate_check.TableFileContents(text.decode("latin-1"))
    except certificate_check.StatementError:
        return None
    found = {"lmc": tables.lmc, "vl": "".join(f"{v:x}" for v in tables.lanes[None, None, None])}
    lids = range(1, LIDS + 1)
    for guid, row in tables.ports.items():
        ports = (row.get(lid) for lid in lids)
        found["lft", guid] = ["-" if port is None else str(port) for port in ports]
        for source in range(LIDS + 1):
            first = source >> tables.lmc << tables.lmc
            levels = (tables.level(guid, first, lid) for lid in lids)
            found["sl", guid, source] = "".join(f"{level:x}" for level in levels)
        for pair in product(range(PORTS), repeat=2):
            found["vl", guid, *pair] = "".join(f"{v:x}" for v in tables.vls(guid, *pair))
    return found


def by_rust(ring, text: bytes):
    try:
        return ring.read_tables(text.decode("latin-1"), "t", 1)
    except fl.RefusalError:
        return None


# ---- texts ----


def good_texts(ring) -> list[bytes]:
    """What is written today, and a file with every kind of record and of key."""
    names = ring.addresses(1)
    guids = [f"0x{guid:016x}" for guid in names["switch_guid"]]
    written = [
        fl.route(ring, "dfsssp", lmc=1).table_text(),
        fl.route(ring, "dfsssp", lmc=1, lanes="hops").table_text(),
        fl.route(ring, "min_hop", lmc=1).table_text(),
    ]
    rng = random.Random(1)
    lines = ["flyloom-tables 1", "# all there is", "lmc 1", "sl default 3"]
    for i, guid in enumerate(guids):
        ports = [str(rng.randrange(4)) for _ in range(LIDS)]
        lines += [f"lft {guid} 1 {' '.join(ports[:6])} -", f"lft {guid} 8 {' '.join(ports[7:])}"]
        lines.append(f"sl {guid.upper().replace('X', 'x')} 2 0.1F{i}.2")
    lines += [f"sl from {lid} 3 .0{lid:x}.b" for lid in names["lid"][:2]]
    for key in ("* * *", "* * 2", "* * 3", "* 1 *", "* 2 *", "* 2 1", "{} * *", "{} * 1", "{} 3 *",
                "{} 1 2", "{} 2 1"):
        lines.append(SL2VL.format(key.format(rng.choice(guids)), *rng.choices(range(16), k=16)))
    return [text.encode() for text in [*written, "\n".join([*lines, "end", ""])]]


WORDS = """0 1 2 3 7 00 01 007 +1 -1 - -- . * ** 0x1 1e1 1_0 0.0 255 254 256 49151 49152 65536
    99999 18446744073709551617 lmc lft sl sl2vl end default from LMC End flyloom-tables # #x
    0x0000000000000000 0x02f1000000010000 0x02F1000000020000 0X02f1000000010000
    0x02f100000002000 0x02f10000000900000
    \u0661 \u00b2 \u00a0 \u2003 \ufeff 1\u00a02""".replace("\n", " ").split(" ")
BYTES = b"0123456789abcdefx-.*# \t\n\r\0\x0b\x0c\x1c\x1e\x7f\x85\xa0\xc2\xe2\xff+_\"'"


def words_of(line: bytes) -> list[bytes]:
    return [word for word in line.split(b" ") if word]


def changed_word(rng, lines):
    at = rng.randrange(len(lines))
    words = words_of(lines[at])
    if not words:
        return
    i = rng.randrange(len(words))
    kind = rng.randrange(7)
    if kind == 0:
        words[i] = rng.choice(WORDS).encode()
    elif kind == 1 and words[i].isdigit():
        words[i] = b"%d" % (int(words[i]) + rng.choice([1, 1, -1, 100]))
    elif kind == 2:
        words.insert(i, words[rng.randrange(len(words))])
    elif kind == 3:
        del words[i]
    elif kind == 4:
        words[i] = b"*"
    elif kind == 5:
        words[i] = rng.choice([b"0", b"+", b" ", b"\t", b"\t ", b"\r", b"\xc2\xa0"]) + words[i]
    else:
        words[i] += rng.choice([b"0", b".", b" ", b"\t", b"#", b"\r", b"\x0c", b"\x00", b"# 1"])
    lines[at] = b" ".join(words)


def changed_lines(rng, lines):
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(8)
    if kind == 0:
        lines.insert(other, lines[at])
    elif kind == 1:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 2:
        del lines[at]
    elif kind == 3:  # a key of another record, perhaps with stars
        rows = [i for i, line in enumerate(lines) if line.startswith(b"sl2vl")]
        if rows:
            words = words_of(lines[rng.choice(rows)])
            for i in range(1, min(4, len(words))):
                stars = [b"*", words[i], b"1", b"2"] if i > 1 else [b"*", words[i]]
                words[i] = rng.choice(stars)
            end = len(lines) - 2
            lines.insert(rng.choice([rows[0], rows[-1] + 1, end, other]), b" ".join(words))
    elif kind == 4:
        lines.insert(at, rng.choice([
            b"", b" \t", b"# \x7f", b"# ~ \x80", b"# \xe2\x80\xa8 lft", b"#\x0clmc 1",
            b"sl default 0", b"lmc 1", b"end",
            b"sl from 4 1 12", b"sl from 5 1 0", b"sl 0x02f1000000010000 9 .", b"\xff", b"# \xff",
            b"lft 0x02f1000000010000 20 -", b"lft 0x02f1000000010000 49151 1", b"# \r", b"sl2vl",
            b"lft 0x02f1000000070000 1 1", b"sl from 40 1 0", b"sl 0x02f1000000070000 1 0",
        ]))
    elif kind == 5:
        lines[at] = lines[at] + rng.choice([b"\r", b" ", b"\t", b" # 1", b"#", b"\x0b", b"\x85"])
    elif kind == 6:
        lines[at] = lines[at] + b" " + lines[other]
    else:
        lines[at:at + 1] = [lines[at].replace(b" ", b"\n", 1)]


def changed_bytes(rng, lines):
    text = bytearray(b"\n".join(lines))
    at = rng.randrange(len(text))
    kind = rng.randrange(4)
    if kind == 0:
        text[at] = rng.choice(BYTES)
    elif kind == 1:
        text[at:at + 1] = bytes([rng.choice(BYTES), text[at]])
    elif kind == 2:
        del text[at:at + rng.randrange(1, 9)]
    else:
        text[at] = rng.randrange(256)
    lines[:] = bytes(text).split(b"\n")


def mutated(rng, texts: list[bytes]) -> bytes:
    lines = rng.choice(texts).split(b"\n")
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        rng.choice([changed_word, changed_lines, changed_lines, changed_bytes])(rng, lines)
        lines = lines or [b""]
    return b"\n".join(lines)


# ---- the comparison ----


def fits(ring, found: dict, text: bytes) -> bool:
    """What a file needs beyond the grammar: the ring's LMC, switches and sources."""
    names = ring.addresses(1)
    sources = certificate_check.TableFileContents(text.decode("latin-1")).sources
    switches = set(names["switch_guid"])
    return found["lmc"] == 1 and guids_of(found) <= switches and sources <= set(names["lid"])


def same_to_rust(ring, found: dict, again: dict) -> None:
    """``again`` is the C reader's view of what Rust wrote of a file that it saw as ``found``."""
    names, home = ring.addresses(1), ring.attachments[:, 0].tolist()
    ends = [lid + k for lid in names["lid"] for k in range(2)]
    assert found["vl"] == again["vl"]
    for guid in names["switch_guid"]:
        nothing = ["-"] * LIDS
        for lid in [*ends, *names["switch_lid"]]:
            was, now = (f.get(("lft", guid), nothing)[lid - 1] for f in (found, again))
            assert was == now, (guid, lid)
        for pair in product(range(PORTS), repeat=2):
            if guid in guids_of(found):
                assert found["vl", guid, *pair] == again["vl", guid, *pair], (guid, pair)
    for t, source in enumerate(names["lid"]):
        guid = names["switch_guid"][home[t]]
        for lid in ends if guid in guids_of(found) else []:
            was, now = (f["sl", guid, source + 1][lid - 1] for f in (found, again))
            assert was == now, (source, lid)


@pytest.mark.campaign
def test_three_readers_agree_on_mutated_tables(ring, program, tmp_path):
    texts = good_texts(ring)
    rng = random.Random(2)
    texts += [mutated(rng, texts) for _ in range(count(1500, 60_000))]
    seen = by_c(program, tmp_path, texts)
    assert all(seen[:4]), "the good ones"
    rewritten, accepted = [], 0
    for text, found in zip(texts, seen, strict=True):
        same = by_checker(text) == found
        assert same, text
        routing = by_rust(ring, text)
        assert (routing is not None) == (found is not None and fits(ring, found, text)), text
        accepted += found is not None
        if routing is not None:
            rewritten.append((found, routing.table_text().encode()))
    again = by_c(program, tmp_path, [text for _, text in rewritten])
    for (found, _), other in zip(rewritten, again, strict=True):
        same_to_rust(ring, found, other)
    # most mutations are faults, and many are not
    assert len(texts) / 20 < len(rewritten) <= accepted < len(texts) / 2


def test_a_later_or_a_general_record_never_overrides(ring, program, tmp_path):
    """The three points in which the readers differed once, and what they say now."""
    good = good_texts(ring)[0].decode()
    guid = f"0x{ring.addresses(1)['switch_guid'][0]:016x}"
    one, other = SL2VL.format("{}", *[1] * 16), SL2VL.format("{}", *[0] * 16)
    refused = [
        one.format(f"{guid} 1 2") + "\n" + other.format("* * *"),
        one.format(f"{guid} 1 2") + "\n" + other.format(f"{guid} * *"),
        one.format(f"{guid} 1 *") + "\n" + other.format("* * 2"),
        one.format(f"{guid} * *") + "\n" + other.format(f"{guid} * *"),
        f"sl {guid} 3 .",
        f"lft {guid} 3 -",
        "sl from 2 3 0\nsl from 2 3 .",
    ]
    accepted = [
        one.format(f"{guid} * *"), one.format("* * 2") + "\n" + other.format(f"{guid} 1 *"),
        "sl from 2 3 0", f"lft {guid} 60 -",
    ]
    texts = [good.replace("end\n", f"{more}\nend\n").encode() for more in refused + accepted]
    assert len(set(texts)) == len(texts)
    wanted = [False] * len(refused) + [True] * len(accepted)
    assert [found is not None for found in by_c(program, tmp_path, texts)] == wanted
    assert [by_checker(text) is not None for text in texts] == wanted
    assert [by_rust(ring, text) is not None for text in texts] == wanted


def test_a_folder_is_read_byte_for_byte(ring, program, tmp_path):
    """No line end but the line feed, any byte in a comment: through `read_tables` as through C."""
    (tmp_path / "network.json").write_text(ring.to_text("json"))
    (tmp_path / "routing.json").write_text('{"lmc": 1, "engine": "file"}')
    good = good_texts(ring)[0]
    hidden = SL2VL.format("* * *", *[0] * 16).encode()
    texts = [good, good.replace(b"\n", b"\r\n")]
    marks = (b"\r", b"\x0c", b"\x1e", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\xff")
    texts += [good.replace(b"dfsssp\n", b"dfsssp" + m + hidden + b"\n", 1) for m in marks]
    seen = by_c(program, tmp_path, texts)
    assert [found is not None for found in seen] == [True, False] + 3 * [False] + 4 * [True]
    for text, found in zip(texts, seen, strict=True):
        (tmp_path / "tables.txt").write_bytes(text)
        try:
            lanes = fl.read_tables(tmp_path).lanes
        except fl.RefusalError:
            lanes = None
        assert lanes == (None if found is None else 2), text


def test_what_is_written_of_any_name_is_accepted(program, tmp_path):
    file = tmp_path / "r\u00e9seau\u2028\nlmc 1\n.txt"
    file.write_text(fl.torus(shape=[4], p=1).to_text("netlist"))
    topology = fl.network(str(file))
    routing = fl.route(topology, "dfsssp")
    text = routing.table_text()
    assert text.isascii() and "seau" in text
    assert by_c(program, tmp_path, [text.encode()])[0] == by_checker(text.encode()) is not None
    for name, made in (("fabric.net", topology.to_text("netlist", 0)), ("tables.txt", text),
                       ("certificate.txt", routing.certificate_text())):
        (tmp_path / name).write_text(made)
    assert certificate_check.check(tmp_path) == 4 * 4
