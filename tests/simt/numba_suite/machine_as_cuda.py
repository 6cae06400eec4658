"""A replacement for the part of ``numba.cuda`` that compiles, launches and copies.

Inside kernels, the names of ``numba.cuda`` stay the real ones. Only the host's part is replaced, so
that numba's own tests launch on the SIMT machine.
"""

from __future__ import annotations

import contextlib
import importlib
import linecache
import types
from types import SimpleNamespace
from unittest import mock

import numba
import numpy as np
from numba import cuda
from numba.core import sigutils
from numba.core.errors import TypingError
from numba.cuda import compiler, dispatcher, testing
from numba.cuda.core import config
from numba.cuda.cudadrv import devicearray
from numba.cuda.kernels import transpose
from numba.np.numpy_support import as_dtype, from_dtype

from gpukernels import simt
from gpukernels.device import SimtDevice
from gpukernels.simt.translate.statements import Program
from gpukernels.simt.translate.values import ArrayType

_real_jit = cuda.jit


class Kernel:
    """The object that ``cuda.jit`` returns for a kernel; numba handles device functions."""

    #: Launches of all kernels so far.
    launches = 0

    def __init__(self, function, argument_types):
        self.py_func = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.argument_types = argument_types
        if argument_types is not None:
            self._compile()

    def _compile(self):
        """Find errors of type where numba finds them: when a signature is given."""
        try:
            self._translate(self.argument_types)
        except simt.KernelError as error:
            raise TypingError(str(error)) from error

    def _translate(self, numba_types):
        types = tuple(map(_machine_type, numba_types))
        return Program(self, types, traced=False, yielding=False, step_yields=False)

    def inspect_asm(self, signature=None):
        """Return the PTX of a kernel with a signature, which needs no machine."""
        types = self.argument_types or self.launched_types
        ptx, _ = cuda.compile_ptx(self.py_func, types, cc=(9, 0))
        return ptx if signature is not None else {types: ptx}

    @property
    def overloads(self):
        """The attributes of numba's compiled kernel that the machine knows."""
        types = self.argument_types or self.launched_types
        translated = self._translate(types)
        compiled = SimpleNamespace(
            cooperative=translated.cooperative,
            max_cooperative_grid_blocks=lambda b: SimtDevice.resident_threads // int(np.prod(b)),
            _codelibrary=SimpleNamespace(_linking_files=()),
            _type_annotation=SimpleNamespace(typemap=_numba_types(translated.variables)),
        )
        return {types: compiled}

    def specialize(self, *arguments):
        """Return the kernel for the types of `arguments`; the machine translates at the launch."""
        return Kernel(self.py_func, tuple(map(numba.typeof, arguments)))

    def __getitem__(self, configuration):
        return lambda *arguments: self.launch(configuration, arguments)

    def forall(self, count, tpb=128, stream=0, sharedmem=0):
        """Return a launcher with at least `count` threads."""
        return self[-(-count // tpb), tpb]

    def launch(self, configuration, arguments):
        grid, block, _stream, shared = (*configuration, 0, 0)[:4]
        given = [np.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
        if self.argument_types is not None:
            given = [_cast(a, t) for a, t in zip(given, self.argument_types, strict=True)]
        self.launched_types = tuple(map(numba.typeof, given))
        grid, block = (tuple(map(int, np.atleast_1d(n))) for n in (grid, block))
        Kernel.launches += 1
        # Many of numba's tests race on purpose or write one value from all threads.
        simt.launch(self, grid, block, given, shared=shared, check=False)


def _numba_types(variables):
    """Return the type of each array variable as numba has it."""
    return {
        name: numba.types.Array(from_dtype(kind.dtype), kind.ndim, "A")
        for name, kind in variables.items()
        if isinstance(kind, ArrayType) and kind.dtype.fields is None
    }


def _machine_type(numba_type):
    if isinstance(numba_type, numba.types.Array):
        return ArrayType(as_dtype(numba_type.dtype), numba_type.ndim)
    return as_dtype(numba_type)


def _cast(argument, numba_type):
    """Return a scalar in the signature's type; numba does the same before the launch."""
    if isinstance(argument, np.ndarray) or not isinstance(numba_type, numba.types.Number):
        return argument
    return np.asarray(argument).astype(as_dtype(numba_type))[()]


def jit(signature=None, device=False, **options):
    """Replace ``cuda.jit`` in all the ways in which it can be called."""
    if isinstance(signature, types.FunctionType) and not device:
        return Kernel(signature, None)
    if device:
        # Without a signature numba compiles it when a kernel that calls it is compiled.
        function = signature if isinstance(signature, types.FunctionType) else None
        return _real_jit(function, device=True, **options)
    argument_types = None
    if signature is not None:
        first = signature[0] if isinstance(signature, list) else signature
        argument_types, _ = sigutils.normalize_signature(first)
    return lambda function: Kernel(function, argument_types)


class DeviceArray(np.ndarray):
    """An array of the machine, which shares the memory of the host."""

    def __bool__(self):
        return True  # as numba's own, whatever they hold

    def copy_to_host(self, ary=None, stream=0):
        if ary is None:
            return np.array(self)
        ary[...] = self
        return ary

    def copy_to_device(self, ary, stream=0):
        self[...] = ary


def to_device(obj, stream=0, copy=True, to=None):
    return np.array(obj).view(DeviceArray)


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0):
    return np.empty(shape, dtype, order=order).view(DeviceArray)


def device_array_like(ary, stream=0):
    return np.empty_like(ary).view(DeviceArray)


class _Stream:
    def synchronize(self):
        pass

    @contextlib.contextmanager
    def auto_synchronize(self):
        yield self


_real_exec = exec


def _exec_with_source(code, *spaces):
    """Replace ``exec``; leave the text where `inspect` finds it, as a notebook does."""
    if isinstance(code, str):
        name = f"<executed {len(linecache.cache)}>"
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        code = compile(code, name, "exec")
    _real_exec(code, *spaces)


def import_for_the_machine(name, small):
    """Import a module of numba's tests so that its kernels run on the machine."""
    with machine_as_cuda(small), mock.patch("builtins.exec", _exec_with_source):
        return importlib.import_module(name)


@contextlib.contextmanager
def machine_as_cuda(small=False):
    """Replace the host's side of ``numba.cuda`` within the block.

    With `small`, tests take the sizes that they have for numba's own simulator.
    """
    device = SimpleNamespace(compute_capability=(9, 0), WARP_SIZE=32, MAX_THREADS_PER_BLOCK=1024)
    driver = SimpleNamespace(get_device=lambda: device)
    with (
        mock.patch.multiple(
            cuda,
            jit=jit,
            to_device=to_device,
            device_array=device_array,
            device_array_like=device_array_like,
            synchronize=lambda: None,
            stream=_Stream,
            get_current_device=lambda: device,
        ),
        mock.patch.object(transpose, "driver", driver),
        mock.patch.object(devicearray, "from_array_like", device_array_like),
        mock.patch.object(config, "ENABLE_CUDASIM", small),
        mock.patch.object(dispatcher, "get_current_device", return_value=device),
        mock.patch.object(compiler, "get_current_device", return_value=device),
        mock.patch.multiple(
            testing,
            cc_X_or_above=lambda major, minor: True,
            skip_if_nvjitlink_missing=lambda reason: lambda test: test,
        ),
    ):
        yield
