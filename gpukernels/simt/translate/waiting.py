"""Find the loops that wait for other threads: they read one element until its value changes.

``while cuda.atomic.add(flag, 0, 0) == 0: pass`` ends when another thread has raised the flag, so
the others must run in between. A loop that ends by itself needs no other thread, even if it writes
memory. For example, a loop that takes its next task from a counter moves that counter, and a loop
that probes a table goes on to the next slot.

A *question* is one of three operations: an atomic that leaves the element as it is (``add``,
``sub``, ``or_``, ``xor``, ``max`` or ``min`` of 0); an atomic that sets it to a fixed value
(``cas``, ``exch``: a lock); or ``cuda.ldcv``. Its operands do not change within the loop, so it is
the same question in each round. A loop waits if a question decides whether it ends, if it has a
``nanosleep``, or if it has a fence and a load that decides. If only answers change its variables,
and it stores nothing while it waits, its rounds are alike until some other thread acts.
"""

from __future__ import annotations

import ast

from gpukernels.simt.errors import KernelError
from gpukernels.simt.run.turns import Round
from gpukernels.simt.translate import source
from gpukernels.simt.translate.intrinsics import dotted

#: Atomic operations that change nothing if their operand is 0.
_NEUTRAL = ("add", "sub", "or_", "xor", "max", "min")
_LOCKING = ("cas", "exch", "compare_and_swap")
_FENCES = ("cuda.threadfence", "cuda.threadfence_block", "cuda.threadfence_system")


def waits(translator, node: ast.While) -> Round | None:
    """Return POLL or TRY if the loop `node` waits for other threads, by its own questions."""
    loop = _Loop(translator, node)
    if not loop.waits():
        return None
    return Round.POLL if loop.rounds_are_alike() else Round.TRY


class _Loop:
    """One ``while`` loop, without the loops in it."""

    def __init__(self, translator, node):
        self.translator = translator
        self.node = node
        self.changing = {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        self.calls = [(c, self._path(c)) for c in _own(node) if isinstance(c, ast.Call)]
        self.settled = set()  # variables that hold what an answer has decided
        self.fenced = any(path in _FENCES for _, path in self.calls)
        self.answers = {id(c) for c, path in self.calls if self._asks(c, path)}

    def waits(self):
        if any(path == "cuda.nanosleep" for _, path in self.calls):
            return True
        if not self.answers and not self.fenced:
            return False
        while True:
            before = len(self.settled)
            ends = self._follow(self.node.body, False)
            if len(self.settled) == before:
                return ends or self._decides(self.node.test)

    def rounds_are_alike(self):
        """Whether a round that ends nothing leaves variables and memory as they are."""
        if not self.changing <= self.settled:
            return False
        waiting = [s for s in self.node.body if not isinstance(s, ast.If)]
        parts = {id(p): p for s in waiting for p in ast.walk(s)}
        for part in parts.values():
            if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
                return False
        acts = [c for c, path in self.calls if id(c) not in self.answers and self._acts(c, path)]
        return not any(id(c) in parts for c in acts)

    def _acts(self, call, path):
        if path is not None:
            return path.startswith("cuda.atomic.")
        return source.python_function(self.translator.constant_of(call.func)) is not None

    def _path(self, call):
        return dotted(self.translator, call.func)

    def _asks(self, call, path):
        if not self._same_each_round(call):
            return False
        if path is None:
            return self._asks_within(call)
        name = path.removeprefix("cuda.atomic.")
        if path == "cuda.ldcv" or (name != path and name in _LOCKING):
            return True
        return name != path and name in _NEUTRAL and _changes_nothing(call)

    def _asks_within(self, call):
        """Whether `call` calls a device function that contains a question."""
        target = self.translator.constant_of(call.func)
        if target is None or source.python_function(target) is None:
            return False
        try:
            tree = source.load(target).tree
        except KernelError:
            return False  # refused with its own words when it is translated
        names = _LOCKING + _NEUTRAL
        return any(
            isinstance(c, ast.Call)
            and isinstance(c.func, ast.Attribute)
            and (c.func.attr == "ldcv" or (c.func.attr in names and _is_atomic(c.func.value)))
            and (c.func.attr not in _NEUTRAL or _changes_nothing(c))
            for c in _own(tree)
        )

    def _same_each_round(self, node):
        return not any(isinstance(p, ast.Name) and p.id in self.changing for p in ast.walk(node))

    def _decides(self, test):
        """Whether an answer, or a variable that holds one, is part of an expression."""
        for part in ast.walk(test):
            if id(part) in self.answers or (isinstance(part, ast.Name) and part.id in self.settled):
                return True
            if self.fenced and isinstance(part, ast.Subscript) and self._same_each_round(part):
                return True
        return False

    def _follow(self, body, decided):
        """Note which variables `body` assigns from answers; return whether one of them ends it."""
        ends = False
        for node in body:
            if isinstance(node, ast.If):
                inner = decided or self._decides(node.test)
                ends |= self._follow(node.body, inner)
                ends |= self._follow(node.orelse, inner)
            elif isinstance(node, (ast.Break, ast.Return)):
                ends |= decided
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                if decided or self._decides(node.value):
                    self.settled.update(
                        part.id
                        for part in ast.walk(node)
                        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
                    )
        return ends


def _own(tree):
    """Yield the nodes of a loop or function without those of the loops within it."""
    ahead = list(ast.iter_child_nodes(tree))
    while ahead:
        node = ahead.pop()
        yield node
        if not isinstance(node, (ast.While, ast.For)):
            ahead.extend(ast.iter_child_nodes(node))


def _changes_nothing(call):
    """Whether the last operand of an atomic is 0, also as ``int32(0)``."""
    node = call.args[-1] if call.args else None
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        node = node.args[0]
    return isinstance(node, ast.Constant) and node.value == 0


def _is_atomic(node):
    return isinstance(node, ast.Attribute) and node.attr == "atomic"
