"""The threads that visit each unit of a workload, for several techniques."""
