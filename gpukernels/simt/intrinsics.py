"""What the names of ``numba.cuda``, ``math`` and the builtins mean to the machine.

``_CALLS`` maps a dotted path to a handler ``(translator, call node, hint) -> Value or None``;
:func:`attribute` knows the values such as ``cuda.threadIdx.x``. To add an intrinsic, add a handler
here and, if it needs work at run time, a function or a method of the run.
"""

from __future__ import annotations

import ast
import builtins
import cmath
import contextlib
import functools
import importlib
import math
import operator

import numpy as np
from numba.core import types as numba_types
from numba.np import numpy_support

from gpukernels.simt import (
    complex_numbers,
    iteration,
    numpy_functions,
    printing,
    type_questions,
    typing,
    warp,
)
from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.release_acquire import BLOCK, DEVICE
from gpukernels.simt.trace import BARRIER
from gpukernels.simt.values import RANGE, ArrayType, ObjectType, TupleType, Value, can_hold

_AXES = {"x": 0, "y": 1, "z": 2}
#: Functions of the operator module that stand for an operator.
_OPERATORS = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "truediv": ast.Div,
    "floordiv": ast.FloorDiv,
    "mod": ast.Mod,
    "pow": ast.Pow,
    "and_": ast.BitAnd,
    "or_": ast.BitOr,
    "xor": ast.BitXor,
    "lshift": ast.LShift,
    "rshift": ast.RShift,
}


# Names ------------------------------------------------------------


@functools.cache
def _known_paths():
    """Return {id of a numba.cuda object: its dotted path}, also for names imported one by one."""
    from numba import cuda

    paths = {}
    for name in dir(cuda):
        if name.startswith("_") or name in ("np", "sys", "os"):
            continue
        value = getattr(cuda, name)
        if isinstance(value, (int, str, bool, np.dtype)):
            continue
        paths[id(value)] = f"cuda.{name}"
    with contextlib.suppress(ImportError):
        importlib.import_module("numba.cuda.fp16")  # newer versions load it late
    for outer in ("atomic", "shared", "local", "const", "cg", "fp16"):
        holder = getattr(cuda, outer, None)
        for name in dir(holder) if holder is not None else ():
            if not name.startswith("_"):
                paths.setdefault(id(getattr(holder, name)), f"cuda.{outer}.{name}")
    paths[id(cuda)] = "cuda"
    for module in (math, cmath):
        for name in dir(module):
            paths[id(getattr(module, name))] = f"{module.__name__}.{name}"
    for name in _OPERATORS:
        paths[id(getattr(operator, name))] = f"operator.{name}"
    for name in (
        "abs",
        "min",
        "max",
        "len",
        "round",
        "pow",
        "int",
        "float",
        "bool",
        "complex",
        "print",
        "range",
        "isinstance",
        "divmod",
    ):
        paths[id(getattr(builtins, name))] = f"builtins.{name}"
    return paths


def path_of(value) -> str | None:
    """Return the dotted path of an object of numba.cuda, math or the builtins, or None."""
    if isinstance(value, ObjectType):
        value = value.value
    if isinstance(value, _Group):
        return f"group.{value.scope}"
    return _known_paths().get(id(value)) or numpy_functions.path_of(value)


def dotted(translator, node) -> str | None:
    """Return the path of an attribute chain that starts at a numba.cuda object, or None."""
    if isinstance(node, ast.Attribute):
        static = translator._static(node)
        if static is not None:
            own = path_of(static)
            if own is not None:
                return own
        base = dotted(translator, node.value)
        return None if base is None else f"{base}.{node.attr}"
    if isinstance(node, ast.Name):
        known = translator.env.get(node.id)
        if isinstance(known, ObjectType):
            return path_of(known.value)
        if node.id in translator.assigned or node.id in translator.env:
            return None
        return path_of(translator.constant_of(node))
    return None


class _Group:
    """A cooperative group."""

    def __init__(self, scope):
        self.scope = scope


_GRID_GROUP = _Group("grid")


def as_dtype(value) -> np.dtype | None:
    """Return the dtype that a numba, NumPy or Python type stands for, or None."""
    if value is int:
        return typing.INT64
    if value is float:
        return typing.FLOAT64
    if value is bool:
        return typing.BOOL
    if value is complex:
        return typing.COMPLEX128
    if isinstance(value, np.dtype):
        return value
    if isinstance(value, str):
        try:
            return np.dtype(value)
        except TypeError:
            return None
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value)
    if isinstance(value, numba_types.Record):
        return numpy_support.as_dtype(value)
    if type(value).__module__.startswith("numba"):
        name = str(value)
        try:
            return np.dtype("bool" if name in ("boolean", "bool") else name)
        except TypeError:
            return None
    return None


