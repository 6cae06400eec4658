"""Code that numba-cuda-mlir 0.6.0 lacks, or has wrong, for :mod:`.successor`.

Nothing of the successor is imported before :func:`compiler` is called.
"""

from __future__ import annotations

import functools
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numba

from gpukernels.checks import needed


@functools.cache
def compiler() -> SimpleNamespace:
    """Return the successor's modules, once they have all the code that kernels need.

    Raises
    ------
    MissingTool
        If it is not installed.
    """
    needed("numba_cuda_mlir", "mlir")
    its = SimpleNamespace(machine=import_module("numba_cuda_mlir._mlir.extras.types"))
    for module in (
        "cuda", "numba_cuda.types", "_mlir.ir", "_mlir.dialects.arith",
        "_mlir.dialects.builtin", "_mlir.dialects.llvm", "_mlir.dialects.nvvm", "extending",
        "lowering_utilities",
    ):  # fmt: skip
        setattr(its, module.rpartition(".")[2], import_module(f"numba_cuda_mlir.{module}"))
    its.lower, its.convert = its.extending.lowering_registry.lower, its.lowering_utilities.convert
    its.order = its.llvm.AtomicOrdering.monotonic
    its.refresh = functools.partial(
        its.extending.refresh_registries, include_uninitialized_cuda=False
    )
    # numba's arrays name a type of numba's own, which would mean nothing to the successor.
    arrays = import_module("numba.cuda.cudadrv.devicearray").DeviceNDArrayBase
    its.extending.typeof_impl.register(arrays)(lambda array, _: type_of(array._numba_type_))
    for add in _add_fences, _add_views, _add_atomics, _add_extremes, _add_shuffles, _add_shared:
        add(its)
    its.refresh()
    its.cache = _cache()
    return its


def _cache() -> Any:
    """Return its cache, for whose code a kernel's grid sync is known: it forgets that."""
    caching, cooperative = import_module("numba_cuda_mlir.caching"), "use_cooperative"

    class Impl(caching.MLIRCacheImpl):
        def reduce(self, result):
            return {**super().reduce(result), cooperative: result.metadata.get(cooperative, False)}

        def rebuild(self, target, payload):
            result = super().rebuild(target, payload)
            result.metadata[cooperative] = payload[cooperative]
            return result

    return type("Cache", (caching.MLIRCache,), {"_impl_class": Impl})


def type_of(kind: Any) -> Any:
    """Return the successor's type for one of numba's."""
    types = compiler().types
    if isinstance(kind, numba.types.Array):
        return types.Array(type_of(kind.dtype), kind.ndim, kind.layout, not kind.mutable)
    if isinstance(kind, numba.types.BaseTuple):
        members = [type_of(member) for member in kind.types]
        return types.BaseTuple.from_types(members, getattr(kind, "instance_class", None))
    return getattr(types, "boolean" if kind == numba.types.boolean else kind.name)


@functools.cache
def named_tuple(kind: type) -> None:
    """Let kernels make named tuples of a class; those that they are given are known."""
    its = compiler()

    @its.lower(kind, its.types.VarArg(its.types.Any))
    def make(builder, target, args, kwargs):
        builder.store_var(target, tuple(builder.load_vars(args)))

    its.refresh()


@functools.cache
def instruction(name: str, text: str, returns: bool) -> Any:
    """Return the device function of :func:`gpukernels.primitives.ptx.counter_instruction`."""
    its = compiler()
    line = text.format(result="$0", at="[$1]" if returns else "[$0]")
    constraints = "=r,l,~{memory}" if returns else "l,~{memory}"

    def generate(builder, target, args, kwargs):
        at = _address(its, builder.load_var(args[0]), [0])
        builder.store_var(target, _assembly(its, line, constraints, at))

    def typed(context, counter):
        if isinstance(counter, its.types.Array) and counter.dtype == its.types.int32:
            return (its.types.int32 if returns else its.types.void)(counter), generate
        return None  # the successor says that there is no such function for these arguments

    typed.__name__ = name
    intrinsic = its.extending.intrinsic(typed)
    its.refresh()
    return intrinsic


