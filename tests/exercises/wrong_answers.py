"""A zoo of what a reader may hand in by mistake: things that are no kernels, and kernels."""

from __future__ import annotations

import decimal
import fractions
import functools
import math

import numba
import numpy as np
from adversaries import module_of

import gpukernels as gk


class RaisesWhenAsked:
    """An object that raises whatever it is asked for."""

    def __getattr__(self, name):
        raise KeyError(name)

    def __repr__(self):
        raise IndexError("no words")


class RaisesWhenRead(dict):
    """A dict of no numbers that cannot be read by its own methods."""

    def get(self, key, default=None):
        raise IndexError(key)

    __getitem__ = __iter__ = items = get


class LooksLikeAKernel:
    """Something with a function under the name at which numba keeps a kernel's."""

    def __init__(self, function):
        self.py_func = function


def plain(*parameters):
    return None


def no_parameters():
    return None


def by_yielding(a):
    yield a


class Method:
    """A class with a method."""

    def kernel(self, a):
        return a


#: What is no answer to any exercise.
THINGS = {
    "None": None,
    "a number": 0,
    "nan": math.nan,
    "infinity": math.inf,
    "a huge number": 10**5000,
    "a complex number": 2 + 3j,
    "a fraction": fractions.Fraction(1, 3),
    "a decimal that is not a number": decimal.Decimal("sNaN"),
    "a text": "def kernel(a): pass",
    "a list": [12, 4, 2, 8],
    "a set": {1, 2},
    "an array": np.arange(3),
    "an empty dict": {},
    "a dict of strange keys": {1: 2, None: 3, ("a",): 4},
    "a class": Method,
    "a class with a function": type("K", (), {"py_func": staticmethod(plain)}),
    "a method": Method().kernel,
    "a plain function": plain,
    "a function without parameters": no_parameters,
    "a generator": by_yielding(1),
    "a partial function": functools.partial(plain, 1),
    "a function for the CPU": numba.njit(plain),
    "what only looks like a kernel": LooksLikeAKernel(plain),
    "an object that raises": RaisesWhenAsked(),
    "a dict that raises": RaisesWhenRead(a="1"),
    "an exercise": gk.exercise("shared-2"),
    "an error": ValueError("12"),
}

#: Bodies of kernels that have the right parameters; ``{first}`` and ``{last}`` are two of them.
BODIES = {
    "nothing": "pass",
    "while True": "while True:\n    pass",
    "a loop without progress": "k = 0\nwhile k < 10:\n    k *= 2",
    "waiting for a flag": "while {first}[0] != -12345:\n    pass",
    "waiting for a shared flag": (
        "flag = cuda.shared.array(1, int32)\nflag[0] = 0\ncuda.syncthreads()\n"
        "while cuda.atomic.add(flag, 0, 0) == 0:\n    pass"
    ),
    "a print without an end": "while True:\n    print({first}.size)",
    "a raise": 'raise ValueError("no")',
    "an unknown name": "x = nowhere",
    "an unknown intrinsic": "x = cuda.nowhere(1)",
    "a returned value": "return 5",
    "far beyond": "{first}[10**9] = 1",
    "a negative index": "{first}[-1] = 1",
    "too many indices": "{first}[0, 0, 0, 0] = 1",
    "a text as an index": '{first}["a"] = 1',
    "a call of a parameter": "x = {first}(1)",
    "a call with too many arguments": "cuda.atomic.add({first}, 0, 1, 2, 3)",
    "an import": "import os",
    "a try": "try:\n    x = 1\nexcept ValueError:\n    pass",
    "a list": "x = [1, 2, 3]\nx.append(4)",
    "a lambda": "f = lambda x: x\nf(1)",
    "a with": "with open('x') as f:\n    pass",
    "a delete": "del {first}",
    "itself": "{name}({parameters})",
    "a yield": "yield 1",
    "a division by zero": "x = 1 // (cuda.threadIdx.x - cuda.threadIdx.x)\n{first}[x] = 1",
    "a step of zero": "for _ in range(0, 10, {first}.size - {first}.size):\n    pass",
    "a large local array": "x = cuda.local.array(1000000000, int32)\n{first}[0] = x[5]",
    "a large shared array": "x = cuda.shared.array(1000000, int32)\nx[0] = 1",
    "a shared array of unknown size": "x = cuda.shared.array({first}.size, int32)\nx[0] = 1",
    "a barrier for some": "if cuda.threadIdx.x == 0:\n    cuda.syncthreads()\nelse:\n    x = 1",
    "a shuffle among a few": (
        "if cuda.laneid < 3:\n    x = cuda.shfl_sync(0xFFFFFFFF, 1, 31)\n    {first}[0] = x"
    ),
    "everybody at one place": "{first}[0] = cuda.threadIdx.x",
    "a parameter that is replaced": "{first} = None\n{first}[0] = 1",
    "numbers that no array holds": "x = 10**30\n{first}[0] = x",
}
#: Numbers that one thread leaves in all elements of the arrays that it was given.
LEFTOVERS = (-7, 2**31 - 1, -(2**31), 1000, 0)


def source_of(parameters, arrays: dict[str, int]) -> str:
    """Return a module of one kernel for each body, and for each number that is left everywhere.

    `arrays` holds the dimensions of those parameters that are arrays.
    """
    given = ", ".join(parameters)
    first = next(iter(arrays))
    parts = ["from numba import cuda, int32", f"other = cuda.jit(lambda {given}: None)"]
    for number, body in enumerate(BODIES.values()):
        name = f"kernel_{number}"
        lines = body.format(first=first, name=name, parameters=given).split("\n")
        parts.append(_kernel(name, given, lines))
    for number, value in enumerate(LEFTOVERS):
        lines = ["if cuda.blockIdx.x + cuda.blockIdx.y + cuda.threadIdx.x + cuda.threadIdx.y == 0:"]
        for array, dimensions in arrays.items():
            at = ", ".join("ijk"[:dimensions])
            for k in range(dimensions):
                lines.append(f"{'    ' * (k + 1)}for {'ijk'[k]} in range({array}.shape[{k}]):")
            lines.append(f"{'    ' * (dimensions + 1)}{array}[{at}] = {value}")
        parts.append(_kernel(f"leaves_{number}", given, lines))
    parts += [
        _kernel("one_more", f"{given}, one_more", ["pass"]),
        _kernel("renamed", ", ".join(f"{p}_" for p in parameters), ["pass"]),
        _kernel("any_number", "*everything", ["pass"]),
        _kernel("on_the_device", given, ["return 1"], "cuda.jit(device=True)"),
    ]
    return "\n\n\n".join(parts) + "\n"


def _kernel(name, parameters, lines, decorator="cuda.jit") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"@{decorator}\ndef {name}({parameters}):\n{body}"


def kernels(ex, folder) -> dict[str, object]:
    """Return wrong kernels for an exercise, by what is wrong with them."""
    given = ex.run(ex.solution).inputs
    arrays = {name: a.ndim for name, a in given.items() if isinstance(a, np.ndarray)}
    module = module_of(source_of(ex.parameters, arrays), folder)
    named = {f"leaves {v}": getattr(module, f"leaves_{i}") for i, v in enumerate(LEFTOVERS)}
    names = ("other", "one_more", "renamed", "any_number", "on_the_device")
    named |= {name: getattr(module, name) for name in names}
    return named | {what: getattr(module, f"kernel_{i}") for i, what in enumerate(BODIES)}
