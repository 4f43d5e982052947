"""Commands that talk to a fabric: deploy, verify-cables."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from flyloom.cli.common import (
    NET_HELP,
    Engine,
    Json,
    Layers,
    Lmc,
    Net,
    Options,
    P,
    app,
    emit,
    epilog,
    load_network,
    make_routing,
)


@app.command(epilog=epilog("flyloom deploy slim_fly:q=5,p=4 -e dfsssp --lmc 2"))
def deploy(
    net: Net,
    engine: Engine = "dfsssp",
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="let ibdmchk judge the tables too")
    ] = False,
    p: P = None,
    as_json: Json = False,
) -> None:
    """Load tables into OpenSM on a simulated fabric, read them back, compare and prove them."""
    from flyloom.deploy.fabric import deploy as load_and_read
    from flyloom.deploy.live import check_deployable
    from flyloom.experiment import deploy_line
    from flyloom.progress import bars

    topology = load_network(net, p)
    check_deployable(topology)
    if lmc is not None and 0 <= lmc <= 7:
        topology.addresses(lmc)  # too many LIDs are refused before the work, not after
    with bars() as bar:
        routing = make_routing(topology, engine, lmc, layers, option, bar)
        say = None if as_json else lambda line: print(line, file=sys.stderr)
        found = load_and_read(routing, topology=topology, oracle=oracle, say=say).to_dict()
    parts = ("entries", "sl_entries", "sl2vl_entries")
    lines = [("network", topology.recipe), ("engine", routing.engine), ("LMC", routing.lmc)]
    for part in parts:
        lines.append((part.replace("_", " "), found[part]))
        lines.append(("  differing", found[f"differing_{part}"]))
    lines += [
        ("verified as read back", found["verified"]), ("deadlock-free", found["deadlock_free"]),
        ("ibdmchk", found["oracle"]), ("OpenSM", found["opensm_version"]),
        ("seconds", found["seconds"]),
    ]
    document = {"network": topology.recipe, "engine": routing.engine, "lmc": routing.lmc, **found}
    emit(document, as_json, lines)
    if not as_json:
        print(deploy_line(found))
        for line in found["differences"] + found["counterexample"]:
            print(f"  {line}")
    same = all(found[f"differing_{part}"] == 0 for part in parts)
    raise typer.Exit(0 if same and found["verified"] else 1)


@app.command("verify-cables", epilog=epilog(
    "flyloom verify-cables slim_fly:q=5,p=4 discovered.txt", "flyloom verify-cables plan.json",
))
def verify_cables(
    planned: Annotated[str, typer.Argument(metavar="PLAN", help=NET_HELP)],
    fabric: Annotated[
        str | None,
        typer.Argument(
            metavar="FABRIC", help="saved ibnetdiscover output; default: this machine's fabric"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare a fabric with its plan: wrong, missing, extra and degraded cables, dead switches."""
    from flyloom.verbs import check_cables

    plan = load_network(planned, None)
    found = check_cables(plan, fabric if fabric is not None else this_fabric()).to_dict()
    for finding in found["findings"]:
        finding["kind"], finding["where"] = finding["fault"], finding["what"]
    lines = [(key, found[key]) for key in ("planned", "correct", "degraded", "misplaced", "lost")]
    lines.append(("findings", len(found["findings"])))
    emit(found, as_json, lines)
    if not as_json:
        for finding in found["findings"]:
            print(f"{finding['what']}; {finding['mend']}")
    raise typer.Exit(0 if found["clean"] else 1)


def this_fabric():
    from flyloom._core import Topology
    from flyloom.deploy.readback import discover_here

    return Topology.from_text(discover_here(), "ibnetdiscover", None)