def _assembly(its, line, constraints, *inputs):
    returns = constraints.startswith("=")
    kind = its.machine.i32() if returns else None
    value = its.llvm.inline_asm(kind, list(inputs), line, constraints, has_side_effects=True)
    return value if returns else None


def _address(its, array, indices):
    """Return an element's address, which is not known to be one of global memory.

    The successor takes it for one where an array comes out of a tuple, a shared array too.
    """
    known, kind = its.lowering_utilities, array.type.element_type
    begin = known.memref_data_pointer(array)
    place = known._memref_index_offset(array, [known.index_of(index) for index in indices])
    return its.llvm.getelementptr(begin.type, begin, [place], [known.GEP_DYNAMIC_INDEX], kind, None)


def _whole(its, builder, variable, kind):
    """Return a whole number as another of the machine's types, widened by its own sign."""
    signed = builder.get_numba_type(variable.name).signed
    return its.convert(builder.load_var(variable), kind, signed=signed)


def _add_fences(its):
    def add(function, line, constraints):
        @its.lower(function)
        def generate(builder, target, args, kwargs):
            builder.store_var(target, _assembly(its, line, constraints))

    add(its.cuda.lanemask_lt, "mov.u32 $0, %lanemask_lt;", "=r")
    add(its.cuda.threadfence_block, "membar.cta;", "~{memory}")
    add(its.cuda.threadfence, "membar.gl;", "~{memory}")
    add(its.cuda.threadfence_system, "membar.sys;", "~{memory}")


def _add_views(its):
    # By which the method is typed; it must have code, though it is never called.
    viewer = import_module("numba_cuda_mlir.numba_cuda.cpython.unsafe.numbers").viewer

    @its.lower(viewer, its.types.Number, its.types.Any)
    @its.lower((its.types.Integer, "view"), its.types.Integer, its.types.Any)
    @its.lower((its.types.Float, "view"), its.types.Float, its.types.Any)
    def view(builder, target, args, kwargs):
        kind = builder.get_mlir_type(builder.get_numba_type(target.name))
        builder.store_var(target, its.llvm.bitcast(kind, builder.load_var(args[0])))


def _add_atomics(its):
    """Change shared arrays too, widen whole numbers by their sign, compare unsigned ones as such.

    Its own compare-and-swap refuses constants, and makes a loop around the instruction.
    """
    binary = import_module("numba_cuda_mlir.lowering.cuda").atomic_binop_for_operator
    whole, real, atomic = its.types.Integer, its.types.Float, its.cuda.atomic
    ways = its.llvm.AtomicBinOp
    unsigned = {atomic.min: ways.umin, atomic.max: ways.umax}

    def place(builder, args):
        array, index = builder.load_vars(args[:2])
        at = _address(its, array, index if isinstance(index, tuple) else (index,))
        return at, array.type.element_type, builder.get_numba_type(args[0].name).dtype

    def compare_and_swap(builder, target, args, kwargs):
        at, kind, _ = place(builder, args)
        old, new = (_whole(its, builder, number, kind) for number in args[2:])
        both = its.llvm.cmpxchg(at, old, new, its.order, its.order)
        builder.store_var(target, its.llvm.extractvalue(kind, both, [0]))

    def change(function, builder, target, args, kwargs):
        at, kind, of = place(builder, args)
        if isinstance(of, whole):
            value = _whole(its, builder, args[2], kind)
        else:
            value = its.convert(builder.load_var(args[2]), kind)
        if function is atomic.exch:
            way = ways.xchg
        elif function in unsigned and isinstance(of, whole) and not of.signed:
            way = unsigned[function]
        else:
            way = binary(function, kind)
        builder.store_var(target, its.llvm.atomicrmw(way, at, value, its.order))

    def add(function, generate, *numbers):
        # The successor's code for numbers of all kinds is less specific, so this is chosen.
        for index in whole, its.types.UniTuple, its.types.Tuple:
            its.lower(function, its.types.Array, index, *numbers)(generate)

    add(atomic.cas, compare_and_swap, whole, whole)
    for name in "add", "min", "max", "and_", "or_", "xor", "exch":
        function = getattr(atomic, name)
        for number in whole, real:
            add(function, functools.partial(change, function), number)


