"""Three forms of a graph in memory, and the cost of reading it: the same three questions to each.

Each module answers them with its own kernels, and with host drivers of these names:

- ``row_sum(g)``: the sum of the weights of the arcs that leave each vertex;
- ``neighbor_sum(g, values)``: the sum of ``values`` over the neighbors of each vertex;
- ``has_edge(g, source, target)``: is there an arc from ``source[i]`` to ``target[i]``?

====================  ==========  ===============  ==========  ============================
form                  space       one edge         neighbors   mapping of the sums
====================  ==========  ===============  ==========  ============================
``adjacency_matrix``  O(V^2)      O(1)             O(V)        one warp (or thread) per row
``csr``               O(V + E)    O(degree)        O(degree)   one thread per row
``coo``               O(2 E)      O(log E) sorted  O(E)        one thread per arc, atomic add
====================  ==========  ===============  ==========  ============================

After Table 1 of [busato2017chapter], where d_max is the largest *degree* (printed as "diameter").
"""

from . import adjacency_matrix, coo, csr

__all__ = ["adjacency_matrix", "coo", "csr"]
