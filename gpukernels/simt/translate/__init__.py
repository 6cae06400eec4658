"""From the source of a kernel to Python that runs it for many lanes at once, with numba's types."""
