"""A search level by level on the graph itself."""
