"""State of the proof by definition: the registers of all waves of all launches, and how instructions read and write
them.

Registers hold names (see `names`): VGPRs as (2, waves, 32), SGPRs as (2, waves). An instruction runs for the waves
`at` together, a slice or an array of their numbers; what it computes has their shape or one that broadcasts to it.

A value that an integer operation, an address, a condition or EXEC needs must be a constant: `whole` takes it out of
names, or rejects it with an error that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from isa.prove.definition import pointers
from isa.prove.definition.launch import BETA, BETA_SIZE, ELSEWHERE, OPEN, UNWRITTEN, SymbolicLaunch
from isa.prove.definition.memory import SymbolicMemory
from isa.prove.definition.names import MASK32, Names, term
from isa.registers import LANES
from isa.semantics.instruction import Instruction

EXEC, SCC, SCALARS = 126, 128, 129
VGPRS = 256
STORED = ("C", "workspace")
"""Kinds of buffers that may be stored into."""
Ints = NDArray[np.uint64]
Trace = list[tuple[str, Names, tuple[Names, ...]]]
_BITS = np.uint64(1) << np.arange(LANES, dtype=np.uint64)


class Fault(Exception):
    """What a kernel must not do; `refused`: what the proof cannot follow. `lane`: (wave, lane) that does it first;
    `whose`: the same for people, where whoever sees the fault does not know the waves."""

    def __init__(self, kind: str, what: str, lane: tuple[int, int] | None = None, *, refused: bool = False) -> None:
        super().__init__(what)
        self.kind, self.what, self.lane, self.refused = kind, what, lane, refused
        self.inst: Instruction | None = None
        self.whose = ""


class Waves:
    """All waves, those of one workgroup side by side, and LDS.

    launch, group, place: of each wave: the number of its launch, of its workgroup among all, and its own in that.
    ids:    of each workgroup: (x, y, z).
    epoch:  of each workgroup: barriers passed.
    fresh:  of each wave: whether L0 (1) and L1 (2) were invalidated after its last atomic.
    stores: of each wave: how many instructions have stored; complete: how many of them it has waited for; arrived: the
            same when it was last at a barrier; counted: of how many an atomic has told since.
    mask:   which lanes are active, None for all of them.
    traced: (wave of its workgroup, lane) whose float operations `trace` keeps, of all workgroups.
    """

    def __init__(
        self, launches: Sequence[SymbolicLaunch], memory: SymbolicMemory, lds_bytes: int, vgprs: int = VGPRS
    ) -> None:
        waves = [launch.block // LANES for launch in launches for _ in range(launch.groups)]
        groups = [number for number, launch in enumerate(launches) for _ in range(launch.groups)]
        self.launches, self.memory = launches, memory
        self.ids = [ids for launch in launches for ids in launch.ids]
        self.launch = np.repeat(groups, waves)
        self.group = np.repeat(np.arange(len(waves)), waves)
        self.place = np.concatenate([np.arange(n) for n in waves])
        self.count = len(self.group)
        # An odd number, so that a lane's registers do not all lie in one set of the host's caches.
        self.v = np.empty((vgprs, 2, self.count | 1, LANES), np.uint64)[:, :, : self.count]
        self.v[:] = UNWRITTEN[:, None, None]
        self.s = np.empty((SCALARS, 2, self.count), np.uint64)
        self.s[:] = UNWRITTEN[:, None]
        self.s[EXEC] = np.array([[MASK32], [0]], np.uint64)
        self.lds_bytes = lds_bytes
        self.lds = np.empty((2, len(waves), -(-lds_bytes // 4)), np.uint64)
        self.lds[:] = UNWRITTEN[:, None, None]
        shape = (int(self.place.max()) + 1, *self.lds.shape[1:])
        self.lds_read = np.full(shape, -1, np.int32)  # by the wave of that place: the last epoch
        self.lds_written = np.full(self.lds.shape[1:], -1, np.int64)  # epoch * 64 + place
        self.epoch = np.zeros(len(waves), np.int32)
        self.fresh = np.zeros(self.count, np.uint8)
        self.stores, self.complete, self.arrived, self.counted = np.zeros((4, self.count), np.int32)
        self.trace: Trace | None = None
        self.traced: tuple[int, int] = (0, 0)
        self.at: slice | NDArray[np.intp] = slice(None)
        self.mask: NDArray[np.bool_] | None = None
        self.terms = 0
        self._conditions: dict[int, Names] = {}

    def select(self, waves: NDArray[np.intp]) -> None:
        """From here on instructions are those of these waves, in rising order."""
        first, last = int(waves[0]), int(waves[-1])
        self.at = slice(first, last + 1) if last - first + 1 == len(waves) else waves
        self.numbers = waves
        self.read_exec()

    def invalidated(self, level: int) -> None:
        """A cache, by the waves that run: see `fresh`."""
        self.fresh[self.at] |= np.uint8(level)

    def completed(self, left: int) -> None:
        """A wait until so few stores of the waves that run are in flight: they complete in order."""
        self.complete[self.at] = np.maximum(self.complete[self.at], self.stores[self.at] - left)

    def tells(self, active: NDArray[np.bool_]) -> None:
        """An atomic of these of the waves that run: of their complete stores, and of those that all waves of their
        workgroups had completed at the last barrier."""
        waves = self.numbers[active]
        together = np.isin(self.group, self.group[waves])
        self.counted[together] = np.maximum(self.counted[together], self.arrived[together])
        self.counted[waves] = self.complete[waves]

    def read_exec(self) -> None:
        bits = self.whole(self.s[EXEC][:, self.at], "EXEC")
        self.mask = None if (bits == MASK32).all() else (bits[:, None] & _BITS) != 0

    # --- values
    def whole(self, names: Names, what: str) -> Ints:
        """The constants among `names`, each of 32 bits; Fault where an active lane holds another term."""
        if names[1].any():
            symbolic = names[1] != 0
            if symbolic.ndim == 2 and self.mask is not None:
                symbolic = symbolic & self.mask
            if symbolic.any():
                at = [int(i[0]) for i in np.nonzero(symbolic)]
                first = names.reshape(2, -1)[:, int(np.nonzero(symbolic.reshape(-1))[0][0])]
                lane = (int(self.numbers[at[0] if names.shape[1] > 1 else 0]), at[1] if len(at) > 1 else 0)
                known = ((UNWRITTEN, "nothing that was written before"), (BETA, "beta"), (BETA_SIZE, "beta"),
                         (OPEN, "what is not known for every K"),
                         (ELSEWHERE, "an element of another tile"))  # fmt: skip
                of = next((text for name, text in known if (first == name).all()), pointers.describe(first))
                of = of or "a matrix, alpha or beta"
                raise Fault("data", f"{what} depends on {of}", lane, refused=True)
        found: Ints = names[0]
        return found

    def put(self, register: int, value: Names) -> None:
        """Writes a VGPR in the active lanes. value: names (2, ., .), or constants (., .) of which 32 bits are kept."""
        target = self.v[register]
        if value.ndim == 2:
            value = value & MASK32
            if self.mask is None:
                target[0, self.at] = value
                target[1, self.at] = 0
                return
            value = np.stack((value, np.zeros_like(value)))
        if self.mask is not None:
            value = np.where(self.mask, value, target[:, self.at])
        target[:, self.at] = value

    def put_scalar(self, register: int, value: Names) -> None:
        """Writes an SGPR, VCC, EXEC, M0 or SCC. value: names (2, .) or constants (.)."""
        if register == 124:
            return
        if value.ndim == 1:
            self.s[register][0, self.at] = value & MASK32
            self.s[register][1, self.at] = 0
        else:
            self.s[register][:, self.at] = value
        if register == EXEC:
            self.read_exec()

    def put_conditions(self, register: int, terms: Names) -> None:
        """An SGPR gets a bit of each lane, by name; of lanes that are off 0."""
        kept = self._conditions.setdefault(register, np.zeros((2, self.count, LANES), np.uint64))
        kept[:, self.at] = terms if self.mask is None else np.where(self.mask, terms, np.uint64(0))
        self.put_scalar(register, _of_all(kept[:, self.at]))

    def conditions_in(self, register: int) -> Names | None:
        """What it got, if it still holds that."""
        kept = self._conditions.get(register)
        if kept is None or (_of_all(kept[:, self.at]) != self.s[register][:, self.at]).any():
            return None
        return kept[:, self.at]

    def ballot(self, condition: NDArray[np.bool_]) -> Ints:
        """A bit for each active lane where the condition holds."""
        if self.mask is not None:
            condition = condition & self.mask
        bits: Ints = np.where(condition, _BITS, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        return bits

    def active(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        return np.ones(shape, bool) if self.mask is None else self.mask

    # --- float operations
    def term(self, operation: str, result: Names, operands: tuple[Names, ...]) -> Names:
        """`result`; remembers how it came about in the lanes that are traced."""
        self.terms += len(self.numbers) * LANES
        if self.trace is not None:
            place, lane = self.traced
            for at in np.nonzero(self.place[self.numbers] == place)[0]:
                picked = [_pick(x, int(at), lane) for x in (result, *operands)]
                self.trace.append((operation, picked[0], tuple(picked[1:])))
        return result

    def whose(self, wave: int, lane: int) -> str:
        """Which lane of which workgroup, for people."""
        x, y, _ = self.ids[int(self.group[wave])]
        launch = self.launches[int(self.launch[wave])]
        thread = LANES * int(self.place[wave]) + lane
        return f"thread {thread} of workgroup ({x}, {y}) at {launch}, beta {launch.beta}"


Step = Callable[[Waves], None]
Scalar = Callable[[Waves], Names]


def _of_all(terms: Names) -> Names:
    """One name for those of all lanes."""
    with np.errstate(over="ignore"):
        found: Names = (term("lane", terms) * (np.arange(LANES, dtype=np.uint64) * np.uint64(2) + np.uint64(1))).sum(2)
    return found


def _pick(x: Names, wave: int, lane: int) -> Names:
    found: Names = x[:, wave if x.shape[1] > 1 else 0, lane if x.shape[2] > 1 else 0].copy()
    return found
