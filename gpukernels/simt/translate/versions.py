"""Give every independent life of a variable a name of its own, as numba's compiler does.

``x = threadIdx.x`` and, further down, ``x = x / 2`` are two variables that share a name: the first
is an int32, the second a float64. Two assignments are one variable only if some read may see the
value of either.

On the way it finds the reads that some way through the function reaches with nothing assigned.
"""

from __future__ import annotations

import ast
import re

#: Stands between a name and the number of its life; no name in a source has it.
MARK = "·"


#: Stands among assignments for the way on which there was none.
_NONE = -1


def plain(text: str) -> str:
    """Return `text` with every name as it stands in the source."""
    return re.sub(rf"{MARK}\d+", "", text)


def split_variables(tree: ast.FunctionDef) -> None:
    """Rename the variables of `tree` in place; the first life of each keeps its name.

    ``x += y`` becomes ``x = x + y``, which reads one life of `x` and begins another.
    """
    _Expander().visit(tree)
    _Splitter(tree).run()


def may_be_unset(node: ast.AST) -> bool:
    """Return whether `node` reads a variable that a way through the function leaves unset."""
    return getattr(node, "may_be_unset", False)


class _Splitter:
    """Follows which assignments reach each read, along all ways through the function.

    A state maps each name to the set of assignments that may have made its present value; None is
    the state where no thread can be.
    """

    def __init__(self, tree):
        self.tree = tree
        self.nodes = []  # one entry an assignment: the node that holds its name
        self.number = {}  # id of that node -> its place in `nodes`
        self.parent = []
        self.reads = {}  # id of a Name that is read -> (node, the assignments that reach it)
        self.breaks, self.continues = [], []
        self.names = {}  # id of a node -> the names in it

    def run(self):
        arguments = self.tree.args
        names = self._names(self.tree)
        state = {part.id: {_NONE} for part in names if isinstance(part.ctx, ast.Store)}
        for argument in arguments.posonlyargs + arguments.args:
            state[argument.arg] = {self._assignment(argument)}
        self.block(self.tree.body, state)
        for _, reaching in self.reads.values():
            first, *others = reaching
            for other in others:
                self.parent[self._root(other)] = self._root(first)
        lives = {}
        for number, node in enumerate(self.nodes):
            name = node.arg if isinstance(node, ast.arg) else node.id
            roots = lives.setdefault(name, {})
            roots.setdefault(self._root(number), name if not roots else f"{name}{MARK}{len(roots)}")
        chosen = {r: name for roots in lives.values() for r, name in roots.items()}
        for node, reaching in self.reads.values():
            node.id = chosen[self._root(next(iter(reaching)))]
        for number, node in enumerate(self.nodes):
            if isinstance(node, ast.Name):
                node.id = chosen[self._root(number)]

    def _root(self, number):
        while self.parent[number] != number:
            number = self.parent[number]
        return number

    def _assignment(self, node):
        if id(node) not in self.number:
            self.number[id(node)] = len(self.nodes)
            self.nodes.append(node)
            self.parent.append(len(self.parent))
        return self.number[id(node)]

    # Along the statements ------------------------------------------------------------

    def block(self, body, state):
        for node in body:
            if state is not None:
                state = self.statement(node, state)
        return state

    def statement(self, node, state):
        if isinstance(node, ast.If):
            self.read(node.test, state)
            return _merge(self.block(node.body, state), self.block(node.orelse, state))
        if isinstance(node, ast.While):
            return self._loop(node, state)
        if isinstance(node, ast.For):
            self.read(node.iter, state)
            return self._loop(node, state)
        if isinstance(node, ast.Break):
            self.breaks[-1] = _merge(self.breaks[-1], state)
            return None
        if isinstance(node, ast.Continue):
            self.continues[-1] = _merge(self.continues[-1], state)
            return None
        if isinstance(node, (ast.Return, ast.Raise)):
            self.read(node, state)
            return None
        self.read(node, state)
        return self._write(node, state)

    def _loop(self, node, state):
        at_head = state
        while True:
            self.breaks.append(None)
            self.continues.append(None)
            if isinstance(node, ast.While):
                self.read(node.test, at_head)
                end = self.block(node.body, at_head)
            else:
                end = self.block(node.body, self._write(node.target, at_head))
            again = _merge(_merge(at_head, end), self.continues.pop())
            left = self.breaks.pop()
            if again == at_head:
                ends = not (isinstance(node, ast.While) and _always(node.test))
                return _merge(left, self.block(node.orelse, at_head if ends else None))
            at_head = again

    # Reads and writes ------------------------------------------------------------

    def read(self, node, state):
        for part in self._names(node):
            if isinstance(part.ctx, ast.Load):
                reaching = state.get(part.id, set())
                if _NONE in reaching:
                    part.may_be_unset = True
                    reaching = reaching - {_NONE}
                if reaching:
                    _, known = self.reads.setdefault(id(part), (part, set()))
                    known |= reaching

    def _names(self, node):
        names = self.names.get(id(node))
        if names is None:
            names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
            self.names[id(node)] = names
        return names

    def _write(self, node, state):
        state = dict(state)
        for part in self._names(node):
            if isinstance(part.ctx, ast.Store):
                state[part.id] = {self._assignment(part)}
        return state


def _merge(a, b):
    if a is None or b is None:
        return b if a is None else a
    return {name: a.get(name, set()) | b.get(name, set()) for name in {**a, **b}}


def _always(test):
    return isinstance(test, ast.Constant) and bool(test.value)


class _Expander(ast.NodeTransformer):
    def visit_AugAssign(self, node):
        if not isinstance(node.target, ast.Name):
            return node
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        value.in_place = True
        return ast.copy_location(ast.Assign([node.target], value), node)
