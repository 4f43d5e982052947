"""Checks a certificate of routes against tables and cabling; shares no code with what made them.

    python -m flyloom.certificate_check FOLDER

Walks the route from every switch with adapters to every LID of an adapter, by ``fabric.net`` and
``tables.txt``, and sees that it arrives and that the numbers rise which ``certificate.txt`` gives
the (port, lane) pairs it takes. That rules out loops and, by theorem 1 of Dally and Seitz (1987),
packets that wait for one another in a cycle. What it does not understand it refuses. The file
needs nothing but Python and can be copied alone. Exit code 0: holds; 1: not; 2: cannot be read.
"""

import re
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Port = tuple[str, int, int]  # "S" or "H" (an adapter), GUID, number
Numbers = dict[tuple[int, int], list[int]]  # of every (switch GUID, port): a list by lane

# what words mean: int() would take signs, blanks, underscores and digits of other scripts
LANES = {str(lane): lane for lane in range(16)}
PORTS = {str(port): port for port in range(255)}
LIDS = {str(lid): lid for lid in range(1, 0xC000)}
LEVELS = {".": None} | {digit: int(digit, 16) for digit in "0123456789abcdefABCDEF"}

HEX, ID, NAME = "([0-9a-f]{1,16})", "([0-9a-f]{16})", '# "[ !#-~]*"'
IDS = "(?:(?:vendid|devid|sysimgguid)=0x[0-9a-f]+\n)*"
SWITCH = re.compile(rf'{IDS}switchguid=0x{HEX}\(\1\)\nSwitch\t([0-9]+) "S-{ID}"[ \t]+{NAME}'
                    " (?:enhanced|base) port 0 lid ([0-9]+) lmc 0")
ADAPTER = re.compile(rf'{IDS}caguid=0x{HEX}\nCa\t([0-9]+) "H-{ID}"[ \t]+{NAME}')
PORT = re.compile(rf'([0-9]+)\](?:\({HEX}\))?[ \t]+"([SH])-{ID}"\[([0-9]+)\](?:\({HEX}\))?[ \t]+'
                  rf'(?:# lid ([0-9]+) lmc ([0-7]) {NAME[2:]}|{NAME})'
                  r" lid [0-9]+ ((?:1|2|4|8|12)x(?:[SDQFEH]DR|FDR10))")


class StatementError(Exception):
    """The statement that does not hold."""


def need(holds: object, what: str) -> None:
    """Raises StatementError with ``what`` if the condition does not hold."""
    if not holds:
        raise StatementError(what)


def put(rows: dict[Key, Value], key: Key, value: Value) -> None:
    """Adds an entry under a key that must be new."""
    need(key not in rows, f"{key} comes twice")
    rows[key] = value


def read(word: str, meaning: Mapping[str, Value]) -> Value:
    """The meaning of a word; StatementError for an unknown word."""
    need(word in meaning, f"'{word[:20]}' is not valid here")
    return meaning[word]


def guid_of(word: str) -> int:
    """The GUID that a word writes; StatementError for another word."""
    need(re.fullmatch("0x[0-9a-fA-F]{16}", word) and int(word, 16), f"'{word[:20]}' is no GUID")
    return int(word, 16)


class FabricFileContents:
    """The fabric as fabric.net describes it."""

    def __init__(self, text: str) -> None:
        self.count: dict[int, int] = {}  # ports by GUID
        self.switches: dict[int, int] = {}  # LID by GUID
        self.adapters: dict[Port, int] = {}  # first LID by port
        self.far: dict[Port, Port] = {}
        self.reported: dict[Port, tuple[str | None, str]] = {}
        self.lmc: int | None = None
        self.lids: dict[int, int | Port] = {}
        self.guids: dict[int, str | Port] = {}
        for block in re.sub("^#.*\n", "", text, flags=re.MULTILINE).strip("\n").split("\n\n"):
            try:
                self.node(*block.strip("\n").split("\n["))
            except StatementError as fault:
                raise StatementError(f"fabric.net: {fault}, in {block[:300]!r}") from None
        for port, far in self.far.items():
            need(far[:2] != port[:2] and self.far.get(far) == port
                 and self.reported[port] == self.reported[far],
                 f"fabric.net: both ends of the cable at {port[1]:#x}[{port[2]}] must agree")

    def node(self, head: str, *lines: str) -> None:
        """Takes a switch or an adapter: its first lines, and a line a port."""
        found = SWITCH.fullmatch(head) or ADAPTER.fullmatch(head)
        if not found or not 0 < int(found[1], 16) == int(found[3], 16):
            raise StatementError("not understood")
        kind, guid = "S" if found.re is SWITCH else "H", int(found[1], 16)
        put(self.guids, guid, kind)
        self.count[guid] = read(found[2], PORTS)
        if kind == "S":
            self.switches[guid] = read(found[4], LIDS)
            put(self.lids, self.switches[guid], guid)
        for line in lines:
            found = PORT.fullmatch(line)
            if not found:
                raise StatementError(f"'[{line[:80]}' is not understood")
            own, port_guid, far, far_guid, there, far_port_guid, lid, lmc, rate = found.groups()
            port = (kind, guid, read(own, PORTS))
            need(0 < port[2] <= self.count[guid], "a port that the node does not have")
            put(self.far, port, (far, int(far_guid, 16), read(there, PORTS)))
            self.reported[port] = far_port_guid if kind == "S" else port_guid, rate
            need((lid, port_guid) == (None, None) if kind == "S" else
                 lid and port_guid and (far, far_port_guid) == ("S", None), "another node's port")
            if kind == "H":
                self.adapter(port, int(port_guid, 16), read(lid, LIDS), int(lmc))

    def adapter(self, port: Port, guid: int, first: int, lmc: int) -> None:
        """Takes a port of an adapter with its own GUID and its LIDs."""
        need(guid > 0 and self.lmc in (None, lmc) and first % (1 << lmc) == 0, "GUID, LMC or LID")
        if guid != port[1]:
            put(self.guids, guid, port)
        self.lmc, self.adapters[port] = lmc, first
        for lid in range(first, first + (1 << lmc)):
            put(self.lids, read(str(lid), LIDS), port)


