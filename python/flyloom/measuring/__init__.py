"""What a real system does: LogGP parameters and bandwidth, from measured times."""
