"""The machine code (SASS) of a kernel, compiled without a GPU.

The SIMT machine runs the source; a GPU runs machine code. `sass` shows it. numba compiles the
kernel to PTX. nvJitLink, which numba itself uses on a GPU, assembles the PTX, and ``nvdisasm``
lists the result. All three come as wheels, with numba-cuda and ``nvidia-cuda-nvdisasm``.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numba
from numba import cuda, types

from gpukernels.errors import InvalidArgument, MissingTool
from gpukernels.simt import python_function

_SECTION = re.compile(r"\.text\.(\S+):$")
_LABEL = re.compile(r"(\.L_\S+):$")
_PLACE = re.compile(r'//## File "(.*?)", line (\d+)')
_INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z]\S*)\s*(.*?)\s*;")
#: Start of the names of the functions behind ``cg.this_grid().sync()``.
_GRID_SYNC = "cudaCG"
#: Instructions of control flow; a predicate on them does not mean conditional execution of work.
_CONTROL = ("BRA", "BRX", "CALL", "EXIT", "JMP", "RET", "BREAK", "BSYNC", "WARPSYNC")


@dataclass(frozen=True)
class Instruction:
    """One machine instruction.

    Attributes
    ----------
    address : int
        Its place in its function, in bytes.
    predicate : str
        The register that decides whether a lane takes part, such as ``"!P0"``; ``""`` if all do.
        A register with ``UP`` in its name has one value for the whole warp.
    opcode : str
        Its name with all that qualifies it: ``"LDG.E.64"``.
    operands : tuple of str
        Its operands as nvdisasm writes them.
    line : int
        The line of source that it stands for, 0 where the compiler does not say.
    file : str
        The file of that line.
    function : str
        The compiled function: the kernel, or one that it calls.
    target : int or None
        The address that a branch within its function goes to.
    """

    address: int
    predicate: str
    opcode: str
    operands: tuple[str, ...]
    line: int
    file: str
    function: str
    target: int | None = None

    def is_a(self, name: str) -> bool:
        """Return whether the opcode is `name`, perhaps with more behind a dot."""
        return self.opcode == name or self.opcode.startswith(name + ".")

    def __str__(self) -> str:
        guard = f"@{self.predicate}" if self.predicate else ""
        return f"{self.address:04x}  {guard:>5} {self.opcode} {', '.join(self.operands)}".rstrip()


@dataclass(frozen=True, repr=False)
class Assembly:
    """The machine code of one kernel; prints as a listing.

    Attributes
    ----------
    kernel : str
        Its name.
    cc : tuple of int
        The compute capability that it was compiled for.
    ptx : str
        The PTX that it was made from.
    instructions : tuple of Instruction
        All of them in order, without the endless loop and the NOPs behind each function's end.
    registers : int
        Registers of a thread.
    local_bytes : int
        Bytes of local memory that a thread keeps on its stack.
    """

    kernel: str
    cc: tuple[int, int]
    ptx: str = field(repr=False)
    instructions: tuple[Instruction, ...]
    registers: int
    local_bytes: int

    def select(self, *names: str, line: int | None = None) -> tuple[Instruction, ...]:
        """Return the instructions with one of these opcodes (all, if none), of a source line."""
        return tuple(
            i
            for i in self.instructions
            if (not names or any(i.is_a(name) for name in names)) and line in (None, i.line)
        )

    def count(self, *names: str) -> int:
        """Return how many instructions have one of these opcodes: ``count("ATOMG", "RED")``."""
        return len(self.select(*names))

    @property
    def predicated(self) -> tuple[Instruction, ...]:
        """Instructions that lanes take part in or not, in place of a branch around them."""
        return tuple(i for i in self.instructions if i.predicate and not any(map(i.is_a, _CONTROL)))

    @property
    def branches(self) -> tuple[Instruction, ...]:
        """Branches that can part the lanes of a warp: those on a predicate of each lane's own."""
        return tuple(i for i in self.select("BRA", "BRX") if i.predicate.lstrip("!")[:1] == "P")

    @property
    def loops(self) -> tuple[tuple[Instruction, ...], ...]:
        """The instructions of each loop: from a branch's target back to it, in order of address."""
        loops = []
        for last in self.select("BRA"):
            if last.target is not None and last.target <= last.address:
                loops.append(
                    tuple(
                        i
                        for i in self.instructions
                        if i.function == last.function and last.target <= i.address <= last.address
                    )
                )
        return tuple(sorted(loops, key=lambda loop: loop[0].address))

    @property
    def calls(self) -> tuple[str, ...]:
        """The functions that are called, as nvdisasm names them, one for each call."""
        return tuple(re.sub(r"[`()]", "", i.operands[-1]) for i in self.select("CALL"))

    @property
    def local_loads(self) -> int:
        """How many instructions read local memory."""
        return self.count("LDL")

    @property
    def local_stores(self) -> int:
        """How many instructions write local memory."""
        return self.count("STL")

    def __len__(self) -> int:
        return len(self.instructions)

    def __repr__(self) -> str:
        lines = [
            f"{self.kernel}, sm_{self.cc[0]}{self.cc[1]}: {len(self)} instructions, "
            f"{self.registers} registers, {self.local_bytes} bytes of local memory"
        ]
        place = function = None
        for i in self.instructions:
            if i.function != function:
                function = i.function
                lines.append(f"{function}:")
            if i.line and (i.file, i.line) != place:
                place = i.file, i.line
                lines.append(f"  # {Path(i.file).name}, line {i.line}")
            lines.append(f"  {i}")
        return "\n".join(lines)


