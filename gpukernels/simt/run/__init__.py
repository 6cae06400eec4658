"""The run time of translated kernels: lanes and warps, memory, schedules, a trace's recorder."""
