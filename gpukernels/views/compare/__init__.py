"""Methods against graphs: a table of one counter at a time."""
