"""One case on the reference engine, and on native code: both from the same state, both to the state they leave.

Native code is entered where the case begins, with the wave's registers set, and left at its s_endpgm, so that nothing
but the case itself runs. With all lanes on, the fast version and the plain one are both asked.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from assembly import Case
from inputs import GLOBAL_BYTES, LANES, LDS_BYTES, SCRATCH_BYTES, Inputs

from isa.errors import IsaError
from isa.semantics.float_mode import FloatMode
from isa.sim.ir.jit import HostTarget, load_object
from isa.sim.ir.state import LDS_PADDING, VGPRS, Context, Stop
from isa.sim.ir.state import Wave as NativeWave
from isa.sim.run.interpret import AddressedCode, Buffers, Wave
from isa.sim.run.memory import DeviceMemory as CardMemory
from isa.sim.translate.cfg import blocks_of
from isa.sim.translate.translate import Facts, Translator

REGISTERS = 256
_CALL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


@dataclass
class Outcome:
    """The state after; stopped: "" or why the wave did not come to its end."""

    stopped: str
    vgprs: np.ndarray
    sgprs: np.ndarray
    scc: bool
    memory: bytes
    lds: bytes
    scratch: bytes


def run_numpy(case: Case, inputs: Inputs, mode: FloatMode, base: int) -> Outcome:
    """On the reference engine. A fault is an outcome; any other IsaError is raised."""
    memory, data, lds = Buffers(), bytearray(inputs.memory), bytearray(inputs.lds)
    memory.add(base, data)
    wave = Wave(AddressedCode(case.instructions, case.address), memory, lds, scratch_bytes=SCRATCH_BYTES, mode=mode)
    wave.vgprs[:], wave.sgprs[:], wave.scc = inputs.vgprs, inputs.sgprs, inputs.scc
    for lane, row in enumerate(wave.scratch):
        row[:] = inputs.scratch[SCRATCH_BYTES * lane : SCRATCH_BYTES * (lane + 1)]
    stopped = ""
    try:
        wave.run()
        stopped = "barrier" if wave.waiting else ""
    except IsaError as error:
        if "is outside every allocation" not in error.message and error.message != "the kernel traps":
            raise
        stopped = "fault"
    scratch = b"".join(map(bytes, wave.scratch))
    return Outcome(stopped, wave.vgprs, wave.sgprs, wave.scc, bytes(data), bytes(lds), scratch)


class Native:
    """Native code of many cases, for one mode: the fast and the plain version."""

    def __init__(
        self, cases: Sequence[Case], mode: FloatMode, target: HostTarget, memory: CardMemory, base: int
    ) -> None:
        self.memory, self.base, self.target = memory, base, target
        facts = Facts.on(target, REGISTERS, mode)
        functions = [function for case in cases for function in case.functions]
        translator = Translator(blocks_of(functions), facts, fast=True, entries=None)
        self.fast = self._compiled(translator)
        plain = Translator(blocks_of(functions, translator.bails), facts, fast=False, entries=None)
        self.plain = self._compiled(plain)
        size = VGPRS + 4 * LANES * REGISTERS
        self._room = np.zeros(size + 64, np.uint8)
        start = -self._room.ctypes.data % 64
        self._state = self._room[start : start + size]
        self._lds = np.zeros(LDS_BYTES + 2 * LDS_PADDING, np.uint8)
        self._scratch = np.zeros(SCRATCH_BYTES * LANES, np.uint8)
        self._sites = (ctypes.c_uint64 * (2 * len(translator._sites) + 2))()
        self._abort = ctypes.c_uint32(0)
        self._table = memory.table

    def _compiled(self, translator: Translator) -> object:
        native = load_object(translator.compiled(self.target).code, self.target)
        self._kept = [*getattr(self, "_kept", []), native]
        return _CALL(native.address(translator.symbol))

    def run(self, case: Case, inputs: Inputs, fast: bool) -> Outcome:
        """fast: begin in the fast version, as a wave whose lanes are all on does."""
        strip = self.target.strip
        wave = NativeWave.from_buffer(self._state)
        ctypes.memset(ctypes.addressof(wave), 0, VGPRS)
        wave.s = (ctypes.c_uint32 * 128)(*inputs.sgprs.tolist())
        wave.scc, wave.pc = int(inputs.scc), case.address
        wave.scratch = self._scratch.ctypes.data
        registers = self._state[VGPRS:].view(np.uint32).reshape(LANES // strip, REGISTERS, strip)
        registers[:] = inputs.vgprs.reshape(REGISTERS, LANES // strip, strip).transpose(1, 0, 2)
        lds = self._lds[LDS_PADDING : LDS_PADDING + LDS_BYTES]
        lds[:] = np.frombuffer(inputs.lds, np.uint8)
        self._scratch[:] = np.frombuffer(inputs.scratch, np.uint8)
        ctypes.memmove(self.base, inputs.memory, GLOBAL_BYTES)
        context = Context(
            abort=ctypes.addressof(self._abort), table=self._table.address, lds=lds.ctypes.data,
            sites=ctypes.addressof(self._sites), budget=1 << 40, lds_bytes=LDS_BYTES, scratch_bytes=SCRATCH_BYTES,
            wave_count=1, entry=case.address,
        )  # fmt: skip
        version = self.fast if fast else self.plain
        stop = Stop(version(ctypes.addressof(wave), ctypes.addressof(context)))  # type: ignore[operator]
        if stop is Stop.SWITCH:
            stop = Stop(self.plain(ctypes.addressof(wave), ctypes.addressof(context)))  # type: ignore[operator]
        stopped = {Stop.END: "", Stop.FAULT: "fault", Stop.BARRIER: "barrier"}.get(stop, stop.name)
        return Outcome(
            stopped, registers.transpose(1, 0, 2).reshape(REGISTERS, LANES).copy(), np.array(wave.s, np.uint32),
            bool(wave.scc), ctypes.string_at(self.base, GLOBAL_BYTES), lds.tobytes(), self._scratch.tobytes(),
        )  # fmt: skip
