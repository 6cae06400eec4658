"""The table of the hash64 filter, request by request."""
