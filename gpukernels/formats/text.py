"""What the text formats share: reading in blocks, parsing columns, naming the faulty line."""

from __future__ import annotations

import gzip
import io
import re
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from gpukernels.errors import GraphFormatError

BLOCK_BYTES = 8 << 20
#: Seconds before a progress bar appears.
PROGRESS_DELAY = 2.0


@dataclass(frozen=True)
class ArcList:
    """What a file says, before parallel arcs and self-loops are dealt with.

    Attributes
    ----------
    n : int
        Number of vertices.
    source, target : array of int, shape (k,)
        Ends of every arc, or of every edge of an undirected graph (each once), from 0.
    weight : array of int or float, shape (k,), or None
        Weights as the file has them.
    directed : bool
        What the file says, or the convention of its format.
    labels : array of int64, shape (n,)
        Id of every vertex in the file.
    """

    n: int
    source: NDArray
    target: NDArray
    weight: NDArray | None
    directed: bool
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file, that end in a line feed and nothing else.

    Attributes
    ----------
    first_line : int
        Number of the first line in the file, from 1.
    text : bytes
        The lines.
    """

    first_line: int
    text: bytes

    @property
    def last_line(self) -> int:
        """Number of the last line in the file; that before, where the block is empty."""
        if not self.text:
            return self.first_line - 1
        return self.first_line + self.text.removesuffix(b"\n").count(b"\n")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the text of every line."""
        yield from enumerate(self.text.removesuffix(b"\n").split(b"\n"), self.first_line)


def blocks(file: Path) -> Iterator[Block]:
    """Yield the lines of a plain or gzip file, some megabytes at a time.

    Any kind of line end is understood. A progress bar appears when the whole takes over 2 s.

    Raises
    ------
    GraphFormatError
        Where the file is empty, or is no sound gzip stream though it is named so.
    """
    line = 1
    size = BLOCK_BYTES
    with open(file, "rb") as raw, _Progress(file) as progress:
        stream = gzip.GzipFile(fileobj=raw) if file.suffix == ".gz" else raw
        pending: list[bytes] = []
        held = 0
        while True:
            try:
                # read1 hands over what precedes a fault, so that its line is known.
                piece = stream.read1(size) if stream is not raw else raw.read(size)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                line += _unify(b"".join(pending)).count(b"\n")
                raise GraphFormatError(file, line, _gzip_fault(error)) from None
            pending.append(piece)
            held += len(piece)
            if piece and (held < size or b"\n" not in piece):
                continue
            text = b"".join(pending)
            cut = text.rfind(b"\n") + 1 if piece else len(text)
            pending, held = [text[cut:]], len(text) - cut
            text = _unify(text[:cut])
            if text:
                yield Block(line, text)
                line += text.count(b"\n")
            elif not piece and line == 1:
                raise GraphFormatError(file, 1, "the file is empty")
            progress.reach(raw.tell())
            if not piece:
                return


