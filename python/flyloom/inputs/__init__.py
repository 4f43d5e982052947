"""Networks, tables, traffic and catalogues from whatever a user names."""
