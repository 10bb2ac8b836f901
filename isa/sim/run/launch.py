"""A launch: workgroups over all cores.

Each thread has a `Context`, the waves of one workgroup and its LDS, and runs native code that takes workgroups from a
shared counter; Python only waits. Threads are kept from launch to launch, and no more of them are used than a kernel's
last launch says that there is work for. A thread that stops early (a fault, Ctrl-C, a spent budget) raises the abort
flag, which the others see at their next backward branch.

A thread runs one workgroup after the other to its end, in the order of their numbers. Where all that can run of one
looks for something in vain (`isa.sim.translate.time_slice`), or it has run for long, it is put aside as it is, and the
thread begins the next, or goes on with another, as many as the card holds at once (`isa.sim.run.turns`). So all of
these make progress, on however many threads. Within a workgroup waves take turns: at barriers, after so many
instructions (`state.TIME_SLICE`), and in each iteration of a loop that looks for what others do in vain.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from isa.display import number_of
from isa.errors import IsaError
from isa.registers import EXEC_HI, EXEC_LO, LANES
from isa.sim.ir.jit import NEED_PLAIN, RUN, HostTarget
from isa.sim.ir.state import LDS_PADDING, PRIVATE_APERTURE, SHARED_APERTURE, VGPRS, Context, FaultKind, Stop, Wave
from isa.sim.run import arguments
from isa.sim.run.compiled import CompiledKernel
from isa.sim.run.faults import (
    BudgetSpent,
    KernelFault,
    LaunchError,
    LdsFault,
    Look,
    MemoryFault,
    Place,
    RegisterFault,
    StoppedFault,
)
from isa.sim.run.memory import DeviceMemory
from isa.sim.run.tiers import Tiers, Version
from isa.sim.run.turns import Turns, resident

LDS_LIMIT = 64 << 10
WORK_ITEMS_LIMIT = 1024
GROUPS_LIMIT = 1 << 32
STACK_BYTES = 16 << 10
"""Scratch of a lane beyond what the kernel's descriptor states, where its stack grows as it runs (recursion)."""
SCRATCH_LIMIT = 64 * 4 * ((1 << 15) - 1) // LANES
"""Bytes of scratch of a lane: COMPUTE_TMPRING_SIZE.WAVESIZE counts 64 dwords of a wave in 15 bits (LLVM GCNSubtarget.h,
getMaxWaveScratchSize)."""
BUDGET = 1 << 32
"""Instructions that a workgroup may run where nothing else is asked for: minutes of a whole core for most kernels. The
longest of the shipped ones at n = 16384, those of stream-K, run a sixth of it."""
IN_VAIN = 1 << 12
"""How many of its instructions a look in vain counts as, while nothing in the launch makes progress."""
_WORTH_S = 100e-6
"""Of work that another thread is worth."""
_ASKED_FOR = {
    FaultKind.TRAP: ("the kernel traps: an assertion, an abort() or __builtin_trap()", "no s_trap"),
    FaultKind.GRID: (
        "a barrier of the whole grid, in a launch whose workgroups are not all resident", "a cooperative launch"
    ),
}  # fmt: skip
"""Faults of an instruction by itself: what it is, and what was expected."""


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """What is known after a launch. time_s: predicted seconds on the card; None, since this engine has no clock.

    threads: how many ran it; plain: whether any wave needed the plain version.
    """

    threads: int
    plain: bool
    time_s: float | None = None


