"""Translate expressions: operators by numba's typing, short circuits, elements, calls."""

from __future__ import annotations

import ast
import inspect
import types as python_types

import numpy as np

from gpukernels.simt.errors import KernelError, KernelTypeError, LaunchError
from gpukernels.simt.run import division, memory, slices
from gpukernels.simt.translate import (
    casts,
    enums,
    intrinsics,
    numpy_functions,
    optional,
    signatures,
    tuples,
    typing,
    versions,
)
from gpukernels.simt.translate.source import load, python_function
from gpukernels.simt.translate.values import (
    ArrayType,
    LiteralType,
    ObjectType,
    TupleType,
    Value,
    can_hold,
)

_UNKNOWN = object()
#: Bytes of constant memory of every GPU.
MAX_CONSTANT = 64 * 1024

_BINARY = {
    ast.Add: ("+", np.add, typing.arithmetic),
    ast.Sub: ("-", np.subtract, typing.arithmetic),
    ast.Mult: ("*", np.multiply, typing.arithmetic),
    ast.Div: ("/", np.true_divide, typing.divide),
    ast.FloorDiv: ("//", np.floor_divide, typing.floor_divide),
    ast.Mod: ("%", np.remainder, typing.floor_divide),
    ast.BitAnd: ("&", np.bitwise_and, typing.bitwise),
    ast.BitOr: ("|", np.bitwise_or, typing.bitwise),
    ast.BitXor: ("^", np.bitwise_xor, typing.bitwise),
    ast.LShift: ("<<", np.left_shift, typing.shift),
    ast.RShift: (">>", np.right_shift, typing.shift),
    ast.Pow: ("**", np.power, typing.power),
}

_COMPARE = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


class _Given(ast.expr):
    """An expression that has been translated already."""

    def __init__(self, value):
        super().__init__()
        self.value = value


