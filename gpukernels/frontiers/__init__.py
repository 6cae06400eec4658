"""What searches share: queues and what fills them, culls of duplicates, the host's loop of levels.

====================  ==============================================================================
`level_by_level`      a search without a queue: a launch a level until nothing changes
`enqueue`             room in a queue by a scan and one atomic, a block's or a warp's
`arc_queue`           a queue that knows where the arcs of its entries begin, without a scan
`local_queue`         a few finds that a thread holds before it enqueues them
`shared_slot`         local queues of a warp, laid out in shared memory and written in rows
`hierarchical_queue`  small queues in shared memory in front of a global one
`duplicates`          culls: ways to keep a vertex from being enqueued twice
`pieces`              vertices of very many arcs, cut up for a child kernel
`collect`             a level again from what is known of all vertices, where a queue was too small
`counts`              where each number lies that a search counts on the device
`state`               named tuples of what kernels take together
`queue_room`          how many vertices a queue may be told to hold
====================  ==============================================================================

Nothing here knows what a search looks for: who may enqueue a vertex, and with what beside it, is
the search's own (`traversal.claim` for BFS). Where entries are more than a vertex, `draw_room` says
where they go, and the search writes as many arrays as it has.
"""
