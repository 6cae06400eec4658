"""How a graph lies in memory, and what it costs to read it: three forms, the same three questions.

Each module answers them with kernels of its own and a host driver of the same name:

- ``row_sum(g)``: the sum of the weights of the arcs that leave each vertex;
- ``neighbor_sum(g, values)``: the sum of ``values`` over the neighbors of each vertex;
- ``has_edge(g, source, target)``: is there an arc from ``source[i]`` to ``target[i]``?

====================  ==========  ===============  ==========  ============================
form                  space       one edge         neighbors   mapping of the sums
====================  ==========  ===============  ==========  ============================
``adjacency_matrix``  O(V^2)      O(1)             O(V)        a warp (or a thread) a row
``csr``               O(V + E)    O(degree)        O(degree)   a thread a row
``coo``               O(2 E)      O(log E) sorted  O(E)        a thread an arc, atomic add
====================  ==========  ===============  ==========  ============================

After Table 1 of [busato2017chapter], where d_max is the largest *degree* (printed as "diameter").
"""

from . import adjacency_matrix, coo, csr

__all__ = ["adjacency_matrix", "coo", "csr"]
