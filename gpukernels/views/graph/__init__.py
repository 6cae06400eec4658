"""A graph with values of its vertices, or beside its CSR arrays."""
