"""Graphs: the class, readers, generators, workloads, paths, and facts about weights.

It stands below all techniques and devices and imports only checks, errors and cores.
"""
