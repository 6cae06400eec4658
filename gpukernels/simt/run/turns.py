"""What a strand, a warp or a lane that runs by itself, says when it gives its turn away.

It yields None after a step, a :class:`Round` after one of a loop that waits for other threads, a
:class:`Barrier` at which it waits, or the list of its
:class:`~gpukernels.simt.run.meetings.Arrival` at a warp operation.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class Round(enum.Enum):
    """A round of a loop that waits for other threads."""

    #: Like the round before until somebody else does something.
    POLL = enum.auto()
    #: Rounds differ.
    TRY = enum.auto()


class Scope(enum.StrEnum):
    """Who meets at a barrier."""

    BLOCK = "block"
    GRID = "grid"


class Vote(enum.StrEnum):
    """What a barrier answers: nothing, or how its threads have voted."""

    PLAIN = "plain"
    COUNT = "count"
    AND = "and"
    OR = "or"


class Barrier(NamedTuple):
    """A barrier at which threads wait.

    Attributes
    ----------
    scope : Scope
        Who meets there.
    vote : Vote
        What it answers.
    active : Active
        The threads.
    predicate : array of bool, or None
        What they vote.
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
    #: It has only asked whether others have done something.
    POLL = enum.auto()
    #: It waits for others.
    HELD = enum.auto()
    #: It is at its end.
    DONE = enum.auto()
