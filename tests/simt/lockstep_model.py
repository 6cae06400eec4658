"""An independent model of SIMT execution: one Python generator per thread, smallest place first.

It shares no idea with the machine. The kernel's text runs as plain Python, separately for every
thread. Before each statement, a thread reports its place in the text. The threads of a warp at
the smallest place take one step together. A structured program is written in the order of its
control flow, so the threads reconverge at the end of every ``if``, loop and call.

A place is a tuple: the line, then within one statement the number of the call (in the order of
evaluation) and the place inside the function called.
"""

from __future__ import annotations

import ast
import textwrap
import types

import numpy as np

_WARP = 32
#: Calls between the lanes of a warp, which the threads make together.
_TOGETHER = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "ballot_sync")
_TOGETHER += ("any_sync", "all_sync", "match_any_sync", "activemask", "syncthreads")


class _Report(ast.NodeTransformer):
    """Make a function a generator that yields (place, kind of step or None, operation).

    A step's ``yield`` returns its log entry, in which a branch records the threads that took it.
    """

    def __init__(self, device_functions):
        self.device_functions = device_functions
        self.latches = []

    def function(self, node):
        node.body = self._block(node.body)
        node.decorator_list = []
        node.body.append(ast.parse("if False: yield").body[0])
        return node

    def _block(self, body):
        return [new for node in body for new in self._statement(node)]

    def _yield(self, line, kind):
        # Made by hand, because parsing the text takes ten times as long, most of the model's time.
        place = ast.Tuple([ast.Constant(line)], ast.Load())
        step = ast.Tuple([place, ast.Constant(kind), ast.Constant(None)], ast.Load())
        return ast.Assign([ast.Name(f"entry_{int(line)}", ast.Store())], ast.Yield(step))

    def _statement(self, node):
        if isinstance(node, ast.Pass):
            return [node]
        self.calls = 0
        line = node.lineno
        if isinstance(node, ast.If):
            node.test = self._taken(line, self.visit(node.test))
            node.body, node.orelse = self._block(node.body), self._block(node.orelse)
            return [self._yield(line, "branch"), node]
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, line)
        if isinstance(node, ast.Continue):
            return [self._yield(line, "statement"), self._yield(self.latches[-1], None), node]
        barrier = isinstance(node, ast.Expr) and "syncthreads" in ast.unparse(node)
        return [self._yield(line, "barrier" if barrier else "statement"), self.visit(node)]

    def _taken(self, line, test):
        return ast.Call(_parse("taken"), [_parse(f"entry_{line}"), test], [])

    def _loop(self, node, line):
        # Loops that end on one line close from the inside out.
        latch = node.end_lineno + 0.5 - len(self.latches) / 100
        before = []
        if isinstance(node, ast.For):
            # The bounds are computed in the step of the first round.
            counter, again = f"counter_{line}", f"again_{line}"
            node.iter = self.visit(node.iter)
            before = [
                self._yield(line, "branch"),
                *ast.parse(f"{counter} = 0; {again} = False").body,
            ]
            before[1].value = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])
            head = ast.If(_parse(again), [self._yield(line, "branch")], [])
            advance = [ast.Assign([node.target], _parse(f"{counter}.pop(0)"))]
            test = _parse(counter)
            advance += ast.parse(f"{again} = True").body
        else:
            head, test, advance = self._yield(line, "branch"), self.visit(node.test), []
        self.latches.append(latch)
        body = self._block(node.body)
        self.latches.pop()
        leave = ast.If(self._taken(line, test), [ast.Pass()], [ast.Break()])
        body = [head, leave, *advance, *body, self._yield(latch, None)]
        return [*before, ast.While(ast.Constant(True), body, [])]

    def visit_Call(self, node):
        line = node.lineno
        self.generic_visit(node)  # arguments first: calls are numbered as they are evaluated
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in self.device_functions:
            self.calls += 1
            within = ast.Call(_parse("within"), [_parse(f"({line}, {self.calls})"), node], [])
            return ast.YieldFrom(within)
        if name in _TOGETHER:
            self.calls += 1
            operation = ast.Tuple([ast.Constant(name), *node.args], ast.Load())
            place = _parse(f"({line}, {self.calls})")
            return ast.Yield(ast.Tuple([place, ast.Constant(None), operation], ast.Load()))
        return node


def _parse(text):
    if text.isidentifier():
        return ast.Name(text, ast.Load())
    return ast.parse(text, mode="eval").body


def _within(prefix, generator):
    answer = None
    while True:
        try:
            place, kind, operation = generator.send(answer)
        except StopIteration as stop:
            return stop.value
        answer = yield prefix + place, kind, operation


class _Array:
    """An array whose loads are int64, like every value of the model."""

    def __init__(self, data):
        self.data = data
        self.size = np.int64(data.size)

    def __len__(self):
        return self.data.size

    def __getitem__(self, index):
        if isinstance(index, slice):
            return _Array(self.data[index])
        assert 0 <= index < self.data.size
        return np.int64(self.data[index])

    def __setitem__(self, index, value):
        assert 0 <= index < self.data.size
        self.data[index] = np.int64(value).astype(self.data.dtype)