@dataclass(frozen=True)
class Rows:
    """What the lines of arcs look like in a format.

    Attributes
    ----------
    dtype : numpy.dtype
        The columns, separated by white space.
    comment : re.Pattern
        Matches lines to pass over.
    sound : callable
        Whether parsed rows hold nothing that no graph may have.
    fault : callable
        Says what is wrong with the words of one line, or ``None``.
    """

    dtype: np.dtype
    comment: re.Pattern[bytes]
    sound: Callable[[NDArray], bool]
    fault: Callable[[list[bytes]], str | None]

    def numbered(self, block: Block) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a block that are neither blank nor comments."""
        for number, line in block.lines():
            if line.strip() and not self.comment.match(line):
                yield number, line


@dataclass(frozen=True)
class Announced:
    """How many arcs a file says it has: their number, what it calls them, and where it says so."""

    count: int
    what: str
    line: int


def read_rows(
    file: Path, parts: Iterable[Block], rows: Rows, announced: Announced | None
) -> tuple[NDArray, int]:
    """Parse all lines of arcs.

    Returns
    -------
    rows : structured array of ``rows.dtype``
    last_line : int
        Number of the last line of the file.

    Raises
    ------
    GraphFormatError
        At the first line that is wrong or too much, or at the last where there are too few.
    """
    parsed, count, last_line = [np.zeros(0, dtype=rows.dtype)], 0, 1
    for block in parts:
        last_line = block.last_line
        some = columns(rows.comment.sub(b"", block.text), rows.dtype)
        spare = None if announced is None else announced.count - count
        if some is None or not rows.sound(some):
            raise refusal(file, block, rows, spare, announced)
        if spare is not None and some.size > spare:
            raise refusal(file, block, rows, spare, announced)
        count += some.size
        parsed.append(some)
    if announced is not None and count < announced.count:
        reason = (
            f"the file ends after {count} {announced.what}, "
            f"but line {announced.line} says {announced.count}"
        )
        raise GraphFormatError(file, last_line, reason)
    return np.concatenate(parsed), last_line


def columns(text: bytes, dtype: np.dtype) -> NDArray | None:
    """Parse lines of whitespace-separated columns; ``None`` where any line does not fit `dtype`."""
    if not text.strip():
        return np.zeros(0, dtype=dtype)
    try:
        with warnings.catch_warnings():
            # NumPy only warns where it cuts "1.5" down to an integer.
            warnings.simplefilter("error")
            lines = io.StringIO(text.decode("ascii"))
            return np.loadtxt(lines, dtype=dtype, comments=None, ndmin=1)
    except (ValueError, OverflowError, Warning):
        return None


def refusal(
    file: Path, block: Block, rows: Rows, spare: int | None, announced: Announced | None
) -> GraphFormatError:
    """Find the first faulty line of a block; only the first `spare` lines may be there at all."""
    for at, (number, line) in enumerate(rows.numbered(block)):
        reason = rows.fault(line.split())
        if reason is None and at == spare:
            reason = (
                f"more than the {announced.count} {announced.what} that line "
                f"{announced.line} announces"
            )
        if reason is not None:
            return GraphFormatError(file, number, binary(line) or reason)
    return GraphFormatError(file, block.first_line, "the lines from here cannot be parsed")


def whole_number(word: bytes, what: str) -> tuple[int, None] | tuple[None, str]:
    """Parse a decimal integer: the number, or what is wrong with it."""
    try:
        if b"_" in word:
            raise ValueError
        return int(word), None
    except ValueError:
        return None, f"{what} {shown(word)} is not a whole number"


def shown(word: bytes) -> str:
    """Quote a word for a message, shortened."""
    text = word.decode("ascii", "backslashreplace")
    return repr(text if len(text) <= 24 else text[:24] + "...")


def id_fault(word: bytes, what: str, least: int, most: int) -> str | None:
    """Say what is wrong with a vertex id, which must be from `least` to `most`."""
    vertex, reason = whole_number(word, what)
    if reason is None and vertex < 0:
        return f"{what} {vertex} is negative"
    if reason is None and not least <= vertex <= most:
        return f"{what} {vertex} is out of range: must be from {least} to {most}"
    return reason


def weight_fault(word: bytes, whole: bool) -> str | None:
    """Say what is wrong with a weight: int32 where it must be whole, else a finite float32."""
    if whole:
        weight, reason = whole_number(word, "weight")
        if reason is None and not -(2**31) <= weight < 2**31:
            return f"weight {weight} is out of range: must be an int32"
        return reason
    try:
        weight = float(word)
    except ValueError:
        return f"weight {shown(word)} is not a number"
    if np.isnan(weight):
        return "the weight is NaN"
    with np.errstate(over="ignore"):
        return None if np.isfinite(np.float32(weight)) else f"weight {shown(word)} is not finite"


def count_fault(word: bytes, what: str) -> str | None:
    """Say what is wrong with an announced number of vertices, arcs or the like."""
    count, reason = whole_number(word, f"number of {what}")
    if reason is None and not 0 <= count < 2**31 - 1:
        return f"number of {what} {count} is out of range: must be from 0 to {2**31 - 2}"
    return reason


def within_int32(weight: NDArray) -> bool:
    """Whether all weights lie in the range of int32."""
    return bool((weight >= -(2**31)).all() and (weight < 2**31).all())


def within_float32(weight: NDArray) -> bool:
    """Whether all weights are finite float32 numbers."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(weight.astype(np.float32)).all())


class _Progress:
    """A progress bar that is made only once it is due.

    In a notebook a bar is a widget, which would be stored with the page even if never displayed.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._start = time.monotonic()
        self._bar = None

    def reach(self, position: int) -> None:
        """Say how many bytes of the file have been read."""
        if self._bar is None and time.monotonic() - self._start >= PROGRESS_DELAY:
            total, name = self._file.stat().st_size, self._file.name
            self._bar = tqdm(total=total, desc=name, unit="B", unit_scale=True, leave=False)
        if self._bar is not None:
            self._bar.update(position - self._bar.n)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _unify(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def binary(line: bytes) -> str | None:
    """Say that a line is no text where it holds control characters."""
    control = bytes(set(range(32)) - set(b"\t\n\v\f\r")) + b"\x7f"
    if line.translate(None, control) == line:
        return None
    return "binary data" + (", gzip by its first bytes" if line.startswith(b"\x1f\x8b") else "")


def _gzip_fault(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the file is truncated: its gzip stream has no end"
    return f"not a sound gzip file: {error}"