def sass(kernel: Any, signature: tuple, cc: tuple[int, int] = (9, 0)) -> Assembly:
    """Compile a kernel to machine code, and return it as a listing that answers questions.

    No GPU is needed.

    Parameters
    ----------
    kernel
        A ``@cuda.jit`` kernel.
    signature : tuple
        For each parameter a numba type, or an argument to take the type of.
    cc : tuple of int
        Compute capability of the GPU to compile for; an H100 or H200 has (9, 0).

    Returns
    -------
    Assembly
        Its ``instructions``, ``count("ATOMG")``, ``predicated``, ``branches``, ``loops``,
        ``calls``, ``local_loads``, ``local_stores``, ``registers`` and ``local_bytes``.

    Raises
    ------
    InvalidArgument
        If `kernel` is not a kernel, or `signature` or `cc` is not of the form above.
    MissingTool
        If nvJitLink or nvdisasm is not installed.

    Examples
    --------
    >>> from numba import cuda, types
    >>> import gpukernels as gk
    >>> @cuda.jit
    ... def total(a, sums):
    ...     i = cuda.grid(1)
    ...     for k in range(i, a.size, cuda.gridsize(1)):
    ...         sums[i] += a[k]
    >>> code = gk.sass(total, (types.float32[:], types.float32[:]), cc=(9, 0))
    >>> len(code.loops) > 0, code.local_bytes
    (True, 0)
    """
    if numba.config.DISABLE_JIT:
        raise MissingTool("machine code is made by numba, which is not here or compiles nothing")
    function = python_function(kernel)
    if function is None or not hasattr(kernel, "py_func"):
        raise InvalidArgument("kernel", kernel, "a kernel, decorated with @cuda.jit")
    if not isinstance(signature, tuple | list):
        raise InvalidArgument("signature", signature, "a tuple of numba types or arguments")
    if not (isinstance(cc, tuple) and len(cc) == 2 and all(type(part) is int for part in cc)):
        raise InvalidArgument("cc", cc, "a pair such as (9, 0)")
    signature = tuple(s if isinstance(s, types.Type) else numba.typeof(s) for s in signature)
    expected = function.__code__.co_argcount
    if len(signature) != expected:
        raise InvalidArgument("signature", signature, f"{expected} types, one a parameter")
    nvdisasm = _nvdisasm()
    with _compiling_for(cc):
        names = ("fastmath", "opt", "launch_bounds")
        options = {k: v for k, v in kernel.targetoptions.items() if k in names}
        ptx, _ = cuda.compile_ptx(function, signature, cc=cc, lineinfo=True, **options)
    cubin, log = _assemble(ptx, cc)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        command = [nvdisasm, "-g", "-c", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingTool(f"{nvdisasm} cannot list code for {cc}: {done.stderr.strip()}")
    return Assembly(
        kernel=function.__name__,
        cc=cc,
        ptx=ptx,
        instructions=tuple(i for i in _parse(done.stdout) if _is_own(i.function, ptx)),
        registers=_most(r"sed (\d+) registers", log),
        local_bytes=_most(r"(\d+) bytes stack frame", log),
    )


@contextlib.contextmanager
def _compiling_for(cc: tuple[int, int]) -> Iterator[None]:
    """Let numba compile device functions without a GPU: it asks the current one for its kind."""
    device = SimpleNamespace(compute_capability=cc)
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device):
        yield


