"""Methods on a plane of time and power, a workload at a time."""
