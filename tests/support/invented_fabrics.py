"""Fabrics of invented names, as the tools of InfiniBand print them."""

from __future__ import annotations

from dataclasses import dataclass, field

HOSTS = ("n1", "n2", "n3", "n4")
FORMS = {"S": ("switchguid", "Switch"), "H": ("caguid", "Ca"), "R": ("rtguid", "Rt")}


@dataclass
class Fabric:
    """Nodes and cables, and the text that ibnetdiscover prints of them."""

    nodes: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    """The description, ports and device id of each node, by its id."""
    cables: list[tuple[str, int, str, int, str, str]] = field(default_factory=list)

    def node(self, form: str, name: str, ports: int = 1, device: int = 0x101B) -> str:
        own = f"{form}-{0xA0000000 + 0x100 * len(self.nodes):016x}"
        self.nodes[own] = (name, ports, device)
        return own

    def cable(self, a: str, p: int, b: str, q: int, rate: str = "4xHDR", other: str = "") -> None:
        self.cables.append((a, p, b, q, rate, other or rate))

    def lid(self, own: str) -> int:
        return 1 + list(self.nodes).index(own)

    def port_lid(self, own: str, port: int) -> int:
        return self.lid(own) + (0 if own[0] == "S" else 500 * (port - 1))

    def port_guid(self, own: str, port: int) -> str:
        return f"{number(own) + port:x}"

    def ends(self) -> list[tuple[str, int, str, int, str]]:
        """Every cable from either end."""
        found = []
        for a, p, b, q, rate, other in self.cables:
            found.append((a, p, b, q, rate))
            if (a, p) != (b, q):
                found.append((b, q, a, p, other))
        return sorted(found)

    def block(self, own: str) -> str:
        key, word = FORMS[own[0]]
        name, ports, device = self.nodes[own]
        lines = [f"vendid=0x2c9\ndevid=0x{device:x}\n{key}=0x{own[2:]}({own[2:]})"]
        lid = f" enhanced port 0 lid {self.lid(own)} lmc 0" if own[0] == "S" else ""
        lines.append(f'{word}\t{ports} "{own}"\t\t# "{name}"{lid}')
        for a, p, b, q, rate in self.ends():
            if a != own:
                continue
            far = "" if b[0] == "S" else f"({self.port_guid(b, q)}) "
            if own[0] == "S":
                lines.append(f'[{p}]\t"{b}"[{q}]{far}\t\t# "{self.nodes[b][0]}" '
                             f'lid {self.port_lid(b, q)} {rate}')
            else:
                lines.append(f'[{p}]({self.port_guid(own, p)}) \t"{b}"[{q}]\t\t# lid '
                             f'{self.port_lid(own, p)} lmc 0 "{self.nodes[b][0]}" '
                             f"lid {self.lid(b)} {rate}")
        return "\n".join(lines) + "\n"

    def text(self) -> str:
        return "#\n# Topology file\n#\n\n" + "\n".join(self.block(own) for own in self.nodes)

    def ports_report(self) -> str:
        """What ``ibnetdiscover -p`` prints."""
        lines, forms = [], {"S": "SW", "H": "CA", "R": "RT"}

        def end(own: str, port: int) -> str:
            guid = own[2:] if own[0] == "S" else f"{number(own) + port:016x}"
            return f"{forms[own[0]]} {self.lid(own):5} {port:2} 0x{guid}"

        for a, p, b, q, rate in self.ends():
            names = f"( '{self.nodes[a][0]}' - '{self.nodes[b][0]}' )"
            lines.append(f"{end(a, p)} {rate.replace('x', 'x ')} - {end(b, q)} {names}")
        switch = next(own for own in self.nodes if own[0] == "S")
        lines.append(f"{end(switch, 40)} 4x SDR {'':36}'{self.nodes[switch][0]}'")
        return "\n".join(lines) + "\n"

    def link_info(self, by_line: bool, only_switches: bool = False) -> str:
        """What ``iblinkinfo`` prints, with ``-l`` and without."""
        gbps = {"HDR": "53.125", "NDR": "106.25", "XDR": "212.5", "EDR": "25.78125"}
        lines = []
        for own, (name, _, _) in self.nodes.items():
            if only_switches and own[0] != "S":
                continue
            if not by_line:
                heads = {"S": f"Switch: 0x{own[2:]} {name}:", "H": f"CA: {name}:",
                         "R": f"RT: {name}:"}
                lines.append(heads[own[0]])
            for a, p, b, q, rate in self.ends():
                if a != own:
                    continue
                width, speed = rate.split("x")
                link = f"==( {width}X {gbps[speed]:>18} Active/  LinkUp)==>"
                near = f'0x{own[2:]} "{name:>30}" ' if by_line else ""
                if not by_line and own[0] != "S":
                    near = f"      0x{number(own) + p:016x} "
                guid = own_guid(b, q) if by_line else ""
                lines.append(f"{near}{self.lid(a):6} {p:4}[  ] {link}  {guid}{self.lid(b):6} "
                             f'{q:4}[  ] "{self.nodes[b][0]}" ( )')
            if own[0] == "S":
                near = f'0x{own[2:]} "{name:>30}" ' if by_line else ""
                lines.append(f"{near}{self.lid(own):6}   40[  ] ==(                Down/ Polling)"
                             '==>             [  ] "" ( )')
        return "\n".join(lines) + "\n"


