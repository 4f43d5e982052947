"""The border of `results.json`: what the report takes from it is there, and of its kind."""

from __future__ import annotations

from typing import Any

from flyloom.report.check import ANY, COUNT, NUMBER, TEXT, TRUTH, ReportError, walk

MORE = "**"
"""Other keys may be there, with anything behind them: they are not looked at."""

_SEAT = {"rack": COUNT, "unit?": COUNT, MORE: ANY}
_PLAN = {
    "racks": [{"name": TEXT, "row": NUMBER, "column": NUMBER, MORE: ANY}],
    "switches": [_SEAT],
    "rack_pairs": [{"a": TEXT, "b": TEXT, "cables": COUNT}],
    "by_step": [COUNT],
    "classes": [{"kind": TEXT, "stock_m": NUMBER, "cables": COUNT, "cost_usd": NUMBER, MORE: ANY}],
    "cables": COUNT, "length_m?": NUMBER, "cost_usd": NUMBER, "catalog": TEXT,
    "rules": {"switch_units?": COUNT, "server_units?": COUNT, MORE: ANY}, MORE: ANY,
}
_FACTS = {
    "label": TEXT, "recipe": TEXT, "plan": _PLAN,
    "structure": {"switches": COUNT, "endpoints": COUNT, "links": COUNT, MORE: ANY}, MORE: ANY,
}
_EBB = {
    "pattern_means": [NUMBER], "confidence_interval_95?": [NUMBER], "patterns": COUNT,
    "effective_bisection_bandwidth": NUMBER, MORE: ANY,
}
_PROOF = {
    "holds": TRUTH,
    "complete": {"holds": TRUTH, "routes?": COUNT, "counterexample?": TEXT, MORE: ANY},
    "deadlock?": {"holds": TRUTH, "dependencies?": COUNT, "rechecked?": TRUTH,
                  "cycle?": [{MORE: ANY}], "counterexample?": [TEXT], MORE: ANY},
}
_RECORD = {
    "label": TEXT, "network": TEXT, "called?": TEXT, "asked?": {MORE: ANY},
    "measures?": {MORE: ANY},
    # None where a point has no tables
    "engine?": TEXT, "lmc?": COUNT, "verify?": {**_PROOF, MORE: ANY},
    "load?": {"histogram": [[COUNT]], MORE: ANY}, "ebb?": _EBB, MORE: ANY,
}
_SAVED = {
    "experiment": {"name": TEXT, "title?": TEXT, "summary?": TEXT, "seed": COUNT, MORE: ANY},
    "text": TEXT, "networks": {MORE: ANY}, "records": [_RECORD],
    "measures?": [{"rows": [{"parameters?": {MORE: ANY}, MORE: ANY}], MORE: ANY}],
    "stages": [{MORE: ANY}], "skipped": [{MORE: ANY}],
    "edges": {MORE: ANY}, "switch_names": {MORE: ANY}, "groups": {MORE: ANY}, MORE: ANY,
}


def results(saved: Any) -> None:
    """Raises :class:`ReportError` at the first field of the results of a run that is missing or of
    another kind than a run writes. O(size of the results)."""
    walk(saved, _SAVED, "results")
    if not saved["records"]:
        raise ReportError("records: there is none; run the experiment first")
    for key, facts in saved["networks"].items():
        where = f"networks.{key}"
        walk(facts, _FACTS, where)
        for part, shape in (("edges", [[COUNT]]), ("switch_names", [TEXT]), ("groups", [ANY])):
            walk(saved[part].get(key), shape, f"{part}.{key}")
        _seats(facts["plan"], len(saved["switch_names"][key]), f"{where}.plan")
    for i, record in enumerate(saved["records"]):
        _record(record, f"records[{i}]")


def _seats(plan: dict[str, Any], switches: int, where: str) -> None:
    _expect(len(plan["switches"]) == switches, f"{where}.switches", "a seat for each switch")
    _expect(len(plan["by_step"]) == 4, f"{where}.by_step", "a number for each of 4 steps")
    seats = plan.get("endpoints")
    if not isinstance(seats, list):
        raise _odd(f"{where}.endpoints", "a list")
    for i, seat in enumerate(seats):
        if seat is not None:
            walk(seat, _SEAT, f"{where}.endpoints[{i}]")
    racks = len(plan["racks"])
    for seat in [*plan["switches"], *filter(None, seats)]:
        _expect(seat["rack"] < racks, f"{where}: rack {seat['rack']}", f"racks below {racks}")


def _record(record: dict[str, Any], where: str) -> None:
    for name, found in (record.get("measures") or {}).items():
        simulated = name.startswith("sim.")
        _expect(not simulated or isinstance(found, dict), f"{where}.measures.{name}", "a record")
    for name, asked in (record.get("asked") or {}).items():
        _expect(isinstance(asked, dict), f"{where}.asked.{name}", "what was asked")
    proof = record.get("verify") or {}
    if proof:
        for key in ("engine", "lmc"):
            _expect(record.get(key) is not None, f"{where}.{key}", "what tables are of")
    deadlock = proof.get("deadlock")
    if deadlock:
        wanted = ("dependencies", "rechecked") if deadlock["holds"] else ("cycle",)
        for key in wanted:
            _expect(deadlock.get(key) is not None, f"{where}.verify.deadlock.{key}", "a value")
    for i, pair in enumerate((record.get("load") or {}).get("histogram", ())):
        _expect(len(pair) == 2, f"{where}.load.histogram[{i}]", "routes and channels")
    if ebb := record.get("ebb"):
        _expect(bool(ebb["pattern_means"]), f"{where}.ebb.pattern_means", "a mean a pattern")
        interval = ebb.get("confidence_interval_95")
        _expect(not interval or len(interval) == 2, f"{where}.ebb.confidence_interval_95", "two")


def _expect(holds: bool, where: str, what: str) -> None:
    if not holds:
        raise _odd(where, what)


def _odd(where: str, what: str) -> ReportError:
    return ReportError(f"report: {where}: not {what}; run the experiment again")
