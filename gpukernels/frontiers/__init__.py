"""The common parts of searches: queues, the code that fills them, culls of duplicates, loops.

====================  ==============================================================================
`level_by_level`      a search without a queue: one launch per level until nothing changes
`enqueue`             room in a queue by a scan and one atomic, per block or per warp
`arc_queue`           a queue that knows where the arcs of its entries begin, without a scan
`local_queue`         a few found vertices that a thread holds before it enqueues them
`shared_slot`         local queues of a warp, laid out in shared memory and written in rows
`hierarchical_queue`  small queues in shared memory in front of a global one
`duplicates`          culls: ways to keep a vertex from being enqueued twice
`pieces`              vertices of very many arcs, cut up for a child kernel
`collect`             makes a level again from the distances, if a queue was too small
`counts`              the places of the counters that a search has on the device
`state`               named tuples of arguments that belong together
`queue_room`          the capacities that are allowed for a queue
====================  ==============================================================================

No part here knows the search that uses it. The search decides which thread may enqueue a vertex,
and with which other values (`traversal.claim` for BFS). If an entry has more than a vertex,
`draw_room` returns its place, and the search writes to all of its arrays.
"""
