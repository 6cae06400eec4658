"""Workloads of full size, each made once for all tests that ask for it."""

from __future__ import annotations

import functools

import numpy as np

import gpukernels as gk


@functools.cache
def full_workload(name: str) -> np.ndarray:
    """Return the read-only offsets of a named workload, which take seconds to draw."""
    offsets = gk.workload(name)
    offsets.flags.writeable = False
    return offsets