def number(own: str) -> int:
    """The GUID of a node."""
    _, digits = own.split("-")
    return int(digits, 16)


def own_guid(own: str, port: int) -> str:
    return f"0x{own[2:] if own[0] == 'S' else f'{number(own) + port:016x}'} "


def tree(rate: str = "4xHDR", hosts: tuple[str, ...] = HOSTS, suffix: str = " HCA-1") -> Fabric:
    """Two leaves below two spines, half of the hosts on each leaf, at ports 1 to 8."""
    f = Fabric()
    leaves = [f.node("S", f"leaf-{i}", 41, 0xD2F0) for i in (1, 2)]
    spines = [f.node("S", f"spine-{i}", 41, 0xD2F0) for i in (1, 2)]
    for i, leaf in enumerate(leaves):
        for j, spine in enumerate(spines):
            f.cable(leaf, 31 + j, spine, 1 + i, rate)
    half = len(hosts) // 2
    for i, name in enumerate(hosts):
        f.cable(leaves[i // half], 1 + i % half, f.node("H", name + suffix), 1, rate)
    return f


def pods(*visitors: str) -> Fabric:
    """Two pods of two leaves and two spines below four cores, a host on each leaf; and a host on
    each of these switches."""
    f = Fabric()
    cores = [f.node("S", f"core-{i}", 41, 0xD2F0) for i in (1, 2, 3, 4)]
    for pod in (0, 1):
        leaves, spines = ([f.node("S", f"{kind}-{i + 2 * pod}", 41, 0xD2F0) for i in (1, 2)]
                          for kind in ("leaf", "spine"))
        for i, leaf in enumerate(leaves):
            f.cable(leaf, 1, f.node("H", f"n{i + 1 + 2 * pod} HCA-1"), 1)
            for j, spine in enumerate(spines):
                f.cable(leaf, 31 + j, spine, 1 + i)
        for j, spine in enumerate(spines):
            for i in (0, 1):
                f.cable(spine, 31 + i, cores[2 * j + i], 1 + pod)
    for name in visitors:
        f.cable(switch(f, name), 30, f.node("H", f"on-{name} HCA-1"), 1)
    return f


def switch(f: Fabric, name: str) -> str:
    return next(own for own, node in f.nodes.items() if node[0] == name)


def with_devices(*devices: tuple[str, str, int, str]) -> Fabric:
    """The tree and more devices: form, description, device id, switch."""
    f = tree()
    for port, (form, name, device, at) in enumerate(devices, 20):
        f.cable(switch(f, at), port, f.node(form, name, 1, device), 1)
    return f


def aggregation() -> Fabric:
    name = "Mellanox Technologies Aggregation Node"
    return with_devices(*(("H", name, 0xCF09, at) for at in
                          ("leaf-1", "leaf-2", "spine-1", "spine-2")))


def loops() -> Fabric:
    f = tree()
    f.cable(switch(f, "leaf-1"), 35, switch(f, "leaf-1"), 36)
    f.cable(switch(f, "spine-2"), 37, switch(f, "spine-2"), 37)
    return f


def unequal() -> Fabric:
    f = tree()
    a, p, b, q, rate, _ = f.cables[0]
    f.cables[0] = (a, p, b, q, rate, "2xEDR")
    return f


def several_adapters() -> Fabric:
    f = tree(hosts=("n1", "n2", "n3", "n4"), suffix=" mlx5_0")
    for i, name in enumerate(HOSTS):
        leaf = switch(f, f"leaf-{1 + i // 2}")
        f.cable(leaf, 11 + i % 2, f.node("H", f"{name} mlx5_1"), 1)
    return f


def two_ports() -> Fabric:
    f = tree()
    host = switch(f, "n1 HCA-1")
    f.nodes[host] = ("n1 HCA-1", 2, 0x101B)
    f.cable(switch(f, "leaf-1"), 15, host, 2)
    return f


def second_port() -> Fabric:
    f = tree()
    host = switch(f, "n3 HCA-1")
    f.nodes[host] = ("n3 HCA-1", 2, 0x101B)
    f.cables = [(a, p, b, 2 if b == host else q, *rest) for a, p, b, q, *rest in f.cables]
    return f


def back_to_back() -> Fabric:
    f = tree()
    f.cable(f.node("H", "alone HCA-1"), 1, f.node("H", "other HCA-1"), 1)
    return f


def with_warnings(text: str) -> str:
    lines = text.splitlines()
    lines.insert(9, "ibwarn: [311] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)")
    lines.insert(0, "src/query_smp.c:199; umad (DR path slid 0) bad status 110; timed out")
    return "\n".join(["[root@head ~]# ibnetdiscover", *lines]) + "\n"


def twice(text: str) -> str:
    return text + "\n" + text


FABRICS = {
    "aggregation": (aggregation().text(), {}, "4 aggregation nodes left out"),
    "ndr": (tree("4xNDR").text(), {}, None),
    "xdr": (tree("4xXDR").text(), {}, None),
    "adapters joined": (several_adapters().text(), {"adapters": "joined"},
                        "4 hosts have several adapters (n1, ...), which are one endpoint with a"),
    "adapters by name": (several_adapters().text(), {"adapters": "mlx5_1"}, "4 more adapters"),
    "routers": (with_devices(("R", "border-rt", 0x101B, "leaf-1")).text(), {}, "1 router left out"),
    "gateways": (with_devices(("H", "MF0;eth-gw:MGA100/U1", 0xFA00, "spine-1"),
                              ("H", "gw02 HCA-1", 0x101B, "spine-2")).text(), {},
                 "2 gateways left out"),
    "managers, storage": (with_devices(("H", "ufm-a HCA-1", 0x101B, "spine-1"),
                                       ("H", "oss01 HCA-1", 0x101B, "leaf-2")).text(), {},
                          "1 manager, 1 storage adapter left out"),
    "warnings": (with_warnings(tree().text()), {}, "3 lines of programs left out"),
    "loops": (loops().text(), {}, "2 cables of a switch to itself left out"),
    "unequal ends": (unequal().text(), {}, "ends of different width or speed"),
    "host on a spine": (with_devices(("H", "visitor HCA-1", 0x101B, "spine-1")).text(), {},
                        "1 of 5 endpoints on spine-1"),
    "host on a core": (pods("core-2").text(), {}, "1 of 5 endpoints on core-2, no leaf"),
    "two ports": (two_ports().text(), {}, None),
    "second port": (second_port().text(), {}, None),
    "twice": (twice(tree().text()), {}, "8 nodes were given again"),
    "back to back": (back_to_back().text(), {}, "1 cable between adapters"),
    "ports report": (tree().ports_report(), {}, None),
    "link info": (tree().link_info(by_line=False), {}, None),
    "link info by line": (tree().link_info(by_line=True), {}, None),
    "link info of switches": (tree().link_info(by_line=False, only_switches=True), {}, None),
}
