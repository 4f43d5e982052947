"""Checks a certificate of routes against tables and cabling; shares no code with what made them.

    python -m flyloom.certificate_check FOLDER

FOLDER has ``fabric.net`` (cabling and LIDs, as ibnetdiscover prints them), ``tables.txt``
(forwarding tables, service levels, SL2VL) and ``certificate.txt`` (a number for every port and
lane). Walks the route from every switch with adapters to every LID of an adapter and sees that it
arrives there and that the numbers of the (port, lane) pairs it takes rise. Rising numbers rule out
loops and, by theorem 1 of Dally and Seitz (1987), packets that wait for one another in a circle.
The file needs nothing but Python and can be copied alone. Exit code 0: all holds; 1: it does not;
2: a file cannot be read.
"""

import re
import sys
from pathlib import Path


class Fault(Exception):
    """What does not hold."""


def read_fabric(text):
    """Switch by GUID: {port: (kind, GUID, port there)}; adapter ports: {(GUID, port): (LID, LMC)}.

    Kind is "S" for a switch, "H" for an adapter.
    """
    switches, adapters, here = {}, {}, None
    for line in text.splitlines():
        if head := re.match(r'(Switch|Ca)\s+\d+\s+"[SH]-([0-9a-f]+)"', line):
            here = (head[1], int(head[2], 16))
            if head[1] == "Switch":
                switches[here[1]] = {}
        elif cable := re.match(r'\[(\d+)\]\S*\s+"([SH])-([0-9a-f]+)"\[(\d+)\]', line):
            port, kind, guid, there = int(cable[1]), cable[2], int(cable[3], 16), int(cable[4])
            if here[0] == "Switch":
                switches[here[1]][port] = (kind, guid, there)
            elif lid := re.search(r"# lid (\d+) lmc (\d+)", line):
                adapters[here[1], port] = (int(lid[1]), int(lid[2]))
    return switches, adapters


def read_tables(text):
    """Ports, levels and lanes: {switch: {LID: port}}, {switch: {LID: SL}}, default SL, {key: VLs}.

    The key of lanes is (switch, in, out), None standing for any.
    """
    ports, levels, default, lanes = {}, {}, 0, {}
    for line in text.splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if words[0] == "lft":
            row = ports.setdefault(int(words[1], 16), {})
            for lid, port in enumerate(words[3:], int(words[2])):
                if port != "-":
                    row[lid] = int(port)
        elif words[:2] == ["sl", "default"]:
            default = int(words[2])
        elif words[0] == "sl":
            row = levels.setdefault(int(words[1], 16), {})
            for lid, level in enumerate(words[3], int(words[2])):
                if level != ".":
                    row[lid] = int(level, 16)
        elif words[0] == "sl2vl":
            guid = None if words[1] == "*" else int(words[1], 16)
            pair = (None if w == "*" else int(w) for w in words[2:4])
            lanes[guid, *pair] = [int(w) for w in words[4:]]
    return ports, levels, default, lanes


def read_certificate(text):
    """The number of every (switch, port): a list by lane."""
    lines = text.split("\n")
    if lines[0] != "flyloom-certificate 1" or "end" not in lines:
        raise Fault("certificate.txt: not a whole certificate")
    rows = (line.split() for line in lines if line.startswith("port "))
    return {(int(row[1], 16), int(row[2])): [int(n) for n in row[3:]] for row in rows}


def parts_of(switches):
    """The connected part of each switch, by a switch of it."""
    part = {}
    for first in switches:
        queue = [] if first in part else [first]
        part.setdefault(first, first)
        while queue:
            for kind, guid, _ in switches[queue.pop()].values():
                if kind == "S" and guid not in part:
                    part[guid] = first
                    queue.append(guid)
    return part


def starts_of(cables, uniform):
    """The in-ports of adapters; one stands for all where lanes do not depend on ports."""
    entries = [port for port, (kind, _, _) in cables.items() if kind == "H"]
    return entries[:1] if uniform else entries


def check(folder):
    """The number of routes that hold; raises Fault for the first that does not."""
    read = {name: (folder / name).read_text() for name in
            ("fabric.net", "tables.txt", "certificate.txt")}
    switches, adapters = read_fabric(read["fabric.net"])
    ports, levels, default, lanes = read_tables(read["tables.txt"])
    number = read_certificate(read["certificate.txt"])
    uniform = list(lanes) == [(None, None, None)]
    any_port = lanes.get((None, None, None), [0] * 16)
    part = parts_of(switches)
    home = {(guid, port): (switch, own) for switch, cables in switches.items()
            for own, (kind, guid, port) in cables.items() if kind == "H"}
    routes = 0
    for adapter, (base, lmc) in sorted(adapters.items()):
        if adapter not in home:
            continue
        last = home[adapter]
        for lid in range(base, base + (1 << lmc)):
            for source, cables in switches.items():
                if part[source] != part[last[0]]:
                    continue
                level = levels.get(source, {}).get(lid, default)
                for entry in starts_of(cables, uniform):
                    at, came, before = source, entry, -1
                    while True:
                        out = ports.get(at, {}).get(lid)
                        if (at, out) == last:
                            break
                        kind, there, port = switches[at].get(out, (None, None, None))
                        if kind != "S":
                            raise Fault(f"route from switch {source:#x} to LID {lid}: ends at "
                                        f"switch {at:#x}, port {out}")
                        table = any_port if uniform else lanes.get((at, came, out), any_port)
                        lane, own = table[level], number.get((at, out), [])
                        if lane >= len(own) or own[lane] <= before:
                            raise Fault(f"route from switch {source:#x} to LID {lid}: does not "
                                        f"rise at switch {at:#x}, port {out}, lane {lane}")
                        at, came, before = there, port, own[lane]
                    routes += 1
    return routes


def main(arguments):
    if len(arguments) != 1:
        print("usage: python -m flyloom.certificate_check FOLDER", file=sys.stderr)
        return 2
    try:
        routes = check(Path(arguments[0]))
    except Fault as fault:
        print(f"certificate: fails: {fault}")
        return 1
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        print(f"certificate: {error}", file=sys.stderr)
        return 2
    print(f"certificate: holds for {routes:,} routes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
