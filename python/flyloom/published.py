"""Tables as they were printed, to be put beside what flyloom computes. Never used to compute."""

from __future__ import annotations

ADDRESS_TABLE_SOURCE = (
    "Blach et al., A High-Performance Design, Implementation, Deployment, and Evaluation of The "
    "Slim Fly Network, NSDI 2024, Table 2"
)

ADDRESS_TABLE = {
    36: {
        1: (512, 6144, 24, 12), 2: (512, 6144, 24, 12), 4: (512, 6144, 24, 12),
        8: (450, 5400, 23, 12), 16: (288, 2592, 18, 9), 32: (162, 1134, 13, 7),
        64: (98, 588, 11, 6), 128: (72, 360, 9, 5),
    },
    48: {
        1: (882, 14112, 31, 16), 2: (882, 14112, 31, 16), 4: (800, 12000, 30, 15),
        8: (450, 5400, 23, 12), 16: (288, 2592, 18, 9), 32: (162, 1134, 13, 7),
        64: (98, 588, 11, 6), 128: (72, 360, 9, 5),
    },
    64: {
        1: (1568, 32928, 42, 21), 2: (1250, 23750, 37, 19), 4: (800, 12000, 30, 15),
        8: (450, 5400, 23, 12), 16: (288, 2592, 18, 9), 32: (162, 1134, 13, 7),
        64: (98, 588, 11, 6), 128: (72, 360, 9, 5),
    },
}
"""Slim Flies by ports of a switch and addresses of an endpoint: switches, endpoints, network radix,
endpoints per switch. Fourteen of the 24 cells name networks that do not exist: their q (6, 12, 15,
20, 21, 28) is no prime power."""
