"""The command that repairs tables after failures."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli.common import (
    AnyEngine,
    Json,
    Layers,
    Lmc,
    Options,
    Tables,
    app,
    emit,
    epilog,
    write_or_refuse,
)
from flyloom.cli.routes import tables_of, write_tables


@app.command(epilog=epilog(
    "flyloom repair tables/ --link sf-0-0-0:sf-0-0-1 -o repaired/",
    "flyloom repair slim_fly:q=5,p=4 --switch sf-0-0-0",
))
def repair(
    source: Tables,
    engine: AnyEngine = None,
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    link: Annotated[
        list[str] | None,
        typer.Option("--link", help="failed: SWITCH:SWITCH (all cables between) or SWITCH:PORT"),
    ] = None,
    switch: Annotated[
        list[str] | None, typer.Option("--switch", help="failed switch, by name")
    ] = None,
    found: Annotated[
        Path | None,
        typer.Option("--found", help="ibnetdiscover output: what it lacks of the network failed"),
    ] = None,
    links: Annotated[int, typer.Option("--random", help="so many random links fail, too")] = 0,
    seed: Annotated[int, typer.Option(help="of the random links")] = 0,
    output: Annotated[Path | None, typer.Option("-o", help="folder, as of `route -o`")] = None,
    as_json: Json = False,
) -> None:
    """Repair tables after links or switches failed: few changes, and no deadlock meanwhile."""
    from flyloom.graph import network
    from flyloom.progress import bars
    from flyloom.verbs import lost_in
    from flyloom.verbs import repair as mend

    with bars() as bar:
        topology, routing, name = tables_of(source, engine, lmc, layers, option, bar)
        table = topology.link_table
        failed = sorted({
            *(cable for word in link or [] for cable in named_links(topology, table, word)),
            *random_links(table, links, seed),
        })
        dead = [named_switch(topology, word) for word in switch or []]
        if found:
            lost = lost_in(topology, network(str(found)))
            failed, dead = sorted({*failed, *lost[0]}), sorted({*dead, *lost[1]})
        mended, done = mend(routing, topology, links=failed, switches=dead, progress=bar)
        proof = mended.verify(progress=bar)
    damaged = topology.with_failures(failed, dead)
    if output:
        write_or_refuse(output, lambda: write_tables(damaged, mended, output))
    document = {
        "network": topology.recipe, "engine": name, "layers": routing.layers,
        "failed_links": len(failed), "failed_switches": len(dead), "seed": seed,
        **done.to_dict(), "verified": proof["holds"], "lanes": mended.lanes,
        "verdicts": proof["verdicts"],
    }
    changed, least = done["changed_entries"], done["least_changed_entries"]
    more = (done["changed_entries_to_switches"], done["least_changed_entries_to_switches"])
    lines = [
        ("network", topology.recipe), ("engine", name),
        ("failed links, switches", f"{len(failed)}, {len(dead)}"),
        ("changed entries", f"{changed:,} (at least {least:,})"),
        ("towards switches", f"{more[0]:,} (at least {more[1]:,})"),
        ("on switches", done["changed_switches"]),
        ("changed service levels", done["changed_service_levels"]),
        ("safe under traffic", done["safe"]),
        ("verified", proof["holds"]), ("lanes", mended.lanes),
    ]
    emit(document, as_json, lines)
    if done["why"] and not as_json:
        print(done["why"])
    if output and not as_json:
        print(f"written to {output}/")
    raise typer.Exit(0 if proof["complete"]["holds"] else 1)


def named_switch(topology, name: str) -> int:
    from flyloom._core import RefusalError

    try:
        return topology.switch_names.index(name)
    except ValueError:
        first = topology.switch_names[0] if topology.switch_names else "none"
        raise RefusalError(f"there is no switch {name}; a name such as {first}") from None


def named_links(topology, table, word: str) -> list[int]:
    """The numbers of the working cables that SWITCH:SWITCH or SWITCH:PORT means."""
    from flyloom._core import RefusalError

    one, colon, other = word.partition(":")
    if not colon:
        raise RefusalError(f"--link {word}: not SWITCH:SWITCH or SWITCH:PORT")
    a = named_switch(topology, one)
    if other.isdigit() and other not in topology.switch_names:
        ends = {(a, int(other))}
        found = [i for i, cable in cables(table) if ends & set(cable)]
    else:
        b = named_switch(topology, other)
        found = [i for i, cable in cables(table) if {s for s, _ in cable} == {a, b}]
    if not found:
        raise RefusalError(f"--link {word}: no working cable there")
    return found


def cables(table):
    """Number and both (switch, port) ends of every working link."""
    columns = (table[key] for key in ("a_switch", "a_port", "b_switch", "b_port", "up"))
    for i, (a, port, b, other, up) in enumerate(zip(*columns, strict=True)):
        if up:
            yield i, ((int(a), int(port)), (int(b), int(other)))


def random_links(table, count: int, seed: int) -> list[int]:
    from flyloom.verbs import whole

    working = [i for i, _ in cables(table)]
    return random.Random(seed).sample(working, whole("--random", count, 0, len(working)))
