"""A launch as an object: grid, block, arguments, and what arrays must hold afterwards, where somebody knows.

Arguments are numbers (`Scalar`), structures of them (`Struct`) and `Array`s, which become device memory wherever the
launch takes place: on a card, on the simulated card, under the sanitizer, or at made-up addresses where only
time is asked for. `Launch.bound` holds them against the kernel's metadata, `Launch.kernarg` lays them out as that says.
`hipgemm.launch.requests` makes launches of words (`hipgemm.launch.words`), `hipgemm.launch.gemm` of a GEMM's sizes.

Whether an array may be given for a pointer (`takes`) is asked of the type that it points to, by its name in C, and
NumPy's type. What is certainly another type is rejected: other sizes of floats, floats for integers and integers for
floats, wider or narrower integers. What reads the same bytes in another way is not: bytes are taken for all, all are
taken for pointers to bytes; unsigned integers carry floats (u16 a half or a bf16, u32 a float or two halves), unsigned
and vectors of integers whatever they are given; signs do not count; the elements of a vector are numbers of its type.

Limits: pointers inside of structures are numbers; textures and other handles are not arguments. Structures, `void`,
pointers to pointers and types whose name is not known here take anything.
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hipgemm.launch.problem import Problem, Verdict
from isa.display import number_of
from isa.errors import IsaError
from isa.mangling import source_name
from isa.object import code_object

if TYPE_CHECKING:
    import numpy as np

_QUALIFIERS = re.compile(r"\b(const|volatile|restrict|__restrict__|__restrict|__global|global)\b")
_TYPES = {
    "short": "i16", "int": "i32", "long": "i64", "long int": "i64", "long long": "i64", "long long int": "i64",
    "unsigned short": "u16", "unsigned int": "u32", "unsigned": "u32", "unsigned long": "u64",
    "unsigned long long": "u64", "ushort": "u16", "uint": "u32", "ulong": "u64", "bool": "bool",
    "i16": "i16", "i32": "i32", "i64": "i64", "u16": "u16", "u32": "u32", "u64": "u64",
    "float": "f32", "double": "f64", "half": "f16", "_Float16": "f16", "__fp16": "f16", "__half": "f16",
    "__half2": "f16 x", "half2": "f16 x", "__bf16": "bf16", "__hip_bfloat16": "bf16", "hip_bfloat16": "bf16",
    "__hip_bfloat162": "bf16 x", "f16": "f16", "f32": "f32", "f64": "f64", "bf16": "bf16",
}  # fmt: skip
_VECTOR = re.compile(r"HIP_vector_(?:type|base)<(.+), \d+[uU]?L*>|(.+?) ?__vector(?:\(\d+\))?|([a-z]+?)(?:2|3|4|8|16)")


def element(type_: str) -> str:
    """What a pointer of that type points to: `f32`, `bf16`, `i64`, `bool`; ` x` after it for a vector of these. "" for
    what is not known, or may be anything."""
    name = " ".join(_QUALIFIERS.sub(" ", type_).replace("*", " * ").split())
    if not name.endswith(" *"):
        return ""
    name = name.removesuffix(" *").replace("long unsigned int", "unsigned long")
    if name in _TYPES:
        return _TYPES[name]
    vector = _VECTOR.fullmatch(name)
    inner = next(filter(None, vector.groups()), "") if vector else ""
    return f"{_TYPES[inner]} x" if inner in _TYPES else ""


def size(type_: str) -> int:
    """How many bytes an element has that such a pointer points to; 0 where that is not known."""
    if re.search(r"\bchar ?\*$", type_):
        return 1
    return _bytes(element(type_).partition(" ")[0])


def _bytes(kind: str) -> int:
    return 1 if kind == "bool" else int(re.sub(r"\D", "", kind) or 0) // 8


def word(type_: str) -> str:
    """The type of numbers to give for such a pointer, as a launch says it."""
    return {"": "f32", "bool": "u8", "bf16": "u16"}.get(found := element(type_).partition(" ")[0], found)


def takes(type_: str, dtype: np.dtype) -> bool:
    """Whether an array of that type may be what a pointer points to."""
    kind, vector, _ = element(type_).partition(" ")
    if not kind or dtype.itemsize == 1 or dtype.kind not in "biufc":
        return True
    if kind == "bool":
        return False
    size = _bytes(kind)
    if kind[0] in "fb":
        if dtype.kind == "c":
            return kind[0] == "f" and dtype.itemsize == 2 * size
        if dtype.kind == "f":
            return kind[0] == "f" and dtype.itemsize == size
        if size == 2:
            return dtype.itemsize == 2 or dtype.str[1:] == "u4"
        return dtype.kind == "u" and dtype.itemsize == size
    if vector or kind[0] == "u":
        return dtype.kind in "fc" or bool(vector) or dtype.itemsize == size
    return dtype.kind in "iu" and dtype.itemsize == size


Triple = tuple[int, int, int]
SCALARS = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip
"""Types of numbers, and their letters in `struct`; NumPy knows them by the same."""


_INTEGERS = re.compile(r"[iu]\d+|bool|u?(char|short|int|long)|(un)?signed( (char|short|int|long))?")
_FLOATS = ("half", "float", "double", "f16", "f32", "f64")


LARGEST_GRID = (2**31 - 1, 2**16, 2**16)
"""Workgroups: what hipModuleLaunchKernel lets through (ROCm/clr, hip_module.cpp)."""


class BadLaunch(IsaError):
    """A launch that was not said, or is none of the kernel's."""


