"""One function per topology; written by `cargo xtask gen`, never edited."""

from __future__ import annotations

from collections.abc import Sequence

from flyloom import _core

__all__ = [
    "bcube",
    "benes",
    "clos",
    "dln",
    "dragonfly",
    "fat_tree",
    "fit_fly",
    "flattened_butterfly",
    "hyperx",
    "jellyfish",
    "k_ary_n_fly",
    "k_ary_n_tree",
    "megafly",
    "multi_plane",
    "slim_fly",
    "mesh",
    "torus",
    "xgft",
    "xpander",
]


def bcube(
    *,
    n: int,
    k: int,
) -> _core.Topology:
    """`BCube`: n^(k+1) servers with k + 1 ports, and k + 1 levels of n^k switches with n ports.

    Servers relay: each is a switch with one endpoint.

    Parameters
    ----------
    n : int
        Ports of a switch.
    k : int
        The highest level; levels count from 0.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "bcube",
        _given(
            n=n,
            k=k,
        ),
    )


def benes(
    *,
    n: int,
) -> _core.Topology:
    """Benes network of N = 2^n inputs: 2 n - 1 stages of N / 2 switches, two links or endpoints
    on
    either side of each.

    Parameters
    ----------
    n : int
        Logarithm of the number of inputs: N = 2^n.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "benes",
        _given(
            n=n,
        ),
    )


def clos(
    *,
    n: int,
    m: int,
    r: int,
    folded: bool | None = None,
) -> _core.Topology:
    """Clos network C(n, m, r): every outer switch is linked to every middle switch.

    Strictly non-blocking for m >= 2 n - 1, rearrangeably for m >= n.

    Parameters
    ----------
    n : int
        Endpoints per outer switch.
    m : int
        Middle switches.
    r : int
        Outer switches; unfolded, as many on each side.
    folded : bool, optional
        Whether ingress and egress are the same switches; default true.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "clos",
        _given(
            n=n,
            m=m,
            r=r,
            folded=folded,
        ),
    )


def dln(
    *,
    n: int,
    y: int,
    x: int | None = None,
    seed: int | None = None,
    p: int | None = None,
) -> _core.Topology:
    """Distributed loop network with random shortcuts, DLN-x-y: a ring, x - 2 regular shortcuts
    and y
    random links a switch.

    Parameters
    ----------
    n : int
        Switches; even when there are random links.
    y : int
        Random links of a switch.
    x : int, optional
        2 for the ring alone, one more for each regular shortcut; default 2.
    seed : int, optional
        Number of the random network; default 0.
    p : int, optional
        Endpoints per switch; default the network radix over the least diameter that n such
        switches can have, rounded up.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "dln",
        _given(
            n=n,
            y=y,
            x=x,
            seed=seed,
            p=p,
        ),
    )


def dragonfly(
    *,
    h: int,
    p: int | None = None,
    a: int | None = None,
    g: int | None = None,
    arrangement: str | None = None,
) -> _core.Topology:
    """Dragonfly: g groups of a switches, complete inside, h global links on every switch.

    Parameters
    ----------
    h : int
        Global ports per switch.
    p : int, optional
        Endpoints per switch; default h.
    a : int, optional
        Switches per group; default 2 h.
    g : int, optional
        Groups, at most a h + 1, which is the default.
    arrangement : str, optional
        Which group each global port leads to; default absolute.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "dragonfly",
        _given(
            h=h,
            p=p,
            a=a,
            g=g,
            arrangement=arrangement,
        ),
    )


def fat_tree(
    *,
    levels: int | None = None,
    leaves: int | None = None,
    spines: int | None = None,
    parallel: int | None = None,
    p: int | None = None,
    k: int | None = None,
    pods: int | None = None,
    oversubscription: int | None = None,
) -> _core.Topology:
    """Fat tree: endpoints on the lowest level, every pair of them joined over a highest switch.

    Either the counts are given (leaves, spines), or k, the ports of a switch, and they
    follow.

    Parameters
    ----------
    levels : int, optional
        Levels of switches: 2 (the default) or 3.
    leaves : int, optional
        Leaf switches; default: with two levels as many as a spine of k ports serves; with three
        those of all pods. With fewer of three levels there are fewer pods, all but the last
        full.
    spines : int, optional
        Spine switches, with two levels; default: as many as a leaf of k ports has up-links for.
    parallel : int, optional
        Links between a leaf and a spine (three levels: an edge and an aggregation switch) of
        one pod; default 1.
    p : int, optional
        Endpoints per leaf (edge switch); default: oversubscription times its up-links.
    k : int, optional
        Ports of every switch; required with three levels.
    pods : int, optional
        Pods, with three levels; default k, the most.
    oversubscription : int, optional
        Endpoint ports per up-link of a leaf (edge switch), r in r:1; default 1.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "fat_tree",
        _given(
            levels=levels,
            leaves=leaves,
            spines=spines,
            parallel=parallel,
            p=p,
            k=k,
            pods=pods,
            oversubscription=oversubscription,
        ),
    )


