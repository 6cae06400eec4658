"""The runs of tasks of each worker, in time, and the graph of tasks."""
