"""A graph in ever more parts, and what all pairs then cost."""