def each_record(
    name: str, text: str, header: str, take: Callable[[list[str]], None]
) -> None:
    """Calls ``take`` with the words of each record between the header and `end`."""
    inside = None  # before the header; then true, and false after `end`
    for place, line in enumerate(text.split("\n"), 1):
        words = re.findall("[^ \t]+", line.partition("#")[0])
        try:
            need(not re.search("[\0-\x08\x0b-\x1f\x7f]", line), "a control character")
            if words:
                need(inside is not False, "text after `end`")
                need(inside or " ".join(words) == header, f"`{header}` must come first")
                if inside and words != ["end"]:
                    take(words)
                inside = words != ["end"]
        except StatementError as fault:
            raise StatementError(f"{name}: line {place}: {fault}") from None
    need(inside is False, f"{name}: not whole: no `end`")


class TableFileContents:
    """The tables in tables.txt, in the format of docs/opensm.md."""

    lmc: int
    default: int

    def __init__(self, text: str) -> None:
        self.ports: dict[int, dict[int, int | None]] = {}
        self.levels: dict[tuple[str, int], dict[int, int | None]] = {}
        self.lanes: dict[tuple[int | None, ...], list[int]] = {}
        self.form: list[bool] = []
        self.named: set[int] = set()
        each_record("tables.txt", text, "flyloom-tables 1", self.record)
        need({"lmc", "default"} <= vars(self).keys() and self.lanes and self.ports,
             "tables.txt: no lmc, `sl default`, sl2vl or lft record")
        need(self.named <= self.ports.keys(), "tables.txt: a switch without an lft record")
        self.sources = {who for kind, who in self.levels if kind == "from"}
        need(all(lid % (1 << self.lmc) == 0 for lid in self.sources),
             "tables.txt: `sl from` must name the first LID of a port")

    def record(self, words: list[str]) -> None:
        """Reads one record of tables.txt, given as its words."""
        match words:
            case ["lmc", lmc]:
                put(vars(self), "lmc", read(lmc, {str(n): n for n in range(8)}))
            case ["sl", "default", level]:
                put(vars(self), "default", read(level, LANES))
            case ["lft", guid, first, _, *_]:
                fill(self.ports, guid_of(guid), first, words[3:], PORTS | {"-": None})
            case ["sl", "from", lid, first, digits]:
                fill(self.levels, ("from", read(lid, LIDS)), first, digits, LEVELS)
            case ["sl", guid, first, digits]:
                self.named.add(guid_of(guid))
                fill(self.levels, ("at", guid_of(guid)), first, digits, LEVELS)
            case ["sl2vl", guid, came, out, *lanes] if len(lanes) == 16:
                key = (None if guid == "*" else guid_of(guid),
                       *(None if port == "*" else read(port, PORTS) for port in (came, out)))
                self.named |= {guid_of(guid)} if guid != "*" else set()
                form = [part is not None for part in key]
                need(self.lanes or not any(form), "`sl2vl * * *` must come first")
                need(form >= self.form, "a more general record after a more special one")
                self.form = form
                put(self.lanes, key, [read(lane, LANES) for lane in lanes])
            case _:
                raise StatementError("no record of a known kind and length")

    def level(self, switch: int, source: int, lid: int) -> int:
        """The level of paths from ``source`` (an adapter's first LID) at ``switch`` to ``lid``."""
        rows = (self.levels.get(who, {}) for who in (("from", source), ("at", switch)))
        levels = (row.get(lid) for row in rows)
        return next((level for level in levels if level is not None), self.default)

    def vls(self, *ports: int) -> list[int]:
        """The lane of each level at (switch, in, out), by the most special record that matches."""
        keys = product(*((part, None) for part in ports))
        return next(self.lanes[key] for key in keys if key in self.lanes)