@dataclass(frozen=True)
class Scalar:
    """A number that is passed by value. type: one of SCALARS."""

    type: str
    value: float
    name: str = ""

    def __post_init__(self) -> None:
        try:
            self.data(0)
        except (struct.error, OverflowError) as error:
            raise BadLaunch(f"{self.value} is not a valid {self.type}", expected="a number that fits") from error

    @property
    def size(self) -> int:
        return struct.calcsize(SCALARS[self.type])

    def data(self, address: int) -> bytes:
        return struct.pack("<" + SCALARS[self.type], self.value)

    def __str__(self) -> str:
        return self.type


@dataclass(frozen=True)
class Struct:
    """A C structure that is passed by value: its members at their natural alignments."""

    members: tuple[Scalar, ...]
    name: str = ""

    @property
    def size(self) -> int:
        return len(self.data(0))

    def data(self, address: int) -> bytes:
        out = b""
        for member in self.members:
            out += bytes(-len(out) % member.size) + member.data(0)
        return out + bytes(-len(out) % max(member.size for member in self.members))

    def __str__(self) -> str:
        return "struct"


@dataclass(frozen=True, eq=False)
class Array:
    """An array in device memory, which the kernel gets the address of.

    dtype, shape: as NumPy has them. fill: makes what it holds before the launch; may give less; then the rest is not
    written. unwritten: none of it is written, whatever `fill` puts there. scratch: no result of the kernel.
    untyped: bytes of which no type is known, or that are given for any. element: bytes of what the kernel's pointer
    points to, 0 where that is not known.
    """

    dtype: str
    shape: tuple[int, ...]
    fill: Callable[[], np.ndarray] | None = None
    name: str = ""
    unwritten: bool = False
    scratch: bool = False
    untyped: bool = False
    element: int = 0

    @property
    def nbytes(self) -> int:
        import numpy as np

        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def size(self) -> int:
        """Of the argument: an address."""
        return 8

    def data(self, address: int) -> bytes:
        return struct.pack("<Q", address)

    @property
    def dtype_name(self) -> str:
        """As NumPy calls it."""
        import numpy as np

        return str(np.dtype(self.dtype))

    def contents(self) -> np.ndarray:
        """What it begins with, contiguous; empty where nothing was written."""
        import numpy as np

        return np.empty(0, self.dtype) if self.fill is None else np.ascontiguousarray(self.fill())

    def __str__(self) -> str:
        return "an array"


@dataclass(frozen=True)
class Inside:
    """An address inside of another argument's array. of: its name or position; offset: bytes from its beginning."""

    of: str
    offset: int
    name: str = ""
    size = 8

    def data(self, address: int) -> bytes:
        return struct.pack("<Q", address + self.offset)

    def __str__(self) -> str:
        return "an address inside an array"


Argument: TypeAlias = "Scalar | Struct | Array | Inside"


