"""The simulated card with a memory of its launches: each becomes a folder that every verb takes as a kernel.

    DIR/3/kernel.hsaco    the code object with its variables as the launch found them, each content once (a link into
                          DIR/data)
    DIR/3/kernel.toml     the launch as of `hipgemm.launch.requests`: grid, block, arguments; after it, what arrays hold
    DIR/data/*.npy        what buffers held, each content once, by its hash

A pointer that leads into an allocation, or a number of 64 bits that does (Tensile's metadata knows no pointers),
becomes an array from the lowest address that an argument has in it, to its end; others into the same one are `inside:`
it. Where all that a buffer holds before and after looks like floats it is kept as such, else as bytes. A launch that
failed is kept without what it left.

Limits: memory that no argument points to is not kept: pointers inside of structures, buffers and variables. An array's
place in a page is lost where the allocation begins before it.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.launch.launch import explicit, number_kind
from hipgemm.simulated_hip.clock import TimedCard, TimedReport
from isa.errors import writing
from isa.object.bundle import unbundle
from isa.object.code_object import PT_LOAD, CodeObject
from isa.sim.run.card import CompiledKernel, Module

if TYPE_CHECKING:
    from isa.object.code_object import Argument
    from isa.timing.machine.cards import Card as CardFacts

Triple = tuple[int, int, int]
_LIKELY = (1e-20, 1e20)
"""Floats of a real program lie between these, or are 0."""


class RecordingCard(TimedCard):
    """As `TimedCard`; each launch is kept in `folder`, which may hold others. IsaError where that cannot be written."""

    def __init__(self, on: CardFacts, folder: Path) -> None:
        super().__init__(on)
        self._folder = folder.resolve()
        self._images: dict[int, tuple[CodeObject, bytes]] = {}
        with writing(folder):
            (self._folder / "data").mkdir(parents=True, exist_ok=True)

    def load(self, image: bytes | CodeObject) -> Module:
        """As `Card.load`."""
        module = super().load(image)
        if isinstance(image, bytes):
            for kernel in module.kernels.values():
                self._images[id(kernel.code_object)] = (kernel.code_object, unbundle(image))
        return module

    def launch(  # type: ignore[override]
        self, kernel: CompiledKernel, grid: Triple, block: Triple, kernarg: bytes, dynamic_lds: int = 0, **options: Any
    ) -> TimedReport:  # fmt: skip
        """As `Card.launch`."""
        arguments = _Arguments(self, explicit(kernel.facts), kernarg)
        _, image = self._images[id(kernel.code_object)]
        image = _as_it_is(image, kernel.code_object, kernel.code)
        before, after = arguments.buffers(), {}
        folder = self._next()
        try:
            report = super().launch(kernel, grid, block, kernarg, dynamic_lds, **options)
            after = arguments.buffers()
        finally:
            types = {name: _type(held, after.get(name, b"")) for name, held in before.items()}
            files = {name: self._kept(held, types[name]) for name, held in before.items()}
            said: dict[str, Any] = {"grid": grid, "block": block, "dynamic_lds": dynamic_lds}
            said |= {"last": last} if (last := options.get("last")) else {}
            said["args"] = [f"{name}={word}" if name else word for name, word in arguments.words(files)]
            if after:
                said["expect"] = [f"{name}=../data/{self._kept(held, types[name])}" for name, held in after.items()]
            lines = [f"{key} = {json.dumps(value)}" for key, value in said.items()]
            (folder / "kernel.toml").write_text("\n".join([f"[{json.dumps(kernel.facts.name)}]", *lines, ""]))
            self._keep_code(image, folder)
        return report

    def _next(self) -> Path:
        number = 0
        while True:
            try:
                (self._folder / str(number)).mkdir()
            except FileExistsError:
                number += 1
            else:
                return self._folder / str(number)

    def _kept(self, held: bytes, of: str) -> str:
        """The file in `data` with what a buffer held, as an array of a type."""
        import numpy as np

        name = f"{hashlib.sha256(of.encode() + held).hexdigest()[:24]}.npy"
        if not (self._folder / "data" / name).exists():
            np.save(self._folder / "data" / name, np.frombuffer(held, of))
        return name

    def _keep_code(self, image: bytes, folder: Path) -> None:
        name = f"{hashlib.sha256(image).hexdigest()[:24]}.hsaco"
        (self._folder / "data" / name).write_bytes(image)
        os.symlink(Path("..") / "data" / name, folder / "kernel.hsaco")


def _as_it_is(image: bytes, code: CodeObject, base: int) -> bytes:
    """A code object whose variables hold what they hold in memory at `base`: a segment that has changed since it was
    loaded stands anew at the end of the file."""
    out = bytearray(image)
    (table,), (size, count) = struct.unpack_from("<Q", image, 32), struct.unpack_from("<HH", image, 54)
    for at in range(table, table + size * count, size):
        kind, flags, offset, address, _, held, room, align = struct.unpack_from("<IIQQQQQQ", image, at)
        if kind != PT_LOAD or flags & 1:  # code
            continue
        loaded = image[offset : offset + held].ljust(room, b"\0")
        now = bytearray(ctypes.string_at(base + address, room))
        for where in (place - address for place, _ in code.relative if address <= place < address + room):
            now[where : where + 8] = loaded[where : where + 8]
        if now != loaded:
            out += bytes((address - len(out)) % max(align, 1))
            struct.pack_into("<Q", out, at + 8, len(out))
            struct.pack_into("<Q", out, at + 32, room)
            out += now
    return bytes(out)


class _Arguments:
    """The arguments of one launch: which are arrays, and what words say them."""

    def __init__(self, card: RecordingCard, wanted: list[Argument], kernarg: bytes) -> None:
        self.wanted, self.kernarg = wanted, kernarg
        self._names = [a.name if a.name.isidentifier() else "" for a in wanted]
        """As a launch can say them: Tensile has names with spaces."""
        self.allocation: dict[int, tuple[int, int]] = {}
        """Number of an argument that points into an allocation -> (its address, the allocation's end)."""
        for i, argument in enumerate(wanted):
            if argument.kind == "global_buffer" or (argument.kind == "by_value" and argument.size == 8):
                address = int.from_bytes(self._bytes(argument), "little")
                if found := card.memory.find(address):
                    self.allocation[i] = address, found[0] + found[1]
        ends = {end for _, end in self.allocation.values()}
        self.first = {end: min((a, i) for i, (a, e) in self.allocation.items() if e == end) for end in ends}
        """An allocation's end -> (lowest address in it, the argument that has it)."""

    def _bytes(self, argument: Argument) -> bytes:
        return self.kernarg[argument.offset : argument.offset + argument.size]

    def _name(self, i: int) -> str:
        return self._names[i] or str(i)

    def buffers(self) -> dict[str, bytes]:
        """Argument -> what it holds now, of each allocation, in the arguments' order."""
        found = sorted((i, address, end) for end, (address, i) in self.first.items())
        return {self._name(i): (ctypes.c_char * (end - address)).from_address(address).raw for i, address, end in found}

    def words(self, kept: dict[str, str]) -> list[tuple[str, str]]:
        """(name, word) of each argument. kept: the files of arrays."""
        out = []
        for i, argument in enumerate(self.wanted):
            if i not in self.allocation:
                word = _word(self._bytes(argument), number_kind(argument))
            else:
                address, end = self.allocation[i]
                lowest, owner = self.first[end]
                own = owner == i
                word = (
                    f"file:../data/{kept[self._name(i)]}" if own else f"inside:{self._name(owner)}+{address - lowest}"
                )
            out.append((self._names[i], word))
        return out


def _type(*held: bytes) -> str:
    """The type of a buffer's elements: float32 where all that it held could be that, else bytes."""
    import numpy as np

    for data in held:
        if len(data) % 4:
            return "|u1"
        floats = np.frombuffer(data, "<f4")
        sizes = np.abs(floats[floats.view(np.uint32) != 0])
        if not ((sizes > _LIKELY[0]) & (sizes < _LIKELY[1])).all():
            return "|u1"
    return "<f4"


def _word(data: bytes, kind: str) -> str:
    """A value. kind: as of `number_kind`; where that is not known, what looks like a float is one."""
    sizes = {1: "u8", 2: "u16", 8: "i64"}
    letter = {2: "e", 4: "f", 8: "d"}.get(len(data), "")
    if letter and (kind == "f" or (letter == "f" and not kind)):
        (value,) = struct.unpack(f"<{letter}", data)
        if kind or _LIKELY[0] < abs(value) < _LIKELY[1]:
            return f"f{8 * len(data)}:{value!r}"
    if len(data) == 4:
        return f"i32:{int.from_bytes(data, 'little', signed=True)}"
    if len(data) in sizes:
        return f"{sizes[len(data)]}:{int.from_bytes(data, 'little', signed=sizes[len(data)][0] == 'i')}"
    unit, kind = (4, "u32") if len(data) % 4 == 0 else (1, "u8")
    members = (int.from_bytes(data[at : at + unit], "little") for at in range(0, len(data), unit))
    return "struct:" + ",".join(f"{kind}:{value}" for value in members)