def attribute(translator, path, node) -> Value | None:
    """Return the value of ``cuda.threadIdx.x`` and its kin, or None for another `path`."""
    if path is None or not path.startswith("cuda."):
        return None
    parts = path.split(".")
    if len(parts) == 2:
        if parts[1] == "laneid":
            return _index(translator, "lane", 0)
        if parts[1] == "warpsize":
            return Value(
                typing.INT32, translator.program.constant(np.int32(32)), constant=np.int32(32)
            )
        return None
    if len(parts) != 3 or parts[2] not in _AXES:
        return None
    axis = _AXES[parts[2]]
    if parts[1] == "threadIdx":
        return _index(translator, "thread", axis)
    if parts[1] == "blockIdx":
        return _index(translator, "block", axis)
    if parts[1] in ("blockDim", "gridDim"):
        name = "block_dims" if parts[1] == "blockDim" else "grid_dims"
        return Value(typing.INT32, f"run.{name}[{axis}]")
    return None


def _index(translator, name, axis):
    code = translator.temporary(f"g.index({(name, axis)!r}, {translator.active})")
    return Value(typing.INT64 if name == "grid" else typing.INT32, code)


def handler(translator, function):
    """Return the handler for a call of the expression `function`, or None."""
    if isinstance(function, ast.Attribute) and function.attr == "sync":
        base = translator.env.get(getattr(function.value, "id", None))
        if isinstance(base, ObjectType) and isinstance(base.value, _Group):
            return _grid_sync
        if isinstance(function.value, ast.Call):
            path = dotted(translator, function.value.func)
            if path in ("cuda.cg.this_grid", "cuda.grid_group"):
                return _grid_sync
    path = dotted(translator, function)
    if path is None and isinstance(function, ast.Attribute):
        if function.attr == "bit_count":
            return _bit_count
        if function.attr == "conjugate":
            return complex_numbers.conjugate
    return _CALLS.get(path)


def is_barrier(translator, node) -> bool:
    """Return whether `node` is a call that waits for other threads."""
    if not isinstance(node, ast.Call):
        return False
    found = handler(translator, node.func)
    return found in (_grid_sync, _syncwarp) or getattr(found, "__name__", "") == "barrier"


# Handlers ------------------------------------------------------------


def _nodes(t, node, *counts):
    """Return the argument nodes of a call that takes one of `counts` arguments, none by keyword."""
    if node.keywords or len(node.args) not in counts:
        wanted = " or ".join(map(str, counts))
        raise t.refuse(
            f"`{ast.unparse(node.func)}` takes {wanted} arguments, none of them by keyword",
            node,
            KernelTypeError,
        )
    return node.args


def _scalars(t, node, *counts):
    return [t.scalar(argument) for argument in _nodes(t, node, *counts)]


def _reals(t, node, *counts):
    values = _scalars(t, node, *counts)
    if any(v.type.kind == "c" for v in values):
        raise t.refuse(
            f"`{ast.unparse(node.func)}` does not take complex numbers", node, KernelTypeError
        )
    return values


def _arguments(t, node, names, optional=0):
    """Return the values of arguments that have names; numba takes some of them by keyword."""
    values = [t.expression(a) for a in node.args]
    given = {k.arg: t.expression(k.value) for k in node.keywords}
    for name in names[len(values) :]:
        if name in given:
            values.append(given.pop(name))
    if given or not len(names) - optional <= len(values) <= len(names):
        raise t.refuse(
            f"`{ast.unparse(node.func)}` takes ({', '.join(names)})", node, KernelTypeError
        )
    return values


def _constant_int(t, node, what):
    value = t.expression(node)
    if value.constant is None or not typing.is_integer(value.type):
        raise t.refuse(f"{what} must be a constant integer", node, KernelTypeError)
    return int(value.constant)


def _grid(t, node, hint):
    ndim = _constant_int(t, *_nodes(t, node, 1), "the argument of cuda.grid")
    items = [_index(t, "grid", axis) for axis in range(ndim)]
    return items[0] if ndim == 1 else Value(TupleType((typing.INT64,) * ndim), items=items)


def _gridsize(t, node, hint):
    ndim = _constant_int(t, *_nodes(t, node, 1), "the argument of cuda.gridsize")
    items = [Value(typing.INT64, f"run.grid_size[{axis}]") for axis in range(ndim)]
    return items[0] if ndim == 1 else Value(TupleType((typing.INT64,) * ndim), items=items)


