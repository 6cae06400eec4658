"""Searches for shortest paths side by side, iteration by iteration."""