@dataclass(frozen=True)
class Reference:
    """What one of a launch's arrays must hold afterwards. array: its number among the arrays."""

    array: int
    judge: Callable[[np.ndarray], Verdict]


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel. grid: workgroups; block: work-items of each; dynamic_lds: bytes of LDS after the static
    ones; problem: the GEMM that it does, if it is one; last: the last workgroup along each axis, if it is smaller."""

    grid: Triple
    block: Triple
    arguments: tuple[Argument, ...]
    dynamic_lds: int = 0
    references: tuple[Reference, ...] = ()
    problem: Problem | None = None
    last: Triple | None = None

    @property
    def arrays(self) -> tuple[Array, ...]:
        return tuple(a for a in self.arguments if isinstance(a, Array))

    @property
    def work_items(self) -> int:
        return math.prod(self.grid) * math.prod(self.block)

    def array(self, name: str) -> int:
        """The number of an array among the arrays, by its name or by its position among all arguments; the last one for
        "". IsaError where there is none."""
        places = [i for i, a in enumerate(self.arguments) if isinstance(a, Array)]
        if not name and places:
            return len(places) - 1
        for number, i in enumerate(places):
            if name in (self.arguments[i].name, str(i)):
                return number
        known = ", ".join(self.arguments[i].name or str(i) for i in places)
        raise BadLaunch(f"there is no array {name!r}", expected=known or "a kernel that takes arrays")

    def bound(self, kernel: code_object.DescribedKernel) -> Launch:
        """The same launch with the names that the kernel's metadata has for its arguments, where they have none.
        BadLaunch where they are not the kernel's."""
        from isa.analysis.resources import LDS_PER_CU

        wanted, most = explicit(kernel), kernel.max_workgroup or 1024
        if any(g > limit or g * b >= 1 << 32 for g, limit, b in zip(self.grid, LARGEST_GRID, self.block, strict=True)):
            raise BadLaunch(
                f"a grid cannot have {' x '.join(map(str, self.grid))} workgroups of "
                f"{' x '.join(map(str, self.block))}",
                expected=f"at most {' x '.join(map(str, LARGEST_GRID))}, and fewer than 2^32 work-items in a direction",
            )
        if math.prod(self.block) > most:
            raise BadLaunch(
                f"kernel {source_name(kernel.name)} cannot have workgroups of {math.prod(self.block)} work-items",
                expected=f"at most {most}",
                hint="launch smaller blocks; __launch_bounds__ in the source may give up to 1024",
            )
        if (lds := kernel.descriptor.lds_bytes + self.dynamic_lds) > LDS_PER_CU:
            raise BadLaunch(
                f"kernel {source_name(kernel.name)} cannot have {lds} bytes of LDS a workgroup",
                expected=f"at most {LDS_PER_CU}, of which {kernel.descriptor.lds_bytes} are the kernel's own",
            )
        uniform = kernel.metadata.get(".uniform_work_group_size")
        if self.last and (uniform or any(n > b for n, b in zip(self.last, self.block, strict=True))):
            raise BadLaunch(
                f"the last workgroup of kernel {source_name(kernel.name)} cannot have another size than the others"
                if uniform else "the last workgroup is larger than the others",
                expected=f"at most {self.block}", got=str(self.last),
            )  # fmt: skip
        required = tuple(kernel.metadata.get(".reqd_workgroup_size") or ())
        if required and required != self.block:
            raise BadLaunch(
                f"kernel {source_name(kernel.name)} is built for one size of workgroups",
                expected=" x ".join(map(str, required)), got=" x ".join(map(str, self.block)),
            )  # fmt: skip
        if len(wanted) != len(self.arguments):
            raise BadLaunch(
                f"kernel {source_name(kernel.name)} takes other arguments",
                expected=", ".join(map(described, wanted)) or "none",
                got=number_of(len(self.arguments), "argument"),
                hint=words_for(kernel),
            )
        fitted = []
        for i, (argument, value) in enumerate(zip(wanted, self.arguments, strict=True)):
            name = f" ({argument.name})" if argument.name else ""
            if value.size != argument.size:
                raise BadLaunch(
                    f"argument {i}{name} of kernel {source_name(kernel.name)} has another size",
                    expected=described(argument),
                    got=f"{value}, {value.size} bytes",
                    hint=words_for(kernel),
                )
            kind = number_kind(argument)
            if isinstance(value, Scalar) and kind and (kind == "f") != value.type.startswith("f"):
                raise BadLaunch(
                    f"argument {i}{name} of kernel {source_name(kernel.name)} has another type",
                    expected=described(argument), got=str(value), hint=words_for(kernel),
                )  # fmt: skip
            if isinstance(value, Array) and not fits(argument, value):
                raise BadLaunch(
                    f"argument {i}{name} of kernel {source_name(kernel.name)} is an array of another type",
                    expected=f"an array of {word(argument.type)}, for {argument.type}",
                    got=f"an array of {value.dtype_name}",
                    hint=f"to give its bytes as they are: --arg {argument.name or i}=raw:...; from Python "
                    f"{argument.name or 'array'}.view(np.uint8)",
                )
            if isinstance(value, Inside):
                self.array(value.of)
            if isinstance(value, Array):
                value = dataclasses.replace(value, element=value.element or size(argument.type))
            fitted.append(dataclasses.replace(value, name=value.name or argument.name or f"argument {i}"))
        return dataclasses.replace(self, arguments=tuple(fitted))

    def kernarg(self, kernel: code_object.DescribedKernel, addresses: Sequence[int]) -> bytes:
        """The explicit arguments as they lie in memory; the launch is bound. addresses: of the arrays."""
        wanted = explicit(kernel)
        kernarg = bytearray(max((a.offset + a.size for a in wanted), default=0))
        places = self._places(addresses)
        for argument, value, at in zip(wanted, self.arguments, places, strict=True):
            kernarg[argument.offset : argument.offset + argument.size] = value.data(at)
        return bytes(kernarg)

    def fill(self, addresses: Sequence[int]) -> list[tuple[int, int]]:
        """Puts what the arrays begin with where they lie in this process, zeros where nothing was written: there are
        (address, bytes) of what a kernel must not read. addresses: of the arrays."""
        rest = []
        for array, at in zip(self.arrays, addresses, strict=True):
            begins = array.contents()
            ctypes.memmove(at, begins.ctypes.data, begins.nbytes)
            if begins.nbytes < array.nbytes:
                ctypes.memset(at + begins.nbytes, 0, array.nbytes - begins.nbytes)
            written = 0 if array.unwritten else begins.nbytes
            if written < array.nbytes:
                rest.append((at + written, array.nbytes - written))
        return rest

    def values(self, addresses: Sequence[int]) -> tuple[Any, ...]:
        """The arguments as hip-python takes them, in their order."""
        return tuple(_by_value(a.data(at), a) for a, at in zip(self.arguments, self._places(addresses), strict=True))

    def _places(self, addresses: Sequence[int]) -> list[int]:
        """Where the array lies that an argument is, or leads into; 0 for others."""
        own = iter(addresses)
        return [
            next(own) if isinstance(a, Array) else addresses[self.array(a.of)] if isinstance(a, Inside) else 0
            for a in self.arguments
        ]