_DECLARED = {"shape", "dtype", "alignment"}


def _computed(shape):
    """Whether a shape is computed from names: Python itself folds what is made of literals."""
    return any(
        isinstance(part, ast.BinOp) and any(isinstance(p, ast.Name) for p in ast.walk(part))
        for part in ast.walk(shape)
    )


def _declare(space):
    def declare(t, node, hint):
        arguments = {k.arg: k.value for k in node.keywords}
        arguments.update(zip(("shape", "dtype"), node.args, strict=False))
        if len(node.args) > 2 or not {"shape", "dtype"} <= set(arguments) <= _DECLARED:
            raise t.refuse(
                f"cuda.{space}.array takes (shape, dtype, alignment)", node, KernelTypeError
            )
        shape = t.expression(arguments["shape"])
        parts = shape.items if shape.items is not None else [shape]
        if any(p.constant is None for p in parts):
            raise t.refuse(f"the shape of a {space} array must be constant", node, KernelTypeError)
        if _computed(arguments["shape"]):
            raise t.refuse(
                f"numba does not compute the shape of a {space} array: give "
                f"`{ast.unparse(arguments['shape'])}` a name outside of the kernel",
                node,
                KernelTypeError,
            )
        sizes = tuple(int(p.constant) for p in parts)
        dtype_value = t.expression(arguments["dtype"])
        given = dtype_value.object
        if given is None:
            given = t.constant_of(arguments["dtype"])
        if given in (int, float, bool, complex):
            raise t.refuse(
                f"the dtype of a {space} array is {given.__name__}, a type of Python, which numba "
                "does not take here; name one of NumPy or numba, such as np.int32",
                node,
                KernelTypeError,
            )
        dtype = as_dtype(given)
        if dtype is None or not can_hold(dtype):
            raise t.refuse(
                f"`{ast.unparse(arguments['dtype'])}` is not a dtype", node, KernelTypeError
            )
        if space == "shared" and sizes == (0,):
            t.program.dynamic_sizes.add(dtype.itemsize)
        key = next(t.program.declarations)
        name = hint or f"{space}_{key}"
        place = (t.source.function, node.lineno, node.col_offset)
        kind = t.dtype_name(dtype)
        code = f"run.{space}_array(g, {place!r}, {name!r}, {sizes!r}, {kind}, {t.where})"
        return Value(ArrayType(dtype, len(sizes)), t.temporary(code))

    return declare


def _const_array(t, node, hint):
    (source,) = _nodes(t, node, 1)
    value = t.constant_of(source)
    if not isinstance(value, np.ndarray):
        raise t.refuse("cuda.const.array_like takes a global array", node, KernelTypeError)
    name = hint or ast.unparse(source)
    code = f"run.constant_array({t.program.constant(value)}, {name!r})"
    return Value(ArrayType(value.dtype, value.ndim), t.temporary(code))


def _barrier(kind):
    def barrier(t, node, hint):
        t.note(BARRIER)
        predicate = "None"
        if kind != "plain":
            (value,) = _arguments(t, node, ("predicate",))
            predicate = t.predicate(value, node, bools=False).code
        result = _wait(t, "block", kind, predicate)
        return None if kind == "plain" else Value(typing.INT32, t.temporary(result))

    return barrier


def _wait(t, scope, kind, predicate):
    t.program.waits = True
    if t.program.yielding:
        result = f"(yield ({scope!r}, {kind!r}, {t.active}, {predicate}, {t.where}))"
    else:
        result = f"run.barrier({scope!r}, {kind!r}, {t.active}, {predicate}, {t.where})"
    if kind == "plain":
        t.emit(result)
    return result


def _grid_sync(t, node, hint):
    t.program.cooperative = True
    t.note(BARRIER)
    _wait(t, "grid", "plain", "None")
    return Value(typing.INT32, t.program.constant(np.int32(0)), constant=np.int32(0))


def _this_grid(t, node, hint):
    t.program.cooperative = True
    return Value(ObjectType(_GRID_GROUP))


def _syncwarp(t, node, hint):
    t.note(BARRIER)
    values = _arguments(t, node, ("mask",), optional=1)
    mask = values[0].code if values else t.literal(0xFFFFFFFF).code
    t.program.syncwarps += 1
    if t.program.parted or t.program.lanes:
        t.emit(f"yield arrive({t.active}, 'syncwarp', {t.where}, None, {mask})")
        return None
    if t.program.yielding:
        t.emit("yield None")
    t.program.namespace["check_mask"] = warp.check_mask
    t.emit(f"check_mask({t.active}, {mask}, 'syncwarp', {t.where})")
    return None


