"""Options for the compiler of large kernels: registers for blocks of up to 1,024 threads.

Without them, it gives a search with local queues 80 registers per thread. A multiprocessor holds
65,536, so blocks of 1,024 threads would not start. With this bound there are 64. numba's simulator,
which has no registers, does not take the option.
"""

from __future__ import annotations

from numba import config

from .launch_shape import MAX_THREADS

#: Options of ``cuda.jit``.
LARGE_BLOCKS = {} if config.ENABLE_CUDASIM else {"launch_bounds": MAX_THREADS}
