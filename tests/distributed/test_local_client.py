"""Worker processes of a local client: a GPU each, and what they are sent once."""

from __future__ import annotations

import os
import subprocess
import sys

import dask
import numba
import pytest

import gpukernels as gk
from gpukernels import distributed
from gpukernels.distributed import clients, peers


def seen() -> str | None:
    return os.environ.get(clients.VISIBLE)


@pytest.mark.parametrize(
    ("count", "visible", "wanted", "gpus"),
    [
        (2, None, None, ["0", "1"]),
        (2, "3, GPU-ab", None, ["3", "GPU-ab"]),
        (1, "5,-1,6", None, ["5"]),  # CUDA stops at what is no GPU
        (2, "", None, ["0", "1"]),
        (2, None, "simt", []),
        (2, None, "cuda", ["0", "1"]),
        (0, None, None, []),
    ],
)
def test_gpus_are_named_as_a_worker_is_told_of_them(monkeypatch, count, visible, wanted, gpus):
    monkeypatch.setattr(clients, "gpus_here", lambda: count)
    for name, value in ((clients.VISIBLE, visible), ("GPUKERNELS_DEVICE", wanted)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert clients.visible_gpus() == gpus


def test_without_a_driver_no_gpu_answers(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    monkeypatch.delattr(numba, "cuda")  # which else answers for the module
    assert peers.gpus_here() == 0


def test_each_worker_sees_a_gpu_of_its_own_and_keeps_it_when_it_is_started_again(monkeypatch):
    monkeypatch.setattr(clients, "visible_gpus", lambda: ["3", "GPU-ab"])
    # A worker asks the driver what the GPU of its name is doing; none has these names.
    unasked = dask.config.set({"distributed.diagnostics.nvml": False})
    with unasked, gk.local_client() as client:  # a worker a GPU
        before = client.run(seen)
        assert sorted(before.values()) == ["3", "GPU-ab"]
        g = gk.path(5)
        future = distributed.placed(client, g)
        for worker in before:  # one object, however many tasks, so that a device keeps one copy
            kept = {
                client.submit(known, future, workers=[worker], pure=False).result() for _ in "ab"
            }
            ((_, writeable),) = kept
            assert not writeable
        client.restart()
        assert sorted(client.run(seen).values()) == ["3", "GPU-ab"]
        client.cluster.scale(3)
        client.wait_for_workers(3)
        assert sorted(client.run(seen).values()) == ["3", "3", "GPU-ab"]


def known(g: gk.Graph) -> tuple[int, bool]:
    return id(g.offsets), g.offsets.flags.writeable


ASKS = """
import numba.cuda
from numba.cuda.cudadrv.driver import Driver
def asked(self):
    raise AssertionError("CUDA begins")
Driver.ensure_initialized = asked
import gpukernels
import benchmarks.subjects
"""


def test_an_import_asks_nothing_of_cuda_so_that_a_worker_is_told_its_gpu_before():
    assert subprocess.run([sys.executable, "-c", ASKS]).returncode == 0
