"""Timing: the SIMT machine against numba's simulator, and kernels on a real GPU."""