def _together(t, what, call, mask, *values):
    """Return the code of a warp operation: `call` with {a} for the lanes, {0} for their mask, ...

    Lanes that run one by one wait for each other there.
    """
    if not t.program.lanes:
        return call.format(mask, *values, a=t.active)
    names = [f"m{i}" for i in range(1 + len(values))]
    operation = f"lambda a, {', '.join(names)}: {call.format(*names, a='a')}"
    given = ", ".join((mask, *values))
    return f"(yield arrive({t.active}, {what!r}, {t.where}, {operation}, {given}))"


def _fence(scope):
    def fence(t, node, hint):
        _nodes(t, node, 0)
        t.program.fences = True
        t.emit(f"run.fence({t.active}, {scope!r})")
        return None

    return fence


def _nanosleep(t, node, hint):
    t.expression(*_nodes(t, node, 1))
    return None


_SHUFFLED = {typing.INT32, typing.INT64, typing.FLOAT32, typing.FLOAT64}


def _shuffle(mode):
    operand_name = {"idx": "src_lane", "xor": "lane_mask"}.get(mode, "delta")

    def shuffle(t, node, hint):
        mask, value, operand = _arguments(t, node, ("mask", "value", operand_name))
        if value.type not in _SHUFFLED:
            raise t.refuse(
                "shuffles take 32- and 64-bit integers and floats; cast the value first "
                f"(it is {value.type})",
                node,
                KernelTypeError,
            )
        t.program.namespace["shuffle"] = warp.shuffle
        mask, operand = t.integer(mask, node), t.integer(operand, node)
        what = "shfl_sync" if mode == "idx" else f"shfl_{mode}_sync"
        call = f"shuffle({{a}}, {mode!r}, {{0}}, {{1}}, {{2}}, {t.where})"
        code = _together(t, what, call, mask.code, value.code, operand.code)
        return Value(value.type, t.temporary(code), fresh=True)

    return shuffle


def _ballot(t, node, hint):
    mask, predicate = _arguments(t, node, ("mask", "predicate"))
    predicate = t.predicate(predicate, node)
    t.program.namespace["ballot"] = warp.ballot
    call = f"ballot({{a}}, {{0}}, {{1}}, {t.where})"
    code = _together(t, "ballot_sync", call, t.integer(mask, node).code, predicate.code)
    return Value(typing.INT32, t.temporary(code), fresh=True)


def _vote(kind):
    def vote(t, node, hint):
        mask, predicate = _arguments(t, node, ("mask", "predicate"))
        t.program.namespace["vote"] = warp.vote
        predicate = t.predicate(predicate, node).code
        call = f"vote({{a}}, {kind!r}, {{0}}, {{1}}, {t.where})"
        code = _together(t, f"{kind}_sync", call, t.integer(mask, node).code, predicate)
        return Value(typing.BOOL, t.temporary(code), fresh=True)

    return vote


def _match(name):
    def match(t, node, hint):
        mask, value = _arguments(t, node, ("mask", "value"))
        t.program.namespace[name] = getattr(warp, name)
        call = f"{name}({{a}}, {{0}}, {{1}}, {t.where})"
        mask = t.integer(mask, node).code
        code = t.temporary(_together(t, f"{name}_sync", call, mask, value.code))
        if name == "match_any":
            return Value(typing.INT32, code, fresh=True)
        items = [Value(typing.INT32, f"{code}[0]"), Value(typing.BOOL, f"{code}[1]")]
        return Value(TupleType((typing.INT32, typing.BOOL)), items=items)

    return match


def _lane_set(name):
    def lane_set(t, node, hint):
        t.program.namespace[name] = getattr(warp, name)
        return Value(typing.UINT32, t.temporary(f"{name}({t.active})"), fresh=True)

    return lane_set


_ATOMIC_UNSIGNED = ("uint32", "uint64")
_ATOMIC_INTEGERS = ("int32", "int64", *_ATOMIC_UNSIGNED)
_ATOMIC_NUMBERS = (*_ATOMIC_INTEGERS, "float32", "float64")
#: Types of the elements on which numba has each operation.
_ATOMIC_TYPES = {
    **dict.fromkeys(("add", "sub", "max", "min", "nanmax", "nanmin"), _ATOMIC_NUMBERS),
    **dict.fromkeys(("and_", "or_", "xor", "exch", "cas"), _ATOMIC_INTEGERS),
    **dict.fromkeys(("inc", "dec"), _ATOMIC_UNSIGNED),
}


