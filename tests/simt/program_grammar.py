"""Random small kernels: ifs, loops, break, continue, return, calls, warp operations, barriers.

Variables hold numbers, arrays (global, shared, local and parts of them) and tuples of arrays. Any
threads swap, slice and choose these. Every program ends and stays within its arrays. It may divide
by any number. It has no races, because each thread has elements of its own. Warp operations and
barriers are at places that all threads reach unless they have returned.
"""

from __future__ import annotations

import functools
import textwrap

from hypothesis import strategies as st

VARIABLES = ("a", "b", "c")
#: Arrays of one or two elements that belong to one thread, and arrays of all threads.
OWN, WHOLE = ("p", "q", "r"), ("m", "n")
HEADER = """\
from numba import cuda, int64


@cuda.jit(device=True)
def ordered(x, y):
    if x > y:
        return y, x
    return x, y - 1


@cuda.jit(device=True)
def turned(x, one, other):
    if x > 2:
        return other, one
    return one, other[::-1]


"""
DEVICE = """\
@cuda.jit(device=True)
def {name}(state, narrow, total, t, a, b, p, q, m, n):
    c = a - b
    r = q
    pair = (p, q)
{body}
    return {result}


"""
KERNEL = """\
@cuda.jit
def kernel(data, state, narrow, total, room, n):
    t = cuda.grid(1)
    shared = cuda.shared.array(96, int64)
    shared[cuda.threadIdx.x] = t * 3
    cuda.syncthreads()
    a = data[t]
    b = int64(5) - t
    c = int64(cuda.laneid)
    m = state
    p = room[2 * t : 2 * t + 2]
    r = cuda.local.array(2, int64)
    r[0], r[1] = t, b
    pool = cuda.shared.array(192, int64)
    q = pool[2 * cuda.threadIdx.x :][:2]
    q[0], q[1] = c, a
    pair = (p, r)
{body}
    data[t] = a ^ (b * 3) ^ (c * 7) ^ (p[0] * 9) ^ (q[len(q) - 1] * 11) ^ (r[0] * 13) ^ m[t]
"""


#: Strategies are made once, because making one takes longer than drawing from it.
_number = functools.cache(st.integers)