class ExpressionTranslator:
    """The part of the function translator that deals with values."""

    # Constants ------------------------------------------------------------

    def literal(self, value) -> Value:
        """Return a number as numba types it: int64 (uint64 past its range), float64, bool."""
        if isinstance(value, (bool, np.bool_)):
            scalar = np.bool_(value)
        elif isinstance(value, int):
            scalar = np.int64(value) if -(2**63) <= value < 2**63 else np.uint64(value)
        elif isinstance(value, float):
            scalar = np.float64(value)
        elif isinstance(value, complex):
            scalar = np.complex128(value)
        else:
            scalar = value
        return Value(scalar.dtype, self.program.constant(scalar), constant=scalar)

    def from_object(self, value, node) -> Value:
        """Return the value of a global, a closure variable or an attribute."""
        member = enums.member(self, value, node)
        if member is not None:
            return member
        if isinstance(value, (bool, int, float, complex, np.bool_, np.number)):
            return self.literal(value)
        if isinstance(value, tuple):
            items = [self.from_object(v, node) for v in value]
            names = getattr(value, "_fields", ())
            type_ = TupleType(tuple(i.type for i in items), names)
            return Value(type_, items=items, constant=value)
        if isinstance(value, np.ndarray) and can_hold(value.dtype):
            return self.constant_array(value, ast.unparse(node), node)
        return Value(ObjectType(value))

    def constant_array(self, value, name, node) -> Value:
        """Return an array from outside of the kernel, which numba puts into constant memory."""
        constant = self.program.constant(value)
        size = self.program.captured_bytes()
        if size > MAX_CONSTANT:
            raise self.refuse(
                f"the arrays that this kernel takes from outside have {size:,} bytes; constant "
                f"memory, where numba puts them, has {MAX_CONSTANT:,}. Pass them as arguments",
                node,
                LaunchError,
            )
        code = f"run.constant_array({constant}, {name!r})"
        return Value(ArrayType(value.dtype, value.ndim), self.temporary(code))

    def _captured(self, name, find):
        """Return a value from outside of the function as it was at the first translation."""
        values = self.function.captured.setdefault(self.types, {})
        if name not in values:
            values[name] = _as_of_now(find())
        return values[name]

    def free(self, name):
        """Return the value of a closure variable, a global or a builtin."""
        return self._captured(name, lambda: self.function.free(name))

    def constant_of(self, node):
        """Return the Python object that `node` names before the launch, or None."""
        value = self._static(node)
        return None if value is _UNKNOWN else value

    def _static(self, node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in self.literals:
                return self.literals[node.id].item()
            if node.id in self.env or node.id in self.assigned:
                known = self.env.get(node.id)
                return known.value if isinstance(known, ObjectType) else _UNKNOWN
            try:
                return self.free(node.id)
            except (NameError, ValueError):
                return _UNKNOWN
        if isinstance(node, ast.Attribute):
            base = self._static(node.value)
            if base is _UNKNOWN or isinstance(base, np.ndarray):
                return _UNKNOWN
            value = getattr(base, node.attr, _UNKNOWN)
            if isinstance(value, (np.ndarray, tuple)):
                return self._captured(ast.unparse(node), lambda: value)
            return value
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            kind = self._static(node.func)
            if kind is np.iinfo or kind is np.finfo or kind is np.dtype:
                limits = numpy_functions.limits(kind, self._static(node.args[0]))
                return _UNKNOWN if limits is None else limits
        return _UNKNOWN

    def constant_truth(self, node):
        """Return True or False where a condition is known before the launch, else None."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.constant_truth(node.operand)
            return None if inner is None else not inner
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = self._static(node.left), self._static(node.comparators[0])
            if left is _UNKNOWN and isinstance(node.left, ast.Name) and right is None:
                if self.reads_optional(node.left):
                    return None
                left = object()  # a variable that is not None
            if left is _UNKNOWN or right is _UNKNOWN:
                return None
            if isinstance(node.ops[0], ast.Is):
                return left is right
            if isinstance(node.ops[0], ast.IsNot):
                return left is not right
            if isinstance(left, (int, float, str, bool)) and type(node.ops[0]) in _COMPARE:
                return bool(eval(f"a {_COMPARE[type(node.ops[0])]} b", {"a": left, "b": right}))
            return None
        value = self._static(node)
        if value is None or isinstance(value, (bool, int, float, str)):
            return bool(value)
        return None

    def dtype_name(self, dtype) -> str:
        """Return a name for `dtype` in the generated code."""
        if dtype.fields is not None:
            return self.program.constant(dtype)
        name = f"d_{dtype.name}"
        self.program.namespace[name] = dtype
        return name

    # Casts ------------------------------------------------------------

    def cast(self, value, dtype) -> Value:
        """Return `value` as `dtype`, as C casts it."""
        if value.type == dtype:
            return value
        if value.type.kind == "c" and dtype.kind not in "cb":
            raise self.refuse(
                f"{value.type} does not become {dtype}; take its .real or .imag",
                self.node,
                KernelTypeError,
            )
        rounds = value.type.kind == "f" and dtype.kind in "iu"
        if value.constant is not None:
            with np.errstate(all="ignore"):
                constant = value.constant
                return self.literal(
                    casts.to_integer(constant, dtype) if rounds else constant.astype(dtype)
                )
        name = self.dtype_name(dtype)
        if rounds:
            self.program.namespace["to_integer"] = casts.to_integer
            code = self.temporary(f"to_integer({value.code}, {name})")
        else:
            code = self.temporary(f"{value.code}.astype({name})")
        return Value(dtype, code, fresh=True)

    def truth(self, value) -> Value:
        """Return `value` as a bool."""
        if value.items is not None and not value.type.opaque:
            return self.literal(bool(value.items))
        if not value.is_scalar:
            raise self.refuse(
                f"numba does not take the truth of {tuples.describe(value.type)}",
                self.node,
                KernelTypeError,
            )
        return self.cast(value, typing.BOOL)

    def predicate(self, value, node, *, bools=True) -> Value:
        """Return `value` as a bool for a vote, whose predicate numba wants to be an integer."""
        if not value.is_scalar or value.type.kind == "f":
            raise self.refuse("the predicate must be an integer or bool", node, KernelTypeError)
        if value.type == typing.BOOL and not bools:
            raise self.refuse(
                "numba takes an integer predicate here; write int32(...) around it",
                node,
                KernelTypeError,
            )
        return self.truth(value)

    def integer(self, value, node) -> Value:
        """Return `value`, refusing anything that is not an integer."""
        if not value.is_scalar or not typing.is_integer(value.type):
            raise self.refuse("an integer is needed here", node, KernelTypeError)
        return self.cast(value, typing.INT64) if value.type == typing.BOOL else value

    # Expressions ------------------------------------------------------------

    def expression(self, node, hint=None, unused=False) -> Value:
        """Translate `node`; `hint` names an array it makes, `unused` allows a missing result.

        Where it may be None, a thread for which it is None is an error.
        """
        value = self.value_or_none(node, hint, unused)
        is_optional = value is not None and optional.is_optional(value.type)
        return self.number(value, node) if is_optional else value

    def value_or_none(self, node, hint=None, unused=False) -> Value:
        """Translate `node` where None may stand for a number."""
        method = getattr(self, f"_see_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refuse(f"`{ast.unparse(node)}` cannot be used in a kernel", node)
        if isinstance(node, ast.Call):
            return method(node, hint, unused)
        return method(node)

    def scalar(self, node) -> Value:
        """Translate `node`, refusing arrays, tuples and objects."""
        value = self.expression(node)
        if not value.is_scalar:
            what = tuples.describe(value.type)
            raise self.refuse(
                f"`{ast.unparse(node)}` is not a number but {what}", node, KernelTypeError
            )
        return value

    def _see_constant(self, node):
        if isinstance(node.value, (bool, int, float, complex)):
            return self.literal(node.value)
        return Value(ObjectType(node.value))

    def _see_name(self, node):
        if node.id in self.env:
            return self.read_name(node.id, node)
        if node.id in self.assigned:
            raise self.refuse(f"`{node.id}` is read before anything is assigned to it", node)
        try:
            value = self.free(node.id)
        except (NameError, ValueError):
            raise self.refuse(f"`{node.id}` is not defined", node) from None
        return self.from_object(value, node)

    def _see_attribute(self, node):
        static = self._static(node)
        if static is not _UNKNOWN:
            built_in = intrinsics.attribute(self, intrinsics.path_of(static), node)
            if built_in is not None:
                return built_in
        path = intrinsics.dotted(self, node)
        if path is not None:
            built_in = intrinsics.attribute(self, path, node)
            if built_in is not None:
                return built_in
        if static is not _UNKNOWN:
            return self.from_object(static, node)
        place = self.record_place(node)
        if place is not None:
            return self.read_field(*place, node)
        value = self.expression(node.value)
        if value.is_array:
            if value.type.of_records and node.attr in value.type.dtype.names:
                return self.field_of_all(value, node.attr, node)
            if value.type.dtype.kind == "c" and node.attr in ("real", "imag"):
                return self.parts_of_all(value, node.attr)
            return self._array_attribute(value, node)
        if value.items is not None:
            for name in (node.attr, f".{node.attr}"):
                if name in value.type.names:
                    return value.items[value.type.names.index(name)]
        if value.is_scalar and node.attr in ("real", "imag"):
            return self._part_of_number(value, node.attr)
        raise self.refuse(f"`{ast.unparse(node)}` cannot be used in a kernel", node)

    def _part_of_number(self, value, part):
        if value.type.kind != "c":
            return value if part == "real" else self.cast(self.literal(0), value.type)
        dtype = typing.part(value.type)
        # Not a view, which would keep the whole alive and may change with it.
        return Value(dtype, self.temporary(f"{value.code}.{part}.copy()"), fresh=True)

    def _array_attribute(self, array, node):
        if node.attr == "shape":
            items = [
                Value(typing.INT64, f"{array.code}.dim({self.active}, {i})")
                for i in range(array.type.ndim)
            ]
            return Value(TupleType((typing.INT64,) * array.type.ndim), items=items)
        if node.attr == "size":
            dims = (f"{array.code}.dim({self.active}, {i})" for i in range(array.type.ndim))
            return Value(typing.INT64, self.temporary(" * ".join(dims)))
        if node.attr == "ndim":
            return self.literal(array.type.ndim)
        if node.attr == "dtype":
            return Value(ObjectType(array.type.dtype))
        if node.attr in ("itemsize", "nbytes"):
            return self.bytes_of(array, node.attr)
        if node.attr == "T" and not array.type.of_records:
            return self.transposed(array)
        if node.attr == "flat" and not array.type.of_records:
            return self.flattened(array)
        raise self.refuse(f"arrays have no `{node.attr}` in a kernel", node)

    # Operators ------------------------------------------------------------

    def _see_binop(self, node):
        left, right = self.expression(node.left), self.expression(node.right)
        if left.items is not None and right.items is not None and isinstance(node.op, ast.Add):
            for side in (left, right):
                if side.type.names or getattr(node, "in_place", False):
                    raise self.refuse(
                        "numba adds plain tuples only, and not by `+=`", node, KernelTypeError
                    )
            return tuples.of(left.items + right.items)
        return self.binary(node.op, left, right, node)

    def binary(self, operator, left, right, node) -> Value:
        """Apply a binary operator with numba's result type."""
        if not (left.is_scalar and right.is_scalar):
            raise self.refuse("both operands must be numbers", node, KernelTypeError)
        symbol, ufunc, rule = _BINARY[type(operator)]
        dtype = rule(left.type, right.type)
        if dtype is None:
            raise self.refuse(
                f"`{symbol}` does not take {left.type} and {right.type}", node, KernelTypeError
            )
        if isinstance(operator, ast.Pow):
            return self._power(left, right, dtype)
        if dtype.kind == "f" and isinstance(operator, (ast.FloorDiv, ast.Mod)):
            return self._divide_floats(operator, left, right, dtype)
        if dtype != typing.BOOL and typing.natural(ufunc, left.type, right.type) != dtype:
            left, right = self.cast(left, dtype), self.cast(right, dtype)
        if left.constant is not None and right.constant is not None:
            with np.errstate(all="ignore"):
                return self.literal(ufunc(left.constant, right.constant)[()])
        code = f"{self.operand(left)} {symbol} {self.operand(right)}"
        return Value(dtype, self.temporary(code), fresh=True)

    def operand(self, value, dtype=None) -> str:
        """Return the code of an operand of a NumPy operator, as an array of `dtype` if constant.

        NumPy takes an array of no dimensions much faster than a scalar.
        """
        if value.constant is None:
            return value.code
        return self.program.constant(np.array(value.constant, dtype or value.type))

    def _divide_floats(self, operator, left, right, dtype):
        name = "remainder" if isinstance(operator, ast.Mod) else "floor_divide"
        self.program.namespace[f"float_{name}"] = getattr(division, name)
        left, right = self.cast(left, dtype), self.cast(right, dtype)
        return Value(dtype, self.temporary(f"float_{name}({left.code}, {right.code})"), fresh=True)

    def _power(self, left, right, dtype):
        left, right = self.cast(left, dtype), self.cast(right, dtype)
        self.program.namespace["power"] = intrinsics.power
        return Value(dtype, self.temporary(f"power({left.code}, {right.code})"), fresh=True)

    def _see_unaryop(self, node):
        if isinstance(node.op, ast.Not):
            value = self.truth(self.scalar(node.operand))
            return Value(typing.BOOL, self.temporary(f"~{value.code}"), fresh=True)
        value = self.scalar(node.operand)
        if isinstance(node.op, ast.Invert):
            dtype = typing.invert(value.type)
            symbol = "~"
        else:
            dtype = typing.negate(value.type)
            symbol = "-" if isinstance(node.op, ast.USub) else "+"
        if dtype is None:
            raise self.refuse(f"`{symbol}` does not take {value.type}", node, KernelTypeError)
        if value.type == typing.BOOL:
            value = self.cast(value, dtype)
        if value.constant is not None:
            with np.errstate(all="ignore"):
                constant = {"~": np.invert, "-": np.negative, "+": np.positive}[symbol](
                    value.constant
                )
            return self.cast(self.literal(constant), dtype)
        # numba negates and inverts in the operand's own type and widens the result.
        result = Value(value.type, self.temporary(f"{symbol}{value.code}"), fresh=True)
        return self.cast(result, dtype)

    def _see_compare(self, node):
        known = self.constant_truth(node)
        if known is not None:
            return self.literal(known)
        if len(node.ops) > 1 and _harmless(node.comparators[0]):
            last = ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:])
            if _reads_unset(last):  # those whom the first comparison decides do not come to it
                first = ast.Compare(node.left, node.ops[:1], node.comparators[:1])
                both = ast.copy_location(ast.BoolOp(ast.And(), [first, last]), node)
                return self.expression(ast.fix_missing_locations(both))
        result = None
        left = self.value_or_none(node.left)
        for operator, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value_or_none(right_node)
            value = self.compared(operator, left, right, node)
            result = value if result is None else self._both(result, value)
            left = right
        return result

    def compared(self, operator, left, right, node) -> Value:
        """Translate one comparison, ``in`` and ``is`` among them."""
        if isinstance(operator, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            for one, other in ((left, right), (right, left)):
                if optional.is_optional(one.type) and optional.is_none(other.type):
                    value = self.is_missing(one)
                    return value if isinstance(operator, (ast.Eq, ast.Is)) else self.negated(value)
        pair = zip((left, right), (node.left, node.comparators[-1]), strict=True)
        left, right = (self.number(v, n) if optional.is_optional(v.type) else v for v, n in pair)
        if isinstance(operator, (ast.In, ast.NotIn)):
            value = self.contains(left, right, node)
        elif isinstance(operator, (ast.Is, ast.IsNot)):
            value = self._same(left, right, node)
        else:
            return self.compare(operator, left, right, node)
        return self.negated(value) if isinstance(operator, (ast.NotIn, ast.IsNot)) else value

    def negated(self, value) -> Value:
        """Return the opposite of a bool."""
        if value.constant is not None:
            return self.literal(not value.constant)
        return Value(typing.BOOL, self.temporary(f"~{value.code}"), fresh=True)

    def _same(self, left, right, node):
        """Return ``left is right``: equal values of one type are the same to numba."""
        if left.is_array and right.is_array:
            raise self.refuse("`is` cannot compare arrays in the machine", node)
        if left.type != right.type:
            return self.literal(False)
        if isinstance(left.type, ObjectType):
            return self.literal(True)
        return self.compare(ast.Eq(), left, right, node)

    def compare(self, operator, left, right, node) -> Value:
        """Return what an operator of order or equality gives."""
        if left.items is not None or right.items is not None:
            return self.compare_tuples(operator, left, right, node)
        for side, part in ((left, node.left), (right, node.comparators[-1])):
            if not side.is_scalar:
                raise self.refuse(
                    f"`{ast.unparse(part)}` is not a number but {tuples.describe(side.type)}",
                    node,
                    KernelTypeError,
                )
        pair = (left, right)
        if "c" in (left.type.kind, right.type.kind):
            if not isinstance(operator, (ast.Eq, ast.NotEq)):
                raise self.refuse("complex numbers have no order", node, KernelTypeError)
            dtype = typing.arithmetic(left.type, right.type)
            pair = [self.cast(v, dtype) for v in pair]
        elif {left.type.kind, right.type.kind} == {"i", "u"}:
            # NumPy would compare int64 with uint64 exactly.
            pair = [self.cast(v, typing.unify(left.type, right.type)) for v in pair]
        codes = [self._narrow(v, other) for v, other in (pair, pair[::-1])]
        code = self.temporary(f"{codes[0]} {_COMPARE[type(operator)]} {codes[1]}")
        return Value(typing.BOOL, code, fresh=True)

    def _narrow(self, value, other) -> str:
        """Return the code of a compared value: a constant in the other's integer type if it fits.

        The result is the same, and NumPy need not convert the other one.
        """
        if value.constant is None or value.type.kind != "i" or other.type.kind != "i":
            return self.operand(value)
        bounds = np.iinfo(other.type)
        fits = bounds.min <= value.constant <= bounds.max
        return self.operand(value, other.type if fits else None)

    def _see_boolop(self, node):
        is_and, value = isinstance(node.op, ast.And), None
        for part in node.values:
            known = self.constant_truth(part) if isinstance(part, ast.Compare) else None
            if known is not None and known is not is_and:
                part = ast.copy_location(ast.Constant(known), part)
            value = self.scalar(part) if value is None else self._short_circuit(is_and, value, part)
            if known is not None and known is not is_and:
                break
        return value

    def _short_circuit(self, is_and, left, right_node):
        """Return ``left and right`` or ``left or right``: one of the two, as in Python."""
        decided = self.truth(left)
        if _harmless(right_node) and not (
            self.reads_record(right_node) or self.reads_optional(right_node)
        ):
            right = self.scalar(right_node)
            if left.type == right.type == typing.BOOL:
                symbol = "&" if is_and else "|"
                code = self.temporary(f"{left.code} {symbol} {right.code}")
                return Value(typing.BOOL, code, fresh=True)
            dtype = typing.unify(left.type, right.type)
            pair = [self.cast(v, dtype).code for v in ((right, left) if is_and else (left, right))]
            code = f"np.where({decided.code}, {', '.join(pair)})[()]"
            return Value(dtype, self.temporary(code), fresh=True)
        # Only threads that the left side has not decided evaluate the right side.
        outer, inner = self.active, self.new_active()
        at, part = f"p{inner[1:]}", f"t{next(self.temporaries)}"
        asked = decided.code if is_and else self.temporary(f"~{decided.code}")
        self.emit(f"{inner}, {at} = choose({outer}, {asked})")
        self.emit(f"{part} = None")
        self.block(f"if {inner} is not None:")
        self.active = inner
        right = self.scalar(right_node)
        dtype = typing.unify(left.type, right.type)
        self.emit(f"{part} = {self.cast(right, dtype).code}")
        self.end()
        self.active = outer
        left = self.cast(left, dtype)
        return Value(dtype, self.temporary(f"blend({outer}, {left.code}, {at}, {part})"))

    def _see_ifexp(self, node):
        known = self.constant_truth(node.test)
        if known is not None:
            return self.expression(node.body if known else node.orelse)
        condition = self.truth(self.scalar(node.test))
        outer = self.active
        body, other = self.new_active(), self.new_active()
        self.emit(f"{body}, {other} = split({outer}, {condition.code})")
        # A register holds what is not a number, or may be None; one pass finds out which it is.
        parts, register = [], f"0{next(self.hidden_names)}"
        for active, part in ((body, node.body), (other, node.orelse)):
            name = f"t{next(self.temporaries)}"
            self.emit(f"{name} = None")
            self.block(f"if {active} is not None:")
            self.active = active
            value, known = self.value_or_none(part), self.env.get(register)
            if not value.is_scalar or optional.is_none(known) or optional.is_optional(known):
                self.assign_name(register, value, node)
            elif register in self.env:
                raise self.refuse("the two values are of two kinds", node, KernelTypeError)
            self.emit(f"{name} = {value.code or None}")
            self.end()
            parts.append((name, value.type))
        self.active = outer
        if register in self.env:
            return self.read_name(register, node)
        dtype = typing.unify(parts[0][1], parts[1][1])
        name = self.dtype_name(dtype)
        code = (
            f"pick({outer}, {condition.code}, {parts[0][0]}, {parts[1][0]}, {name}).astype({name})"
        )
        return Value(dtype, self.temporary(code), fresh=True)

    # Elements ------------------------------------------------------------

    def element(self, node):
        """Return (array, located index) of a subscript, with its bounds check emitted."""
        array = self.expression(node.value)
        self._indexable(array, node)
        if array.type.of_records:
            raise self.refuse("a whole record cannot be used here; name a field", node)
        return array, self.locate(array, self._index_values(node.slice), node)

    def _index_values(self, node):
        if isinstance(node, ast.Tuple):
            values = [self._index_value(e) for e in node.elts]
        elif isinstance(node, ast.Slice):
            raise self.refuse("a slice cannot be used here; index single elements", node)
        else:
            value = self._index_value(node)
            values = value.items if value.items is not None else [value]
        return values

    def _index_value(self, node):
        value = self.expression(node)
        if _is_negative_literal(node) and value.type == typing.INT64:
            return FromEnd(value.type, value.code, value.constant)
        return value

    def _index(self, array, value, axis, node) -> str:
        """Return the code of one index; a negative one written as such counts from the end."""
        if isinstance(value, FromEnd):
            self.program.namespace["from_end"] = memory.from_end
            return self.temporary(
                f"from_end({array.code}.dim({self.active}, {axis}), {value.code})"
            )
        if value.is_scalar and value.type == typing.BOOL:
            raise self.refuse("numba does not take a bool as an index", node, KernelTypeError)
        return self.integer(value, node).code

    def locate(self, array, indices, node) -> str:
        """Emit the bounds check of `indices` and return the code of the flat element index."""
        code = self._index_code(array, indices, node)
        return self.temporary(f"{array.code}.locate({self.active}, {code}, {self.where})")

    def _index_code(self, array, indices, node) -> str:
        codes = [self._index(array, value, axis, node) for axis, value in enumerate(indices)]
        if len(codes) != array.type.ndim:
            raise self.refuse(
                f"an array of {array.type.ndim} dimensions needs as many indices; "
                f"{len(codes)} given",
                node,
            )
        return codes[0] if len(codes) == 1 else f"({', '.join(codes)})"

    def get(self, array, indices, node) -> Value:
        """Emit the bounds check of `indices` and a load there, in one."""
        index = self._index_code(array, indices, node)
        code = f"{array.code}.get({self.active}, {index}, {self.where})"
        return Value(array.type.dtype, self.temporary(code), fresh=True)

    def load(self, array, index) -> Value:
        """Emit a load of a located element."""
        code = f"{array.code}.load({self.active}, {index}, {self.where})"
        return Value(array.type.dtype, self.temporary(code), fresh=True)

    def store(self, array, index, value, node):
        """Emit a store to a located element; the value is cast to the array's type."""
        if not value.is_scalar:
            raise self.refuse("only numbers can be stored in an array", node, KernelTypeError)
        value = self.cast(value, array.type.dtype)
        self.emit(f"{array.code}.store({self.active}, {index}, {value.code}, {self.where})")

    def put(self, target, value):
        """Emit the bounds check of a subscript and a store there, in one."""
        array = self.expression(target.value)
        self._indexable(array, target)
        if array.type.of_records:
            indices = self._index_values(target.slice)
            self.put_record(array, self.locate(array, indices, target), value, target)
            return
        if self.fills(array, target):
            self.fill(array, value, target)
            return
        if not value.is_scalar:
            raise self.refuse("only numbers can be stored in an array", target, KernelTypeError)
        indices = self._index_values(target.slice)
        index = self._index_code(array, indices, target)
        value = self.cast(value, array.type.dtype)
        self.emit(f"{array.code}.put({self.active}, {index}, {value.code}, {self.where})")

    def _indexable(self, array, node):
        if not array.is_array:
            raise self.refuse(
                f"`{ast.unparse(node.value)}` cannot be indexed here", node, KernelTypeError
            )

    def _see_subscript(self, node):
        place = self.record_place(node)
        if place is not None:
            return self.read_field(*place, node)
        base = self.expression(node.value)
        if base.items is not None:
            return self.item_of(base, node)
        self._indexable(base, node)
        if base.type.of_records and base.type.ndim == 0:
            return self.field_at(base, node)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            if not base.type.of_records:
                raise self.refuse("this array has no fields", node, KernelTypeError)
            return self.field_of_all(base, node.slice.value, node)
        parts = self.index_parts(base, node)
        if any(isinstance(part, ast.Slice) for part in parts):
            return self._cut(base, parts, node)
        values = self._index_values(node.slice)
        if len(values) < base.type.ndim or (base.type.of_records and base.type.ndim == len(values)):
            codes = [self._index(base, v, axis, node) for axis, v in enumerate(values)]
            return self._slice_of(base, codes, base.type.ndim - len(values))
        return self.get(base, values, node)

    def index_parts(self, array, node):
        """Return the nodes of an index, one a dimension; `...` stands for slices that are whole."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        dots = [_is_ellipsis(part) for part in parts]
        if sum(dots) != 1:
            return parts
        at = dots.index(True)
        missing = max(0, array.type.ndim - len(parts) + 1)
        whole = [ast.copy_location(ast.Slice(), node) for _ in range(missing)]
        return parts[:at] + whole + parts[at + 1 :]

    def _cut(self, array, parts, node):
        """Cut a slice out of an array."""
        if len(parts) > array.type.ndim:
            raise self.refuse(f"an array of {array.type.ndim} dimensions has fewer to slice", node)
        codes, dropped = [], 0
        for axis, part in enumerate(parts):
            if not isinstance(part, ast.Slice):
                codes.append(self._index(array, self._index_value(part), axis, node))
                dropped += 1
                continue
            ends = [
                "None" if end is None else self.integer(self.scalar(end), node).code
                for end in (part.lower, part.upper)
            ]
            step = None if part.step is None else self.scalar(part.step)
            if step is not None and (step.constant is None or step.constant == 0):
                raise self.refuse("the step of a slice must be a constant other than 0", node)
            codes.append(f"({', '.join(ends)}, {'None' if step is None else step.code})")
        return self._slice_of(array, codes, array.type.ndim - dropped)

    def _slice_of(self, array, codes, ndim):
        self.program.namespace["cut"] = slices.cut
        parts = "".join(f"{code}, " for code in codes)
        code = f"cut({array.code}, {self.active}, ({parts}), {self.where})"
        return Value(ArrayType(array.type.dtype, ndim), self.temporary(code))

    # Calls ------------------------------------------------------------

    def _see__given(self, node):
        return node.value

    def _without_stars(self, node):
        """Return the call with the items of a starred tuple as arguments of their own."""
        arguments = []
        for argument in node.args:
            if not isinstance(argument, ast.Starred):
                arguments.append(argument)
                continue
            value = self.expression(argument.value)
            if value.items is None:
                raise self.refuse(f"`{ast.unparse(argument)}` is not a tuple", node)
            arguments += [_Given(item) for item in value.items]
        return ast.copy_location(ast.Call(node.func, arguments, node.keywords), node)

    def _see_call(self, node, hint, unused):
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            node = self._without_stars(node)
        static = self._static(node)
        if static is not _UNKNOWN:  # np.iinfo(np.int32), np.dtype("int32")
            return self.from_object(static, node)
        handler = intrinsics.handler(self, node.func)
        if handler is not None:
            result = handler(self, node, hint)
            if result is None and not unused:
                raise self.refuse(f"`{ast.unparse(node)}` has no value", node, KernelTypeError)
            return result
        target = self.constant_of(node.func)
        method = self.method(node) if target is None else None
        if method is not None:
            return method(node)
        if target is None:
            raise self.refuse(f"`{ast.unparse(node.func)}` cannot be called in a kernel", node)
        dtype = intrinsics.as_dtype(target)
        if dtype is not None:
            if node.keywords or len(node.args) != 1:
                raise self.refuse(f"`{ast.unparse(node)}`: one number expected", node)
            return self.cast(self.scalar(node.args[0]), dtype)
        if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
            return self.named_tuple(target, node)
        if isinstance(target, python_types.BuiltinFunctionType) or python_function(target) is None:
            raise self.refuse(f"`{ast.unparse(node.func)}` cannot be called in a kernel", node)
        library = (getattr(target, "__module__", None) or "").split(".")[0]
        if inspect.isfunction(target) and library in ("numpy", "numba"):
            raise self.refuse(
                f"`{ast.unparse(node.func)}` is none of the functions that the machine knows", node
            )
        if inspect.isfunction(target):
            raise self.refuse(
                f"`{ast.unparse(node.func)}` is a plain Python function, which numba does not "
                "compile; decorate it with @cuda.jit(device=True)",
                node,
                KernelTypeError,
            )
        return self._call_device_function(target, node)

    def _translated(self, target, values, declared):
        """Translate a device function for `values`; as numba does, with constants if need be."""
        types, literal_types = (
            tuple(_argument_type(v, literally) for v in values) for literally in (False, True)
        )
        try:
            return self.program.function(target, types, declared=declared)
        except KernelError:
            if types == literal_types:
                raise
            try:
                return self.program.function(target, literal_types, declared=declared)
            except KernelError:
                pass
            raise

    def _call_device_function(self, target, node):
        arguments = [self.value_or_none(a) for a in node.args]
        named = {k.arg: self.value_or_none(k.value) for k in node.keywords}
        try:
            bound = inspect.signature(python_function(target)).bind(*arguments, **named)
        except TypeError as error:
            raise self.refuse(f"`{ast.unparse(node)}`: {error}", node, KernelTypeError) from None
        bound.apply_defaults()
        values = [self._argument(v, node) for v in bound.arguments.values()]
        values, declared = signatures.cast_to_declared(self, target, values, node)
        name, result = self._translated(target, values, declared)
        self.program.callers.setdefault(load(target).source, {})[self.where] = None
        codes = []
        for value in values:
            _flatten(value, codes)
        call = f"{name}({', '.join(['g', self.active, *codes])})"
        if self.program.yielding:
            call = f"quiet({call}, {self.polling})" if self.polling else call
            call = f"(yield from {call})"
        value = _unpack(result, self.temporary(call))
        if isinstance(declared, np.dtype) and value.is_scalar:
            return self.cast(value, declared)
        return value

    def _argument(self, value, node):
        if isinstance(value, tuple) and all(isinstance(v, Value) for v in value):  # of *args
            return tuples.of(value)
        return value if isinstance(value, Value) else self.from_object(value, node)


def _as_of_now(value):
    """Return `value`, or a copy that does not change if it is an array or holds arrays."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, tuple) and any(isinstance(v, (np.ndarray, tuple)) for v in value):
        items = [_as_of_now(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


class FromEnd(Value):
    """A negative index that is written as a number: numba counts it from the end."""

    __slots__ = ()


def _is_negative_literal(node):
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    return negated and isinstance(node.operand, ast.Constant)


def _is_ellipsis(node):
    return isinstance(node, ast.Constant) and node.value is ...


def _argument_type(value, literally=False):
    if value.items is not None:
        types = tuple(_argument_type(v, literally) for v in value.items)
        return TupleType(types, value.type.names)
    if literally and value.constant is not None and value.is_scalar:
        return LiteralType(value.type, value.constant)
    return value.type


def _flatten(value, codes):
    if value.items is not None:
        for item in value.items:
            _flatten(item, codes)
    elif not isinstance(value.type, ObjectType):
        codes.append(value.code)


def _unpack(type_, code):
    if isinstance(type_, TupleType):
        items = [_unpack(t, f"{code}[{i}]") for i, t in enumerate(type_.items)]
        return Value(type_, items=items)
    if type_ is None:
        return Value(ObjectType(None))
    return Value(type_, code)


def _reads_unset(node):
    """Whether `node` reads a variable that some threads may not have set."""
    return any(map(versions.may_be_unset, ast.walk(node)))


def _harmless(node):
    """Whether evaluating `node` for every thread has no effect: no memory access, no call."""
    if _reads_unset(node):
        return False
    if isinstance(node, ast.Subscript):  # array.shape[i] touches no memory
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if isinstance(node, (ast.Call, ast.IfExp, ast.BoolOp)):
        return False
    return all(_harmless(child) for child in ast.iter_child_nodes(node))
