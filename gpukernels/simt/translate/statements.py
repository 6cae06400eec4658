"""Translate a kernel's syntax tree into Python that runs all active threads of a group at once.

One translation serves one kernel at one set of argument types, as a compilation does in numba.
Types are
found by translating the body repeatedly until no variable's type changes; the last translation
counts.

Each ``if`` and each loop splits the active set and joins it again at its end, so threads
reconverge exactly
as structured SIMT code does. Inside a region only its active threads are computed.
"""

from __future__ import annotations

import ast
import collections
import itertools
import re
import textwrap

import numpy as np

from gpukernels.simt.errors import Call, KernelError, KernelTypeError, UnsupportedConstruct
from gpukernels.simt.run import choices, lanes, meetings, turns
from gpukernels.simt.run.pace import steps_of
from gpukernels.simt.translate import intrinsics, ranges, typing, versions, waiting
from gpukernels.simt.translate.expressions import ExpressionTranslator
from gpukernels.simt.translate.fields import FieldTranslator
from gpukernels.simt.translate.filling import FillingTranslator
from gpukernels.simt.translate.iteration import IterationTranslator
from gpukernels.simt.translate.optional import OptionalTranslator, is_none, is_optional, may_end
from gpukernels.simt.translate.raising import raised
from gpukernels.simt.translate.reshaping import ReshapingTranslator
from gpukernels.simt.translate.source import load
from gpukernels.simt.translate.tuples import TupleTranslator, describe
from gpukernels.simt.translate.values import ArrayType, LiteralType, ObjectType, TupleType, Value
from gpukernels.trace import BRANCH, STATEMENT

_PASSES = 12
_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Raise)