def _assemble(ptx: str, cc: tuple[int, int]) -> tuple[bytes, str]:
    """Return the binary that nvJitLink makes from `ptx`, and its log."""
    try:
        from cuda.bindings import nvjitlink
    except ImportError as error:
        raise MissingTool(
            "sass() needs nvJitLink; install it with: pip install 'numba-cuda[cu13]'"
        ) from error
    options = [f"-arch=sm_{cc[0]}{cc[1]}", "-lineinfo", "-verbose"]
    try:
        linker = nvjitlink.create(len(options), options)
    except nvjitlink.nvJitLinkError as error:
        raise InvalidArgument("cc", cc, f"a GPU that nvJitLink knows ({error})") from error
    except RuntimeError as error:
        raise MissingTool(
            f"sass() needs nvJitLink: pip install nvidia-nvjitlink ({error})"
        ) from error
    try:
        data = ptx.encode()
        nvjitlink.add_data(linker, nvjitlink.InputType.PTX, data, len(data), "kernel.ptx")
        if _GRID_SYNC in ptx:
            library = _device_runtime().read_bytes()
            kind = nvjitlink.InputType.LIBRARY
            nvjitlink.add_data(linker, kind, library, len(library), "libcudadevrt.a")
        nvjitlink.complete(linker)
        binary = bytearray(nvjitlink.get_linked_cubin_size(linker))
        nvjitlink.get_linked_cubin(linker, binary)
        log = bytearray(nvjitlink.get_info_log_size(linker))
        nvjitlink.get_info_log(linker, log)
    finally:
        nvjitlink.destroy(linker)
    return bytes(binary), log.decode(errors="replace")


def _device_runtime() -> Path:
    """Return the library that holds the sync of a whole grid, which numba links too."""
    places = [Path("/usr/local/cuda")]
    with contextlib.suppress(ImportError):
        import nvidia

        places = [*map(Path, nvidia.__path__), *places]
    for place in places:
        if libraries := sorted((*place.glob("**/libcudadevrt.a"), *place.glob("**/cudadevrt.lib"))):
            return libraries[-1]
    raise MissingTool("sass() of a grid sync needs libcudadevrt: pip install nvidia-cuda-runtime")


def _nvdisasm() -> str:
    """Return where nvdisasm is: in its wheel, on the path, or in an installed CUDA toolkit."""
    with contextlib.suppress(ImportError):
        import nvidia

        for folder in nvidia.__path__:
            if tools := sorted(Path(folder).glob("*/bin/**/nvdisasm*")):
                return str(tools[-1])
    for place in (None, "/usr/local/cuda/bin"):
        if tool := shutil.which("nvdisasm", path=place):
            return tool
    raise MissingTool("sass() needs nvdisasm; install it with: pip install nvidia-cuda-nvdisasm")


def _parse(text: str) -> Iterator[Instruction]:
    """Read what nvdisasm lists, one function after another."""
    for part in re.split(r"^(?=\.text\.\S+:$)", text, flags=re.MULTILINE):
        if section := _SECTION.match(part.partition("\n")[0]):
            yield from _parse_function(section[1], part)


def _is_own(function: str, ptx: str) -> bool:
    """Return whether a function was compiled from `ptx`, and is not of the grid sync's library."""
    return function in ptx and not function.startswith(_GRID_SYNC)


def _parse_function(function: str, text: str) -> list[Instruction]:
    rows: list[list[Any]] = []
    labels: dict[str, int] = {}
    waiting: list[str] = []
    file, line = "", 0
    for row in text.splitlines():
        if label := _LABEL.match(row.strip()):
            waiting.append(label[1])
        elif place := _PLACE.search(row):
            file, line = place[1], int(place[2])
        elif one := _INSTRUCTION.search(row):
            address = int(one[1], 16)
            labels.update(dict.fromkeys(waiting, address))
            waiting.clear()
            operands = tuple(one[4].split(", ")) if one[4] else ()
            rows.append([address, one[2] or "", one[3], operands, line, file, function])
    while rows and rows[-1][2] == "NOP":
        rows.pop()
    instructions = [Instruction(*[*parts, _target(parts, labels)]) for parts in rows]
    last = instructions[-1] if instructions else None
    if last is not None and last.is_a("BRA") and last.target == last.address:
        instructions.pop()
    return instructions


def _target(parts: list[Any], labels: dict[str, int]) -> int | None:
    name = re.search(r"`\((\.L_\w+)\)", parts[3][-1]) if parts[3] else None
    return labels.get(name[1]) if name and parts[2].startswith("BRA") else None


def _most(pattern: str, text: str) -> int:
    return max((int(number) for number in re.findall(pattern, text)), default=0)
