"""What each worker did, in time, and the graph of tasks."""