def _atomic(op):
    def atomic(t, node, hint):
        nodes = _nodes(t, node, {"compare_and_swap": 3, "cas": 4}.get(op, 3))
        array = t.expression(nodes[0])
        if not array.is_array:
            raise t.refuse(
                "the first argument of an atomic must be an array", node, KernelTypeError
            )
        if op == "compare_and_swap":
            index_values, rest = [t.literal(0)] * array.type.ndim, nodes[1:]
        else:
            index_values, rest = t._index_values(nodes[1]), nodes[2:]
        kind = "cas" if op == "compare_and_swap" else op
        taken = _ATOMIC_TYPES[kind]
        if array.type.dtype.name not in taken:
            raise t.refuse(
                f"cuda.atomic.{op} does not take arrays of {array.type.dtype}; allowed are "
                f"{', '.join(taken)}",
                node,
                KernelTypeError,
            )
        rest = [t.scalar(a) for a in rest]
        index = t.locate(array, index_values, node)
        rest = [t.cast(r, array.type.dtype).code for r in rest]
        compare, value = (rest[0], rest[1]) if kind == "cas" else ("None", rest[0])
        rest = f"{t.active}, {index}, {value}, {compare}, {t.where}"
        code = f"run.atomic({array.code}, {kind!r}, {rest})"
        return Value(array.type.dtype, t.temporary(code), fresh=True)

    return atomic


def _apply(t, name, function, values, dtype):
    t.program.namespace[name] = function
    code = f"{name}({', '.join(v.code for v in values)})"
    return Value(dtype, t.temporary(code), fresh=True)


def _bits(name, function, result):
    def bits(t, node, hint):
        (value,) = _arguments(t, node, ("x",))
        value = t.integer(value, node)
        if value.type.itemsize < 4:
            value = t.cast(value, typing.INT32)
        return _apply(t, name, function, [value], result or value.type)

    return bits


def _unsigned(value):
    return value.view(f"u{value.dtype.itemsize}")


def popcount(value):
    """Return the number of set bits, in the type of `value`."""
    return np.bitwise_count(_unsigned(value)).astype(value.dtype)


def leading_zeros(value):
    """Return the number of zero bits above the highest set bit."""
    bits = value.dtype.itemsize * 8
    unsigned = _unsigned(value).astype(np.uint64)
    count = np.full(np.shape(unsigned), bits, np.int64)
    for shift in range(bits):
        count = np.where((unsigned >> np.uint64(shift)) != 0, bits - 1 - shift, count)
    return count.astype(value.dtype)[()]


def first_set(value):
    """Return the 1-based position of the lowest set bit (uint32), 0 if there is none."""
    unsigned = _unsigned(value).astype(np.uint64)
    lowest = unsigned & (~unsigned + np.uint64(1))
    position = np.bitwise_count(lowest - np.uint64(1)).astype(np.uint32) + np.uint32(1)
    return np.where(unsigned == 0, np.uint32(0), position)[()]


def reverse_bits(value):
    """Return the bits in reverse order, as an unsigned number of the same width."""
    bits = value.dtype.itemsize * 8
    unsigned = _unsigned(value).astype(np.uint64)
    result = np.zeros_like(unsigned)
    for shift in range(bits):
        bit = (unsigned >> np.uint64(shift)) & np.uint64(1)
        result = result | (bit << np.uint64(bits - 1 - shift))
    return result.astype(f"u{value.dtype.itemsize}")


def _bit_count(t, node, hint):
    value = t.integer(t.scalar(node.func.value), node)
    if value.type.itemsize < 4:
        value = t.cast(value, typing.UINT32)
    return _apply(t, "popcount", popcount, [value], value.type)


def _reverse(t, node, hint):
    (value,) = _arguments(t, node, ("x",))
    value = t.integer(value, node)
    # numba has brev for uint32 and uint64 and takes int64 for the former.
    dtype = typing.UINT64 if value.type == typing.UINT64 else typing.UINT32
    return _apply(t, "reverse_bits", reverse_bits, [t.cast(value, dtype)], dtype)


def _select(t, node, hint):
    condition, a, b = _arguments(t, node, ("condition", "a", "b"))
    if a.type != b.type or not a.is_scalar or a.type.kind in "bc":
        raise t.refuse(
            f"the two values must be numbers of one type; they are {a.type} and {b.type}",
            node,
            KernelTypeError,
        )
    return _apply(t, "select", _where, [t.truth(condition), a, b], a.type)


def _where(condition, a, b):
    return np.where(condition, a, b)[()]