def _atomic_add(array, index, value):
    array[index] = array[index] + value


class _Thread:
    def __init__(self, number, generator):
        self.lane = number % _WARP
        self.generator = generator
        self.advance(None)

    def advance(self, answer):
        try:
            self.place, self.kind, self.operation = self.generator.send(answer)
        except StopIteration:
            self.place = None


class Model:
    """A kernel's text, ready to be launched thread by thread.

    Parameters
    ----------
    text : str
        A module: device functions and one kernel called ``kernel``, all of int64 values.
    """

    def __init__(self, text):
        module = ast.parse(textwrap.dedent(text))
        functions = [n for n in module.body if isinstance(n, ast.FunctionDef)]
        names = {f.name for f in functions} - {"kernel"}
        module.body = [_Report(names).function(f) for f in functions]
        self._code = compile(ast.fix_missing_locations(module), "<model>", "exec")

    def launch(self, blocks, threads, arrays):
        """Run it; change `arrays` in place.

        Returns
        -------
        dict
            (block, warp) -> list of [line, kind, active mask, mask of those who took a branch].
        """
        steps = {}
        arrays = [_Array(a) for a in arrays]
        with np.errstate(all="ignore"):
            for block in range(blocks):
                shared = {}
                crew = [
                    _Thread(t, self._start(block, t, threads, shared, arrays))
                    for t in range(threads)
                ]
                warps = [crew[i : i + _WARP] for i in range(0, threads, _WARP)]
                logs = [steps.setdefault((block, w), []) for w in range(len(warps))]
                while any(t.place is not None for t in crew):
                    for warp, log in zip(warps, logs, strict=True):
                        self._run_to_barrier(warp, log)
                    live = [t for t in crew if t.place is not None]
                    assert all(t.operation == ("syncthreads",) for t in live)
                    for thread in live:
                        thread.advance(None)
        return steps

    def _start(self, block, thread, threads, shared, arrays):
        def shared_array(size, dtype):
            return shared.setdefault(size, _Array(np.zeros(size, np.int64)))

        names = types.SimpleNamespace
        cuda = names(
            grid=lambda _: np.int64(block * threads + thread),
            threadIdx=names(x=np.int64(thread)),
            blockIdx=names(x=np.int64(block)),
            blockDim=names(x=np.int64(threads)),
            laneid=np.int64(thread % _WARP),
            shared=names(array=shared_array),
            local=names(array=lambda size, dtype: _Array(np.zeros(size, np.int64))),
            atomic=names(add=_atomic_add),
        )

        def taken(entry, condition):
            if condition:
                entry[3] |= 1 << thread % _WARP
            return condition

        space = {
            "cuda": cuda,
            "taken": taken,
            "int64": np.int64,
            "within": _within,
            "range": lambda *bounds: [np.int64(i) for i in range(*bounds)],
        }
        exec(self._code, space)
        return space["kernel"](*arrays)

    @staticmethod
    def _run_to_barrier(warp, log):
        while True:
            live = [t for t in warp if t.place is not None]
            if not live:
                return
            place = min(t.place for t in live)
            group = [t for t in live if t.place == place]
            mask = sum(1 << t.lane for t in group)
            entry = [place[-1], group[0].kind, mask, 0]
            if group[0].kind is not None:
                log.append(entry)
            if group[0].operation == ("syncthreads",):
                assert group == live, "the grammar makes barriers for all live threads"
                return
            if group[0].operation is None:
                for thread in group:
                    thread.advance(entry)
            else:
                for thread, answer in zip(group, _answers(group, mask, len(warp)), strict=True):
                    thread.advance(answer)


def _answers(group, mask, launched):
    """Return the result of a joint operation for each thread of `group`."""
    name = group[0].operation[0]
    if name == "activemask":
        return [np.int64(mask)] * len(group)
    values = {t.lane: t.operation[2] for t in group}
    assert all(t.operation[1] == mask for t in group)
    if name == "ballot_sync":
        bits = sum(1 << lane for lane, value in values.items() if value)
        return [np.int64(np.uint32(bits).view(np.int32))] * len(group)
    if name in ("any_sync", "all_sync"):
        verdict = any(values.values()) if name == "any_sync" else all(values.values())
        return [np.int64(verdict)] * len(group)
    if name == "match_any_sync":
        same = {v: sum(1 << i for i, w in values.items() if w == v) for v in values.values()}
        return [np.int64(np.uint32(same[values[t.lane]]).view(np.int32)) for t in group]
    answers = []
    for thread in group:
        lane, operand = thread.lane, int(thread.operation[3])
        source = {
            "shfl_sync": operand % _WARP,
            "shfl_up_sync": lane - operand,
            "shfl_down_sync": lane + operand,
            "shfl_xor_sync": lane ^ operand,
        }[name]
        inside = 0 <= source < _WARP
        assert source < launched or not inside, "the grammar reads lanes that were launched"
        answers.append(values[source] if inside else values[lane])
    return answers
