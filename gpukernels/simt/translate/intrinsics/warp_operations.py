"""Shuffles, votes, matches and sets of lanes."""

from __future__ import annotations

from gpukernels.simt.errors import KernelTypeError
from gpukernels.simt.run import warp
from gpukernels.simt.translate import typing
from gpukernels.simt.translate.intrinsics.arguments import named_arguments
from gpukernels.simt.translate.values import TupleType, Value


def _together(t, what, call, mask, *values):
    """Return the code of a warp operation: `call` with {a} for the lanes, {0} for their mask, ...

    Lanes that run one by one wait for each other there.
    """
    if not t.program.lanes:
        return call.format(mask, *values, a=t.active)
    names = [f"m{i}" for i in range(1 + len(values))]
    operation = f"lambda a, {', '.join(names)}: {call.format(*names, a='a')}"
    arguments = ", ".join((mask, *values))
    return f"(yield arrive({t.active}, {what!r}, {t.where}, {operation}, {arguments}))"


_SHUFFLED = {typing.INT32, typing.INT64, typing.FLOAT32, typing.FLOAT64}


def _shuffle(mode):
    operand_name = {"idx": "src_lane", "xor": "lane_mask"}.get(mode, "delta")

    def shuffle(t, node, hint):
        mask, value, operand = named_arguments(t, node, ("mask", "value", operand_name))
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
    mask, predicate = named_arguments(t, node, ("mask", "predicate"))
    predicate = t.predicate(predicate, node)
    t.program.namespace["ballot"] = warp.ballot
    call = f"ballot({{a}}, {{0}}, {{1}}, {t.where})"
    code = _together(t, "ballot_sync", call, t.integer(mask, node).code, predicate.code)
    return Value(typing.INT32, t.temporary(code), fresh=True)


def _vote(kind):
    def vote(t, node, hint):
        mask, predicate = named_arguments(t, node, ("mask", "predicate"))
        t.program.namespace["vote"] = warp.vote
        predicate = t.predicate(predicate, node).code
        call = f"vote({{a}}, {kind!r}, {{0}}, {{1}}, {t.where})"
        code = _together(t, f"{kind}_sync", call, t.integer(mask, node).code, predicate)
        return Value(typing.BOOL, t.temporary(code), fresh=True)

    return vote


def _match(name):
    def match(t, node, hint):
        mask, value = named_arguments(t, node, ("mask", "value"))
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


CALLS = {
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
}
