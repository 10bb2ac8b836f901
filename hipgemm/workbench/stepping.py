"""Steps of a wave: a launch, a wave and a number of instructions -> registers, LDS and memory at that point.

The workgroup runs on the reference engine (`isa.sim.run.interpret`): its waves in the order of their numbers, each to
its next barrier or its end. That order is always the same, so a step back is the same launch again with one instruction
less. Breakpoints are conditions on the wave that is watched. What the next instruction asks of memory is found by
running it on a copy of the wave whose accesses are kept and touch nothing.

Limits: one workgroup runs, the others never did: what they would have left in memory is not there. MOST instructions,
of all its waves together.
"""

from __future__ import annotations

import contextlib
import operator
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isa.errors import IsaError
from isa.registers import EXEC_LO, LANES, VCC_LO
from isa.semantics.reference.values import NumpyValue
from isa.sim.run.interpret import PRIVATE_BASE, SHARED_BASE, Buffers, ReferenceLaunch, Wave

if TYPE_CHECKING:
    from hipgemm.kernels.build import Linked
    from hipgemm.launch.launch import Launch
    from isa.semantics.engine import Request

MOST = 200_000
_ARRAYS, _APART = 0x7F00_0000_0000, 1 << 36
_SHOWN = 256
"""Elements of an array, and dwords of LDS."""
_CONDITION = re.compile(r"\s*(v|s|exec|vcc|scc)(\d+)?(?:\[(\d+)\])?\s*(==|!=|<=|>=|<|>)\s*(-?[\w.]+)\s*")
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
}  # fmt: skip


@dataclass(frozen=True)
class Break:
    """Where to stop. offset: of an instruction in the code object, None for any; condition: as `parsed` reads it."""

    offset: int | None = None
    condition: str = ""


class _Peek(Wave):
    """A copy of a wave that keeps the accesses that it is asked for."""

    def __init__(self, wave: Wave) -> None:
        self.__dict__.update(wave.__dict__)
        self.vgprs, self.sgprs = wave.vgprs.copy(), wave.sgprs.copy()
        self.asked: list[Request[NumpyValue]] = []

    def load(self, at: Request[NumpyValue]) -> tuple[NumpyValue, ...]:
        self.asked.append(at)
        return (self.constant("u32", 0),) * at.words

    def store(self, at: Request[NumpyValue], values: tuple[NumpyValue, ...]) -> None:
        self.asked.append(at)

    def atomic(self, at: Request[NumpyValue], body: Callable[..., NumpyValue], data: tuple[NumpyValue, ...]) -> Any:
        self.asked.append(at)
        return NumpyValue(at.access.element.replace("b", "u"), np.zeros(LANES, np.uint64), self.mode)


