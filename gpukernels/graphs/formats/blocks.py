"""The lines of a file, plain or gzip, one megabyte at a time, in bounded memory.

Constants here bound the memory, whatever the file claims: a block has at most a megabyte, a line
has a longest length, and a gzip file may not unpack to many times its own size.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from gpukernels.cores.progress import Progress
from gpukernels.errors import GraphFormatError, printable

#: Larger blocks are not read faster, and parsing a block takes some forty times its size.
BLOCK_BYTES = 1 << 20
#: Longest line, comments included.
LINE_BYTES = 1 << 16
#: A gzip file may unpack to this many bytes, or to so many times its own size, whichever is more.
#: Edge lists are packed to a third or a tenth, or to a twentieth if their lines repeat.
UNPACKED_BYTES = 16 << 20
UNPACKED_RATIO = 32


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file, which end in a line feed and nothing else.

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
        """Number of the last line in the file; of the line before if the block is empty."""
        if not self.text:
            return self.first_line - 1
        return self.first_line + line_feeds(self.text) - self.text.endswith(b"\n")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the text of every line."""
        for number, line in enumerate(io.BytesIO(self.text), self.first_line):
            yield number, line.removesuffix(b"\n")

    def parts(self, size: int) -> Iterator[Block]:
        """Yield the lines in blocks of about `size` bytes."""
        line, start = self.first_line, 0
        while start < len(self.text):
            end = self.text.find(b"\n", start + size) + 1 or len(self.text)
            part = self.text[start:end]
            yield Block(line, part)
            line, start = line + part.count(b"\n"), end


def blocks(file: Path) -> Iterator[Block]:
    """Yield the lines of a plain or gzip file, a megabyte at a time.

    All kinds of line ends are accepted. A progress bar appears if the whole takes over 2 s.

    Raises
    ------
    GraphFormatError
        If the file is empty or has a line that is too long, or if it is named ``.gz`` and is not a
        sound gzip stream, or one that unpacks to too much.
    """
    line = 1
    with (
        open(file, "rb") as raw,
        Progress(printable(file.name, 60), file.stat().st_size, "B") as progress,
    ):
        packed = gzip.GzipFile(fileobj=raw) if file.suffix == ".gz" else None
        pending: list[bytes] = []
        held = unpacked = 0
        while True:
            fault = None
            try:
                # read1 returns the text before a fault, so that its line is known.
                piece = raw.read(BLOCK_BYTES) if packed is None else packed.read1(BLOCK_BYTES)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                piece, fault = b"", _gzip_fault(error)
            unpacked += len(piece)
            if packed and unpacked > max(UNPACKED_BYTES, UNPACKED_RATIO * raw.tell()):
                fault = (
                    f"the gzip file unpacks to over {UNPACKED_RATIO} times its size; "
                    "if this is intended, unpack it before reading"
                )
            if fault is not None:
                line += line_feeds(_unify(b"".join(pending)))
                raise GraphFormatError(file, line, fault)
            pending.append(piece)
            held += len(piece)
            if piece and held < BLOCK_BYTES:
                continue
            text = b"".join(pending)
            cut = _end_of_lines(text) if piece else len(text)
            pending, held = [text[cut:]], len(text) - cut
            text = _unify(text[:cut])
            long = _long_line(text)
            text = text[:long]
            if text:
                yield Block(line, text)
                line += line_feeds(text)
            elif not piece and line == 1 and long is None:
                raise GraphFormatError(file, 1, "the file is empty")
            if long is not None or held > LINE_BYTES + 1:
                raise GraphFormatError(file, line, f"the line is longer than {LINE_BYTES} bytes")
            progress.reach(raw.tell())
            if not piece:
                return


def find_line(
    parts: Iterable[Block],
    content: re.Pattern[bytes],
    passed: Callable[[Block], None] | None = None,
    *,
    keep: bool = False,
) -> tuple[bytes | None, Iterable[Block], int]:
    """Find the first line that is neither blank nor a comment.

    The lines above are not read one by one, because a small gzip file may hold millions of them.

    Parameters
    ----------
    content : re.Pattern
        Matches at the start of such a line, and nowhere else.
    passed : callable, optional
        Called with the lines above, one block after the other.

    Returns
    -------
    line : bytes or None
        The text of the line; ``None`` if the file has no such line.
    rest : iterable of Block
        The lines below; with `keep`, the line itself, too.
    number : int
        The number of the line; if there is none, of the last line.
    """
    parts, last_line = iter(parts), 1
    for block in parts:
        match = content.search(block.text)
        start = match.start() if match else len(block.text)
        above = Block(block.first_line, block.text[:start])
        last_line = above.last_line
        if passed is not None:
            passed(above)
        if match:
            end = block.text.find(b"\n", start) + 1 or len(block.text)
            line, number = block.text[start:end], last_line + 1
            rest = Block(number if keep else number + 1, block.text[start if keep else end :])
            return line.removesuffix(b"\n"), chain([rest], parts), number
    return None, (), last_line


def _end_of_lines(text: bytes) -> int:
    """Return where the last whole line ends; a final CR may be half of a line end."""
    return max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1


def line_feeds(text: bytes) -> int:
    """Return the number of line feeds; `bytes.count` takes ten times as long."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))


def _unify(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def _long_line(text: bytes) -> int | None:
    """Return where the first line that is too long starts; ``None`` if there is none."""
    start = 0
    while len(text) - start > LINE_BYTES:
        end = text.rfind(b"\n", start, start + LINE_BYTES + 1)
        if end < 0:
            return start
        start = end + 1
    return None


def _gzip_fault(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the file is truncated: its gzip stream has no end"
    return f"not a sound gzip file: {error}"
