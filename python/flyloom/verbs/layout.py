"""Where a network stands and how it is wired: plan, cables, and what was found beside them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flyloom._core import RefusalError
from flyloom.inputs.catalogs import PriceList, floor_rules, shop
from flyloom.inputs.networks import Source, network
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.verb_results import CableCheck, CableFolder, FloorPlan


def plan(
    source: Source,
    rules: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    catalog: PriceList | None = None,
    gbps: float | None = None,
) -> FloorPlan:
    """Racks and cables of a network.

    ``rules`` changes sizes and distances (see ``result.rules`` for all with their defaults), as a
    dict or a TOML file; ``catalog`` and ``gbps`` are what cables are bought from and at which rate,
    as for :func:`flyloom.shop`. Fields: ``racks`` (name, row, column, position [m], units taken,
    watts), ``switches`` and ``endpoints`` (seats: rack index and unit), ``cables`` (number),
    ``cables_csv`` (the port-to-port list), ``by_step`` (cables of endpoints, inside groups, inside
    racks, between racks), ``rack_pairs``, ``classes`` (by kind and stock length: count, metres,
    cost), ``cost_usd`` of all cables, ``length_m``, ``rules``, ``catalog``, ``warnings`` and
    ``hints`` (a sentence each).
    """
    return FloorPlan(network(source).plan(floor_rules(rules), shop(catalog, gbps=gbps)))


def cables(
    source: Source,
    folder: str | os.PathLike[str],
    *,
    rules: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    catalog: PriceList | None = None,
    gbps: float | None = None,
    paper: str = "a4",
    labels: tuple[int, int] = (3, 8),
    spare: float = 0.02,
    progress: Progress | None = None,
) -> CableFolder:
    """Writes the folder that people wire a network from; see docs/cabling.md for its files.

    Parameters
    ----------
    source
        A network, as for ``network``.
    folder
        Where to write; made where it is missing. Files of an earlier run are replaced.
    rules, catalog, gbps
        As for ``plan``.
    paper
        ``a4``, or ``a3`` (pairs of racks across); labels are always on A4.
    labels
        Labels beside and above each other on a sheet.
    spare
        Cables to buy beyond those needed, as a fraction of these, 0 to 1; rounded up for each kind,
        stock length and rate.
    progress
        Called with ``(what, done, total)``.

    Fields: ``folder``, ``network``, ``racks``, ``rack_pairs`` (those with a cable between them),
    ``pairs_drawn`` (all, or none where they are more than 2000), ``cables``, ``by_step``, ``pages``
    of cabling.pdf, ``label_sheets``, ``labels_with_code`` (all where there is room), ``spare``,
    ``buy`` (cables to buy), ``cost_usd`` of these,
    ``order`` (rows of order.csv), ``files``. Raises ``RefusalError`` where the folder cannot be
    written or the labels are too small for their words. O(cables).
    """
    from flyloom.cabling.folder import write_folder
    from flyloom.support.files import check_folder

    if paper not in ("a4", "a3"):
        raise RefusalError(f"paper: {paper!r} is not known; a4, a3")
    try:
        columns, rows = labels
    except (TypeError, ValueError):
        raise RefusalError(f"labels: {labels!r} is not (columns, rows); (3, 8)") from None
    grid = (whole("labels", columns, 1, 100), whole("labels", rows, 1, 100))
    if isinstance(spare, bool) or not isinstance(spare, (int, float)) or not 0 <= spare <= 1:
        raise RefusalError(f"spare: {spare!r} is no fraction of the cables; 0 to 1")
    place = Path(folder)
    check_folder(place)
    topology = network(source)
    return CableFolder(write_folder(
        topology, plan(topology, rules, catalog=catalog, gbps=gbps).to_dict(), place, paper=paper,
        labels=grid, spare=float(spare), progress=progress,
    ))


def verify_cables(
    planned: Source,
    found: Source,
    *,
    identify: str = "auto",
    guids: Mapping[str, int] | None = None,
    rules: dict[str, Any] | None = None,
    ignore_ports: bool = False,
    step: int | None = None,
) -> CableCheck:
    """Compares a fabric that was found (a network, or ibnetdiscover output) with the plan.

    Fields: ``clean`` (no findings), ``complete`` (nor is anything of the steps asked for unlaid);
    numbers of cables, ``planned`` = ``correct`` + ``degraded`` + ``misplaced`` + ``lost`` +
    ``unlaid``, of the lost ones ``missing``, those whose devices answer, and ``on_other_ports``,
    those between the right devices on other ports, which are correct with ``ignore_ports`` and
    misplaced without; ``findings``, each with ``kind`` (also as ``fault``), ``where``, ``what``,
    ``mend``, ``line`` (all in one short line), ``table`` (the ports of each move, where there are
    several), ``planned``, ``found`` and ``moves`` (what to do, for a program, to be done in order);
    ``progress`` (cables ``planned``, ``laid``, ``correct``, ``degraded``, ``wrong``, ``missing``,
    ``lost`` and ``unlaid`` by step and by rack; None without a floor); ``identified`` (``by``,
    numbers of ``switches`` and ``endpoints``, and how many matches are ``equally_good``);
    ``switch_states`` (by switch); ``cables`` (states of the cables that are not correct);
    ``guids`` (GUIDs found, by device).

    Parameters
    ----------
    identify
        What tells which device is which: "guid", "name", "structure" (the cables alone), or "auto",
        GUIDs, then names, and the structure where these tell of fewer than half of the switches.
    guids
        GUIDs by device name, in place of the plan's own.
    rules
        The floor rules that labels, racks and steps come from.
    ignore_ports
        Whether a cable between the right two devices is right whatever ports it is in.
    step
        How far the wiring has come, 0 to 3: cables of later steps need not be laid yet. None: all
        cables are to be there.

    Raises ``RefusalError`` for another fabric, and for what an option cannot be. O(cables log
    cables), by structure as much for every switch.
    """
    if not isinstance(ignore_ports, bool):
        raise RefusalError(f"ignore_ports: {ignore_ports!r} is not True or False")
    last = None if step is None else whole("step", step, 0, 3)
    known = None if guids is None else {str(k): whole("guids", v, 1, 2**64 - 1)
                                        for k, v in guids.items()}
    return CableCheck(network(planned).check_cables(
        network(found), identify, known, rules, ignore_ports=ignore_ports, step=last,
    ))


check_cables = verify_cables  # its former name


def lost_in(topology: Source, found: Source) -> tuple[list[int], list[int]]:
    """The numbers of the links and switches of a network that a fabric as found does not have.

    Switches are matched by name, links by switch and port at both ends. A link of a lost switch
    is not named apart.
    """
    return network(topology).lost_in(network(found))