class Program:
    """A translated kernel with the device functions that it calls.

    Attributes
    ----------
    locations : list of (Source, int)
        Source and line of each location number in the generated code.
    regions : dict
        Location number -> location number of the ``if`` or loop around it.
    entry : callable
        ``entry(group, active, *arguments)``; a generator function if `yielding`.
    cooperative : bool
        Whether the kernel syncs the grid, so that all blocks must run together.
    dynamic_sizes : set of int
        Bytes of an element of each dynamic shared array.
    fences : bool
        Whether there are memory fences, which order accesses together with atomics.
    waits : bool
        Whether warps wait for each other at barriers of the block or the grid.
    variables : dict
        Type of each variable of the kernel.
    polls : bool
        Whether a loop waits for other threads, so that they must run in between.
    parts : bool
        Whether both arms of an ``if`` contain a ``syncwarp``.
    text : str
        The generated Python, to debug the machine.
    """

    def __init__(
        self, kernel, types, *, traced, yielding, step_yields, parted=False, lanes_alone=False
    ):
        self.traced = traced
        self.yielding = yielding
        self.step_yields = step_yields
        #: Whether the arms that contain a ``syncwarp`` run side by side.
        self.parted = parted
        #: Whether every lane is a generator of its own.
        self.lanes = lanes_alone
        self.polls = self.parts = False
        self.syncwarps = 0  # translated so far
        self._syncing = set()
        self.cooperative = False
        self.fences = False
        self.waits = False
        self.locations = []
        self._numbers = {}  # the place of each in them
        self.regions = {}
        self.declarations = itertools.count()
        self.dynamic_sizes = set()
        self.names = itertools.count()
        self.namespace = {
            "np": np,
            "enter": lanes.enter,
            "rd": lanes.read,
            "wr": lanes.write,
            "keep": lanes.keep,
            "split": lanes.split,
            "choose": lanes.choose,
            "join": lanes.join,
            "leave": lanes.leave,
            "alive": lanes.alive,
            "blend": lanes.blend,
            "pick": lanes.pick,
            "RangeLoop": lanes.RangeLoop,
            "no": np.False_,
            "yes": np.True_,
            "quiet": lanes.quiet,
            "arrive": meetings.arrive,
            "side_by_side": meetings.side_by_side,
            **turns.Round.__members__,
            "Barrier": turns.Barrier,
            "Scope": turns.Scope,
            "Vote": turns.Vote,
        }
        #: Source of each device function -> numbers of the places from which it is called.
        self.callers = {}
        self._constants = {}
        self._functions = {}
        #: Functions that are being translated: (their name, the type of their result so far).
        self._active = {}
        self._recursive = set()
        self.text = ""
        function = load(kernel)
        self.python = function.python
        self.source = function.source
        self.parameters = [a.arg for a in function.tree.args.args]
        name, _ = self.function(kernel, tuple(types), top=True)
        self.entry = self.namespace[name]

    def constant(self, value) -> str:
        """Return a name for `value` in the generated code."""
        key = (type(value), value) if isinstance(value, np.generic) else id(value)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            key = (value.dtype, value.tobytes())
            value.flags.writeable = False
        try:
            if isinstance(value, np.generic) and value != value:
                key = id(value)
            if key not in self._constants:
                name = f"k{len(self._constants)}"
                self._constants[key] = (name, value)
                self.namespace[name] = value
            return self._constants[key][0]
        except TypeError:
            raise UnsupportedConstruct(f"a constant of type {type(value).__name__}") from None

    def calls_of(self, source) -> tuple:
        """Return the chain of calls that leads to a device function, the innermost first."""
        calls, seen = [], {source}
        while source in self.callers:
            first, *others = self.callers[source]
            source, line = self.locations[first]
            calls.append(Call(source.function, source.file, line, source.line(line), len(others)))
            if source in seen:
                break
            seen.add(source)
        return tuple(calls)

    def captured_bytes(self) -> int:
        """Return the size of all arrays among the constants."""
        values = (value for _, value in self._constants.values())
        return sum(v.nbytes for v in values if isinstance(v, np.ndarray) and v.ndim)

    def location(self, source, line, region) -> int:
        """Return the number of a source line within this program."""
        entry = (source, line)
        number = self._numbers.setdefault(entry, len(self.locations))
        if number == len(self.locations):
            self.locations.append(entry)
            if region is not None:
                self.regions[number] = region
        return number

    def function(self, kernel, types, top=False, declared=None):
        """Translate `kernel` for `types` once; return (name, return type or None).

        A function with a `declared` result may call itself, as in numba.
        """
        function = load(kernel)
        key = (function.python, types)
        if key in self._functions:
            self.syncwarps += key in self._syncing
            return self._functions[key]
        call = (function.python, tuple(map(_without_literals, types)))
        if call in self._active:
            name, result = self._active[call]
            if result is None and not isinstance(declared, np.dtype):
                raise _refusal(
                    function,
                    "calls itself; numba compiles recursion only in functions with an explicit "
                    "signature, whose result is a number",
                )
            self._recursive.add(call)
            return name, declared if result is None else result
        syncwarps = self.syncwarps
        try:
            # Where another program has called it, with another schedule or from another kernel, one
            # pass finds that nothing changes.
            env, result = function.results.get(types, ({}, None))
            for _ in range(_PASSES):
                translator = FunctionTranslator(self, function, types, dict(env), result, top)
                self._active[call] = translator.name, result
                text = translator.translate()
                if translator.env == env and translator.result == result:
                    break
                env, result = translator.env, translator.result
        finally:
            self._active.pop(call, None)
        if call in self._recursive and "run.local_array(" in text:
            raise _refusal(
                function,
                "calls itself and has a local array; the machine keeps one for all of its calls",
            )
        self.text += text + "\n"
        exec(compile(text, f"<simt {function.tree.name}>", "exec"), self.namespace)
        if top:
            self.variables = translator.env
        self._functions[key] = (translator.name, result)
        function.results[types] = translator.env, result
        if self.syncwarps > syncwarps:
            self._syncing.add(key)
        return self._functions[key]


def _refusal(function, what):
    return UnsupportedConstruct(
        f"`{function.tree.name}` {what}",
        kernel=function.tree.name,
        file=function.source.file,
        line=function.source.first_line,
        text=function.source.text[0],
    )


