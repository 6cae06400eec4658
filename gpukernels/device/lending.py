"""Memory that is lent out and comes back by itself, to be used again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any


class Lease:
    """Hold lent memory: when the last array over it is gone, the memory goes back.

    Each user of the memory refers to its lease: a device array as the owner of its pointer, a host
    array as its base.
    """

    __slots__ = ("__weakref__", "_pool", "block")

    def __init__(self, pool: Pool, block: Any):
        self._pool, self.block = pool, block

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The block of a host array; a lent array is a view of it."""
        return self.block.__array_interface__

    def __del__(self) -> None:
        self._pool.give_back(self.block)


class Pool:
    """Blocks of memory by key: a dtype and a shape, say, or a number of bytes.

    It can be used from many threads. A block may come back at any time, even from the garbage
    collector in the middle of another call of the pool by the same thread. So a return only appends
    to a queue, which waits for no lock. The next call that has the lock sorts the returned blocks.
    The pool itself refers to all lent blocks: if a block became garbage together with its lease,
    the collector would call the block's own finalizers before the lease's.

    Parameters
    ----------
    most_idle : int
        Bytes that may wait to be lent again. Beyond, the blocks longest idle are let go.
    most : int, optional
        Bytes that may be there at all, lent and idle.
    """

    def __init__(self, most_idle: int, most: int | None = None):
        self._most_idle, self._most = most_idle, most
        self._lock = threading.Lock()
        self._returned: deque[Any] = deque()
        #: The lent blocks, by id: the key, the bytes and the block.
        self._lent: dict[int, tuple[Hashable, int, Any]] = {}
        #: The idle blocks, by key, each with its bytes; the key longest unused first.
        self._idle: dict[Hashable, list[tuple[int, Any]]] = {}
        self.idle_bytes = self.lent_bytes = 0

    def lend(self, key: Hashable, size: int, make: Callable[[], Any]) -> Lease | None:
        """Lend a block of `key`: an idle one, or one of `size` bytes that `make` makes.

        Returns
        -------
        Lease or None
            None where there would be more than `most` bytes.

        Raises
        ------
        Exception
            The error that `make` raises even after all idle blocks have been let go.
        """
        block = None
        with self._lock:
            if self._returned:
                self._settle()
            if waiting := self._idle.pop(key, None):
                block = waiting.pop()[1]
                self.idle_bytes -= size
                if waiting:
                    self._idle[key] = waiting
            elif self._most is not None:
                self._let_go(self._most - self.lent_bytes - size)
                if self.lent_bytes + size > self._most:
                    return None
            self.lent_bytes += size
        try:
            if block is None:
                block = self._allocated(make)
        except BaseException:
            with self._lock:
                self.lent_bytes -= size
            raise
        self._lent[id(block)] = key, size, block
        return Lease(self, block)

    def _allocated(self, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except Exception:
            if not self.release():
                raise
        return make()

    def give_back(self, block: Any) -> None:
        """Take back a block."""
        self._returned.append(block)
        if self._lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self._lock.release()

    def release(self) -> int:
        """Let all idle blocks go; return how many bytes these were."""
        with self._lock:
            self._settle()
            before = self.idle_bytes
            self._let_go(0)
            return before

    def _settle(self) -> None:
        """Sort returned blocks in, and free idle ones beyond the limit; the caller has the lock."""
        while self._returned:
            key, size, block = self._lent.pop(id(self._returned.popleft()))
            self.lent_bytes -= size
            self.idle_bytes += size
            waiting = self._idle.pop(key, [])
            waiting.append((size, block))
            self._idle[key] = waiting
        if self.idle_bytes > self._most_idle:
            self._let_go(self._most_idle)

    def _let_go(self, most: int) -> None:
        """Free the blocks longest idle until at most `most` bytes are idle."""
        while self.idle_bytes > most and self._idle:
            key = next(iter(self._idle))
            size, _ = self._idle[key].pop(0)
            self.idle_bytes -= size
            if not self._idle[key]:
                del self._idle[key]