def _fma(t, node, hint):
    values = _arguments(t, node, ("a", "b", "c"))
    if any(not v.is_scalar or v.type.kind == "c" for v in values):
        raise t.refuse("cuda.fma takes three real numbers", node, KernelTypeError)
    dtype = functools.reduce(typing.unify, (typing.floating(v.type) for v in values))
    return _apply(t, "fused", fused_multiply_add, [t.cast(v, dtype) for v in values], dtype)


def fused_multiply_add(a, b, c):
    """Return a * b + c, rounded once where a wider type allows it (float32)."""
    if a.dtype == np.float32:
        return (a.astype(np.float64) * b + c).astype(np.float32)
    return a * b + c


def power(base, exponent):
    """Return ``base ** exponent`` in their common type; integers wrap."""
    if base.dtype.kind != "i":
        return np.power(base, exponent)
    negative = exponent < 0
    result = np.power(base, np.where(negative, 0, exponent))
    inverse = np.where(base == 1, 1, np.where(base == -1, np.where(exponent & 1, -1, 1), 0))
    return np.where(negative, inverse, result)[()]


def _math(ufunc, name, arity=1, result=None, *, widens=True):
    """Return a handler; integers become float64, or without `widens` the float that holds them."""

    def call(t, node, hint):
        values = _reals(t, node, arity)
        kinds = [v.type for v in values]
        if widens and any(typing.is_integer(k) for k in kinds):
            dtype = typing.FLOAT64
        elif widens:
            dtype = functools.reduce(typing.unify, kinds)
        else:
            dtype = functools.reduce(typing.unify, map(typing.floating, kinds))
        values = [t.cast(v, dtype) for v in values]
        return _apply(t, f"math_{name}", ufunc, values, result or dtype)

    return call


def _math_pair(ufunc, name, second=None):
    """Return a handler of a function with two results, the second of type `second` or the first."""

    def call(t, node, hint):
        (value,) = _reals(t, node, 1)
        dtype = typing.floating(value.type) if second else typing.unify(value.type, typing.FLOAT32)
        code = _apply(t, f"math_{name}", ufunc, [t.cast(value, dtype)], dtype).code
        items = [Value(dtype, f"{code}[0]"), Value(second or dtype, f"{code}[1]")]
        return Value(TupleType(tuple(i.type for i in items)), items=items)

    return call


def _ldexp(t, node, hint):
    value, exponent = _reals(t, node, 2)
    dtype = typing.floating(value.type)
    values = [t.cast(value, dtype), t.cast(t.integer(exponent, node), typing.INT32)]
    return _apply(t, "math_ldexp", np.ldexp, values, dtype)


def remainder(x, y):
    """Return the IEEE remainder, ``x - n * y`` for the `n` nearest to ``x / y``, even if a tie."""
    size, step = np.abs(x), np.abs(y)
    rest = np.fmod(size, step)
    odd = np.fmod(size, 2 * step) >= step
    above = (step - rest < rest) | ((step - rest == rest) & odd)
    rest = np.where(above & np.isfinite(step), rest - step, rest)
    return np.copysign(1, x).astype(x.dtype) * rest


def _scipy_special(name):
    vectorized = np.vectorize(getattr(math, name), otypes=[np.float64])

    def apply(value):
        return vectorized(value).astype(value.dtype)[()]

    return apply


def _extreme(symbol):
    ufunc = np.minimum if symbol == "min" else np.maximum

    def extreme(t, node, hint):
        values = [] if node.keywords else [t.expression(a) for a in node.args]
        if len(values) == 1 and values[0].items is not None:
            values = values[0].items
        if len(values) < 2 or any(not v.is_scalar or v.type.kind == "c" for v in values):
            raise t.refuse(f"{symbol}() takes two or more numbers", node, KernelTypeError)
        result = values[0]
        for value in values[1:]:
            dtype = typing.unify(result.type, value.type)
            pair = [t.cast(result, dtype), t.cast(value, dtype)]
            # As in numba, the number wins over NaN.
            chosen = ufunc if dtype.kind != "f" else (np.fmin if symbol == "min" else np.fmax)
            result = _apply(t, f"{chosen.__name__}", chosen, pair, dtype)
        return result

    return extreme


def _abs(t, node, hint):
    (value,) = _scalars(t, node, 1)
    if value.type == typing.BOOL:
        value = t.cast(value, np.dtype(np.int8))
    result = typing.part(value.type) if value.type.kind == "c" else value.type
    return _apply(t, "absolute", np.absolute, [value], result)