def fit_fly(
    *,
    q: int,
    p: int | None = None,
    planes: int | None = None,
    map: str | None = None,
) -> _core.Topology:
    """Fit Fly: `planes` Slim Flies that share the endpoints, which have a rail in each.

    Parameters
    ----------
    q : int
        Order of the field: a prime power with q mod 4 = 0, 1 or 3.
    p : int, optional
        Endpoints per switch; the published default is half the network radix, rounded down.
    planes : int, optional
        Planes, and rails of an endpoint; default 2.
    map : str, optional
        Where endpoints are in each plane; default mirrored.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "fit_fly",
        _given(
            q=q,
            p=p,
            planes=planes,
            map=map,
        ),
    )


def flattened_butterfly(
    *,
    k: int,
    n: int,
    p: int | None = None,
) -> _core.Topology:
    """Flattened butterfly, k-ary n-flat: k^(n-1) switches, complete graphs along n - 1
    dimensions.

    `HyperX` has dimensions of several sizes and parallel links, too.

    Parameters
    ----------
    k : int
        Switches along each dimension.
    n : int
        Stages of the butterfly that is flattened: the dimensions and one.
    p : int, optional
        Endpoints per switch; default k, which makes k^n.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "flattened_butterfly",
        _given(
            k=k,
            n=n,
            p=p,
        ),
    )


def hyperx(
    *,
    shape: Sequence[int],
    k: Sequence[int] | None = None,
    p: int | None = None,
) -> _core.Topology:
    """HyperX: switches on a grid, linked when they differ in exactly one coordinate.

    Parameters
    ----------
    shape : Sequence[int]
        Switches along each dimension: `4x6`.
    k : Sequence[int], optional
        Parallel links a pair, along each dimension (`1x2`) or one number for all; default 1.
    p : int, optional
        Endpoints per switch. The default, the least of size times k over the dimensions, is the
        most that uniform traffic can use in full (the flattened butterfly's rule).

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "hyperx",
        _given(
            shape=shape,
            k=k,
            p=p,
        ),
    )


def jellyfish(
    *,
    n: int,
    k: int,
    seed: int | None = None,
    p: int | None = None,
) -> _core.Topology:
    """Jellyfish: n switches with k random links each, connected and without parallel links.

    Parameters
    ----------
    n : int
        Switches.
    k : int
        Links of a switch; n k must be even.
    seed : int, optional
        Number of the random graph; default 0.
    p : int, optional
        Endpoints per switch; default k over the least diameter that n such switches can have,
        rounded up.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "jellyfish",
        _given(
            n=n,
            k=k,
            seed=seed,
            p=p,
        ),
    )


def k_ary_n_fly(
    *,
    k: int,
    n: int,
) -> _core.Topology:
    """k-ary n-fly: n stages of k^(n-1) switches, k endpoints on each of the first and of the
    last.

    Parameters
    ----------
    k : int
        Inputs, and outputs, of a switch.
    n : int
        Stages.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "k_ary_n_fly",
        _given(
            k=k,
            n=n,
        ),
    )


def k_ary_n_tree(
    *,
    k: int,
    n: int,
    p: int | None = None,
) -> _core.Topology:
    """k-ary n-tree: a fat tree of n levels in which every switch but the roots has k parents.

    Parameters
    ----------
    k : int
        Children, and parents, of a switch.
    n : int
        Levels of switches.
    p : int, optional
        Endpoints per switch of the lowest level; default k.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "k_ary_n_tree",
        _given(
            k=k,
            n=n,
            p=p,
        ),
    )


