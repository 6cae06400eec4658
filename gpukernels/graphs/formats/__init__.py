"""Graph file formats, one a module: each turns a file into an :class:`~.text.ArcList`.

Every module has ``read(file, limit) -> ArcList``. A fast parser of NumPy reads the file; only where
it fails, or finds something that no graph may have, are the lines gone through one by one to name
the first that is wrong. Whatever else the fast parser takes (control characters as blanks) is ruled
out before, so that both agree. Of large files a compiled parser reads all that is ordinary, and
leaves the rest to NumPy's.
"""
