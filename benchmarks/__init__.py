"""Times of the kernels on a GPU, and of the machine and of making graphs on a CPU.

Every result is checked. A wrong one raises AssertionError, and no time of it is kept.
"""
