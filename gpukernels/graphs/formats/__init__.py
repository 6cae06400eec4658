"""Graph file formats, one per module: each turns a file into an :class:`~.text.ArcList`.

Every module has ``read(file, limit) -> ArcList``. A fast parser of NumPy reads the file. If it
fails, or finds a value that no graph may have, the lines are read one by one, to name the first
that is wrong. Input that only the fast parser takes (control characters as blanks) is ruled out
before, so that both agree. A compiled parser reads the usual lines of large files, and leaves the
rest to NumPy's parser.
"""
