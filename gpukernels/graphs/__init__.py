"""Graphs: the class, readers, generators, workloads, paths, and facts about weights.

This package is below all techniques and devices, and imports only checks, errors and cores.
"""
