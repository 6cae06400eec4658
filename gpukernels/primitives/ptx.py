"""PTX instructions for which numba has no name, each with Python code that does the same.

numba compiles the instruction. The SIMT machine and numba's simulator run the Python function, so
the function must do the same as the instruction, in operations that they know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config, cuda


def counter_instruction(text: str, returns: bool = False) -> Callable[[Callable], Any]:
    """Make a function of one int32 array a device function that is one instruction of PTX.

    Parameters
    ----------
    text : str
        The instruction; ``{at}`` stands for the address of element 0, and ``{result}`` for the
        register of the result. The compiler moves no access to memory across the instruction.
    returns : bool
        Whether the instruction returns an int32.
    """

    def make(function: Callable) -> Any:
        if config.ENABLE_CUDASIM:
            return cuda.jit(device=True)(function)
        from llvmlite import ir
        from numba import types
        from numba.cuda.extending import intrinsic

        number = ir.IntType(32)
        constraints = "=r,l,~{memory}" if returns else "l,~{memory}"
        line = text.format(result="$0", at="[$1]" if returns else "[$0]")

        def generate(context, builder, signature, args):
            at = context.make_array(signature.args[0])(context, builder, args[0]).data
            kind = ir.FunctionType(number if returns else ir.VoidType(), [at.type])
            result = builder.call(ir.InlineAsm(kind, line, constraints, side_effect=True), [at])
            return result if returns else context.get_dummy_value()

        def typed(typing_context, counter):
            if isinstance(counter, types.Array) and counter.dtype == types.int32:
                return (types.int32 if returns else types.void)(counter), generate
            return None  # numba says that there is no such function for these arguments

        typed.__name__ = function.__name__
        compiled = intrinsic(typed)
        compiled.py_func = function  # as a device function has it
        compiled.instruction = text, returns  # for another compiler: `gpukernels.device.successor`
        return compiled

    return make
