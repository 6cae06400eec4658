"""A graph with values of its vertices, or with its CSR arrays."""
