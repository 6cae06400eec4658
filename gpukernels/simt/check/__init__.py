"""Accesses of two threads to one element that nothing orders: the race detector."""