def megafly(
    *,
    leaves: int,
    spines: int | None = None,
    p: int | None = None,
    h: int | None = None,
    g: int | None = None,
    arrangement: str | None = None,
) -> _core.Topology:
    """Megafly (Dragonfly+): a dragonfly whose groups are fat trees of two levels.

    Parameters
    ----------
    leaves : int
        Leaf switches per group: those with endpoints.
    spines : int, optional
        Spine switches per group: those with global links; default leaves.
    p : int, optional
        Endpoints per leaf; default spines.
    h : int, optional
        Global ports per spine; default leaves.
    g : int, optional
        Groups, at most spines h + 1, which is the default.
    arrangement : str, optional
        Which group each global port leads to; default absolute.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "megafly",
        _given(
            leaves=leaves,
            spines=spines,
            p=p,
            h=h,
            g=g,
            arrangement=arrangement,
        ),
    )


def multi_plane(
    *,
    planes: int,
    of: str,
    map: str | None = None,
) -> _core.Topology:
    """Multi-plane network: copies of a network that share nothing but the endpoints.

    Parameters
    ----------
    planes : int
        Planes, and rails of an endpoint.
    of : str
        The network of a plane, in its inline form; in an inline form the last parameter.
    map : str, optional
        Where endpoints are in each plane; default equal.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "multi_plane",
        _given(
            planes=planes,
            of=of,
            map=map,
        ),
    )


def slim_fly(
    *,
    q: int,
    p: int | None = None,
) -> _core.Topology:
    """Slim Fly: diameter 2 with 2 q^2 switches of network radix (3 q - d) / 2, for q = 4 w + d.

    Parameters
    ----------
    q : int
        Order of the field: a prime power with q mod 4 = 0, 1 or 3.
    p : int, optional
        Endpoints per switch; the published default is half the network radix, rounded up.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "slim_fly",
        _given(
            q=q,
            p=p,
        ),
    )


def mesh(
    *,
    shape: Sequence[int],
    p: int | None = None,
) -> _core.Topology:
    """Mesh: a grid of any dimension whose rows are open.

    Parameters
    ----------
    shape : Sequence[int]
        Switches along each dimension: `8x8x4`.
    p : int, optional
        Endpoints per switch; default 1.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "mesh",
        _given(
            shape=shape,
            p=p,
        ),
    )


def torus(
    *,
    shape: Sequence[int],
    p: int | None = None,
) -> _core.Topology:
    """Torus: a grid of any dimension whose rows are closed to rings.

    Parameters
    ----------
    shape : Sequence[int]
        Switches along each dimension: `8x8x4`. A size of 2 is one link, not two.
    p : int, optional
        Endpoints per switch; default 1.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "torus",
        _given(
            shape=shape,
            p=p,
        ),
    )


def xgft(
    *,
    m: Sequence[int],
    w: Sequence[int],
    parallel: Sequence[int] | None = None,
) -> _core.Topology:
    """Extended generalized fat tree: h levels of switches, every branching of its own size.

    Endpoints are level 0. An element of level i - 1 has w(i) parents, one of level i has
    m(i)
    children.

    Parameters
    ----------
    m : Sequence[int]
        Children m(1) ... m(h) of the switches of each level, lowest first: `4x4x8`. The first
        is the number of endpoints per leaf switch.
    w : Sequence[int]
        Parents w(1) ... w(h) of the elements of each level, endpoints first: `1x4x4`. The first
        is the number of rails of an endpoint, each in a plane of its own.
    parallel : Sequence[int], optional
        Parallel links between a child and a parent, by level as w, the first 1; default 1.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "xgft",
        _given(
            m=m,
            w=w,
            parallel=parallel,
        ),
    )


def xpander(
    *,
    d: int,
    lift: int,
    seed: int | None = None,
    derandomized: bool | None = None,
    p: int | None = None,
) -> _core.Topology:
    """Xpander: d + 1 groups of `lift` switches, each switch with one random link to every other
    group.

    Parameters
    ----------
    d : int
        Links of a switch.
    lift : int
        Switches of a meta-node.
    seed : int, optional
        Number of the random lift; default 0.
    derandomized : bool, optional
        Whether the lift is made of 2-lifts chosen by their eigenvalues; `lift` is then a power
        of two. Default false.
    p : int, optional
        Endpoints per switch; default d over the least diameter that so many switches can have,
        rounded up.

    Returns
    -------
    Topology

    Raises
    ------
    RefusalError
        When a parameter is outside what the family is defined for.
    """
    return _core.Topology.from_spec(
        "xpander",
        _given(
            d=d,
            lift=lift,
            seed=seed,
            derandomized=derandomized,
            p=p,
        ),
    )


def _given(**params: object) -> dict[str, object]:
    """Return the parameters that were given: those that are not None."""
    return {name: value for name, value in params.items() if value is not None}
