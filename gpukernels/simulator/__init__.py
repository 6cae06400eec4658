"""The SIMT machine in place of a GPU, for programs that know nothing of this package.

`host` has the names of ``numba.cuda`` that a program calls on the host; `redirect` puts them in the
place of numba's, for a block, a script (`script`) or tests (`plugin`). Kernels then run on
:mod:`gpukernels.simt`. To teach it a name of numba's, add it to `host` and its table.
"""