class FunctionTranslator(
    FieldTranslator,
    FillingTranslator,
    IterationTranslator,
    OptionalTranslator,
    ReshapingTranslator,
    TupleTranslator,
    ExpressionTranslator,
):
    """Translates one function at one set of argument types (a single pass)."""

    def __init__(self, program, function, types, env, result, top):
        self.program = program
        self.function = function
        self.source = function.source
        self.env = env
        self.result = result
        self.top = top
        self.types = types
        self.name = f"f{next(program.names)}_{function.tree.name}"
        self.lines = []
        self.depth = 1
        self.temporaries = itertools.count()
        self.regions = itertools.count()
        self.hidden_names = itertools.count()
        self.cache = {}
        self.active = "a0"
        self.where = 0
        self.node = None
        self.region = None
        self.loops = []
        #: Name of the `Round` to yield here, in a loop that waits for other threads; else None.
        self.polling = None
        self.assigned = _assigned(function.tree)
        #: Variables of which a read may find that the thread has not set them.
        self.unset = _unset(function.tree)
        #: Variables that are assigned once, to a constant; and parameters that are literals.
        self.constants = {}
        self.literals = {}

    # Output ------------------------------------------------------------

    def emit(self, text):
        """Append a line of generated code."""
        self.lines.append("    " * self.depth + text)

    def temporary(self, code) -> str:
        """Emit an assignment of `code` to a new name; return the name."""
        name = f"t{next(self.temporaries)}"
        self.emit(f"{name} = {code}")
        return name

    def block(self, header):
        """Open an indented block."""
        self.emit(header)
        self.depth += 1

    def end(self, mark=None):
        """Close a block; one that has no line since `mark` gets a ``pass``."""
        if mark is not None and len(self.lines) == mark:
            self.emit("pass")
        self.depth -= 1

    def new_active(self) -> str:
        """Return a new name for an active set."""
        return f"a{next(self.regions) + 1}"

    def forget_active(self, name):
        """Drop cached reads under an active set that is about to be rebound."""
        self.cache = {k: v for k, v in self.cache.items() if k[1] != name}

    def forget_variable(self, name):
        """Drop cached reads of a register that changes."""
        self.cache = {k: v for k, v in self.cache.items() if k[0] != name}

    # Errors ------------------------------------------------------------

    def refuse(self, what, node=None, kind=UnsupportedConstruct):
        """Return an error about `node`."""
        line = self.source.first_line if node is None else getattr(node, "lineno", 0)
        return kind(
            versions.plain(what),
            kernel=self.source.function,
            file=self.source.file,
            line=line,
            text=self.source.line(line),
        )

    # The function ------------------------------------------------------------

    def translate(self) -> str:
        """Return the generated Python function."""
        tree = self.function.tree
        arguments = tree.args
        if (self.top and arguments.vararg) or arguments.kwarg or arguments.kwonlyargs:
            raise self.refuse(
                "*args, **kwargs and keyword-only parameters cannot be used in a kernel"
            )
        names = [a.arg for a in arguments.posonlyargs + arguments.args]
        names += [arguments.vararg.arg] if arguments.vararg else []
        self.parameters = frozenset(names)
        types = self.types + self._defaults(arguments, names)
        if len(names) != len(types):
            raise self.refuse(
                f"`{tree.name}` takes {len(names)} arguments ({', '.join(names)}); "
                f"{len(self.types)} were given",
                kind=KernelTypeError,
            )
        flat = []
        setup = []
        for name, type_ in zip(names, types, strict=True):
            self._declare(name, type_, flat)
        for name in names:
            # A register that is written in part must not share its array with the caller.
            for variable in [v for v in flat if v == name or v.startswith(name + ".")]:
                if name in self.assigned and isinstance(self.env.get(variable), np.dtype):
                    setup.append(f"{_home(variable)} = {_home(variable)}.copy()")
        fields = [f for f in flat if not isinstance(self.env[f], ObjectType)]
        self.block_header = f"def {self.name}({', '.join(['g', 'a0', *map(_home, fields)])}):"
        self.emit("run = g.run")
        if not self.top:
            self.emit("a0 = enter(a0)")
        for line in setup:
            self.emit(line)
        marker = len(self.lines)
        self.statements(tree.body, "a0")
        if isinstance(self.result, np.dtype) and may_end(tree.body):
            none = self.optional(Value(ObjectType(None)), tree)  # what Python returns at the end
            self.result = self.optional_type(none, self.result, tree)
        declared = ["    checked = run.check"] if self.unset else []
        declared += [f"    {_known(name)} = no" for name in sorted(self.unset)]
        for name, type_ in self.env.items():
            if name in flat or isinstance(type_, (ObjectType, TupleType)):
                continue
            initial = self.zero(type_) if isinstance(type_, np.dtype) else "None"
            declared.append(f"    {_home(name)} = {initial}")
        for slot in self.return_slots(self.result):
            initial = self.zero(slot[1]) if isinstance(slot[1], np.dtype) else "None"
            declared.append(f"    {slot[0]} = {initial}")
        self.lines[marker:marker] = declared
        self.emit(f"return {self.returned(self.result)}")
        if self.program.yielding:
            self.emit("yield")
        return "\n".join([self.block_header, *self._without_dead_writes()])

    def _without_dead_writes(self):
        """Return the lines with no writes to registers that are read from the cache alone."""
        text = "\n".join(self.lines)
        dead = [
            f"{home} = wr("
            for home in (_home(n) for n, t in self.env.items() if isinstance(t, np.dtype))
            if f"rd({home}," not in text
        ]

        def live(line):
            code = line.lstrip()
            return line if not code.startswith(tuple(dead)) else line.replace(code, "pass")

        return [live(line) for line in self.lines]

    def _defaults(self, arguments, names):
        missing = len(names) - len(self.types)
        if missing <= 0 or missing > len(arguments.defaults):
            return ()
        values = self.function.python.__defaults__[len(arguments.defaults) - missing :]
        return tuple(ObjectType(v) for v in values)

    def _declare(self, name, type_, flat):
        if isinstance(type_, TupleType):
            self.env[name] = type_
            for i, item in enumerate(type_.items):
                self._declare(f"{name}.{i}", item, flat)
        elif isinstance(type_, ObjectType):
            self.env[name] = type_
            flat.append(name)
        else:
            if isinstance(type_, LiteralType):
                if name not in self.assigned:
                    self.literals[name] = self.constants[name] = type_.value
                type_ = type_.type
            if isinstance(type_, np.dtype) and isinstance(self.env.get(name), np.dtype):
                type_ = typing.unify(type_, self.env[name])
            self.env[name] = type_
            flat.append(name)

    def zero(self, dtype) -> str:
        """Return the name of a zero of `dtype`."""
        return self.program.constant(dtype.type(0))

    def return_slots(self, type_, name="v_return"):
        """Return (register, type) of each number and array that the function returns."""
        if isinstance(type_, TupleType):
            slots = []
            for i, item in enumerate(type_.items):
                slots += self.return_slots(item, f"{name}_{i}")
            return slots
        return [(name, type_)] if isinstance(type_, (np.dtype, ArrayType)) else []

    def returned(self, type_, name="v_return"):
        """Return the code of the function's result."""
        if isinstance(type_, TupleType):
            parts = [self.returned(t, f"{name}_{i}") for i, t in enumerate(type_.items)]
            return f"({', '.join(parts)},)"
        return name if isinstance(type_, (np.dtype, ArrayType)) else "None"

    # Statements ------------------------------------------------------------

    def statements(self, body, active):
        """Translate `body` under `active`, which afterwards names the threads that fall through."""
        for i, node in enumerate(body):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue
            self.active = active
            self.statement(node)
            self.active = active
            if i + 1 < len(body) and _leaves(node):
                if _always_leaves(node):
                    return
                self.block(f"if {active} is not None:")
                mark = len(self.lines)
                self.statements(body[i + 1 :], active)
                self.end(mark)
                return

    def statement(self, node):
        """Translate one statement."""
        method = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refuse(f"`{_construct(node)}` cannot be used in a kernel", node)
        self.at(node)
        method(node)

    def at(self, node):
        """Make `node` the place that errors and the trace name."""
        self.node = node
        self.where = self.program.location(self.source, node.lineno, self.region)

    def note(self, kind=STATEMENT, event=None):
        """Emit the trace's step and, under the random schedule, a point to switch warps.

        Return the name of the step's event in the generated code, by default a new one.
        """
        if self.program.step_yields:
            self.emit(f"yield {self.polling}")
        if not self.program.traced:
            return None
        if event is None:
            event = f"e{next(self.temporaries)}" if kind == BRANCH else "_"
        self.emit(f"{event} = run.recorder.step({self.active}, {self.where}, {kind})")
        return event

    def note_taken(self, event, active):
        """Emit the record of the threads that go into a branch's body."""
        if event is not None:
            self.emit(f"run.recorder.taken({event}, {active})")

    def _do_pass(self, node):
        pass

    def _do_expr(self, node):
        # A barrier notes its own step, after its argument has been computed.
        if not intrinsics.is_barrier(self, node.value):
            self.note()
        self.expression(node.value, unused=True)

    def _do_assign(self, node):
        self.note()
        value = self.settled(self.value_or_none(node.value, hint=_hint(node.targets[0])))
        for target in node.targets:
            self.assign(target, value)

    def _do_annassign(self, node):
        if node.value is None:
            return
        self.note()
        value = self.value_or_none(node.value, hint=_hint(node.target))
        self.assign(node.target, self.settled(value))

    def _do_augassign(self, node):
        # Augmented assignments to names have become plain assignments.
        self.note()
        place = self.record_place(node.target)
        if place is not None:
            value = self.binary(
                node.op, self.read_field(*place, node), self.expression(node.value), node
            )
            self.write_field(*place, value, node)
            return
        if not isinstance(node.target, ast.Subscript):
            raise self.refuse("this augmented assignment cannot be used in a kernel", node)
        array, index = self.element(node.target)
        left = self.load(array, index)
        value = self.binary(node.op, left, self.expression(node.value), node)
        self.store(array, index, value, node)

    def settled(self, value, later=False):
        """Return `value` as it is now, since a store may come before a tuple's last item is used.

        The code of an array, and of its shape, names a register, which may be one of those written.
        With `later`, other statements may come between: they may change a number in place.
        """
        if value.items is not None:
            return Value(value.type, items=[self.settled(item, later) for item in value.items])
        if value.constant is not None or not (value.is_scalar or value.is_array):
            return value
        if later and value.is_scalar and not value.fresh:
            return Value(value.type, self.temporary(f"{value.code}.copy()"))
        if value.code.isidentifier() and not value.code.startswith("v_"):
            return value
        return Value(value.type, self.temporary(value.code))

    def assign(self, target, value):
        """Assign to a name, a tuple of targets or an array element."""
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, target)
            return
        if is_optional(value.type):
            value = self.number(value, target)
        if isinstance(target, (ast.Tuple, ast.List)):
            if any(isinstance(part, ast.Starred) for part in target.elts):
                raise self.refuse("a starred name cannot take items in a kernel", target)
            opaque = value.items is None or value.type.opaque
            if opaque or len(value.items) != len(target.elts):
                raise self.refuse(
                    "the tuple on the right does not fit the names on the left", target
                )
            # All values are read before the first name changes, as in Python.
            for part, item in zip(target.elts, value.items, strict=True):
                self.assign(part, item)
        elif (place := self.record_place(target)) is not None:
            self.write_field(*place, value, target)
        elif isinstance(target, ast.Subscript):
            self.put(target, value)
        else:
            raise self.refuse(
                f"an assignment to `{ast.unparse(target)}` cannot be used in a kernel", target
            )

    def assign_name(self, name, value, node):
        """Write a register, whose type is the unified type of all that is assigned to it."""
        known = self.env.get(name)
        if name in self.unset:
            test = "if checked: " if _without_arrays(value.type) else ""
            self.emit(f"{test}{_known(name)} = wr({_known(name)}, {self.active}, yes)")
        mixed = is_none(value.type) != is_none(known) and known is not None
        if is_optional(value.type) or is_optional(known) or mixed:
            self.assign_optional(name, value, node)
            return
        if value.items is not None:
            self._fits(name, known, value, node)
            self.env[name] = TupleType(tuple(v.type for v in value.items))
            for i, item in enumerate(value.items):
                self.assign_name(f"{name}.{i}", item, node)
            types = tuple(self.env[f"{name}.{i}"] for i in range(len(value.items)))
            self.env[name] = TupleType(types, value.type.names)
            return
        self.forget_variable(name)
        if not value.is_scalar:
            if known is not None and known != value.type:
                raise self.refuse(
                    f"`{name}` is given values of two kinds; numba cannot unify them",
                    node,
                    KernelTypeError,
                )
            self.env[name] = value.type
            if value.is_array:
                code, home = value.code, _home(name)
                if known is not None and self.active != "a0":
                    self.program.namespace["rebind"] = choices.rebind
                    plain = f"array variable `{versions.plain(name)}`"
                    code = f"rebind({self.active}, {home}, {code}, {plain!r}, {self.where})"
                self.emit(f"{home} = {code}")
            return
        if known is not None and not isinstance(known, np.dtype):
            raise self.refuse(
                f"`{name}` is given values of two kinds; numba cannot unify them",
                node,
                KernelTypeError,
            )
        dtype = value.type if known is None else typing.unify(known, value.type)
        self.env[name] = dtype
        value = self.cast(value, dtype)
        once = self.assigned.get(name) == 1 and name not in self.parameters
        if once and value.constant is not None:
            self.constants[name] = value.constant
        else:  # a loop over a tuple gives its variable one item after another
            self.constants.pop(name, None)
        code = value.code
        if not value.fresh and value.constant is None:
            code = self.temporary(f"{code}.copy()")  # another register may change in place
        self.emit(f"{_home(name)} = wr({_home(name)}, {self.active}, {code})")
        self.cache[name, self.active] = code  # what these threads read until the next write

    def _fits(self, name, known, value, node):
        """Refuse a tuple for a variable that has been something else."""
        if known is None:
            return
        if (
            not isinstance(known, TupleType)
            or len(known.items) != len(value.items)
            or ((known.opaque or value.type.opaque) and known.names != value.type.names)
        ):
            raise self.refuse(
                f"`{name}` is given {describe(known)} and {describe(value.type)}; numba cannot "
                "unify them",
                node,
                KernelTypeError,
            )

    def _do_assert(self, node):
        self.note()
        condition = self.truth(self.expression(node.test))
        message = ""
        if isinstance(node.msg, ast.Constant):
            message = str(node.msg.value)
        self.emit(f"run.affirm({self.active}, {condition.code}, {message!r}, {self.where})")

    def _do_raise(self, node):
        self.note()
        text = raised(self, node)
        self.emit(f"run.raised({self.active}, {text!r}, {self.where})")
        self.emit(f"{self.active} = None")

    def _do_return(self, node):
        self.note()
        if not self.top:
            self.keep_result(self.value_or_none(node.value or ast.Constant(None)), node)
        elif node.value is not None and not is_none(self.value_or_none(node.value).type):
            raise self.refuse(
                "a kernel cannot return a value; write it to an array", node, KernelTypeError
            )
        self.emit(f"leave({self.active})")
        if self.top:
            self.emit(f"run.exited({self.active}, {self.where})")
        self.emit(f"{self.active} = None")

    def keep_result(self, value, node):
        """Write the registers that hold the function's result."""
        known = self.result
        if is_none(value.type) and (known is None or is_none(known)):
            self.result = value.type
            return
        if any(is_none(t) or is_optional(t) for t in (value.type, known)):
            value = self.optional(value, node)
            self.result = self.optional_type(value, known, node)
            for i, item in enumerate(value.items):
                self._keep(item, self.result.items[i], f"v_return_{i}")
            return
        self.result = self._result_type(value, known, node)
        self._keep(value, self.result, "v_return")

    def _result_type(self, value, known, node):
        if value.items is not None:
            if known is not None and (
                not isinstance(known, TupleType) or len(known.items) != len(value.items)
            ):
                raise self.refuse(
                    "the returns of this function have different types", node, KernelTypeError
                )
            parts = known.items if known is not None else [None] * len(value.items)
            return TupleType(
                tuple(
                    self._result_type(v, k, node) for v, k in zip(value.items, parts, strict=True)
                ),
                value.type.names,
            )
        if value.is_array or isinstance(known, ArrayType):
            if not value.is_array or known not in (None, value.type):
                raise self.refuse(
                    "the returns of this function have different types", node, KernelTypeError
                )
            return value.type
        if not value.is_scalar:
            raise self.refuse("a device function can return numbers, arrays and tuples", node)
        return value.type if known is None else typing.unify(known, value.type)

    def _keep(self, value, type_, name):
        if value.items is not None:
            for i, (item, t) in enumerate(zip(value.items, type_.items, strict=True)):
                self._keep(item, t, f"{name}_{i}")
            return
        if value.is_array:
            self.program.namespace["join_results"] = choices.join_results
            code = f"{self.active}, {name}, {value.code}, 'the result', {self.where}"
            self.emit(f"{name} = join_results({code})")
            return
        value = self.cast(value, type_)
        code = value.code if value.fresh or value.constant is not None else f"{value.code}.copy()"
        self.emit(f"{name} = wr({name}, {self.active}, {code})")

    # Control flow ------------------------------------------------------------

    def _do_if(self, node):
        outer = self.active
        where = self.where
        constant = self.constant_truth(node.test)
        if constant is not None:
            self.statements(node.body if constant else node.orelse, outer)
            return
        event = self.note(BRANCH)
        condition = self.truth(self.expression(node.test))
        leaves = _leaves(node)
        body, other = self.new_active(), self.new_active()
        if node.orelse or leaves:
            self.emit(f"{body}, {other} = split({outer}, {condition.code})")
        else:
            self.emit(f"{body} = keep({outer}, {condition.code})")
        # An answer decides only which arm is taken: the arm itself does not count as waiting.
        polls, self.polling = self.polling, None
        arms, syncwarps = [len(self.lines)], [self.program.syncwarps]
        self.block(f"if {body} is not None:")
        if polls and self.program.yielding:
            self.emit("yield None")
        self.note_taken(event, body)
        mark = len(self.lines)
        region, self.region = self.region, where
        self.statements(node.body, body)
        self.end(mark)
        if node.orelse:
            arms.append(len(self.lines))
            syncwarps.append(self.program.syncwarps)
            self.block(f"if {other} is not None:")
            mark = len(self.lines)
            self.statements(node.orelse, other)
            self.end(mark)
            if syncwarps[0] < syncwarps[1] < self.program.syncwarps:
                self.program.parts = True
                if self.program.parted:
                    self._side_by_side((body, other), arms)
        self.polling = polls
        self.region = region
        self.active = outer
        if leaves:
            self.emit(f"{outer} = join({body}, {other})")
            self.forget_active(outer)

    def _side_by_side(self, names, starts):
        """Make generators of the arms whose lines begin at `starts`, and run them together."""
        bounds = [*starts, len(self.lines)]
        lines, calls = [], []
        for i, active in enumerate(names):
            arm = f"p{active[1:]}"
            body = self.lines[bounds[i] + 1 : bounds[i + 1]]
            shared = sorted(_shared_with(self.lines[: starts[0]], body))
            lines.append("    " * self.depth + f"def {arm}():")
            if shared:
                lines.append("    " * (self.depth + 1) + f"nonlocal {', '.join(shared)}")
            lines += body
            calls.append(f"{arm}() if {active} is not None else None")
        self.lines[starts[0] :] = lines
        self.emit(f"yield from side_by_side({', '.join(calls)})")

    def _do_while(self, node):
        constant = self.constant_truth(node.test)
        if constant is False:
            self.statements(node.orelse, self.active)
            return

        def header(loop, rounds):
            if constant is None:
                self.at(node)
                event = self.note(BRANCH)
                condition = self.truth(self.expression(node.test))
                self.emit(f"{loop} = keep({loop}, {condition.code})")
                self.forget_active(loop)
                self.emit(f"if {loop} is None: break")
                self.note_taken(event, loop)

        self._loop(node, header)

    def _do_for(self, node):
        if not (isinstance(node.iter, ast.Call) and self.constant_of(node.iter.func) is range):
            self.for_each(node, any(_leaves(s) for s in node.body))
            return
        if isinstance(node.target, (ast.Tuple, ast.List)):
            raise self.refuse("the variable of a `for` over range(...) must be a name", node)
        # The bounds are computed in the step of the first round.
        event = self.note(BRANCH)
        bounds = ranges.of(self, node.iter)
        codes = ", ".join(item.code for item in bounds.items)
        counter = self.temporary(f"RangeLoop({self.active}, {codes})")
        dtype = bounds.type.items[0]
        self.counted_loop(node, event, counter, lambda code: Value(dtype, code, fresh=True))

    def _loop(self, node, header):
        outer = self.active
        where = self.where
        loop = self.new_active()
        continued = f"c{loop[1:]}" if _contains(node.body, ast.Continue) else None
        body_leaves = any(_leaves(s) for s in node.body)
        broken = f"b{loop[1:]}" if node.orelse and _contains(node.body, ast.Break) else None
        # Registers that the body changes must be read again in each iteration.
        for name in _assigned(node):
            self.forget_variable(name)
        rounds = f"n{loop[1:]}"
        waited = waiting.waits(self, node) if isinstance(node, ast.While) else None
        polls = waited and waited.name
        self.emit(f"{loop} = {outer}")
        self.emit(f"{rounds} = 0")
        began = f"t{next(self.temporaries)}"
        self.emit(f"{began} = run.pace.taken")
        if broken:
            self.emit(f"{broken} = None")
        self.block("while True:")
        self.emit(f"{rounds} += 1")
        endless = f"{loop}, {where}, True" if polls else f"{loop}, {where}"
        over = f"run.pace.exceeded({steps_of(node.body)}, {began})"
        self.emit(f"if {rounds} > run.loop_budget or {over}: run.endless({endless})")
        around, self.polling = self.polling, polls
        if polls:
            self.program.polls = True
            if self.program.yielding:
                self.emit(f"if {rounds} > 1: yield {polls}")
                self.emit(f"if run.stalled: run.endless({endless})")
        if continued:
            self.emit(f"{continued} = None")
        self.active = loop
        region, self.region = self.region, where
        header(loop, rounds)
        self.loops.append((loop, continued, broken))
        self.statements(node.body, loop)
        self.loops.pop()
        self.polling = around
        self.region = region
        if continued:
            self.emit(f"{loop} = join({loop}, {continued})")
        if body_leaves:
            self.emit(f"if {loop} is None: break")
        self.end()
        if polls and self.program.yielding:
            self.emit("yield None")  # no more waiting
        self.active = outer
        if _contains(node.body, ast.Return):
            self.emit(f"{outer} = alive({outer})")
            self.forget_active(outer)
        if node.orelse:
            self._loop_else(node, outer, broken)

    def _loop_else(self, node, outer, broken):
        """Translate the ``else`` of a loop, for the threads that did not leave it by ``break``."""
        ended = self.new_active()
        self.program.namespace["without"] = lanes.without
        self.emit(f"{ended} = without({outer}, {broken})")
        self.block(f"if {ended} is not None:")
        mark = len(self.lines)
        self.statements(node.orelse, ended)
        self.end(mark)
        self.active = outer
        if any(_leaves(s) for s in node.orelse):
            self.emit(f"{outer} = join({broken}, {ended})")
            self.forget_active(outer)

    def _do_break(self, node):
        self.note()
        broken = self.loops[-1][2]
        if broken:
            self.emit(f"{broken} = join({broken}, {self.active})")
        self.emit(f"{self.active} = None")

    def _do_continue(self, node):
        self.note()
        continued = self.loops[-1][1]
        self.emit(f"{continued} = join({continued}, {self.active})")
        self.emit(f"{self.active} = None")

    # Registers ------------------------------------------------------------

    def read_name(self, name, node):
        """Return the value of a variable for the active threads."""
        type_ = self.env.get(name)
        if type_ is None:
            raise self.refuse(
                f"`{name}` is read before anything is assigned to it", node, KernelError
            )
        if name in self.unset and versions.may_be_unset(node):
            self._check_set(name, type_)
        if isinstance(type_, TupleType):
            items = [self.read_name(f"{name}.{i}", node) for i in range(len(type_.items))]
            return Value(type_, items=items)
        if isinstance(type_, ObjectType):
            return self.from_object(type_.value, node)
        if isinstance(type_, ArrayType):
            return Value(type_, _home(name))
        if name in self.constants:
            return self.literal(self.constants[name])
        key = (name, self.active)
        if key not in self.cache:
            self.cache[key] = self.temporary(f"rd({_home(name)}, {self.active})")
        return Value(type_, self.cache[key])

    def _check_set(self, name, type_):
        """Emit the check that the active threads have set a variable, once for these threads."""
        if (name, self.active, "set") in self.cache:
            return
        self.cache[name, self.active, "set"] = True
        must = not _without_arrays(type_)
        code = f"{_known(name)}, {self.active}, {versions.plain(name)!r}, {must}, {self.where}"
        test = "" if must else "if checked: "
        self.emit(f"{test}{_known(name)} = run.is_set({code})")


