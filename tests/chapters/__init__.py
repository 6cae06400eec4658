"""One file a chapter: what its sentences say, held against records and counters."""