def _add_extremes(its):
    """Find the least and the largest of unsigned numbers, and of three."""

    def add(function, signed, unsigned):
        @its.lower(function, *[its.types.Integer] * 2)
        @its.lower(function, *[its.types.Integer] * 3)
        def extreme(builder, target, args, kwargs):
            of = builder.get_numba_type(target.name)
            kind = builder.get_mlir_type(of)
            numbers = [_whole(its, builder, number, kind) for number in args]
            builder.store_var(target, functools.reduce(signed if of.signed else unsigned, numbers))

    add(min, its.arith.minsi, its.arith.minui)
    add(max, its.arith.maxsi, its.arith.maxui)


def _add_shuffles(its):
    """Pass on both halves of 64 bits."""
    arith, int_of = its.arith, its.lowering_utilities.int_of

    def add(function, way, clamp):
        @its.lower(function, *[its.types.Integer] * 3)
        @its.lower(function, its.types.Integer, its.types.Float, its.types.Integer)
        def shuffle(builder, target, args, kwargs):
            value, of = builder.load_var(args[1]), builder.get_numba_type(args[1].name)
            word, long = its.machine.i32(), its.machine.i64()
            mask, lane = (int_of(builder.load_var(args[k]), word) for k in (0, 2))

            def passed(number):
                return its.nvvm.shfl_sync(mask, number, lane, int_of(clamp, word), way)

            if of.bitwidth == 64:
                by = arith.constant(long, 32)
                bits = its.llvm.bitcast(long, value)
                halves = arith.trunci(word, bits), arith.trunci(word, arith.shrui(bits, by))
                low, high = (arith.extui(long, passed(half)) for half in halves)
                result = its.llvm.bitcast(value.type, arith.ori(low, arith.shli(high, by)))
            elif isinstance(of, its.types.Float):
                result = passed(value)
            else:
                kind = builder.get_mlir_type(of)
                result = its.convert(passed(_whole(its, builder, args[1], word)), kind)
            builder.store_var(target, result)

    ways = its.nvvm.ShflKind
    add(its.cuda.shfl_sync, ways.idx, 31)
    add(its.cuda.shfl_up_sync, ways.up, 0)
    add(its.cuda.shfl_down_sync, ways.down, 31)
    add(its.cuda.shfl_xor_sync, ways.bfly, 31)


def _add_shared(its):
    """Have all dynamic shared memory of a kernel begin behind its static one, each view of it."""
    lowering = import_module("numba_cuda_mlir.lowering.cuda")
    ir, llvm, name = its.ir, its.llvm, "gpukernels_dynamic"

    def base(builder):
        array = ir.Type.parse("!llvm.array<0 x i8>")
        external = ir.Attribute.parse("#llvm.linkage<external>")
        with ir.InsertionPoint.at_block_begin(builder.mlir_gpu_module.bodyRegion.blocks[0]):
            llvm.GlobalOp(array, name, external, addr_space=3, alignment=16)
        with ir.InsertionPoint.at_block_begin(builder.mlir_funcOp.entry_block):
            pointer = llvm.mlir_addressof(llvm.PointerType.get(3), name)
            size = _assembly(its, "mov.u32 $0, %dynamic_smem_size;", "=r")
            memref = llvm.mlir_undef(
                ir.Type.parse("!llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>")
            )
            long = its.machine.i64()
            for value, *place in (
                (pointer, 0),
                (pointer, 1),
                (its.arith.constant(long, 0), 2),
                (its.arith.extui(long, size), 3, 0),
                (its.arith.constant(long, 1), 4, 0),
            ):
                memref = llvm.insertvalue(memref, value, ir.DenseI64ArrayAttr.get(place))
            kind = ir.Type.parse("memref<?xi8, #gpu.address_space<workgroup>>")
            return its.builtin.unrealized_conversion_cast([kind], [memref])

    @its.lower(its.cuda.shared.array, its.types.IntegerLiteral, its.types.DTypeSpec)
    def shared(builder, target, args, kwargs):
        if builder.get_numba_type(args[0].name).literal_value == 0:
            if builder._shared_memory_base is None:
                builder._shared_memory_base = base(builder)
            builder._store_total_shared_memory_bytes(its.lowering_utilities.index_of(0))
        lowering.cuda_shared_memory(builder, target, args, kwargs)