def _unset(tree):
    """Return the variables of which a read may find that they have not been set."""
    known = getattr(tree, "unset", None)
    if known is None:
        known = tree.unset = frozenset(n.id for n in ast.walk(tree) if versions.may_be_unset(n))
    return known


def _known(name):
    """Return the register that tells which threads have set a variable."""
    return f"s_{name}"


def _without_arrays(type_):
    if isinstance(type_, TupleType):
        return all(map(_without_arrays, type_.items))
    return not isinstance(type_, ArrayType)


def _without_literals(type_):
    if isinstance(type_, TupleType):
        return TupleType(tuple(map(_without_literals, type_.items)), type_.names)
    return type_.type if isinstance(type_, LiteralType) else type_


def _shared_with(before, arm):
    """Return the names that generated lines `arm` assign and that are not theirs alone.

    Temporaries are. An active set is if no line `before` the arm has made it. All others are
    registers, which the function declares at its top.
    """
    tree = ast.parse(textwrap.dedent("\n".join(arm)))
    assigned = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    defined = {"a0"} | {name for line in before for name in re.findall(r"\b[ac]\d+\b", line)}
    own = re.compile(r"[temnp]\d+|_")
    return {
        name
        for name in assigned
        if not own.fullmatch(name) and (name in defined or not re.fullmatch(r"[ac]\d+", name))
    }


def _home(name):
    return "v_" + name.replace(".", "__")


def _hint(target):
    return versions.plain(target.id) if isinstance(target, ast.Name) else None


def _assigned(tree):
    """Return how often each variable is assigned, parameters apart."""
    known = getattr(tree, "assigned", None)
    if known is None:
        known = tree.assigned = collections.Counter(
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
    return known


def _contains(body, kind):
    """Whether `body` has a `kind` that belongs to it: break and continue of inner loops do not."""
    for node in body:
        if isinstance(node, kind):
            return True
        if isinstance(node, (ast.For, ast.While)) and kind in (ast.Break, ast.Continue):
            if _contains(node.orelse, kind):  # which belongs to the loop around this one
                return True
            continue
        for part in ("body", "orelse"):
            if _contains(getattr(node, part, []), kind):
                return True
    return False


def _leaves(node):
    """Whether threads may leave the enclosing block at `node`."""
    known = getattr(node, "leaves", None)
    if known is None:
        known = node.leaves = any(_contains([node], kind) for kind in _LEAVING)
    return known


def _always_leaves(node):
    return isinstance(node, _LEAVING)


def _construct(node):
    text = ast.unparse(node)
    return textwrap.shorten(text.splitlines()[0], 60)
