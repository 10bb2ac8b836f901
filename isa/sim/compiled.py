"""A kernel of a loaded code object, and its native versions."""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from isa.code_object import CodeObject, disassemble
from isa.code_object import Kernel as KernelFacts
from isa.program import Instruction
from isa.sim.cfg import Block, blocks_of, jumps_indirectly
from isa.sim.jit import Native, Target, compile_ir
from isa.sim.mode import FloatMode
from isa.sim.runtime import runtime_text
from isa.sim.translate import Facts, Translator


@dataclass(frozen=True)
class Version:
    """One native version of a kernel: addresses of its wave function and of the loop over workgroups.

    bails: addresses of instructions at which it may hand over to the plain version, beside the blocks' starts.
    """

    native: Native
    wave: int
    run: int
    bails: frozenset[int]


@dataclass(eq=False)
class Kernel:
    """A kernel that can be launched. code: where its code object lies in the card's memory."""

    facts: KernelFacts
    code_object: CodeObject
    code: int
    _blocks: list[Block] | None = None
    _versions: dict[tuple[Target, bool, bool], Version] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.facts.metadata

    @property
    def blocks(self) -> Sequence[Block]:
        """The kernel's code and, where it makes calls, that of all functions beside it; no kernel calls a kernel."""
        if self._blocks is None:
            self._blocks = blocks_of(self._functions)
        return self._blocks

    @functools.cached_property
    def _functions(self) -> list[list[Instruction]]:
        entries = {kernel.descriptor.entry for kernel in self.code_object.kernels.values()}
        entry = self._instructions(self.facts.descriptor.entry, self.facts.code_size)
        functions = [entry]
        if any(jumps_indirectly(inst) or inst.desc.name == "s_call_b64" for inst in entry):
            functions += [
                self._instructions(symbol.address, symbol.size)
                for symbol in self.code_object.symbols.values()
                if symbol.kind == "func" and symbol.size and symbol.address not in entries
            ]
        return functions

    def _instructions(self, address: int, size: int) -> list[Instruction]:
        from isa.parse import parse_disassembly

        code = self.code_object.read(address, size)
        rows = disassemble(code, address, self.code_object.arch)
        return parse_disassembly([row for row in rows if not row[2].startswith(".")], self.name)

    def version(self, target: Target, *, fast: bool, switches: bool) -> Version:
        """Compiled when it is first asked for. switches: the fast and the plain version take turns.

        IsaError where an instruction is not described.
        """
        key = (target, fast, switches)
        with self._lock:
            if key not in self._versions:
                self._versions[key] = self._compile(target, fast, switches)
            return self._versions[key]

    def _compile(self, target: Target, fast: bool, switches: bool) -> Version:
        descriptor = self.facts.descriptor
        mode = FloatMode.of(descriptor.float_mode, descriptor.dx10_clamp, descriptor.ieee)
        vgprs = max(descriptor.vgprs, self.facts.vgprs)
        facts = Facts(vgprs, mode, target.strip, native_half=target.native_half)
        blocks, entries = self.blocks, frozenset(b.address for b in self.blocks) if switches else None
        if switches and not fast:
            # Wherever the fast version may fall out of its loops over strips, the plain one can be entered.
            blocks = blocks_of(self._functions, self._versions[target, True, True].bails)
        translator = Translator(blocks, facts, fast=fast, entries=entries)
        native = compile_ir(runtime_text(facts.strip) + translator.text(), target)
        return Version(native, native.address(translator.symbol), native.address("run"), frozenset(translator.bails))

    def site(self, number: int) -> Instruction:
        """The instruction of an access site: memory instructions and indirect jumps are counted in code order."""
        return [inst for b in self.blocks for inst in b.instructions if is_site(inst)][number]

    @property
    def sites(self) -> int:
        return sum(is_site(inst) for b in self.blocks for inst in b.instructions)


def is_site(inst: Instruction) -> bool:
    return inst.desc.access is not None or jumps_indirectly(inst)
