"""Assumptions of a verdict: the bytes of a kernel's arguments that a launch, or words such as `N=4096`, make known.

Input: a kernel, and a launch of it, or words `NAME=VALUE` with the name of an argument in the metadata, its place from
0, or the name that a GEMM's argument has (M, N, K, alpha, beta). Output: `Assumed`, the bytes of the argument segment
by offset, hidden arguments of a launch (the grid, the block) among them, and the sentences that a proof or lint prints.

Limits: pointers are unknown, whatever a launch gives; words speak of whole arguments, not of members of structures.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hipgemm.launch.launch import Launch, Scalar, Struct, number_kind
from isa.asm.program import Kernel, Program
from isa.errors import IsaError, meant
from isa.object import metadata
from isa.object.code_object import Argument, CodeObject, DescribedKernel
from isa.prove.proof import Facts
from isa.sim.run import arguments as segment

_PACKED = {1: ("b", "B", ""), 2: ("h", "H", "e"), 4: ("i", "I", "f"), 8: ("q", "Q", "d")}
"""By size: how a negative, another, and a real number is packed."""


@dataclass(frozen=True)
class Assumed:
    """known: bytes of the argument segment by offset. sentences: the same in words. launch: what they follow from, if
    it is a launch."""

    known: Mapping[int, int] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()
    launch: Launch | None = None

    def and_also(self, other: Assumed) -> Assumed:
        """Both; where they contradict each other, the other one."""
        sentences = (*self.sentences, *other.sentences)
        return Assumed({**self.known, **other.known}, sentences, self.launch or other.launch)


NOTHING = Assumed()


def of_words(words: Sequence[str], kernel: Kernel | DescribedKernel, facts: Facts | None = None) -> Assumed:
    """`NAME=VALUE` each. facts: of a GEMM, whose arguments have names of their own. IsaError for an argument that the
    kernel does not have, and a value that it cannot have."""
    known: dict[int, int] = {}
    rows = [a for a in arguments_of(kernel) if not a.hidden]
    given = facts.arguments if facts else ()
    own = [(a.name, (a.offset, a.size, not a.multiple and a.size == 4)) for a in given]
    named = {a.name.removesuffix(".coerce"): _place(a) for a in rows if a.name} | dict(own)
    places = {str(i): _place(a) for i, a in enumerate(rows)} | named
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in places:
            raise IsaError(
                f"--assume {word}: {kernel.name} has no such argument",
                expected="NAME=VALUE, with one of " + (", ".join(named) or f"0 to {len(rows) - 1}, its place"),
                hint=meant(name, list(named)),
            )
        offset, size, real = places[name]
        known |= {offset + i: byte for i, byte in enumerate(_packed(word, value, size, real))}
    return Assumed(known, (", ".join(word.replace("=", " is ", 1) for word in words),) if words else ())


def of_kernels(
    words: Sequence[str], files: Sequence[Program | CodeObject], name: str | None = None, facts: Facts | None = None
) -> list[dict[str, Assumed]]:
    """The same of each kernel, or of those called `name`, that has all of these arguments, by file. IsaError where none
    has."""
    found: list[dict[str, Assumed]] = []
    refused: IsaError | None = None
    for given in files:
        found.append({})
        kernels: Iterable[Kernel | DescribedKernel] = [given.kernel(name)] if name else given.kernels.values()
        for kernel in kernels if words else ():
            try:
                found[-1][kernel.name] = of_words(words, kernel, facts)
            except IsaError as error:
                refused = refused or error
    if refused is not None and not any(found):
        raise refused
    return found


def arguments_of(kernel: Kernel | DescribedKernel) -> Sequence[Argument]:
    """Of a kernel in text or in a code object."""
    return kernel.args if isinstance(kernel, DescribedKernel) else [a for _, a in metadata.arguments(kernel)]


def _place(argument: Argument) -> tuple[int, int, bool]:
    """Offset, size, and whether it is known to be a float."""
    return argument.offset, argument.size, number_kind(argument) == "f"


def _packed(word: str, value: str, size: int, real: bool) -> bytes:
    """An integer, or, of what is known to be a float or written as one, a float."""
    negative, other, letter = _PACKED.get(size, ("", "", ""))
    try:
        number = int(value, 0)
    except ValueError:
        real = True
    else:
        letter = letter if real else negative if number < 0 else other
    try:
        if letter:
            return struct.pack("<" + letter, float(value) if real else int(value, 0))
    except (ValueError, struct.error, OverflowError):
        pass
    raise IsaError(f"--assume {word}: not a number of {size} bytes", expected="a number that fits")


def of_launch(launch: Launch, kernel: Kernel | DescribedKernel, free: Sequence[str] = ()) -> Assumed:
    """All that a launch says: numbers that are passed by value, and hidden arguments. launch: bound to the kernel;
    free: the names of numbers that nobody asked for."""
    known: dict[int, int] = {}
    rows = arguments_of(kernel)
    hidden = segment.hidden(launch.grid, launch.block, launch.dynamic_lds, launch.last)
    given = [(a, hidden[a.kind].to_bytes(8, "little")) for a in rows if a.kind in hidden]
    explicit = [a for a in rows if not a.hidden]
    given += [
        (a, v.data(0))
        for a, v in zip(explicit, launch.arguments, strict=False)
        if isinstance(v, Scalar | Struct) and v.name not in free
    ]
    for argument, data in given:
        known |= {argument.offset + i: byte for i, byte in enumerate(data[: argument.size])}
    grid, block = (" x ".join(map(str, sizes)) for sizes in (launch.grid, launch.block))
    numbers = [f"{a.name} is {a.value:g}" for a in launch.arguments if isinstance(a, Scalar) and a.name not in free]
    return Assumed(known, (", ".join([f"the launch has {grid} workgroups of {block} work-items", *numbers]),), launch)
