"""A launch on the reference engine (`interpret`): the whole of it, for what native code is held against."""

from __future__ import annotations

import interpret
import numpy as np
from interpret import LANES, AddressedCode, Buffers, run_workgroup

from isa.asm.parse import parse_disassembly
from isa.object.code_object import CodeObject, disassemble
from isa.registers import NULL
from isa.semantics.float_mode import FloatMode
from isa.semantics.instruction import Instruction
from isa.sim.run import arguments

CODE_BASE = 0x1000_0000
"""Where `launch` puts the code object."""


def launch(
    code_object: CodeObject,
    name: str,
    memory: Buffers,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    kernarg: bytes,
    dynamic_lds: int = 0,
) -> int:
    """Run kernel `name` on `grid` workgroups of `block` work-items, one after another; gives instructions executed.

    kernarg: the explicit arguments as they lie in the kernarg segment; pointers in it are addresses in `memory`.
    """
    kernel = code_object.kernel(name)
    descriptor = kernel.descriptor
    image = bytearray(code_object.extent)
    for segment in code_object.segments:
        image[segment.address : segment.address + len(segment.data)] = segment.data
    memory.add(CODE_BASE, image)
    code = AddressedCode(_instructions(code_object, name, not descriptor.wave32), CODE_BASE + descriptor.entry)
    scratch = descriptor.scratch_bytes + (_STACK_BYTES if descriptor.dynamic_stack else 0)
    lds_bytes = descriptor.lds_bytes + dynamic_lds
    segment_bytes = arguments.kernarg_segment(kernel, kernarg, grid, block, dynamic_lds)
    packet = arguments.dispatch_packet(grid, block, scratch, lds_bytes, _ARGUMENTS)
    memory.add(_ARGUMENTS, bytearray(segment_bytes))
    memory.add(_PACKET, bytearray(packet))
    registers, ids = arguments.scalar_registers(kernel, _ARGUMENTS, _PACKET, scratch)
    v0, words = arguments.work_items(kernel, block)
    halves = 1 if descriptor.wave32 else 2
    lanes, execs = LANES * halves, [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
    mode = FloatMode.of_descriptor(descriptor)
    executed = 0
    for z, y, x in np.ndindex(grid[2], grid[1], grid[0]):
        sgprs = dict(enumerate(registers))
        for (sgpr, bit), at in zip(ids, (x, y, z), strict=True):
            if sgpr != NULL.index:
                sgprs[sgpr] |= at << bit
        lds = bytearray(lds_bytes)
        waves = [
            interpret.Wave(
                code,
                memory,
                lds,
                scratch_bytes=scratch,
                mode=mode,
                exec_=on,
                sgprs=sgprs,
                vgprs={0: v0[i * lanes : (i + 1) * lanes]},
                halves=halves,
            )
            for i, on in enumerate(execs)
        ]
        run_workgroup(waves)
        executed += sum(wave.executed for wave in waves)
    return executed


_ARGUMENTS, _PACKET = 0x6000_0000_0000, 0x6100_0000_0000
_STACK_BYTES = 16 << 10


def _instructions(code_object: CodeObject, name: str, wave64: bool) -> list[Instruction]:
    """The code of a kernel and of all functions beside it, at CODE_BASE."""
    kernel = code_object.kernel(name)
    pieces = {kernel.descriptor.entry: kernel.code_size}
    pieces |= {s.address: s.size for s in code_object.symbols.values() if s.kind == "func" and s.size}
    found: list[Instruction] = []
    for address, size in sorted(pieces.items()):
        code = code_object.read(address, size)
        rows = disassemble(code, CODE_BASE + address, code_object.arch, wave64=wave64)
        found += parse_disassembly([row for row in rows if not row[2].startswith(".")], name, code_object.arch)
    return found
