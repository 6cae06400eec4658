"""Advice in numba's error about a missing GPU: how to launch the kernel on the SIMT machine.

Without a GPU, numba's ``kernel[blocks, threads](...)`` raises an error that only names the missing
driver. The SIMT machine can run the kernel with one other line.

The advice is part of the error's text, because older versions of IPython do not show the notes of
an exception. So it is visible in every notebook, in a script and in the output of a test. numba
raises this class only if there is no GPU, and its own code never reads the text. So nothing changes
on a machine with a GPU: no launch is wrapped, and no handler is installed.
"""

from __future__ import annotations

ADVICE = """\
The SIMT machine of gpukernels runs kernels without a GPU. Instead of kernel[blocks, threads](...):

    gk.SimtDevice().launch(kernel, blocks, threads, ...)

Pass NumPy arrays; the kernel writes to them: no cuda.to_device, no copy_to_host. A decorator with
types, @cuda.jit("void(...)"), needs a GPU at once; @cuda.jit alone does not."""


def name_the_machine() -> None:
    """Let numba's error about a missing GPU end with a launch that needs no GPU."""
    try:
        from numba.cuda.cudadrv.error import CudaSupportError
    except ImportError:  # a later numba may move its errors; then its message stays as it is
        return

    def message(self: CudaSupportError) -> str:
        return f"{super(CudaSupportError, self).__str__().rstrip()}\n\n{ADVICE}"

    CudaSupportError.__str__ = message