class _Writer:
    """Draws statements; a few flags say which ones are allowed at the current place."""

    def __init__(self, draw, calls):
        self.draw = draw
        self.calls = calls
        self.names = 0
        self.returned = False

    def pick(self, *options):
        return options[self.draw(_number(0, len(options) - 1))]

    # Expressions ------------------------------------------------------------

    def expression(self, depth=2):
        kind = self.draw(_number(0, 11)) if depth else self.draw(_number(0, 2))
        if kind <= 1:
            return self.pick(*VARIABLES)
        if kind == 2:
            return f"int64({self.draw(_number(-9, 9))})"
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if kind <= 6:
            return f"({left} {self.pick('+', '-', '*', '//', '%', '&', '|', '^')} {right})"
        if kind == 7:
            return f"({left} {self.pick('<<', '>>')} ({right} & 7))"
        if kind == 8:
            return f"{self.pick('min', 'max')}({left}, {right})"
        if kind == 9:
            return f"({left} if {self.condition(depth - 1)} else {right})"
        if kind == 10:
            return self.pick("state[t]", "narrow[t]", "(~a)", "(-b)", "abs(c)", self.element(left))
        return (
            f"{self.pick(*self.calls)}(state, narrow, total, t, {left}, {right}, {self.arrays()})"
            if self.calls
            else left
        )

    def condition(self, depth=2):
        kind = self.draw(_number(0, 6)) if depth else 0
        if kind <= 3:
            sign = self.pick("<", "<=", "==", "!=", ">", ">=")
            return f"{self.expression(depth - 1 if depth else 0)} {sign} {self.expression(0)}"
        if kind == 4:
            return f"not ({self.condition(depth - 1)})"
        if kind == 5:
            low, high = self.expression(0), self.expression(0)
            return f"{low} < {self.expression(depth - 1)} <= {high}"
        word = self.pick("and", "or")
        return f"({self.condition(depth - 1)} {word} {self.condition(depth - 1)})"

    # Arrays ------------------------------------------------------------

    def element(self, index):
        """Return an element of the thread's own."""
        if self.draw(_number(0, 3)) == 0:
            return f"{self.pick(*WHOLE)}[t]"
        array = self.pick(*OWN, "pair[0]", "pair[1]")
        return f"{array}[{self.pick('0', f'len({array}) - 1', f'{index} % len({array})')}]"

    def arrays(self):
        return ", ".join([self.pick(*OWN), self.pick(*OWN), *self.pick(WHOLE, WHOLE[::-1])])

    def rebind(self):
        """Return a statement that gives array variables other arrays."""
        x, y = self.pick(*((x, y) for x in OWN for y in OWN if x != y))
        return self.pick(
            f"{x}, {y} = {y}, {x}",
            "p, q, r = q, r, p",
            "m, n = n, m",
            f"{x} = {y}",
            f"{x} = {y}[{self.pick('::-1', f'len({y}) // 2 :', ':1', '-1:')}]",
            f"{x}, a, {y} = {y}, int64(len({x})), {x}",
            f"pair = ({x}, {y})",
            "pair = (pair[1], pair[0])",
            f"{x}, {y} = pair",
            f"(pair, {x}), c = (({x}, {y}), pair[1]), {x}[0]",
            f"{x}, {y} = turned({self.expression(1)}, {x}, {self.pick(*OWN)})",
        )

    def store(self):
        """Return a statement that writes elements of the thread's own."""
        one, other = self.element(self.pick(*VARIABLES)), self.element("a")
        array = self.pick(*OWN)
        return self.pick(
            f"{one} {self.pick('', '+', '^')}= {self.expression(1)}",
            f"{one}, {other} = {other}, {one}",
            f"cuda.atomic.add({array}, len({array}) - 1, {self.expression(1)})",
        )

    # Statements ------------------------------------------------------------

    def block(self, depth, in_loop):
        lines = []
        for _ in range(self.draw(_number(1, 3))):
            lines += self.statement(depth, in_loop)
        return lines

    def statement(self, depth, in_loop):
        kind = self.draw(_number(0, 22))
        if depth and kind <= 3:
            return self.branch(depth, in_loop)
        if depth and kind <= 5:
            return self.loop(depth)
        if in_loop and kind <= 7:
            return [f"if {self.condition(1)}:", "    " + self.pick("break", "continue")]
        if kind == 8:
            return self.leave()
        if kind == 9:
            return [
                f"{self.pick('state', 'narrow')}[t] {self.pick('', '+', '^')}= {self.expression()}"
            ]
        if kind == 10:
            return [f"cuda.atomic.add(total, {self.expression(1)} & 3, {self.expression(1)})"]
        if kind == 11:
            pair = f"{self.expression(1)}, {self.expression(1)}"
            return [self.pick(f"a, b = {pair}", f"b, c = ordered({pair})")]
        if kind == 12:
            return [f"{self.pick(*VARIABLES)} {self.pick('+', '-', '^')}= {self.expression(1)}"]
        if kind == 13:  # among the threads that happen to be here
            return [f"c = int64(cuda.ballot_sync(cuda.activemask(), {self.condition(1)}))"]
        if kind <= 16:
            return [self.rebind()]
        if kind == 17:
            return [self.store()]
        return [f"{self.pick(*VARIABLES)} = {self.expression()}"]

    def leave(self):
        self.returned = True
        return [f"if {self.condition(1)}:", "    return"]

    def branch(self, depth, in_loop):
        lines = [f"if {self.condition()}:", *_indent(self.block(depth - 1, in_loop))]
        if self.draw(st.booleans()):
            lines += [f"elif {self.condition()}:", *_indent(self.block(depth - 1, in_loop))]
        if self.draw(st.booleans()):
            lines += ["else:", *_indent(self.block(depth - 1, in_loop))]
        return lines

    def loop(self, depth):
        self.names += 1
        if self.draw(st.booleans()):
            counter = f"i{self.names}"
            bounds = self.pick(
                f"{self.expression(1)} & 3",
                f"int64({self.draw(_number(-2, 2))}), {self.expression(0)} & 3",
                f"{self.expression(0)} & 7, int64(0), int64(-2)",
            )
            body = [f"c += {counter}", *self.block(depth - 1, True)]
            return [f"for {counter} in range({bounds}):", *_indent(body)]
        fuel = f"fuel{self.names}"
        body = [f"{fuel} += 1", *self.block(depth - 1, True)]
        head = f"while {fuel} < {self.draw(_number(1, 4))} and {self.condition(1)}:"
        return [f"{fuel} = int64(0)", head, *_indent(body)]

    # Where all threads come together ------------------------------------------------------------

    def together(self):
        target, value = self.pick(*VARIABLES), self.expression(1)
        kind = self.draw(_number(0, 3))
        if kind == 0:
            name = self.pick("ballot_sync", "any_sync", "all_sync")
            return [f"{target} = int64(cuda.{name}(cuda.activemask(), {self.condition(1)}))"]
        if kind == 1:
            return [f"{target} = int64(cuda.match_any_sync(cuda.activemask(), {value} & 3))"]
        if self.returned:
            return ["cuda.syncthreads()"]
        if kind == 2:
            name = self.pick("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
            lane = self.draw(_number(0, 31))
            lane = 0 if name == "shfl_sync" else lane
            if name in ("shfl_down_sync", "shfl_xor_sync"):  # only from launched lanes
                source = f"cuda.laneid {'+' if 'down' in name else '^'} {lane}"
                launched = "cuda.blockDim.x - cuda.threadIdx.x // 32 * 32"
                lane = f"{lane} if ({source}) < {launched} else 0"
            return [f"{target} = cuda.{name}(cuda.activemask(), int64({value}), {lane})"]
        other = f"(cuda.threadIdx.x + {self.draw(_number(1, 40))}) % cuda.blockDim.x"
        return [
            f"shared[cuda.threadIdx.x] = {value}",
            "cuda.syncthreads()",
            f"{target} = shared[{other}]",
            "cuda.syncthreads()",
        ]

    def convergent(self, depth):
        lines = []
        for _ in range(self.draw(_number(2, 3))):
            kind = self.draw(_number(0, 5))
            if kind <= 2:
                lines += self.statement(3, False)
            elif kind <= 4 or not depth:
                lines += self.together()
            else:
                self.names += 1
                self.returned = True  # a later round would come after a return of this one
                head = f"for i{self.names} in range(int64({self.draw(_number(0, 2))})):"
                lines += [head, *_indent(self.convergent(depth - 1))]
        return lines


class _FunctionWriter(_Writer):
    """Draws the body of a device function, whose returns have a value."""

    def leave(self):
        return [f"if {self.condition(1)}:", f"    return {self.expression(1)}"]


def _indent(lines):
    return [f"    {line}" for line in lines]


@st.composite
def programs(draw):
    """Return the text of a module with a ``kernel`` and the device functions it calls."""
    parts, calls = [HEADER], []
    for name in ("first", "second")[: draw(_number(0, 2))]:
        writer = _FunctionWriter(draw, tuple(calls))
        body = textwrap.indent("\n".join(writer.block(2, False)), "    ")
        parts.append(DEVICE.format(name=name, body=body, result=writer.expression(1)))
        calls.append(name)
    body = textwrap.indent("\n".join(_Writer(draw, tuple(calls)).convergent(1)), "    ")
    parts.append(KERNEL.format(body=body))
    return "".join(parts)
