"""A kernel and its launch -> a `Trace`, by executing only what decides path and addresses (`isa.timing.slicing`).

Each basic block's needed instructions are run once through `isa.sim.execute` on values that write NumPy source
(`isa.timing.arrays`); the block then is one Python function, called for all waves of the recorded workgroups at once
(arrays (waves, 32) a VGPR, (waves, 1) an SGPR). Waves that branch differently part and go on by themselves. Barriers
need no care: nothing that flows through LDS is in the slice.

Four workgroups run side by side: (0, 0), which is recorded, and the probes (1, 0), (0, 1) and the far corner, which
show how addresses move with the grid.

Limits: kernels whose path or addresses depend on loaded data are refused (`slicing`); scalar loads are served from
`Launch.memory` only (kernel arguments, dispatch packet). A workgroup of the probes that takes another path than (0, 0)
makes the trace inexact, which it says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from isa.analysis.cfg import Block, Cfg
from isa.describe import Access, width
from isa.errors import IsaError
from isa.program import Instruction
from isa.registers import EXEC_LO
from isa.sim.execute import execute
from isa.sim.mode import FloatMode
from isa.timing import arrays
from isa.timing.arrays import ArrayValue
from isa.timing.layout import Recorded
from isa.timing.slicing import Slice, slice_of
from isa.timing.trace import Recorder, Trace, Ways
from isa.values import Value

_LANES = np.arange(32, dtype=np.uint32)[None, :]
_POWERS = (1 << np.arange(32, dtype=np.uint64))[None, :]


@dataclass(frozen=True)
class Launch:
    """How a kernel is started: what the hardware and the runtime put into registers and kernel arguments.

    grid: workgroups in x, y, z; block: work-items of a workgroup.
    sgprs: (number, value) of the SGPRs that are set before the first instruction.
    workgroup_sgprs: (axis, SGPR) of the workgroup ids that the kernel asks for.
    item_axes: how many of x, y, z are packed into v0.
    memory: (address, bytes) that scalar loads may read.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    sgprs: tuple[tuple[int, int], ...] = ()
    workgroup_sgprs: tuple[tuple[str, int], ...] = ()
    item_axes: int = 3
    memory: tuple[tuple[int, bytes], ...] = ()

    @property
    def waves(self) -> int:
        return -(-self.block[0] * self.block[1] * self.block[2] // 32)


def _part_of(cfg: Cfg, launch: Launch) -> Slice:
    part = slice_of(cfg)
    if launch.block[0] * launch.block[1] * launch.block[2] % 32:  # the last wave never has all lanes on
        part = replace(part, full=(False,) * len(cfg))
    return part


def follow(cfg: Cfg, launch: Launch, numbers: Sequence[int], last: int | None = None) -> Recorded:
    """Record workgroups by their numbers, each for itself; wave i of the r-th has row r * launch.waves + i. last: None,
    or accesses of a wave after which it is left; LDS is then left out."""
    gx = launch.grid[0]
    run = _Run(cfg, _part_of(cfg, launch), launch, [(n % gx, n // gx) for n in numbers], len(numbers), last)
    run.go()
    return run.recorder.finish()


def ways(cfg: Cfg, launch: Launch, numbers: Sequence[int]) -> list[bytes]:
    """Of each of these workgroups, something that is equal for those that go the same way."""
    gx = launch.grid[0]
    run = _Run(cfg, _part_of(cfg, launch), launch, [(n % gx, n // gx) for n in numbers], len(numbers), 1 << 62)
    run.recorder = Ways(cfg, launch.waves * len(numbers))
    run.go()
    found = run.recorder.finish()
    rows = [found.blocks[a:b].tobytes() for a, b in pairwise(found.block_at)]
    return [b"|".join(rows[i : i + launch.waves]) for i in range(0, len(rows), launch.waves)]


def trace(cfg: Cfg, launch: Launch) -> Trace:
    """Record workgroup (0, 0, 0) of a launch. IsaError where the kernel cannot be followed without its data."""
    part = _part_of(cfg, launch)
    gx, gy = launch.grid[0], launch.grid[1] * launch.grid[2]
    probes = [(0, 0), (1, 0), (0, 1), (gx - 1, gy - 1)]
    probes = [(x, y) for x, y in dict.fromkeys(probes) if x < gx and y < gy]
    run = _Run(cfg, part, launch, probes)
    run.go()
    shift_x, shift_y, exact = run.shifts()
    return Trace(run.recorder.finish(), launch.waves, (gx, gy), shift_x, shift_y, exact)


class _Emitter:
    """The engine of `isa.sim.execute` that writes NumPy source for one block."""

    def __init__(self, part: Slice, lds: bool = True) -> None:
        self.lds = lds
        self.mode = FloatMode.of(0xF0)
        self.code = arrays.Code()
        self.part = part
        self.position = 0
        self.discard = False
        self.vgprs: dict[int, ArrayValue] = {}
        self.sgprs: dict[int, ArrayValue] = {}
        self.scc: ArrayValue | None = None
        self.written: set[str] = set()
        self.condition: Value | None = None

    def run(self, insts: tuple[Instruction, ...], block: Block) -> Callable[..., Any]:
        """A function of (registers, memory, record) that runs a block's slice and returns its branch's condition."""
        for i in block.range:
            inst = insts[i]
            if i in self.part.accesses:
                self.position, self.discard = i, i not in self.part.needed
                execute(self, inst)
            elif i in self.part.needed or (inst.desc.effect == "branch" and i not in self.part.guessed):
                self.position, self.discard = i, False
                execute(self, self.part.needed.get(i, inst))
        lines = self.code.lines
        for name in sorted(self.written):
            lines.append(f"{name} = {self._last(name)}")
        lines.append(f"return {self.condition.text if isinstance(self.condition, ArrayValue) else None}")
        source = "def block(V, S, F, C, K, load, record):\n    " + "\n    ".join(lines)
        scope: dict[str, Any] = {
            "np": np, "LANES": _LANES, "ONE": np.ones((1, 1), np.uint32), "mask": _mask, "lane": _lane, "clz": _clz,
            "ctz": _ctz,
        }  # fmt: skip
        exec(compile(source, f"<block {block.index}>", "exec"), scope)
        constants = [
            np.full((1, 1), number, eval(arrays._TYPES[type_], {"np": np})) for type_, number in self.code.constants
        ]
        body = scope["block"]
        return lambda v, s, f, c, load, record: body(v, s, f, c, constants, load, record)

    def _last(self, name: str) -> str:
        file, number = name[0], name[2:-1]
        if file == "C":
            assert self.scc is not None
            return self.scc.text
        return (self.vgprs if file == "V" else self.sgprs)[int(number)].text

    # --- isa.sim.execute.Engine
    def constant(self, type_: str, number: float) -> Value:
        return self.code.constant(type_, number)

    def lane_ids(self) -> Value:
        return ArrayValue(self.code, "u32", "LANES")

    def exec_mask(self) -> Value | None:
        if self.part.full[self.position]:
            return None
        return self.read_sgpr(EXEC_LO.index).lanes()

    def read_vgpr(self, index: int, relative: Value | None = None) -> Value:
        self._no_relative(relative)
        if index not in self.vgprs:
            self.vgprs[index] = ArrayValue(self.code, "u32", f"V[{index}]")
        return self.vgprs[index]

    def write_vgpr(self, index: int, value: Value, mask: Value | None, relative: Value | None = None) -> None:
        self._no_relative(relative)
        if self.discard:
            return
        assert isinstance(value, ArrayValue)
        if mask is not None:
            assert isinstance(mask, ArrayValue)
            old = self.read_vgpr(index)
            assert isinstance(old, ArrayValue)
            value = self.code.value("u32", f"np.where({mask.text}, {value.text}, {old.text})")
        self.vgprs[index] = self._kept(value)
        self.written.add(f"V[{index}]")

    def read_sgpr(self, index: int, relative: Value | None = None) -> Value:
        self._no_relative(relative)
        if index == 124:
            return self.constant("u32", 0)
        if index not in self.sgprs:
            self.sgprs[index] = ArrayValue(self.code, "u32", f"S[{index}]")
        return self.sgprs[index]

    def write_sgpr(self, index: int, value: Value, relative: Value | None = None) -> None:
        self._no_relative(relative)
        if self.discard or index == 124:
            return
        assert isinstance(value, ArrayValue)
        self.sgprs[index] = self._kept(value)
        self.written.add(f"S[{index}]")

    def read_scc(self) -> Value:
        if self.scc is None:
            self.scc = ArrayValue(self.code, "b1", "C[0]")
        return self.scc

    def write_scc(self, value: Value) -> None:
        assert isinstance(value, ArrayValue)
        self.scc = self._kept(value)
        self.written.add("C[0]")

    def _kept(self, value: ArrayValue) -> ArrayValue:
        """The value under a name of its own: a register read by name would change under it."""
        return ArrayValue(self.code, value.type, self.code.let(value.text)) if "[" in value.text else value

    def _no_relative(self, relative: Value | None) -> None:
        if relative is not None:
            raise IsaError("the tracer does not follow register numbers from M0")

    def special(self, name: str) -> Value:
        raise IsaError(f"the tracer does not know {name}")

    def next_address(self) -> Value:
        raise IsaError("the tracer does not follow calls")

    def load(
        self, inst: Instruction, access: Access, address: Value, element: str, mask: Value | None
    ) -> tuple[Value, ...]:
        assert isinstance(address, ArrayValue)
        count = max(1, width(element))
        if access.space == "scalar":
            name = self.code.let(f"load({address.text}, {count})")
            return tuple(ArrayValue(self.code, "u32", f"{name}[{k}]") for k in range(count))
        self._record(inst, address, mask)
        if self.discard:
            return (self.constant("u32", 0),) * count
        return tuple(self.code.value("u32", f"F.get({slot}, LANES)") for slot in self.part.slots[self.position])

    def store(
        self, inst: Instruction, access: Access, address: Value, element: str, values: tuple[Value, ...],
        mask: Value | None,
    ) -> None:  # fmt: skip
        self._record(inst, address, mask)
        if self.discard:
            return
        for slot, value in zip(self.part.slots[self.position], values, strict=True):
            assert isinstance(value, ArrayValue)
            text = value.text
            if mask is not None:
                assert isinstance(mask, ArrayValue)
                text = f"np.where({mask.text}, {text}, F.get({slot}, LANES))"
            self.code.lines.append(f"F[{slot}] = {text}")

    def atomic(
        self, inst: Instruction, access: Access, address: Value, body: Callable[..., Value],
        data: tuple[Value, ...], mask: Value | None,
    ) -> Value:  # fmt: skip
        self._record(inst, address, mask)
        return self.constant("u32", 0)

    def _record(self, inst: Instruction, address: Value, mask: Value | None) -> None:
        assert isinstance(address, ArrayValue)
        assert inst.desc.access is not None
        if inst.desc.access.space == "lds" and not self.lds:
            return
        lanes = mask.text if isinstance(mask, ArrayValue) else None
        self.code.lines.append(f"record({self.position}, {address.text}, {lanes})")

    def branch(self, inst: Instruction, condition: Value | None) -> None:
        self.condition = condition

    def jump(self, target: Value) -> None:
        raise IsaError("the tracer does not follow jumps through a register")

    def end(self) -> None: ...
    def barrier(self) -> None: ...


def _mask(bits: np.ndarray) -> np.ndarray:
    return (np.broadcast_to(bits, (bits.shape[0], 32)) * _POWERS).sum(1, keepdims=True).astype(np.uint32)


def _lane(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    waves = max(values.shape[0], index.shape[0])
    wide = np.broadcast_to(values, (waves, 32))
    return np.take_along_axis(wide, np.broadcast_to(index & 31, (waves, index.shape[1])).astype(np.int64), 1)


def _clz(values: np.ndarray, bits: int) -> np.ndarray:
    lengths = np.where(values == 0, 0, np.floor(np.log2(np.maximum(values, 1).astype(np.float64))).astype(np.int64) + 1)
    return (bits - lengths).astype(values.dtype)


def _ctz(values: np.ndarray, bits: int) -> np.ndarray:
    low = values & (~values + values.dtype.type(1))
    return np.where(values == 0, bits, bits - 1 - _clz(low, bits).astype(np.int64)).astype(values.dtype)


class _Run:
    """Workgroups `probes` side by side, the first `recorded` of which are recorded. last: None, or after how many
    accesses of a wave, LDS left out, nobody needs to know more."""

    def __init__(
        self, cfg: Cfg, part: Slice, launch: Launch, probes: list[tuple[int, int]], recorded: int = 1,
        last: int | None = None,
    ) -> None:  # fmt: skip
        self.cfg, self.part, self.launch, self.probes, self.last = cfg, part, launch, probes, last
        self.own = launch.waves * recorded
        self.recorder = Recorder(cfg, self.own)
        self.functions: dict[int, Callable[..., Any]] = {}
        self.moved: dict[int, np.ndarray] = {}
        self._all_lanes = np.full(self.own, 0xFFFFFFFF, np.int64)
        # Scratch lies elsewhere for each wave and LDS for each workgroup: only the rest moves with the grid.
        spaces = [inst.desc.access.space if inst.desc.access else "" for inst in cfg.instructions]
        self.probed = [space in ("global", "flat") and len(probes) > recorded for space in spaces]
        self.agreed = True

    def go(self) -> None:
        work = [(np.arange(self.launch.waves * len(self.probes)), 0, *self._start())]
        while work:
            rows, block, v, s, f, c = work.pop()
            while True:
                if self.last is not None:
                    going = self.recorder.count(rows) < self.last
                    if not going.any():
                        break
                    if not going.all():
                        v, s, f, c = _part(v, s, f, c, going)
                        rows = rows[going]
                for row in rows[rows < self.own]:
                    self.recorder.block(int(row), block)
                self._rows = rows
                if block not in self.functions:
                    self.functions[block] = _Emitter(self.part, self.last is None).run(
                        self.cfg.instructions, self.cfg.blocks[block]
                    )
                condition = self.functions[block](v, s, f, c, self._load, self._record)
                where = self.cfg.blocks[block]
                if not where.successors:
                    break
                if condition is None:
                    block = where.successors[0]  # where a branch is guessed, the one behind it
                    continue
                taken = np.broadcast_to(condition, (len(rows), 1))[:, 0]
                following, target = self._ways(where)
                if taken.all() or not taken.any():
                    block = target if taken[0] else following
                    continue
                away = ~taken
                work.append((rows[away], following, *_part(v, s, f, c, away)))
                v, s, f, c = _part(v, s, f, c, taken)
                rows, block = rows[taken], target

    def _ways(self, where: Block) -> tuple[int, int]:
        following = where.index + 1
        return following, next((k for k in where.successors if k != following), following)

    def _start(self) -> tuple[list, list, dict, list]:
        """Registers at the first instruction (RDNA3 ISA guide 3; LLVM AMDGPU "Initial Kernel Execution State")."""
        launch, n = self.launch, self.launch.waves
        waves = n * len(self.probes)
        zero = np.zeros((waves, 1), np.uint32)
        v: list[np.ndarray] = [np.zeros((waves, 32), np.uint32)] * 256
        s: list[np.ndarray] = [zero] * 128
        item = np.arange(n * 32, dtype=np.uint32)
        bx, by, bz = launch.block
        packed = item % bx
        if launch.item_axes > 1:
            packed |= item // bx % by << 10
        if launch.item_axes > 2:
            packed |= item // (bx * by) << 20
        on = (item < bx * by * bz).reshape(n, 32)
        v[0] = np.tile(packed.reshape(n, 32), (len(self.probes), 1)).astype(np.uint32)
        s[EXEC_LO.index] = np.tile(_mask(on), (len(self.probes), 1))
        for number, value in launch.sgprs:
            s[number] = zero + np.uint32(value)
        places = [(x, y % launch.grid[1], y // launch.grid[1]) for x, y in self.probes]
        for axis, number in launch.workgroup_sgprs:
            column = [place["xyz".index(axis)] for place in places]
            s[number] = np.repeat(np.array(column, np.uint32), n)[:, None]
        return v, s, {}, [np.zeros((waves, 1), np.bool_)]

    def _load(self, address: np.ndarray, count: int) -> list[np.ndarray]:
        first = int(address.flat[0])
        if not (address == address.flat[0]).all():
            raise IsaError("the tracer reads scalar memory at one address for all waves only")
        for base, data in self.launch.memory:
            if base <= first and first + 4 * count <= base + len(data):
                words = np.frombuffer(data, np.uint32, count, first - base)
                return [np.full((1, 1), word, np.uint32) for word in words]
        raise IsaError(
            f"a scalar load of {4 * count} bytes at {first:#x} is outside of what is known before the launch",
            hint="the time of a kernel whose addresses depend on data can be told only from a launch",
        )

    def _record(self, position: int, address: np.ndarray, lanes: np.ndarray | None) -> None:
        n, rows = self.launch.waves, self._rows
        if len(rows) == n * len(self.probes):
            own, together = self.own, True
        else:
            own, together = int((rows < self.own).sum()), False
        if own:
            mine = address[:own] if len(address) == len(rows) else address
            if mine.shape != (own, 32):
                mine = np.broadcast_to(mine, (own, 32))
            masks = self._all_lanes[:own] if lanes is None else _mask(lanes)[:own, 0]
            if len(masks) != own:
                masks = np.broadcast_to(masks, (own,))
            self.recorder.access(rows[:own], position, mine, masks)
        if not self.probed[position]:
            return
        if not together:
            self.agreed = False
            return
        count, shape = len(self.probes), (len(rows), 32)
        wide = (address if address.shape == shape else np.broadcast_to(address, shape)).astype(np.int64)
        wide = wide.reshape(count, n, 32)
        if lanes is None:
            moved = (wide - wide[0]).reshape(count, n * 32)
        else:
            on = np.broadcast_to(lanes, shape).reshape(count, n, 32)
            self.agreed &= bool((on == on[0]).all())
            moved = (wide - wide[0])[:, on[0]]  # [probe, lane that is on]
        if moved.size:
            known = self.moved.setdefault(position, moved[:, 0])
            self.agreed &= bool((moved == known[:, None]).all())

    def shifts(self) -> tuple[np.ndarray, np.ndarray, bool]:
        """Sectors by which each instruction's addresses move with x and y, and whether the far corner agrees."""
        count = len(self.cfg)
        along = {"x": np.zeros(count, np.int64), "y": np.zeros(count, np.int64)}
        exact = self.agreed
        for position, step in self.moved.items():
            by_probe = dict(zip(self.probes, step, strict=True))
            dx, dy = int(by_probe.get((1, 0), 0)), int(by_probe.get((0, 1), 0))
            for (x, y), moved in by_probe.items():
                exact &= int(moved) == x * dx + y * dy
            exact &= dx % 32 == 0 and dy % 32 == 0
            along["x"][position], along["y"][position] = dx // 32, dy // 32
        return along["x"], along["y"], exact


def _part(v: list, s: list, f: dict, c: list, keep: np.ndarray) -> tuple[list, list, dict, list]:
    """The registers of some of the waves."""
    count = len(keep)

    def some(a: np.ndarray) -> np.ndarray:
        return np.broadcast_to(a, (count, a.shape[1]))[keep]

    return [some(a) for a in v], [some(a) for a in s], {k: some(a) for k, a in f.items()}, [some(a) for a in c]
