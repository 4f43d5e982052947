"""The command that loads tables into a fabric: deploy."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from flyloom.cli.common import (
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
    from flyloom.lab.lines import deploy_line
    from flyloom.support.progress import bars

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
        ("verified as sent", found["verified_as_sent"]),
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
