"""What large kernels ask of the compiler: registers for blocks of up to 1,024 threads.

Left alone, it gives a search with local queues 80 registers a thread, and a multiprocessor holds
65,536: blocks of 1,024 threads would not start. Under this bound there are 64. numba's simulator,
which has no registers, does not take the option.
"""

from __future__ import annotations

from numba import config

from .launch_shape import MAX_THREADS

#: Options of ``cuda.jit``.
LARGE_BLOCKS = {} if config.ENABLE_CUDASIM else {"launch_bounds": MAX_THREADS}
