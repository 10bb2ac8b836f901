"""Compiled kernels: a kernel of a loaded code object -> its native versions.

Versions are kept by `isa.sim.run.tiers`, once in a process for all code objects with the same code, and on disk. Where
one is found, the code is not even disassembled: that waits until a fault has to be explained, and what translates is
not imported.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isa.errors import IsaError
from isa.object.code_object import CodeObject, disassemble
from isa.object.code_object import DescribedKernel as KernelFacts
from isa.semantics.float_mode import FloatMode
from isa.sim.ir import translations
from isa.sim.ir.jit import HostTarget
from isa.sim.ir.translations import Facts, Translated
from isa.sim.run.tiers import Recipe, Tiers

if TYPE_CHECKING:
    from isa.semantics.instruction import Instruction
    from isa.sim.translate.cfg import Block


@dataclass(eq=False)
class CompiledKernel:
    """A kernel that can be launched. code: where its code object lies in the card's memory; group_s: what a workgroup
    of the last launch took of a thread's time."""

    facts: KernelFacts
    code_object: CodeObject
    code: int
    group_s: float = 0.0
    _blocks: list[Block] | None = None
    _data: dict[int, str] = field(default_factory=dict)
    _tiers: dict[tuple[HostTarget, bool], Tiers] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.facts.metadata

    @property
    def blocks(self) -> Sequence[Block]:
        """The kernel's code and, where it makes calls, that of all functions beside it; no kernel calls a kernel."""
        from isa.sim.translate.cfg import blocks_of

        if self._blocks is None:
            self._blocks = blocks_of(self._functions, data=self._data)
        return self._blocks

    def blocks_with(self, more: Set[int]) -> Sequence[Block]:
        """The same with blocks that begin at these addresses, too."""
        from isa.sim.translate.cfg import blocks_of

        return blocks_of(self._functions, more, self._data) if more else self.blocks

    @functools.cached_property
    def _functions(self) -> list[list[Instruction]]:
        """The kernel, and the functions that it may call: those whose addresses it and they compute, if the compiler
        says that the calls are known and end (no dynamic stack); else all."""
        from isa.sim.translate.cfg import addresses_taken, jumps_indirectly

        def calls(function: list[Instruction]) -> bool:
            return any(jumps_indirectly(inst) or inst.desc.name == "s_call_b64" for inst in function)

        entries = {kernel.descriptor.entry for kernel in self.code_object.kernels.values()}
        entry = self._instructions(self.facts.descriptor.entry, self.facts.code_size)
        if not entry:
            raise IsaError(f"kernel {self.name} has no instructions", expected="at least s_endpgm")
        if not calls(entry):
            return [entry]
        functions = {
            symbol.address: symbol
            for symbol in self.code_object.symbols.values()
            if symbol.kind == "func" and symbol.size and symbol.address not in entries
        }
        read: dict[int, list[Instruction]] = {}
        reached = {self.facts.descriptor.entry: entry}
        work = [entry] if self.metadata.get(".uses_dynamic_stack") is False else []
        while work:
            taken = addresses_taken(work.pop()) & functions.keys()
            for address in taken - reached.keys():
                read[address] = reached[address] = self._instructions(address, functions[address].size)
                work.append(reached[address])
        if not read:
            read = {address: self._instructions(address, symbol.size) for address, symbol in functions.items()}
        return [entry, *(read[address] for address in functions if address in read)]

    def _instructions(self, address: int, size: int) -> list[Instruction]:
        from isa.asm.parse import parse_disassembly

        code = self.code_object.read(address, size)
        rows = disassemble(code, address, self.code_object.arch, wave64=self.halves == 2)
        return parse_disassembly(rows, self.name, self.code_object.arch, self._data)

    def tiers(self, target: HostTarget, *, switches: bool) -> Tiers:
        """Its versions for a target. switches: the fast and the plain version take turns."""
        key = target, switches
        return self._tiers.get(key) or self._tiers.setdefault(
            key, Tiers(target, functools.partial(self._recipe, switches), switches)
        )

    def _recipe(self, switches: bool, target: HostTarget, fast: bool, more: frozenset[int]) -> Recipe:
        facts = self.translation_facts(target)

        def translate() -> Translated:
            from isa.sim.translate.translate import Translator

            blocks = self.blocks_with(more)
            entries = frozenset(b.address for b in self.blocks) if switches else None
            translator = Translator(blocks, facts, fast=fast, entries=entries, drops=True)
            return translator.compiled(target, self.sites)

        return Recipe(self.key(target, "fast" if fast else "plain", switches, sorted(more), facts), translate)

    @property
    def vgprs(self) -> int:
        """Registers of a wave."""
        return max(self.facts.descriptor.vgprs, self.facts.vgprs)

    @property
    def halves(self) -> int:
        """Of a wave, 32 lanes each."""
        return 1 if self.facts.descriptor.wave32 else 2

    def translation_facts(self, target: HostTarget, *, patterns: bool = True) -> Facts:
        """What it is compiled for."""
        mode = FloatMode.of_descriptor(self.facts.descriptor)
        return Facts.on(target, self.vgprs, mode, patterns=patterns, halves=self.halves)

    def key(self, target: HostTarget, *facts: object) -> str:
        """The name of a translation of this code, under facts, for a target."""
        descriptor = self.facts.descriptor
        return translations.key(
            (
                *facts,
                target.name,
                target.features,
                bool(target.baseline),
                descriptor.entry,
                self.metadata.get(".uses_dynamic_stack"),
            ),
            self.code_object.arch,
            self.code_object.read(descriptor.entry, self.facts.code_size),
            *self._callable,
        )

    @property
    def _callable(self) -> Iterator[bytes]:
        """Place and code of each function that the kernel may call."""
        entries = {kernel.descriptor.entry for kernel in self.code_object.kernels.values()}
        for symbol in self.code_object.symbols.values():
            if symbol.kind == "func" and symbol.size and symbol.address not in entries:
                yield f"{symbol.address} {symbol.size}".encode()
                yield self.code_object.read(symbol.address, symbol.size)

    @property
    def functions(self) -> dict[str, Sequence[Instruction]]:
        """Symbol -> instructions in order, also what nothing reaches: of the kernel, and of functions that it may
        call."""
        names = {symbol.address: name for name, symbol in self.code_object.symbols.items() if symbol.kind == "func"}
        entry, *others = self._functions
        return {self.name: entry, **{names[code[0].address or 0]: code for code in others if code}}

    @property
    def instructions(self) -> list[Instruction]:
        """Those that may run, of functions, too, in the order of the code."""
        return [inst for block in self.blocks for inst in block.instructions]

    def site(self, number: int) -> Instruction:
        """The instruction of an access site: memory instructions and indirect jumps are counted in code order."""
        return [inst for inst in self.instructions if is_site(inst)][number]

    @property
    def sites(self) -> int:
        return sum(map(is_site, self.instructions))


def is_site(inst: Instruction) -> bool:
    from isa.sim.translate.cfg import jumps_indirectly

    return inst.desc.access is not None or jumps_indirectly(inst)
