"""How many steps the loops of a kernel may take together, whatever loop lies in whatever loop."""

from __future__ import annotations

import ast
import math


class Pace:
    """Counts the steps that loops take, over as many launches as it is given to.

    A round of a loop counts as the statements of its body, and one for its head. Threads that go
    together, all warps of a launch under lockstep and one warp under the other schedules, count
    once. So the number depends on the kernel, its input and the schedule alone.

    Parameters
    ----------
    limit : int, optional
        Steps after which a loop that has been running for half of them is given up; by default
        none.

    Examples
    --------
    >>> import gpukernels as gk
    >>> gk.SimtDevice(loop_steps=1000).pace.limit
    1000
    """

    def __init__(self, limit: int | None = None):
        self.limit = math.inf if limit is None else limit
        self.taken = 0

    def exceeded(self, steps: int, began: int) -> bool:
        """Count a round of `steps` steps; say whether its loop, begun at `began`, is to blame.

        The limit is often passed in a short loop within the one that has no end. The short one is
        new each time, so it is not blamed; only where no loop is old does any take the blame, at
        twice the limit.
        """
        self.taken += steps
        if self.taken <= self.limit:
            return False
        return began <= self.limit // 2 or self.taken > 2 * self.limit


def steps_of(body: list[ast.stmt]) -> int:
    """Return the steps of one round of a loop, without those of the loops in its body."""
    steps, waiting = 1, list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            steps += 1
        if not isinstance(node, (ast.For, ast.While)):
            waiting += ast.iter_child_nodes(node)
    return steps
