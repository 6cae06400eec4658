"""All pairs tile by tile: the matrix, shared memory and registers."""
