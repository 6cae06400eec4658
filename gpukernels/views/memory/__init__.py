"""The lanes of one request, and the memory that answers."""