def _by_value(data: bytes, argument: Argument) -> Any:
    if isinstance(argument, (Array, Inside)):
        return ctypes.c_void_p(int.from_bytes(data, "little"))
    if isinstance(argument, Scalar):
        unsigned = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}[len(data)]
        return unsigned.from_buffer_copy(data)
    fields = [("bytes", ctypes.c_uint8 * len(data))]
    made: Any = type("Struct", (ctypes.Structure,), {"_fields_": fields})
    return made.from_buffer_copy(data)


def explicit(kernel: code_object.DescribedKernel) -> list[code_object.Argument]:
    """The arguments that a launch gives, by their names in the source: clang calls a pointer `x.coerce`."""
    return [dataclasses.replace(a, name=a.name.removesuffix(".coerce")) for a in kernel.args if not a.hidden]


def number_kind(argument: code_object.Argument) -> str:
    """What a number that is passed by value is: "i" an integer, "f" a float; "" for what else there is, and where its
    type is not known: code objects of HIP kernels do not have it."""
    if argument.kind != "by_value":
        return ""
    return "f" if argument.type in _FLOATS else "i" if _INTEGERS.fullmatch(argument.type) else ""


def fits(argument: code_object.Argument, value: Array) -> bool:
    """Whether a pointer's type, where it is known, may be that of an array."""
    import numpy as np

    return value.untyped or argument.kind != "global_buffer" or takes(argument.type, np.dtype(value.dtype))


def described(argument: code_object.Argument) -> str:
    """An argument of a kernel as its metadata has it, in words."""
    what = "pointer" if argument.kind == "global_buffer" else argument.kind
    what = argument.type if number_kind(argument) else what
    size = f"{argument.size} bytes"
    return f"{argument.name} ({what}, {size})" if argument.name else f"{what} ({size})"


def words_for(kernel: code_object.DescribedKernel) -> str:
    """A launch of this kernel as a command line says it, to be filled in: what its metadata gives away."""
    threads = min(kernel.max_workgroup or 256, 256)
    words = [f"--grid 1 --block {threads}"]
    for argument in explicit(kernel):
        name = f"{argument.name}=" if argument.name else ""
        value = f"{number_kind(argument) or 'i'}{8 * argument.size}:1"
        if argument.size not in (1, 2, 4, 8):
            value = f"struct:{','.join(['i32:0'] * (argument.size // 4))}"
        if argument.kind == "global_buffer":
            value = f"random:{word(argument.type)}:1024"
        words.append(f"--arg {name}{value}")
    return " ".join(words)
