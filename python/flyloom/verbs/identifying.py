"""Which member of which family a network is, by its cables alone."""

from __future__ import annotations

from flyloom import _core
from flyloom.inputs.networks import Source, network
from flyloom.support.checks import whole
from flyloom.support.progress import Progress
from flyloom.support.verb_results import Identification


def identify(
    source: Source, *, top: int = 3, progress: Progress | None = None
) -> Identification:
    """Which family with which parameters a network is, and what it lacks or has besides.

    Only cables count: names, GUIDs and port numbers may be any. The members of every family whose
    counts are near are laid over the network. Where one has no differences the network is that
    member, whatever is not up left out; else the nearest ones are listed.

    Parameters
    ----------
    source
        A network, as for ``network``: a file of a fabric, a graph.
    top
        How many members are listed, at most.
    progress
        Called with ``(what, done, total)``.

    Fields: ``network``, ``switches``, ``endpoints``, ``links``; ``members``, the nearest first,
    none where none is near: each with ``network`` (its inline form), ``family``, ``params``,
    ``differences`` (a number), ``words`` (the inline form with what is missing and extra),
    ``missing_switches``, ``extra_switches``, ``missing_cables``, ``extra_cables``,
    ``swapped_cables``, ``moved_cables``, ``missing_endpoints``, ``extra_endpoints``, ``switches``
    (the network's name of each with the member's) and ``also`` (other members that are the same).

    Random families are known by their first ten seeds. O(cables) for each member that is tried, and
    more where there are faults.
    """
    on = network(source)
    found = _core.identify(on, whole("top", top, 1, 1000), progress)
    return Identification({
        "network": on.recipe, "switches": on.switches, "endpoints": on.endpoints,
        "links": on.links, "members": found,
    })
