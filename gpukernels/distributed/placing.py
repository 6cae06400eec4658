"""Objects that are sent to workers once, such as a graph that many tasks need.

It is the result of a task, not data scattered: a worker that needs it gets it from another and
keeps it, and if all that have it die, Dask makes it again.
"""

from __future__ import annotations

import weakref
from typing import Any

from gpukernels.checks import needed

_futures: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
#: A graph is large, and goes there once: no warning that a task is.
NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1 PB"}


def as_it_is(thing: Any) -> Any:
    """Return it."""
    return thing


def placed(client: Any, thing: Any) -> Any:
    """Return the future by which workers of `client` have `thing`, the same for each call.

    It can be pickled and never changes. Workers keep it as long as it lives here.
    """
    future = _futures.get(thing)
    if future is None or future.client is not client or future.status in ("cancelled", "lost"):
        with needed("dask", "dask").config.set(NO_WARNING):
            future = client.submit(as_it_is, thing, pure=False)
        _futures[thing] = future
    return future
