"""Lanes and link-disjoint paths against layers: a script over the Python functions, typed."""

import flyloom as fl


def layered(network: fl.Topology, layers: int) -> tuple[int, float]:
    """Data lanes that ``layers`` layers need; mean link-disjoint paths of a pair of switches."""
    routing = fl.route(network, "layered", layers=layers)
    if not fl.verify(routing).holds:
        raise SystemExit(f"{layers} layers: not proved")
    return routing.lanes, fl.path_diversity(routing).mean_disjoint_paths or 0.0


def main() -> None:
    """Prints a line a number of layers."""
    network = fl.slim_fly(q=5, p=4)
    for layers in (1, 2, 4):
        lanes, paths = layered(network, layers)
        print(f"layers {layers}: {lanes} lanes, {paths:.2f} disjoint paths")


if __name__ == "__main__":
    main()