def _round(t, node, hint):
    values = _reals(t, node, 1, 2)
    if typing.is_integer(values[0].type):
        values[0] = t.cast(values[0], typing.floating(values[0].type))
    if len(values) == 1:
        return t.cast(_apply(t, "rint", np.rint, values, values[0].type), typing.INT64)
    return _apply(t, "round_to", round_to, values, values[0].type)


def round_to(value, digits):
    """Return `value` rounded to `digits` decimal places."""
    scale = np.power(10.0, np.abs(digits).astype(np.float64))
    result = np.where(digits >= 0, np.rint(value * scale) / scale, np.rint(value / scale) * scale)
    result = result.astype(value.dtype)
    return np.where(np.isfinite(result), result, value)[()]


def _len(t, node, hint):
    value = t.expression(*_nodes(t, node, 1))
    if value.items is not None and value.type.names == RANGE:
        return iteration.range_length(t, value.items)
    if value.items is not None and not value.type.opaque:
        return t.literal(len(value.items))
    if value.is_array:
        return Value(typing.INT64, f"{value.code}.dim({t.active}, 0)")
    raise t.refuse("len() takes an array or a tuple", node, KernelTypeError)


def _pow(t, node, hint):
    left, right = _scalars(t, node, 2)
    return t.binary(ast.Pow(), left, right, node)


def _operator(kind):
    def apply(t, node, hint):
        left, right = _scalars(t, node, 2)
        return t.binary(kind(), left, right, node)

    return apply


def _half(ufunc, name, result=typing.FLOAT16, arity=1):
    """Return the handler of a function of ``cuda.fp16``."""

    def call(t, node, hint):
        values = [t.cast(v, typing.FLOAT16) for v in _reals(t, node, arity)]
        return _apply(t, name, ufunc, values, result)

    return call


def _reciprocal_root(value):
    return np.reciprocal(np.sqrt(value))


def _power_of_ten(value):
    return np.power(np.float32(10), value).astype(value.dtype)


def _half_fma(a, b, c):
    return (a.astype(np.float64) * b + c).astype(np.float16)


def _divmod(t, node, hint):
    left, right = _scalars(t, node, 2)
    items = [t.binary(kind(), left, right, node) for kind in (ast.FloorDiv, ast.Mod)]
    return Value(TupleType(tuple(i.type for i in items)), items=items)


def _cast(dtype):
    def cast(t, node, hint):
        values = _scalars(t, node, 0, 1)
        if not values:
            return t.literal(dtype.type(0))
        (value,) = values
        if dtype == typing.INT64 and typing.is_integer(value.type) and value.type != typing.BOOL:
            return value  # int() keeps the width of an integer
        if dtype == typing.FLOAT64 and value.type.kind == "f":
            return value
        return t.cast(value, dtype)

    return cast


def _load_hint(t, node, hint):
    array, index = _nodes(t, node, 2)
    array = t.expression(array)
    return t.load(array, t.locate(array, t._index_values(index), node))


def _store_hint(t, node, hint):
    array, index, value = _nodes(t, node, 3)
    array = t.expression(array)
    index = t.locate(array, t._index_values(index), node)
    t.store(array, index, t.scalar(value), node)
    return None


