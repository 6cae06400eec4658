"""Values that a strand yields at the end of a turn; a strand is a warp, or a lane on its own.

It yields None after a step, a :class:`Round` after one of a loop that waits for other threads, a
:class:`Barrier` at which it waits, or the list of its
:class:`~gpukernels.simt.run.meetings.Arrival` at a warp operation.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class Round(enum.Enum):
    """A round of a loop that waits for other threads."""

    #: Like the round before until another strand does something.
    POLL = enum.auto()
    #: Rounds differ.
    TRY = enum.auto()


class Scope(enum.StrEnum):
    """Group of threads that meets at a barrier."""

    BLOCK = "block"
    GRID = "grid"


class Vote(enum.StrEnum):
    """Result of a barrier: nothing, or the result of a vote of its threads."""

    PLAIN = "plain"
    COUNT = "count"
    AND = "and"
    OR = "or"


class Barrier(NamedTuple):
    """A barrier at which threads wait.

    Attributes
    ----------
    scope : Scope
        Group of threads that meets there.
    vote : Vote
        Result of the barrier.
    active : Active
        The threads.
    predicate : array of bool, or None
        The threads' votes.
    where : int
        Location of the call.
    """

    scope: Scope
    vote: Vote
    active: Any
    predicate: Any
    where: int


class Turn(enum.Enum):
    """How a turn has ended."""

    #: The strand may go on.
    STEP = enum.auto()
    #: It has only checked whether others have done something.
    POLL = enum.auto()
    #: It waits for others.
    HELD = enum.auto()
    #: It is at its end.
    DONE = enum.auto()