_idle: list[SimpleQueue[Callable[[], None]]] = []
"""What threads that have nothing to do wait for."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


def _begin(work: Callable[[], None]) -> None:
    """Do work, which raises nothing, in a thread."""
    try:
        waits = _idle.pop()
    except IndexError:
        waits = SimpleQueue()
        threading.Thread(target=_serve, args=(waits,), daemon=True).start()
    waits.put(work)


def _serve(asked: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        work: Callable[[], None] | None = asked.get()
        assert work is not None
        work()
        work = None  # nothing of the launch is kept
        _idle.append(asked)


class _Buffer:
    """Zeroed host memory at an aligned address, alive as long as this object."""

    def __init__(self, size: int) -> None:
        self._bytes = ctypes.create_string_buffer(size + 128)
        self.address = -(-ctypes.addressof(self._bytes) // 128) * 128


class SimulatedLaunch:
    """One launch of a kernel. See `Card.launch` for the arguments."""

    def __init__(
        self,
        kernel: CompiledKernel,
        memory: DeviceMemory,
        target: HostTarget,
        grid: arguments.Triple,
        block: arguments.Triple,
        kernarg: bytes,
        dynamic_lds: int,
        fast: bool,
        budget: int | None,
        cooperative: bool = False,
        last: arguments.Triple | None = None,
    ) -> None:
        self.kernel, self.memory, self.target, self.fast = kernel, memory, target, fast and kernel.halves == 1
        self.grid, self.block = grid, block
        self.total = grid[0] * grid[1] * grid[2]
        self.budget = BUDGET if budget is None else budget
        self.cooperative = cooperative
        facts, descriptor = kernel.facts, kernel.facts.descriptor
        self._check(dynamic_lds)
        self.lds_bytes = descriptor.lds_bytes + dynamic_lds
        self.scratch_bytes = -(-descriptor.scratch_bytes // 16) * 16 + (STACK_BYTES if descriptor.dynamic_stack else 0)
        self.tiers = self._tiers()
        self.version = self.tiers.version(self.fast)
        segment = arguments.kernarg_segment(facts, kernarg, grid, block, dynamic_lds, last)
        self._arguments = memory.allocate(len(segment) + arguments.PACKET_BYTES)
        packet_at = self._arguments + len(segment)
        packet = arguments.dispatch_packet(grid, block, self.scratch_bytes, self.lds_bytes, self._arguments, last)
        ctypes.memmove(self._arguments, segment + packet, len(segment) + len(packet))
        self._scalars, self._ids = arguments.scalar_registers(facts, self._arguments, packet_at, self.scratch_bytes)
        self._v0, self._execs, self._kinds = arguments.work_items(facts, block, last)
        self._waves = max(self._kinds[1::2])
        self._abort = ctypes.c_uint32(0)
        self._counter = ctypes.c_uint64(0)
        self._arrived = ctypes.c_uint64(0)
        self._table = memory.table
        self._errors: list[BaseException] = []
        self._faults: list[tuple[int, IsaError]] = []  # with the place of the workgroup in the launch's order
        self._plain: Version | None = None
        self._contexts: list[Context] = []
        self._kept: list[object] = []
        self._need_plain = NEED_PLAIN(self._compile_plain)

    def _check(self, dynamic_lds: int) -> None:
        facts, descriptor, block = self.kernel.facts, self.kernel.facts.descriptor, self.block
        name, items = facts.name, block[0] * block[1] * block[2]
        if min(self.grid) < 1 or min(block) < 1:
            raise LaunchError(f"kernel {name}: a launch needs at least one work-item", got=f"{self.grid} of {block}")
        for axis, (_, _, bits) in descriptor.group_ids.items():
            if (groups := self.grid["xyz".index(axis)]) > 1 << bits:
                raise LaunchError(
                    f"kernel {name}: too many workgroups in {axis}", expected=f"at most {1 << bits}", got=str(groups)
                )
        if self.total > GROUPS_LIMIT:
            raise LaunchError(
                f"kernel {name}: so many workgroups are not run here, which would take days",
                expected=f"at most {GROUPS_LIMIT} in all",
                got=str(self.total),
            )
        if items > min(facts.max_workgroup, WORK_ITEMS_LIMIT):
            raise LaunchError(
                f"kernel {name}: too many work-items in a workgroup",
                expected=f"at most {min(facts.max_workgroup, WORK_ITEMS_LIMIT)}",
                got=f"{block}, {items} in all",
                hint="launch smaller blocks; __launch_bounds__ in the source may give up to 1024",
            )
        if descriptor.scratch_bytes > SCRATCH_LIMIT - STACK_BYTES:
            raise LaunchError(
                f"kernel {name} needs too much scratch",
                expected=f"at most {SCRATCH_LIMIT - STACK_BYTES} bytes a lane",
                got=f"{descriptor.scratch_bytes}",
            )
        if descriptor.lds_bytes + dynamic_lds > LDS_LIMIT:
            raise LaunchError(
                f"kernel {name} needs too much LDS",
                expected=f"at most {LDS_LIMIT} bytes a workgroup",
                got=f"{descriptor.lds_bytes} static and {dynamic_lds} dynamic",
            )

    def run(self, threads: int | None) -> LaunchReport:
        """To the end, or to the first error, which is raised: where several threads met one, that of the workgroup that
        began first."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        worth = threads or (1 + int(self.kernel.group_s * self.total / _WORTH_S) if self.kernel.group_s else cores)
        count = max(1, min(threads or cores, self.total, worth))
        turns = Turns(max(1, self.budget // IN_VAIN), lambda: self._progress, count)
        ended: SimpleQueue[float] = SimpleQueue()
        took, begun, seen = 0.0, 0, (began := time.process_time())
        try:
            for i in range(count):
                _begin(functools.partial(self._work, turns, i, ended))
                begun += 1
            while begun:
                with contextlib.suppress(Empty):
                    took += ended.get(timeout=0.2)  # so that Ctrl-C gets through
                    begun -= 1
                seen = self._spend(seen, began)
            self.kernel.group_s = took / self.total
        finally:
            self._abort.value = 1
            for _ in range(begun):
                ended.get()
            self.memory.free(self._arguments)
        if self._errors:
            raise self._errors[0]
        if self._faults:
            raise min(self._faults, key=lambda each: each[0])[1]
        return LaunchReport(count, self._plain is not None)

    def _tiers(self) -> Tiers:
        return self.kernel.tiers(self.target, switches=self.fast)

    def _spend(self, since: float, began: float) -> float:
        """Count the processor time since then for the versions that waves are in, and let them go on in better ones.
        began: when the launch did; the workgroups that have ended since say what is left."""
        if not self.tiers.improves or not self._contexts:
            return since
        now = time.process_time()
        ended = min(self._counter.value, self.total) - sum(c.running for c in self._contexts)
        left = (now - began) * (self.total - ended) / ended if ended > 0 else 0.0
        waves = [Wave.from_address(c.waves + i * c.wave_bytes) for c in self._contexts for i in range(c.wave_count)]
        plain = sum(w.plain != 0 for w in waves)
        for field, share in ("plain", plain), ("fast", len(waves) - plain):
            part = share / len(waves)
            better = self.tiers.spend(field == "fast", (now - since) * part, left * part) if share else None
            if better is not None:
                for c in self._contexts:
                    setattr(c, field, better.wave)
        return time.process_time()

    def _prepare(self, c: Context, beside: Context | None) -> object:
        """More for the context of a workgroup, where a kind of launch needs it; what comes back is kept as long as it.
        beside: another one of the same thread."""
        return None

    def _place(self, group: int) -> int:
        """How many workgroups begin before this one."""
        return group

    def _work(self, turns: Turns, thread: int, ended: SimpleQueue[float]) -> None:
        """One thread's work: a workgroup's turn, then that of the next of those that it has begun. ended: gets its
        processor time."""
        here: deque[Context] = deque()
        began = time.thread_time()
        try:
            turns.join(thread)
            here.append(self._context(None))
            while here and not self._abort.value:
                c = here[0]
                c.patience = turns.patience
                stop = Stop(RUN(self.version.run)(ctypes.addressof(c)))
                if stop is Stop.END:
                    here.popleft()
                elif stop is not Stop.WAITS:
                    self._stops(stop, c)
                    return
                elif self._counter.value < self.total and turns.may_begin(self._resident):
                    here.appendleft(self._context(c))
                elif turns.in_vain(len(here), lambda: self._held(here)):
                    self._stops(stop, min((c for c in self._contexts if c.running), key=lambda c: self._place(c.group)))
                    return
                else:
                    here.rotate(-1)
        except BaseException as error:
            self._abort.value = 1
            self._errors.append(error)
        finally:
            turns.leave()
            ended.put(time.thread_time() - began)

    def _held(self, here: Iterable[Context]) -> int | None:
        """For `Turns.in_vain`, of the workgroups of a thread. The host may change memory at any time."""
        return None

    def _stops(self, stop: Stop, c: Context) -> None:
        self._abort.value = 1
        if (error := self._error(stop, c)) is not None:
            self._faults.append((self._place(c.group), error))

    def _context(self, beside: Context | None) -> Context:
        """What a workgroup is run in, of this thread; beside: another one of it."""
        waves, halves = self._waves, self.kernel.halves
        wave_bytes = VGPRS + 4 * LANES * self.kernel.vgprs * halves
        state = _Buffer(waves * wave_bytes)
        scratch_of_wave = self.scratch_bytes * LANES * halves
        lds, scratch = _Buffer(self.lds_bytes + 2 * LDS_PADDING), _Buffer(max(1, waves * scratch_of_wave))
        sites = (ctypes.c_uint64 * (2 * self.version.sites + 2))()
        fast, plain = (self.version.wave, 0) if self.fast else (0, self.version.wave)
        if beside is not None:
            fast, plain = beside.fast, beside.plain
        c = Context(
            abort=ctypes.addressof(self._abort), counter=ctypes.addressof(self._counter), total=self.total,
            arrived=ctypes.addressof(self._arrived) if self.cooperative else 0,
            table=self._table.address, lds=lds.address + LDS_PADDING, waves=state.address, wave_bytes=wave_bytes,
            scalars=ctypes.addressof(self._scalars), v0=ctypes.addressof(self._v0),
            execs=ctypes.addressof(self._execs), kinds=ctypes.addressof(self._kinds), sites=ctypes.addressof(sites),
            fast=fast, plain=plain, need_plain=ctypes.cast(self._need_plain, ctypes.c_void_p).value,
            code=self.kernel.code, limit=self.budget,
            lds_bytes=self.lds_bytes, scratch_bytes=self.scratch_bytes, wave_count=waves, halves=halves,
            grid=self.grid, id_sgpr=tuple(at for at, _ in self._ids), id_bit=tuple(bit for _, bit in self._ids),
            panel=self.grid[0],
            entry=self.kernel.facts.descriptor.entry,
        )  # fmt: skip
        for i in range(waves):
            wave = Wave.from_address(state.address + i * wave_bytes)
            wave.scratch = scratch.address + i * scratch_of_wave
        self._kept += [self._prepare(c, beside), state, lds, scratch, sites]
        self._contexts.append(c)
        return c

    @property
    def _progress(self) -> int:
        found: int = self._counter.value + sum(c.progress for c in self._contexts)
        return found

    @functools.cached_property
    def _resident(self) -> int:
        """How many workgroups the card holds at once."""
        lds = self.lds_bytes
        return resident(self.kernel.facts, self.kernel.vgprs, self.kernel.halves, lds, self._waves)

    def _compile_plain(self) -> int:
        """Called by native code where a wave first needs the plain version."""
        try:
            self._plain = self.tiers.version(False)
            return self._plain.wave
        except BaseException as error:
            self._errors.append(error)
            return 0

    def _error(self, stop: Stop, c: Context) -> IsaError | None:
        workgroup = tuple(c.current)
        assert len(workgroup) == 3
        if stop in (Stop.BUDGET, Stop.WAITS):
            return self._spent(stop, c, workgroup)
        if stop is not Stop.FAULT:
            return None
        kind = FaultKind(c.fault)
        if kind in (FaultKind.REGISTER, FaultKind.TRAP, FaultKind.GRID):
            inst = next(i for i in self.kernel.instructions if i.address == c.fault_address)
            place = Place(self.kernel.name, inst, workgroup, c.fault_wave, -1)
            if kind is FaultKind.REGISTER:
                return RegisterFault(
                    f"v{c.fault_bytes} is beyond the wave's allocated registers", place, c.fault_address,
                    expected=f"v0 to v{self.kernel.vgprs - 1}, by the kernel's descriptor", got=f"v{c.fault_bytes}",
                )  # fmt: skip
            what, expected = _ASKED_FOR[kind]
            return StoppedFault(what, place, c.fault_address, expected=expected, got=str(inst))
        place = Place(self.kernel.name, self.kernel.site(c.fault_site), workgroup, c.fault_wave, c.fault_lane)
        what = number_of(c.fault_bytes, "byte")
        if kind is FaultKind.LDS:
            return LdsFault(
                f"an LDS access of {what} is outside the workgroup's LDS",
                place, c.fault_address, expected=f"below {self.lds_bytes:#x} ({self.lds_bytes} bytes)",
                hint="memory that is `extern __shared__` is given by the launch: --dynamic-lds, the third of <<<...>>>",
            )  # fmt: skip
        if kind is FaultKind.SCRATCH:
            return KernelFault(
                f"a scratch access of {what} is outside the lane's scratch",
                place, c.fault_address, expected=f"below {self.scratch_bytes:#x}",
            )  # fmt: skip
        if kind is FaultKind.JUMP:
            return StoppedFault(
                "a jump to an address where no code of this kernel begins",
                place,
                c.fault_address,
                expected="a known function",
            )
        near, hint = self.memory.nearest(c.fault_address, but=self._arguments), None
        apertures = {SHARED_APERTURE: "LDS", PRIVATE_APERTURE: "scratch"}
        if (space := apertures.get(c.fault_address >> 32)) and place.instruction.desc.space == "flat":
            hint = (
                f"{c.fault_address - place.instruction.offset:#x}, the register, is no address of {space}, and the "
                f"offset does not make it one"
            )
        return MemoryFault(f"an access of {what} is outside every allocation", place, c.fault_address, near, hint)

    def _spent(self, stop: Stop, c: Context, workgroup: tuple[int, int, int]) -> BudgetSpent:
        """Of a workgroup that runs too long, and of a launch in which all that run wait."""
        wave = Wave.from_address(c.waves + c.fault_wave * c.wave_bytes)
        at = next(b.instructions[0] for b in self.kernel.blocks if b.address == wave.pc)
        look = self._last_look(c, wave)
        if stop is Stop.BUDGET:
            return BudgetSpent(
                f"kernel {self.kernel.name}: workgroup {workgroup} ran {self.budget} instructions and has not ended; "
                f"wave {c.fault_wave} is in the loop at {at.address or 0:#x} `{at}`",
                at, look, hint=f"does this loop end? If so, raise the budget: --budget {8 * self.budget}",
            )  # fmt: skip
        hint = "does another wave change what it waits for?"
        if (missing := self.total - self._counter.value) > 0:
            hint = (
                f"{missing} of {self.total} workgroups have not begun: the card holds {self._resident} of these "
                "at once, and one that waits for another that has not begun waits for ever."
            )
        return BudgetSpent(
            f"kernel {self.kernel.name}: all workgroups that run wait, and none makes progress: workgroup {workgroup}, "
            f"wave {c.fault_wave} is in the loop at {at.address or 0:#x} `{at}`",
            look.instruction if look else at, look,
            hint=f"{hint} If it only takes long, raise the budget: --budget {8 * self.budget}",
        )  # fmt: skip

    def _last_look(self, c: Context, wave: Wave) -> Look | None:
        """Where the loop that a wave is in looked last, if it does."""
        from isa.sim.translate.cfg import looks, loops_that_wait

        if not wave.before:
            return None
        blocks, inst = self.kernel.blocks, self.kernel.site(c.look_site)
        loops = [loop for loop in loops_that_wait(blocks) if loop[0] <= wave.pc <= loop[1]]
        if not any(inst in looks(blocks, *loop) for loop in loops):
            return None
        exec_ = wave.s[EXEC_LO.index] | wave.s[EXEC_HI.index] << LANES
        lanes = [lane for lane in range(LANES * c.halves) if exec_ >> lane & 1] or [0]
        address = c.looked[lanes[0]]
        assert inst.desc.access is not None
        if inst.desc.access.space == "lds" or address >> 32 == SHARED_APERTURE:
            return Look(inst, lanes[0], f"LDS byte {address & 0xFFFFFFFF:#x}", address, None)
        if address >> 32 == PRIVATE_APERTURE:
            return None
        near = self.memory.nearest(address, but=self._arguments)
        if near is None or not near.base <= address <= near.end - 4:
            return None
        holds = ctypes.c_uint32.from_address(address).value
        return Look(inst, lanes[0], f"{holds:#x}", address, near)