class Walk:
    """One workgroup of a launch, stepped through by the wave `wave`."""

    def __init__(self, made: Linked, launch: Launch, workgroup: tuple[int, int, int], wave: int) -> None:
        self.made, self.launch, self.at, self.wave = made, launch.bound(made.facts), workgroup, wave
        if any(not 0 <= i < n for i, n in zip(workgroup, launch.grid, strict=True)):
            raise IsaError(f"there is no workgroup {workgroup}", expected=f"below {launch.grid}")
        self._begin()
        if not 0 <= wave < len(self.waves):
            raise IsaError(f"there is no wave {wave}", expected=f"0 to {len(self.waves) - 1}")

    def _begin(self) -> None:
        memory, self.arrays, self._bases = Buffers(), {}, {}
        addresses = []
        for i, array in enumerate(self.launch.arrays):
            held = bytearray(max(array.nbytes, 4))
            begin = array.contents().tobytes()
            held[: len(begin)] = begin
            addresses.append(_ARRAYS + i * _APART)
            memory.add(addresses[-1], held)
            name = array.name or f"argument {i}"
            self.arrays[name], self._bases[name] = (array, held), addresses[-1]
        kernarg = self.launch.kernarg(self.made.facts, addresses)
        whole = ReferenceLaunch(
            self.made.code_object, self.made.name, memory, self.launch.grid, self.launch.block, kernarg,
            self.launch.dynamic_lds, self.launch.last,
        )  # fmt: skip
        self.entry = whole.code.entry
        self.waves = whole.workgroup(self.at)
        self.fault = ""
        self._order = self._steps()

    @property
    def watched(self) -> Wave:
        return self.waves[self.wave]

    def _steps(self) -> Iterator[Wave]:
        """The waves in turn, before each instruction of one."""
        while not all(wave.done for wave in self.waves):
            for wave in self.waves:
                wave.waiting = False
                while not (wave.done or wave.waiting):
                    yield wave
                    wave.step()

    def to(self, number: int) -> None:
        """To the point before the watched wave's instruction of that number, from 0; to its end, or a fault, where that
        comes first."""
        if number < self.watched.executed or self.fault:
            self._begin()
        self._go(lambda: self.watched.executed >= number)

    def until(self, where: Break) -> None:
        """On to the next point where the watched wave meets a condition."""
        met, begun = parsed(where.condition), self.watched.executed

        def there() -> bool:
            wave = self.watched
            here = where.offset is None or wave.pc - self.entry == where.offset
            return wave.executed > begun and here and met(wave)

        self._go(there)

    def _go(self, there: Callable[[], bool]) -> None:
        if there() or self.fault:
            return
        try:
            for wave in self._order:
                if wave is self.watched and there():
                    break
                if sum(one.executed for one in self.waves) >= MOST:
                    raise IsaError(f"more than {MOST} instructions of this workgroup", hint="choose a smaller launch")
        except IsaError as error:
            self.fault = error.message
        else:
            return

    def accesses(self) -> list[dict[str, Any]]:
        """What vector accesses of the next instruction ask for: [lane, byte in the array or in LDS] of each lane that
        is on, bytes a lane, and what it costs: sectors of 32 bytes that are moved, or cycles of the LDS."""
        from isa.timing.machine import coalescing

        if self.watched.done or self.fault:
            return []
        peek = _Peek(self.watched)
        with contextlib.suppress(IsaError):  # the walk will say it
            peek.step()
        out = []
        for at in peek.asked:
            lanes = peek.touched(at)
            if at.access.space not in ("global", "flat", "lds") or not lanes or lanes[0][1] >= PRIVATE_BASE:
                continue
            on_lds = at.access.space == "lds" or lanes[0][1] >= SHARED_BASE
            first = lanes[0][1] // _APART * _APART
            places, mask = np.zeros((1, LANES), np.int64), np.array([sum(1 << lane for lane, _ in lanes)])
            for lane, address in lanes:
                places[0, lane] = address - first
            cost = (
                coalescing.lds_cycles(places, mask, max(at.bytes // 4, 1))
                if on_lds
                else coalescing.sectors(places, mask, at.bytes)[0]
            )
            name = "LDS" if on_lds else next((n for n, base in self._bases.items() if base == first), "memory")
            out.append({
                "name": name, "kind": at.access.kind, "bytes": at.bytes, "cost": int(cost[0]),
                "lanes": [[lane, address - first] for lane, address in lanes],
            })  # fmt: skip
        return out

    def state(self) -> dict[str, Any]:
        """What the page shows: of registers the kernel's own, as 32-bit words in hexadecimal."""
        wave, facts = self.watched, self.made.facts
        vgprs = [wave.vgprs[i] for i in range(min(facts.vgprs or 256, 256))]
        return {
            "offset": None if wave.done else wave.pc - self.entry,
            "executed": wave.executed,
            "done": wave.done,
            "waiting": wave.waiting,
            "fault": self.fault,
            "waves": [{"executed": w.executed, "done": w.done, "waiting": w.waiting} for w in self.waves],
            "exec": f"{int(wave.sgprs[EXEC_LO.index]):08x}",
            "vcc": f"{int(wave.sgprs[VCC_LO.index]):08x}",
            "scc": int(wave.scc),
            "sgprs": [f"{int(word):08x}" for word in wave.sgprs[: min(facts.sgprs or 106, 106)]],
            "vgprs": ["".join(f"{int(word):08x}" for word in row) for row in vgprs],
            "accesses": self.accesses(),
            "lds": wave.lds[: 4 * _SHOWN].hex(),
            "arrays": [
                {"name": name, "type": array.dtype_name, "shape": list(array.shape), "values": _values(array, held)}
                for name, (array, held) in self.arrays.items()
            ],
        }


def _values(array: Any, held: bytearray) -> list[float | int | str]:
    """The first elements, those that JSON has no number for as text."""
    found = np.frombuffer(bytes(held[: array.nbytes]), array.dtype)[:_SHOWN].tolist()
    return [x if isinstance(x, (int, float)) and x - x == 0 else str(x) for x in found]


def parsed(text: str) -> Callable[[Wave], bool]:
    """A condition: `v3[5] == 1.5`, `s4 > 0x10`, `exec != 0`; of a vector register without a lane, any lane that is on.
    A number with a point is compared with the register as a float. "" is always met. IsaError for what is none."""
    if not text.strip():
        return lambda _: True
    match = _CONDITION.fullmatch(text)
    if match is None or (match[1] in "vs") != (match[2] is not None) or (match[3] and match[1] != "v"):
        raise IsaError(f"{text!r} is no condition", expected="as v3[5] == 1.5, s4 > 0x10 or exec != 0")
    file, index, lane = match[1], int(match[2] or 0), match[3]
    is_float = "." in match[5]
    try:
        wanted = float(match[5]) if is_float else int(match[5], 0)
    except ValueError:
        raise IsaError(f"{match[5]!r} is no number", expected="as 5, -1, 0x10 or 1.5") from None
    if index >= (256 if file == "v" else 106) or int(lane or 0) >= LANES:
        raise IsaError(f"there is no {match[0].strip()}", expected="v0 to v255, lanes 0 to 31, s0 to s105")
    holds = _OPERATORS[match[4]]

    def number(word: int) -> float | int:
        if is_float:
            return float(struct.unpack("<f", struct.pack("<I", word))[0])
        return word - (1 << 32) if wanted < 0 and word >> 31 else word

    def met(wave: Wave) -> bool:
        if file != "v":
            at = {"s": index, "exec": EXEC_LO.index, "vcc": VCC_LO.index}.get(file)
            return holds(number(int(wave.scc if at is None else wave.sgprs[at])), wanted)
        on = int(wave.sgprs[EXEC_LO.index])
        lanes = [int(lane)] if lane is not None else [i for i in range(LANES) if on >> i & 1]
        return any(holds(number(int(wave.vgprs[index, i])), wanted) for i in lanes)

    return met
