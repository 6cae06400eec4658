"""Sums and products modulo the prime 2^61 - 1, of numbers below it, without a division.

A product of two has 122 bits. Its upper 61 and its lower 61 have the product's remainder as their
sum, since 2^61 leaves 1; so has a sum less the prime. If one factor is shifted by 3 before, the
product's upper half is one of the two words that a processor's multiplication gives.
"""

from __future__ import annotations

from llvmlite import ir
from numba import njit, uint64
from numba.extending import intrinsic

PRIME = (1 << 61) - 1


@njit(uint64(uint64, uint64), inline="always", cache=True)
def plus(a, b):
    """Return the remainder of a + b."""
    total = a + b
    return min(total, total - uint64(PRIME))  # what falls below 0 wraps around, and is larger


@intrinsic
def times(typing_context, a, b):
    """Return the remainder of a * b."""

    def generate(context, builder, signature, arguments):
        wide, word = ir.IntType(128), ir.IntType(64)
        three = ir.Constant(word, 3)
        shifted = builder.zext(builder.shl(arguments[0], three), wide)
        product = builder.mul(shifted, builder.zext(arguments[1], wide))
        upper = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), word)
        total = builder.add(upper, builder.lshr(builder.trunc(product, word), three))
        less = builder.sub(total, ir.Constant(word, PRIME))
        return builder.select(builder.icmp_unsigned("<", less, total), less, total)

    return uint64(uint64, uint64), generate
