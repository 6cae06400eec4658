"""What a kernel's own launch says where no GPU answers: which other launch runs it.

``kernel[blocks, threads](...)`` is numba's, and without a GPU it ends in numba's error, which can
only name the driver that is missing. The machine that could run the kernel is one line away.

The sentence is part of the error's text, so that it stands wherever the error is shown: in a
notebook of any IPython, whose older versions leave out the notes of an exception, in a script, in
what a runner prints. numba raises this class only where no GPU can be had, and its own code never
reads the text, so where a GPU answers nothing changes: no launch is wrapped, no handler installed.
"""

from __future__ import annotations

ADVICE = """\
The SIMT machine of gpukernels runs kernels without a GPU. In place of kernel[blocks, threads](...):

    gk.SimtDevice().launch(kernel, blocks, threads, ...)

Arrays are NumPy's, and take what the kernel writes: no cuda.to_device, no copy_to_host. A decorator
with types, @cuda.jit("void(...)"), asks for a GPU at once; @cuda.jit alone does not."""


def name_the_machine() -> None:
    """Let numba's error about a missing GPU end with the launch that needs none."""
    try:
        from numba.cuda.cudadrv.error import CudaSupportError
    except ImportError:  # a numba to come that keeps its errors elsewhere says what it says
        return

    def said(self: CudaSupportError) -> str:
        return f"{super(CudaSupportError, self).__str__().rstrip()}\n\n{ADVICE}"

    CudaSupportError.__str__ = said
