"""Plans and bills reckoned again, from a network's JSON, the rules and a catalogue's TOML alone.

Nothing of flyloom is imported: heights, powers, lengths, kinds and prices are worked out here from
what the documentation says of them.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter, defaultdict
from typing import Any

RULES = {
    "rack_units": 42, "endpoints": "in", "pitch_m": 1.0, "row_pitch_m": 2.4, "overhead_m": 2.0,
    "inside_m": 1.0,
    "slack_m": 0.0, "slack_fraction": 0.0, "rack_kw": math.inf, "endpoint_w": 0.0,
    "stock_m": [1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0],
}
"""The defaults of docs/plan.md."""


class Reckoned:
    """A plan and a bill of ``network`` under ``rules``, by ``catalog`` at ``gbps``."""

    fit: dict[str, Any] | None = None
    """The switch with most ports as the catalogue has it, which all else must fit."""

    def __init__(self, network: dict[str, Any], rules: dict[str, Any], catalog: dict[str, Any],
                 gbps: float) -> None:
        self.network, self.catalog, self.gbps = network, catalog, gbps
        self.rules = {**RULES, **rules}
        self.ports = Counter[int]()
        for a, port_a, b, port_b, *_ in network["links"]:
            self.ports[a] = max(self.ports[a], port_a)
            self.ports[b] = max(self.ports[b], port_b)
        self.home = []
        for endpoint in network["endpoints"]:
            for switch, port, *_ in endpoint["rails"]:
                self.ports[switch] = max(self.ports[switch], port)
            self.home.append(endpoint["rails"][0][0] if endpoint["rails"] else None)
        for i, switch in enumerate(network["switches"]):
            self.ports[i] = max(self.ports[i], switch.get("ports", 0))
        best = self.switch(max(self.ports.values()))
        self.fit = best["entry"]
        server = self.server()
        self.switch_units = self.rules.get("switch_units") or best["rack_units"] or 1
        self.switch_w = self.rules.get("switch_w", best["watts"] or 0.0)
        self.server_units, self.per_server, self.endpoint_w = server

    def server(self) -> tuple[int, int, float]:
        """Height, endpoints and watts of each endpoint of a server."""
        if "server" in self.rules:
            one = next(s for s in self.catalog["server"] if s["id"] == self.rules["server"])
            rails = max(len(endpoint["rails"]) for endpoint in self.network["endpoints"])
            each = max(one["endpoints"] // rails, one.get("nodes", 1))
            watts = self.rules["endpoint_w"] or one["watts"] / each
            return one["rack_units"], each, watts
        each = self.rules.get("endpoints_per_server", self.rules.get("endpoints_per_unit", 1))
        return self.rules.get("server_units", 1), each, self.rules["endpoint_w"]

    # --- what is on sale ---

    def fits(self, one: dict[str, Any], connector: bool = True) -> bool:
        """Whether a part has the protocol and the connector of the switches, or says none."""
        keys = ("protocol", "connector") if connector else ("protocol",)
        switch = self.fit or {}
        return all(len({part[key] for part in (one, switch) if key in part}) < 2 for key in keys)

    def switch(self, ports: int) -> dict[str, Any]:
        """The cheapest switch with this number of ports."""
        offers = []
        for one in filter(self.fits, self.catalog["switch"]):
            if "linear" in one:
                usd = max(0.0, one["linear"]["fixed"] + one["linear"]["per_port"] * ports)
                watts = one["watts_per_port"] * ports if "watts_per_port" in one else None
                offers.append((usd, watts, one.get("rack_units"), one))
            elif one["ports"] >= ports and one["gbps"] == self.gbps and "price" in one:
                offers.append((one["price"]["typical"], one.get("watts"), one.get("rack_units"),
                               one))
        usd, watts, units, entry = min(offers, key=lambda offer: offer[0])
        return {"usd": usd, "watts": watts, "rack_units": units, "entry": entry}

    def cable(self, use: str, length: float) -> tuple[str, float, float | None]:
        """Kind, price and watts: electric where one reaches, the cheapest of a kind."""
        for kind in ("electric", "optical"):
            offers = []
            for one in filter(self.fits, self.catalog.get("cable", ())):
                if one["kind"] != kind or one.get("use", use) != use or length > one["reach_m"]:
                    continue
                if "linear" in one:
                    model = one["linear"]
                    usd = self.gbps * (model["per_gbps_m"] * length + model["per_gbps"])
                elif one["gbps"] == self.gbps and "price" in one:
                    usd = one["price"]["typical"]
                else:
                    continue
                offers.append((usd, one.get("watts")))
            if kind == "optical":
                ends = [x for x in filter(self.fits, self.catalog.get("transceiver", ()))
                        if x["gbps"] == self.gbps and x["reach_m"] >= length and "price" in x
                        and x.get("use", use) == use]
                fibres = [x for x in self.catalog.get("fibre", ()) if x["reach_m"] >= length]
                if ends and fibres:
                    end = min(ends, key=lambda x: x["price"]["typical"])
                    fibre = min(fibres, key=lambda x: x["price"]["typical"])
                    watts = 2 * end["watts"] if "watts" in end else None
                    offers.append((2 * end["price"]["typical"] + fibre["price"]["typical"], watts))
            if offers:
                return (kind, *min(offers, key=lambda offer: offer[0]))
        raise AssertionError(f"nothing reaches {length} m")

    # --- the floor ---

    def check_floor(self, plan: dict[str, Any]) -> None:
        """Every switch and server in a rack of its own units, within height and power."""
        rules, racks = self.rules, plan["racks"]
        taken: dict[int, dict[int, str]] = defaultdict(dict)
        watts: Counter[int] = Counter()
        inside: dict[tuple[int, int], int] = Counter()
        seats = rules["endpoints"] != "beside"

        def put(rack: int, unit: int, height: int, what: str) -> None:
            for at in range(unit, unit + height):
                assert 1 <= at <= rules["rack_units"], f"{what} sticks out of rack {rack}"
                assert at not in taken[rack], f"{what} and {taken[rack][at]} overlap"
                taken[rack][at] = what

        assert len(plan["switches"]) == len(self.network["switches"])
        for i, seat in enumerate(plan["switches"]):
            put(seat["rack"], seat["unit"], self.switch_units, f"switch {i}")
            watts[seat["rack"]] += self.switch_w
        for e, seat in enumerate(plan["endpoints"]):
            assert (seat is None) == (self.home[e] is None), "who has a rail has a seat"
            if seat is None:
                continue
            assert (seat["unit"] is not None) == seats, "every server is seated, or none"
            if seats:
                inside[seat["rack"], seat["unit"]] += 1
                watts[seat["rack"]] += self.endpoint_w
        for (rack, unit), endpoints in inside.items():
            assert endpoints <= self.per_server
            put(rack, unit, self.server_units, f"server at {unit}")
        spots = {(rack["row"], rack["column"]) for rack in racks}
        assert len(spots) == len(racks), "two racks on a spot"
        for i, rack in enumerate(racks):
            assert rack["units"] == max(taken[i], default=0)
            assert math.isclose(rack["watts"], watts[i], abs_tol=1e-6)
            assert watts[i] <= 1000 * rules["rack_kw"] * (1 + 1e-6)
            assert math.isclose(rack["x_m"], rack["column"] * rules["pitch_m"])
            assert math.isclose(rack["y_m"], rack["row"] * rules["row_pitch_m"])
        self.check_bounds(plan, seats)

    def check_bounds(self, plan: dict[str, Any], seats: bool) -> None:
        """No fewer racks than height and power ask for; servers where the rule says."""
        switches = len(self.network["switches"])
        ends = sum(home is not None for home in self.home) if seats else 0
        units = switches * self.switch_units + ends / self.per_server * self.server_units
        power = switches * self.switch_w + ends * self.endpoint_w
        rules = self.rules
        assert len(plan["racks"]) >= math.ceil(units / rules["rack_units"] - 1e-9)
        assert len(plan["racks"]) >= power / (1000 * rules["rack_kw"]) - 1e-9
        with_switches = {seat["rack"] for seat in plan["switches"]}
        for home, seat in zip(self.home, plan["endpoints"], strict=True):
            if home is None:
                continue
            own = plan["switches"][home]["rack"]
            alone = seat["rack"] not in with_switches
            if rules["endpoints"] == "rows":
                assert alone
            else:
                assert seat["rack"] == own or (seats and alone)

    # --- the cables ---

    def check_cables(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Every cable of the list and all sums over it; what they cost and draw."""
        rows = {row["cable"]: row for row in csv.DictReader(io.StringIO(plan["cables_csv"]))}
        ends = {f"link-{i}": [("switches", a, pa), ("switches", b, pb)]
                for i, (a, pa, b, pb, *_) in enumerate(self.network["links"])}
        number = 0
        for e, endpoint in enumerate(self.network["endpoints"]):
            for rail, (switch, port, *_) in enumerate(endpoint["rails"], 1):
                ends[f"terminal-{number}"] = [("endpoints", e, rail), ("switches", switch, port)]
                number += 1
        assert set(rows) == set(ends) and plan["cables"] == len(ends)
        sums = {"switch": 0.0, "endpoint": 0.0, "metres": 0.0, "watts": 0.0}
        counts: Counter[str] = Counter()
        for name, both in ends.items():
            use = "switch" if name.startswith("link") else "endpoint"
            self._check_cable(plan, rows[name], both, use, sums, counts)
        assert math.isclose(plan["length_m"], sums["metres"], abs_tol=1e-3)
        assert math.isclose(plan["cost_usd"], sums["switch"] + sums["endpoint"], abs_tol=1e-2)
        assert sum(plan["by_step"]) == len(ends)
        assert plan["by_step"][0] == number
        return {**sums, **counts}

    def _check_cable(self, plan: dict[str, Any], row: dict[str, str],
                     both: list[tuple[str, int, int]], use: str, sums: dict[str, float],
                     counts: Counter[str]) -> None:
        rules = self.rules
        seats = [plan[what][i] for what, i, _ in both]
        names = [self.network[what][i]["name"] for what, i, _ in both]
        listed = Counter((row[f"{s}_rack"], row[f"{s}_unit"], row[f"{s}_device"], row[f"{s}_port"])
                         for s in "ab")
        assert listed == Counter(
            (plan["racks"][seat["rack"]]["name"], str(seat["unit"] or ""), name, str(port))
            for seat, name, (_, _, port) in zip(seats, names, both, strict=True))
        a, b = (plan["racks"][seat["rack"]] for seat in seats)
        if a is b and all(seat["unit"] for seat in seats):
            length = rules["inside_m"]
        else:
            run = abs(a["x_m"] - b["x_m"]) + abs(a["y_m"] - b["y_m"]) + rules["overhead_m"]
            length = run * (1 + rules["slack_fraction"]) + rules["slack_m"]
            assert length >= rules["overhead_m"]
        length = math.ceil(length * 1000 - 1e-6) / 1000
        kind, usd, watts = self.cable(use, length)
        assert math.isclose(float(row["length_m"]), length, abs_tol=1e-9), row
        assert row["kind"] == kind
        assert math.isclose(float(row["cost_usd"]), usd, abs_tol=1e-5)
        assert float(row["rate_gbps"]) == self.gbps
        stock = next((s for s in rules["stock_m"] if s >= length), None)
        last = rules["stock_m"][-1]
        assert float(row["stock_m"]) == (stock or math.ceil(length / last) * last)
        assert (row["step"] == "3") == (use == "switch" and a is not b)
        sums[use] += usd
        sums["metres"] += length
        sums["watts"] += watts or 0.0
        counts[f"{use} {kind}"] += 1

    # --- the bill ---

    def check_bill(self, bill: dict[str, Any], cables: dict[str, Any], racks: int) -> None:
        """Subtotals of every item and the total of those that are counted."""
        switches = [self.switch(self.ports[i]) for i in range(len(self.network["switches"]))]
        rails = sum(len(endpoint["rails"]) for endpoint in self.network["endpoints"])
        nics = [n["price"]["typical"] for n in self.catalog.get("nic", ())
                if n["gbps"] == self.gbps and "price" in n and self.fits(n, connector=False)]
        items = {
            "network": sum(s["usd"] for s in switches) + cables["switch"],
            "endpoint_cables": cables["endpoint"],
            "adapters": min(nics) * rails if nics else None,
        }
        for item, usd in items.items():
            found = bill[f"{item}_usd"]
            assert (found is None) == (usd is None), item
            assert usd is None or math.isclose(found, usd, abs_tol=0.05), item
        energy = self.catalog.get("energy")
        items["energy"] = None
        if energy:
            watts = sum(line["watts"] or 0.0 for line in bill["lines"] if line["counted"])
            kwh = watts / 1000 * 8760 * energy["pue"]
            items["energy"] = kwh * energy["price_per_kwh"]
            assert math.isclose(bill["energy_usd_per_year"], items["energy"], abs_tol=1e-3)
        if {"network", "endpoint_cables"} <= set(bill["include"]):
            known = [s["watts"] for s in switches if s["watts"] is not None]
            assert (bill["power_w"] is None) == (len(known) < len(switches))
            if bill["power_w"] is not None:
                power = sum(known) + cables["watts"]
                assert math.isclose(bill["power_w"], power, rel_tol=1e-9, abs_tol=1e-3)
        total = sum(items[item] for item in bill["include"])
        assert math.isclose(bill["cost_usd"], total, abs_tol=0.1)
        assert bill["racks"] == racks
        for key, count in (("cables_electric", "switch electric"),
                           ("cables_optical", "switch optical"),
                           ("endpoint_cables_electric", "endpoint electric"),
                           ("endpoint_cables_optical", "endpoint optical")):
            assert bill[key] == cables.get(count, 0), key