_CALLS = {
    "cuda.grid": _grid,
    "cuda.gridsize": _gridsize,
    "cuda.shared.array": _declare("shared"),
    "cuda.local.array": _declare("local"),
    "cuda.const.array_like": _const_array,
    "cuda.syncthreads": _barrier("plain"),
    "cuda.syncthreads_count": _barrier("count"),
    "cuda.syncthreads_and": _barrier("and"),
    "cuda.syncthreads_or": _barrier("or"),
    "cuda.syncwarp": _syncwarp,
    "cuda.cg.this_grid": _this_grid,
    "cuda.shfl_sync": _shuffle("idx"),
    "cuda.shfl_up_sync": _shuffle("up"),
    "cuda.shfl_down_sync": _shuffle("down"),
    "cuda.shfl_xor_sync": _shuffle("xor"),
    "cuda.ballot_sync": _ballot,
    "cuda.all_sync": _vote("all"),
    "cuda.any_sync": _vote("any"),
    "cuda.eq_sync": _vote("eq"),
    "cuda.match_any_sync": _match("match_any"),
    "cuda.match_all_sync": _match("match_all"),
    "cuda.activemask": _lane_set("active_mask"),
    "cuda.lanemask_lt": _lane_set("lanes_below"),
    "cuda.popc": _bits("popcount", popcount, None),
    "cuda.clz": _bits("leading_zeros", leading_zeros, None),
    "cuda.ffs": _bits("first_set", first_set, typing.UINT32),
    "cuda.brev": _reverse,
    "cuda.selp": _select,
    "cuda.fma": _fma,
    "cuda.cbrt": _math(np.cbrt, "cbrt", widens=False),
    "cuda.threadfence": _fence(DEVICE),
    "cuda.threadfence_block": _fence(BLOCK),
    "cuda.threadfence_system": _fence(DEVICE),
    "cuda.nanosleep": _nanosleep,
    "builtins.abs": _abs,
    "builtins.min": _extreme("min"),
    "builtins.max": _extreme("max"),
    "builtins.round": _round,
    "builtins.len": _len,
    "builtins.pow": _pow,
    "builtins.divmod": _divmod,
    "builtins.int": _cast(typing.INT64),
    "builtins.float": _cast(typing.FLOAT64),
    "builtins.bool": _cast(typing.BOOL),
    "builtins.complex": complex_numbers.make,
    "builtins.print": printing.print_call,
    "builtins.range": iteration.make_range,
    "builtins.isinstance": type_questions.is_instance,
    "math.pow": _math(np.power, "pow", 2, widens=False),
    "math.modf": _math_pair(np.modf, "modf"),
    "math.frexp": _math_pair(np.frexp, "frexp", typing.INT32),
    "math.ldexp": _ldexp,
    "math.remainder": _math(remainder, "remainder", 2, widens=False),
    "math.nextafter": _math(np.nextafter, "nextafter", 2, widens=False),
    "math.atan2": _math(np.arctan2, "atan2", 2),
    "math.fmod": _math(np.fmod, "fmod", 2, widens=False),
    "math.hypot": _math(np.hypot, "hypot", 2),
    "math.copysign": _math(np.copysign, "copysign", 2, widens=False),
    "math.isnan": _math(np.isnan, "isnan", result=typing.BOOL),
    "math.isinf": _math(np.isinf, "isinf", result=typing.BOOL),
    "math.isfinite": _math(np.isfinite, "isfinite", result=typing.BOOL),
}

for _name in (
    "add",
    "sub",
    "and_",
    "or_",
    "xor",
    "inc",
    "dec",
    "exch",
    "max",
    "min",
    "nanmax",
    "nanmin",
):
    _CALLS[f"cuda.atomic.{_name}"] = _atomic(_name)
_CALLS["cuda.atomic.cas"] = _atomic("cas")
_CALLS["cuda.atomic.compare_and_swap"] = _atomic("compare_and_swap")
for _name in ("ldca", "ldcg", "ldcs", "ldcv", "ldlu"):
    _CALLS[f"cuda.{_name}"] = _load_hint
for _name in ("stcg", "stcs", "stwb", "stwt"):
    _CALLS[f"cuda.{_name}"] = _store_hint
for _name, _ufunc in {
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "fabs": np.fabs,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "radians": np.radians,
    "degrees": np.degrees,
}.items():
    _CALLS[f"math.{_name}"] = _math(_ufunc, _name)
for _name in numpy_functions.NAMES:
    _CALLS[f"numpy.{_name}"] = numpy_functions.function(_name)
for _name, _kind in _OPERATORS.items():
    _CALLS[f"operator.{_name}"] = _operator(_kind)
for _name, _ufunc in {
    "abs": np.absolute,
    "neg": np.negative,
    "sin": np.sin,
    "cos": np.cos,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": _power_of_ten,
    "sqrt": np.sqrt,
    "rsqrt": _reciprocal_root,
    "rcp": np.reciprocal,
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "trunc": np.trunc,
}.items():
    _CALLS[f"cuda.fp16.h{_name}"] = _half(_ufunc, f"half_{_name}")
for _name, _ufunc in {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "max": np.fmax,
    "min": np.fmin,
}.items():
    _CALLS[f"cuda.fp16.h{_name}"] = _half(_ufunc, f"half_{_name}", arity=2)
_CALLS["cmath.log"] = complex_numbers.logarithm
_CALLS["cmath.phase"] = complex_numbers.phase
_CALLS["cmath.polar"] = complex_numbers.polar
_CALLS["cmath.rect"] = complex_numbers.rect
for _name in complex_numbers.FUNCTIONS:
    _CALLS[f"cmath.{_name}"] = complex_numbers.function(_name)
_CALLS["cuda.fp16.hfma"] = _half(_half_fma, "half_fma", arity=3)
for _name, _ufunc in {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}.items():
    _CALLS[f"cuda.fp16.h{_name}"] = _half(_ufunc, f"half_{_name}", typing.BOOL, arity=2)
for _name in ("erf", "erfc", "gamma", "lgamma"):
    _CALLS[f"math.{_name}"] = _math(_scipy_special(_name), _name)