def fill(
    rows: dict[Key, dict[int, Value]], who: Key, first: str, items: Sequence[str],
    meaning: Mapping[str, Value],
) -> None:
    """Adds what items mean for LIDs from ``first`` to the row of ``who``."""
    row, low = rows.setdefault(who, {}), read(first, LIDS)
    need(low + len(items) - 1 <= len(LIDS), "a LID too high")
    for lid, item in enumerate(items, low):
        put(row, lid, read(item, meaning))


def read_certificate(text: str) -> Numbers:
    """The numbers in certificate.txt."""
    rows: Numbers = {}
    head: dict[str, int] = {}

    def record(words: list[str]) -> None:
        match words:
            case ["lanes", lanes]:
                put(head, "lanes", read(lanes, LANES))
            case ["port", guid, port, _, *_]:
                need(len(words) == 3 + head.get("lanes", 0), "must have a number for each lane")
                need(all(re.fullmatch("[0-9]{1,10}", word) for word in words[3:]), "no number")
                put(rows, (guid_of(guid), read(port, PORTS)), [int(word) for word in words[3:]])
            case _:
                raise StatementError("must be `lanes`, then `port`s")

    each_record("certificate.txt", text, "flyloom-certificate 1", record)
    return rows


def check_fit(fabric: FabricFileContents, tables: TableFileContents, number: Numbers) -> None:
    """Checks that the files belong together, and what OpenSM's plug-in would refuse to install."""
    cables = {port[1:] for port, far in fabric.far.items() if port[0] == far[0] == "S"}
    need(number.keys() == cables, "certificate.txt has not the cables between switches")
    need(fabric.lmc == tables.lmc, "fabric.net and tables.txt have not one LMC")
    need(tables.ports.keys() == fabric.switches.keys(), "tables.txt has other switches")
    need(tables.sources <= set(fabric.adapters.values()), "tables.txt has levels of other sources")
    for switch, row in tables.ports.items():
        own = [lid for lid, port in row.items() if port == 0]
        need(own == [fabric.switches[switch]], f"switch {switch:#x}: port 0 is for its LID alone")
        need(all(port is None or port <= fabric.count[switch] for port in row.values()),
             f"switch {switch:#x}: a port that it does not have")


def walk(
    fabric: FabricFileContents, tables: TableFileContents, number: Numbers,
    start: tuple[int, int, int], lid: int, last: Port,
) -> None:
    """Follows the route of (switch, in-port, level) to ``lid``, whose adapter is at port ``last``
    of its switch; raises StatementError when it does not get there or its numbers do not rise."""
    at, came, level = start
    before, name = -1, f"route from switch {at:#x} to LID {lid}"
    while True:
        out = tables.ports[at].get(lid)
        if out is not None and ("S", at, out) == last:
            return
        far = None if out is None else fabric.far.get(("S", at, out))
        if out is None or far is None or far[0] != "S":
            raise StatementError(f"{name}: ends at switch {at:#x}, port {out}")
        lane, own = tables.vls(at, came, out)[level], number[at, out]
        need(lane < len(own) and own[lane] > before,
             f"{name}: does not rise at switch {at:#x}, port {out}, lane {lane}")
        at, came, before = far[1], far[2], own[lane]


def check(folder: Path) -> int:
    """The number of routes that hold; raises StatementError for the first that does not."""
    texts = [(folder / name).read_bytes().decode("latin-1")
             for name in ("fabric.net", "tables.txt", "certificate.txt")]
    fabric, tables = FabricFileContents(texts[0]), TableFileContents(texts[1])
    check_fit(fabric, tables, number := read_certificate(texts[2]))
    uniform, routes = len(tables.lanes) == 1, 0
    here: dict[int, list[tuple[int, int]]] = {}
    for adapter, source in fabric.adapters.items():
        _, switch, port = fabric.far[adapter]
        here.setdefault(switch, []).append((source, 0 if uniform else port))
    for adapter, base in sorted(fabric.adapters.items()):
        for lid in range(base, base + (1 << tables.lmc)):
            for switch, sources in here.items():
                starts = {(switch, came, tables.level(switch, source, lid))
                          for source, came in sources}
                for start in sorted(starts):
                    walk(fabric, tables, number, start, lid, fabric.far[adapter])
                routes += len(starts)
    need(routes, "no route in it")
    return routes


def main(arguments: list[str]) -> int:
    """Checks the folder that is named; the exit code."""
    if len(arguments) != 1:
        print("usage: python -m flyloom.certificate_check FOLDER", file=sys.stderr)
        return 2
    try:
        routes = check(Path(arguments[0]))
    except StatementError as fault:
        print(f"certificate: fails: {fault}")
        return 1
    except OSError as error:
        print(f"certificate: {error}", file=sys.stderr)
        return 2
    print(f"certificate: holds for {routes:,} routes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
