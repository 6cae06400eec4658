"""A compiled parser of columns of numbers, for large files, where compiling it pays.

It reads the words that nearly every file has, with the same bits as `numpy.loadtxt`, and five times
as fast. It gives up if a line has any other word: a faulty one, or an unusual one, such as a number
of thirty digits. Then the slower parser reads the text, or refuses it.
"""

from __future__ import annotations

import numpy as np
from numba import uint8
from numpy.typing import NDArray

from gpukernels.cores.compiled import compiled

#: More digits might not fit 64 bits.
MOST_DIGITS = 18
#: Powers of ten that two float64 hold exactly: the nearest one, and the difference.
POWERS = np.array([(float(10**k), float(10**k - int(float(10**k)))) for k in range(45)])
#: The scanner's result for a text that it gives up.
GIVEN_UP = -1

SPACE, TAB, LINE_FEED, PLUS, MINUS, POINT, ZERO = (uint8(ord(c)) for c in " \t\n+-.0")


def scanned(text: bytes, dtype: np.dtype, marks: tuple[bytes, ...]) -> NDArray | None:
    """Parse lines of columns separated by blanks.

    Parameters
    ----------
    text : bytes
        Whole lines.
    dtype : numpy.dtype
        The columns: perhaps a word ``a``, two or three whole numbers, perhaps a real one at last.
    marks : tuple of bytes
        The first bytes of comments, one byte each. A letter must be a separate word.

    Returns
    -------
    structured array of `dtype`, or None if the text is given up
    """
    names, kinds = dtype.names, [dtype[name].kind for name in dtype.names]
    wholes = [name for name, kind in zip(names, kinds, strict=True) if kind == "i"]
    most = np.array([np.iinfo(dtype[name]).max for name in wholes], np.int64)
    room = len(text) // 4 + 1  # "1 2" and a line feed; unwritten elements take no memory
    whole = np.empty((len(wholes), room), np.int64)
    real = np.empty(room if "f" in kinds else 0)
    marks_ = np.frombuffer(b"".join(marks), np.uint8)
    count = _scan(np.frombuffer(text, np.uint8), "S" in kinds, marks_, most, POWERS, whole, real)
    if count == GIVEN_UP:
        return None
    rows = np.empty(count, dtype)
    for name, column in zip(wholes, whole, strict=True):
        rows[name] = column[:count]
    if "S" in kinds:
        rows[names[kinds.index("S")]] = b"a"
    if "f" in kinds:
        rows[names[kinds.index("f")]] = real[:count]
    return rows


@compiled()
def _end_of_blanks(i, end, text):
    while i < end and (text[i] == SPACE or text[i] == TAB):
        i += 1
    return i


@compiled()
def _word_ends(i, end, text):
    return i == end or text[i] == SPACE or text[i] == TAB or text[i] == LINE_FEED


@compiled()
def _is_comment(i, end, text, marks):
    for mark in marks:
        if text[i] == mark:
            return not (uint8(97) <= mark <= uint8(122)) or _word_ends(i + 1, end, text)
    return False


@compiled()
def _product(x, y):
    """Return the product as a float and its rounding error, exactly (Dekker 1971)."""
    high = x * y
    a = x * 134217729.0
    x1 = a - (a - x)
    x2 = x - x1
    b = y * 134217729.0
    y1 = b - (b - y)
    y2 = y - y1
    return high, ((x1 * y1 - high) + x1 * y2 + x2 * y1) + x2 * y2


@compiled()
def _scaled(digits, tens, powers):
    """Return ``digits * 10**tens`` rounded once, and whether that is certain.

    It is computed in pairs of floats, to some 100 bits. Only if these come close to the middle
    between two floats, it is not known which of the two is nearer.
    """
    if digits == 0:
        return 0.0, True
    if not -powers.shape[0] < tens < powers.shape[0]:
        return 0.0, False
    high = np.float64(digits)
    low = np.float64(digits - np.int64(high))
    power, more = powers[abs(tens), 0], powers[abs(tens), 1]
    if tens >= 0:
        first, rest = _product(high, power)
        rest += low * power + high * more
    else:
        first = high / power
        back, lack = _product(first, power)
        rest = ((high - back) - lack + low - first * more) / power
    near = first + rest
    lacks = rest - (near - first)
    return near, near + lacks * 1.0000001 == near


@compiled()
def _scan(text, lead, marks, most, powers, whole, real):
    """Write the columns; return how many lines have some, or GIVEN_UP."""
    i, end, row = 0, text.size, 0
    while i < end:
        i = _end_of_blanks(i, end, text)
        if i == end:
            break
        if text[i] == LINE_FEED:
            i += 1
            continue
        if _is_comment(i, end, text, marks):
            while i < end and text[i] != LINE_FEED:
                i += 1
            continue
        if lead:
            if text[i] != uint8(97) or not _word_ends(i + 1, end, text):
                return GIVEN_UP
            i += 1
        for column in range(whole.shape[0] + (real.size > 0)):
            i = _end_of_blanks(i, end, text)
            negative = i < end and text[i] == MINUS
            i += i < end and (text[i] == MINUS or text[i] == PLUS)
            start, number = i, np.int64(0)
            while i < end and uint8(text[i] - ZERO) < 10:
                number = number * 10 + np.int64(text[i] - ZERO)
                i += 1
            count = i - start
            if column < whole.shape[0]:
                number = -number if negative else number
                too_far = number > most[column] or number < -most[column] - 1
                if count == 0 or count > MOST_DIGITS or too_far:
                    return GIVEN_UP
                whole[column, row] = number
            else:
                tens = zeros = np.int64(0)
                if i < end and text[i] == POINT:
                    i += 1
                    start = i
                    while i < end and uint8(text[i] - ZERO) < 10:
                        number = number * 10 + np.int64(text[i] - ZERO)
                        zeros += number == 0
                        i += 1
                    tens = start - i
                    count -= tens
                if count == 0 or count - zeros > MOST_DIGITS:
                    return GIVEN_UP
                if i < end and (text[i] | 32) == uint8(101):
                    i += 1
                    down = i < end and text[i] == MINUS
                    i += i < end and (text[i] == MINUS or text[i] == PLUS)
                    start, power = i, np.int64(0)
                    while i < end and uint8(text[i] - ZERO) < 10 and i < start + 4:
                        power = power * 10 + np.int64(text[i] - ZERO)
                        i += 1
                    if i == start:
                        return GIVEN_UP
                    tens += -power if down else power
                value, certain = _scaled(number, tens, powers)
                if not certain:
                    return GIVEN_UP
                real[row] = -value if negative else value
            if not _word_ends(i, end, text):
                return GIVEN_UP
        i = _end_of_blanks(i, end, text)
        if i < end and text[i] != LINE_FEED:
            return GIVEN_UP
        row += 1
    return row
