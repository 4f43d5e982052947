"""Counters of an invented fabric, and the text that the tools print of them.

Formats are those of perfquery and ibqueryerrors of infiniband-diags 44 (run on a simulated fabric),
of files of ibdiagnet, of UFM's telemetry and of Prometheus exporters as public samples have them.
All numbers are invented here: traffic by a draw, faults by the tests.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from flyloom import Topology

START_S = 1_795_860_000
"""2026-11-28 10:00:00 UTC."""

PERFQUERY = {
    "symbol": "SymbolErrorCounter", "recovery": "LinkErrorRecoveryCounter",
    "downed": "LinkDownedCounter", "rcv": "PortRcvErrors",
    "remote": "PortRcvRemotePhysicalErrors", "relay": "PortRcvSwitchRelayErrors",
    "discards": "PortXmitDiscards", "integrity": "LocalLinkIntegrityErrors",
    "sent": "PortXmitData", "received": "PortRcvData", "packets": "PortXmitPkts",
    "wait": "PortXmitWait",
}
PM = {
    "symbol": "symbol_error_counter", "recovery": "link_error_recovery_counter",
    "downed": "link_down_counter", "rcv": "port_rcv_errors",
    "remote": "port_rcv_remote_physical_errors", "relay": "port_rcv_switch_relay_errors",
    "discards": "port_xmit_discard", "integrity": "local_link_integrity_errors",
    "sent": "port_xmit_data", "received": "port_rcv_data", "packets": "port_xmit_pkts",
    "wait": "port_xmit_wait",
}
EXPORTER = {
    "symbol": "port_symbol_error_total", "recovery": "port_link_error_recovery_total",
    "downed": "port_link_downed_total", "rcv": "port_receive_errors_total",
    "remote": "port_receive_remote_physical_errors_total",
    "relay": "port_receive_switch_relay_errors_total", "discards": "port_transmit_discards_total",
    "integrity": "port_local_link_integrity_errors_total",
    "sent": "port_transmit_data_bytes_total", "received": "port_receive_data_bytes_total",
    "packets": "port_transmit_packets_total", "wait": "port_transmit_wait_total",
}
NODE_EXPORTER = {
    "symbol": "symbol_error_total", "recovery": "link_error_recovery_total",
    "downed": "link_downed_total", "rcv": "port_receive_errors_total",
    "remote": "port_receive_remote_physical_errors_total",
    "relay": "port_receive_switch_relay_errors_total",
    "discards": "port_discards_transmitted_total",
    "integrity": "local_link_integrity_errors_total",
    "sent": "port_data_transmitted_bytes_total", "received": "port_data_received_bytes_total",
    "packets": "port_packets_transmitted_total", "wait": "port_transmit_wait_total",
}
WIDE = ("sent", "received", "packets", "wait")
BITS = {"symbol": 16, "recovery": 8, "downed": 8, "rcv": 16, "remote": 16, "relay": 16,
        "discards": 16, "integrity": 4, "sent": 32, "received": 32, "packets": 32, "wait": 32}


@dataclass
class Port:
    """A port with a cable: where it is, what it counts, and how its link is."""

    device: str
    guid: int
    lid: int
    port: int
    is_switch: bool
    cable: int
    rate_gbps: float
    values: dict[str, int]
    up: bool = True
    there: bool = True
    lanes: int = 4
    lane: str = "50"
    """Rate of a lane in round figures, as net_dump has it."""
    symbol_ber: float = 1.5e-254


@dataclass
class Counters:
    """The counters of all ports of a network, which grow with time."""

    topology: Topology
    seed: int
    seconds: float = 60.0
    time_s: float = float(START_S)
    ports: list[Port] = field(default_factory=list)
    gbps: dict[tuple[str, int], float] = field(default_factory=dict)
    """What leaves each port, Gbit/s."""
    peers: list[tuple[Port, Port]] = field(default_factory=list)

    def __post_init__(self) -> None:
        on, known = self.topology, self.topology.addresses()
        draw = random.Random(self.seed)
        links, terminals = on.link_table, on.terminal_table

        def switch(number: int, port: int, cable: int, rate: float) -> Port:
            return self._port(draw, on.switch_names[number], known["switch_guid"][number],
                              known["switch_lid"][number], port, True, cable, rate)

        for i in range(on.links):
            rate = float(links["rate_gbps"][i])
            self.peers.append((
                switch(int(links["a_switch"][i]), int(links["a_port"][i]), i, rate),
                switch(int(links["b_switch"][i]), int(links["b_port"][i]), i, rate),
            ))
        rate = float(links["rate_gbps"][0])
        for t in range(on.terminals):
            endpoint, cable = int(terminals["endpoint"][t]), on.links + t
            host = self._port(
                draw, on.endpoint_names[endpoint], known["port_guid"][t], known["lid"][t],
                int(terminals["rail"][t]) + 1, False, cable, rate,
            )
            self.peers.append(
                (host, switch(int(terminals["switch"][t]), int(terminals["port"][t]), cable, rate))
            )
        self.ports = [port for pair in self.peers for port in pair]
        for port in self.ports:
            self.gbps[port.device, port.port] = draw.uniform(0.02, 0.9) * rate

    @staticmethod
    def _port(draw: random.Random, device: str, guid: int, lid: int, port: int,
              is_switch: bool, cable: int, rate: float) -> Port:
        # counts of faults from earlier days, each below any threshold
        values = {"symbol": draw.randrange(10), "recovery": draw.randrange(4),
                  "downed": draw.randrange(6), "rcv": draw.randrange(8),
                  "remote": draw.randrange(300), "relay": draw.randrange(900),
                  "discards": draw.randrange(900), "integrity": 0,
                  "sent": draw.randrange(10**13), "received": draw.randrange(10**13),
                  "packets": draw.randrange(10**10), "wait": draw.randrange(10**9)}
        return Port(device, guid, lid, port, is_switch, cable, rate, values)

    def pass_time(self) -> None:
        """Lets ``seconds`` go by: traffic, waits, and what is no fault of a cable."""
        draw = random.Random(f"{self.seed} {self.time_s}")
        self.time_s += self.seconds
        for one, other in [*self.peers, *((b, a) for a, b in self.peers)]:
            words = int(self.gbps[one.device, one.port] * 1e9 / 32 * self.seconds)
            one.values["sent"] += words
            other.values["received"] += words
            one.values["packets"] += words // 500
            one.values["wait"] += draw.randrange(10**6)
            # a bad packet is counted again behind every switch, a relay error needs no bad cable
            for key in ("remote", "relay", "discards"):
                one.values[key] += draw.randrange(20)
            # a good link has some errors: a hundredth of what it may have
            one.values["symbol"] += int(draw.random() * 2e-14 * one.rate_gbps * 1e9 * self.seconds)

    def shown(self, port: Port, key: str, wide: bool) -> int:
        """What a counter shows: the classic ones stay at their maximum."""
        value = port.values[key]
        return value if wide else min(value, 2 ** BITS[key] - 1)

    def listed(self, switches: bool = True, hosts: bool = True) -> Iterator[Port]:
        """The ports that answer, device by device."""
        order = sorted(self.ports, key=lambda port: (not port.is_switch, port.device, port.port))
        return (p for p in order if p.there and (switches if p.is_switch else hosts))

    # --- what the tools print --------------------------------------------------------------------

    def perfquery(self, extended: bool, timed: bool = True) -> str:
        """perfquery of one switch port after the other, with and without ``-x``."""
        text = []
        for port in self.listed(hosts=False):
            text.append(f"# Port counters: Lid {port.lid} port {port.port} (CapMask: 0x5300)\n"
                        f"PortSelect:......................{port.port}\n"
                        "CounterSelect:...................0x0000\n")
            text += [f"{name}:".ljust(33, ".") + f"{self.shown(port, key, False)}\n"
                     for key, name in PERFQUERY.items()]
            if extended:
                text.append(f"# Port extended counters: Lid {port.lid} port {port.port}"
                            " (CapMask: 0x5300 CapMask2: 0x0000002)\n"
                            f"PortSelect:......................{port.port}\n")
                text += [f"{PERFQUERY[key]}:".ljust(33, ".") + f"{port.values[key]}\n"
                         for key in WIDE]
            if timed:
                text.append(f"timestamp {self.time_s:.6f}\n")
        return "".join(text)

    def ibqueryerrors(self, data: bool, least: int = 0) -> str:
        """ibqueryerrors -r, also with --data: ports of which some counter is above ``least``."""
        text, device = [], ""
        for port in self.listed():
            faults = [key for key in PERFQUERY if key not in WIDE and port.values[key] > least]
            if not faults:
                continue
            if port.device != device:
                device = port.device
                text.append(f'Errors for 0x{port.guid:x} "{device}"\n'
                            f"   GUID 0x{port.guid:x} port ALL: [LinkDownedCounter == 77]\n")
            keys = [*faults, *(WIDE if data else ())]
            counts = " ".join(f"[{PERFQUERY[key]} == {self.shown(port, key, key in WIDE)}"
                              f"{' (1.5KB)' if key in WIDE else ''}]" for key in keys)
            state = (f"{port.lanes}X        53.125 Gbps Active/  LinkUp" if port.up
                     else "               Down/ Polling")
            text.append(f"   GUID 0x{port.guid:x} port {port.port}: {counts}\n"
                        f"       Link info: {port.lid:6} {port.port:3}[  ] ==( {state})==>  "
                        '0x0002c90300000c91    150    1[  ] "somewhere" ( )\n')
        return "".join(text) + (
            "\n## Summary: 234 nodes checked, 1 bad nodes found\n"
            "##          865 ports checked, 1 ports have errors beyond threshold\n"
            "## Thresholds: \n## Suppressed:\n")

    def _stamp(self) -> str:
        return datetime.fromtimestamp(self.time_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC +0000")

    def pm(self, extended: bool = True) -> str:
        """ibdiagnet2.pm."""
        line = "-" * 83
        text = [f"# Running timestamp   : {self._stamp()}\n"]
        for port in self.listed():
            text.append(f"{line}\nPort={port.port} Lid=0x{port.lid:04x} GUID=0x{port.guid:016x}"
                        f" Device=53000 Port Name={port.device}/U1/P{port.port}\n{line}\n")
            text += [f"{name}=0x{self.shown(port, key, False):04x}\n" for key, name in PM.items()]
            if extended:
                text += [f"{PM[key]}_extended=0x{port.values[key]:016x}\n" for key in WIDE]
            text.append("retransmission_per_sec=NA\n")
        return "".join(text)

    def db_csv(self) -> str:
        """ibdiagnet2.db_csv with its nodes and counters."""
        nodes = sorted({(port.device, port.guid) for port in self.listed()})
        text = [f"# Running timestamp : {self._stamp()}\nSTART_NODES\nNodeDesc,NodeGUID,NodeType\n"]
        text += [f'"{name}",0x{guid:016x},2\n' for name, guid in nodes]
        names = [f"{name}{'Ext' if key == 'downed' else ''}" for key, name in PERFQUERY.items()
                 if key not in WIDE]
        names += [f"{PERFQUERY[key]}Extended" for key in WIDE]
        text.append("END_NODES\n\nSTART_PM_INFO\nNodeGUID,PortGUID,PortNumber,"
                    + ",".join(names) + "\n")
        keys = [*(key for key in PERFQUERY if key not in WIDE), *WIDE]
        for port in self.listed():
            counts = ",".join(str(self.shown(port, key, key in WIDE)) for key in keys)
            text.append(f"0x{port.guid:016x},0x{port.guid:016x},{port.port},{counts}\n")
        return "".join(text) + "END_PM_INFO\nSTART_CABLE_INFO\nNodeGuid,Vendor\n1,2\n" \
                               "END_CABLE_INFO\n"

    def net_dump(self) -> str:
        """ibdiagnet2.net_dump."""
        text, device = [f"# Running timestamp   : {self._stamp()}\n"], ""
        for port in self.listed(hosts=False):
            if port.device != device:
                device = port.device
                text.append(
                    f'"{device}", Mellanox, 0x{port.guid:016x}, LID {port.lid}\n'
                    "  # : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran :"
                    " Neighbor Guid : N# : NLID : Neighbor Description\n")
            link = (f"ACT : LINK UP : 5 : {port.lanes}x : {port.lane} : RS : NO-RTR" if port.up
                    else "DOWN : POLL : N/A : N/A : N/A : N/A : N/A")
            text.append(f"  {port.port} : {port.port} : {link} : 0x2c9 : 1 : 120 :"
                        ' "somewhere"\n')
        return "".join(text)

    def ufm(self, header: bool = True, ber: bool = False) -> str:
        """A table of UFM's telemetry."""
        names = [f"{name}Extended" for name in PERFQUERY.values()]
        text = ["timestamp,source_id,node_guid,port_guid,port_num,node_description,lid,"
                + ",".join(names) + (",symbol_ber" if ber else "") + "\n"] if header else []
        for port in self.listed():
            counts = ",".join(str(port.values[key]) for key in PERFQUERY)
            text.append(
                f'{int(self.time_s * 1e6)},0x1234,0x{port.guid:016x},0x{port.guid:016x},'
                f'{port.port},"{port.device}",{port.lid},{counts}'
                + (f",{port.symbol_ber}" if ber else "") + "\n")
        return "".join(text)

    def exporter(self, words: bool = False, timed: bool = True) -> str:
        """Prometheus text of an exporter of switches; an older one passes words on as bytes."""
        text = []
        behind = f" {int(self.time_s * 1000)}" if timed else ""
        for key, name in EXPORTER.items():
            about = f"Infiniband switch port {PERFQUERY[key]}" if words else "Counted on this port."
            metric = f"infiniband_switch_{name}"
            text.append(f"# HELP {metric} {about}\n# TYPE {metric} counter\n")
            scale = 1 if words or key not in ("sent", "received") else 4
            text += [f'{metric}{{guid="0x{port.guid:016x}",port="{port.port}",'
                     f'switch="{port.device}"}} {port.values[key] * scale}{behind}\n'
                     for port in self.listed(hosts=False)]
        return "".join(text)

    def node_exporters(self) -> dict[str, str]:
        """Prometheus text of every host, by its name."""
        found: dict[str, str] = {}
        for port in self.listed(switches=False):
            labels = f'{{device="mlx5_{port.port - 1}",port="1"}}'
            text = [f'node_uname_info{{machine="x86_64",nodename="{port.device}"}} 1\n'
                    f"node_time_seconds {self.time_s:.9e}\n"
                    f"node_infiniband_physical_state_id{labels} {5 if port.up else 2}\n"
                    f"node_infiniband_rate_bytes_per_second{labels} "
                    f"{port.rate_gbps / 8 * 1e9 * port.lanes / 4:.4g}\n"
                    'node_cpu_seconds_total{cpu="0",mode="idle"} 123.4\n']
            for key, name in NODE_EXPORTER.items():
                wide = key in ("sent", "received", "packets")
                scale = 4 if key in ("sent", "received") else 1
                text.append(f"node_infiniband_{name}{labels} "
                            f"{float(self.shown(port, key, wide) * scale)!r}\n")
            found[port.device] = found.get(port.device, "") + "".join(text)
        return found
