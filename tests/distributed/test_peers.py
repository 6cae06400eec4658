"""Devices of one host: what a list of them may be, and in which order they copy."""

from __future__ import annotations

import ctypes
import threading

import numba.cuda
import numpy as np
import pytest
from fake_gpu import FakeGpus
from numba.cuda.cudadrv import driver

import gpukernels as gk
from gpukernels.distributed import peers
from gpukernels.distributed.peers import peers_of

ONE = gk.SimtDevice()


@pytest.mark.parametrize(
    "given",
    [[], "01", 2, [ONE, ONE], [ONE, 0], [0, 0], [0.0], [True, False], gk.SimtDevice],
    ids=repr,
)
def test_what_is_no_list_of_devices_is_refused(given):
    with pytest.raises(gk.InvalidArgument, match=r"^devices = .*: must be a list of different"):
        peers_of(given)


def test_a_gpu_that_does_not_answer_is_refused(monkeypatch):
    monkeypatch.setattr(peers, "gpus_here", lambda: 2)
    for number in (2, -1):
        with pytest.raises(gk.InvalidArgument, match=f"^devices = {number}: must be one of the 2 "):
            peers_of([0, number])


# --- on a driver whose memory is the host's -------------------------------------------------------


class FakePeers(FakeGpus):
    """GPUs that reach each other; which is current, each thread has for itself."""

    def __init__(self, monkeypatch, count: int, reachable: bool = True):
        self._of_thread = threading.local()
        super().__init__(monkeypatch, count)
        self.reachable, self.enabled = reachable, set()
        gpus = [self.Managed(self, i) for i in range(count)]
        monkeypatch.setattr(numba.cuda, "gpus", gpus)
        monkeypatch.setattr(numba.cuda, "synchronize", lambda: None)
        monkeypatch.setattr(peers, "_used", set())
        monkeypatch.setattr(peers, "_given", set())
        self.log = []

    class Managed:
        """What numba has of a GPU in ``cuda.gpus``."""

        def __init__(self, of, i):
            self.of, self.id, self.before = of, i, threading.local()

        def __enter__(self):
            stack = self.before.__dict__.setdefault("stack", [])
            stack.append(self.of.current)
            self.of.current = self.id

        def __exit__(self, *_):
            self.of.current = self.before.stack.pop()

    @property
    def current(self) -> int:
        return getattr(self._of_thread, "current", 0)

    @current.setter
    def current(self, number: int) -> None:
        self._of_thread.current = number

    def cuEventRecord(self, event, stream):
        super().cuEventRecord(event, stream)
        self.log.append((f"record {int(event)}", self.current))

    def cuStreamWaitEvent(self, stream, event, flags):
        self.log.append((f"wait {int(event)}", self.current))
        if bool(int(stream)) != bool(self._events[int(event) - 1][0]):
            super().cuStreamWaitEvent(stream, event, flags)

    def cuDeviceCanAccessPeer(self, device, peer):
        return self.reachable

    def cuCtxEnablePeerAccess(self, peer, flags):
        if (self.current, peer) in self.enabled:
            code = driver.binding.CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
            raise driver.CudaAPIError(code, "again")
        self.enabled.add((self.current, peer))

    def cuCtxDisablePeerAccess(self, peer):
        self.enabled.remove((self.current, peer))
        self.log.append(("parted", self.current))

    def cuCtxSynchronize(self):
        self.log.append(("waited", self.current))

    def cuEventDestroy(self, event):
        super().cuEventDestroy(event)
        self.log.append(("destroyed", self.current))

    def cuMemcpyPeerAsync(self, to, to_context, source, source_context, size, stream):
        assert (source_context, stream) == (self.current + 1, 0)
        self.log.append(("copy", self.current))
        ends = {}
        for pointer, context in ((to, to_context), (source, source_context)):
            before, self.current = self.current, context - 1
            ends[context] = self._there(pointer, size)
            self.current = before
        ctypes.memmove(ends[to_context], ends[source_context], size)


@pytest.mark.parametrize("reachable", [True, False])
def test_gpus_that_share_rows_find_the_bits_of_one(monkeypatch, reachable):
    gpus = FakePeers(monkeypatch, 2, reachable)
    try:
        rng = np.random.default_rng(1)
        g = gk.erdos_renyi(45, 4, seed=1, directed=True)
        g = gk.Graph(g.offsets, g.targets, rng.random(g.m).astype(np.float32))
        expected = gk.apsp(g, "blocked", gk.SimtDevice(), panel=1, next_hops=True)
        for _ in range(2):  # peer access is asked for twice, and given once
            result = gk.apsp(g, "blocked", devices=[1, 0], panel=1, next_hops=True)
            assert result.distance.tobytes() == expected.distance.tobytes()
            assert result.next_hop.tobytes() == expected.next_hop.tobytes()
        assert gpus.enabled == ({(0, 2), (1, 1)} if reachable else set())
        assert gpus.calls["cuMemcpyPeerAsync"] == 2 * 3  # a panel's rows, once to the other
        assert gpus.bytes_in_use(0) == gpus.bytes_in_use(1)
        group = peers_of([0, 1])
        assert group.devices[0].name == "fake"
        source, to = np.arange(4), np.zeros(4, np.int64)
        with group.on(1):
            sent = numba.cuda.to_device(source)
        with group.on(0):
            received = numba.cuda.device_array_like(to)
        gpus.log.clear()
        group.send(1, sent, 0, received)
        # The copy is behind all that both were told, and both wait for it.
        first, last = (int(gpus.log[at][0].split()[1]) for at in (0, 3))
        assert gpus.log[:5] == [
            (f"record {first}", 0), (f"wait {first}", 1), ("copy", 1), (f"record {last}", 1),
            (f"wait {last}", 0),
        ]  # fmt: skip
        with group.on(0):
            assert received.copy_to_host().tolist() == source.tolist()
        del sent, received, group  # while there is a driver
    finally:
        gpus.close()


def test_gpus_part_in_order_before_a_process_ends(monkeypatch):
    gpus = FakePeers(monkeypatch, 2)
    try:
        group = peers_of([0, 1])
        assert gpus.enabled == {(0, 2), (1, 1)}
        waiting = []
        for i in range(2):
            with group.on(i):
                waiting.append(numba.cuda.to_device(np.arange(8)))
                numba.cuda.event(timing=False)  # nobody needs it: it waits to be destroyed
        waiting.clear()
        assert gpus.bytes_in_use(0) == gpus.bytes_in_use(1) > 0
        gpus.log.clear()
        peers.part()
        of_one = ["waited", "destroyed"]
        assert gpus.log == [(what, i) for i in range(2) for what in of_one] + [
            ("parted", 0), ("parted", 1),
        ]  # fmt: skip
        assert not gpus.enabled
        assert gpus.bytes_in_use(0) == gpus.bytes_in_use(1) == 0
        peers.part()  # there is nothing more to do
        assert gpus.calls["cuCtxDisablePeerAccess"] == 2
        peers_of([0, 1])  # who goes on asks again
        assert gpus.enabled == {(0, 2), (1, 1)}
    finally:
        gpus.close()


def test_a_gpu_that_another_had_reached_before_is_left_reachable(monkeypatch):
    gpus = FakePeers(monkeypatch, 2)
    try:
        gpus.enabled.add((0, 2))  # by whoever else is in this process
        peers_of([0, 1])
        peers.part()
        assert gpus.enabled == {(0, 2)}
    finally:
        gpus.close()
