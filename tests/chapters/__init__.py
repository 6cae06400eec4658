"""Each chapter has a file that holds its sentences against records and counters."""
