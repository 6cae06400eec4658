"""Times of the kernels on a GPU, and of the machine and of making graphs on a CPU."""
