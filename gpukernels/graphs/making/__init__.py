"""Large graphs made on all cores: the sorts and checks behind `gpukernels.Graph`.

One idea a file: `arcs` puts a list of arcs in order, `symmetry` asks whether every arc has its
opposite, by the arithmetic of `modular`, and `quadrants` draws the arcs of an R-MAT graph. All are
compiled by numba when a graph is large enough to be worth the wait for the compiler, once, and kept
on disk; they give the same result on any number of cores as NumPy and SciPy give for smaller
graphs.
"""

#: From so many arcs on the compiled loops are used. Below it SciPy is done before they would be
#: loaded, and nobody waits for a compiler.
LARGE = 1 << 22
