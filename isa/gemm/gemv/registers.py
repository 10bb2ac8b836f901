"""Register plan of a GEMV kernel: parameters -> the register of each value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.matrix.registers import SCALARS as MATRIX
from isa.gemm.vector.parameters import ParameterError
from isa.registers import VGPR_LIMIT, Reg

SCALARS = SimpleNamespace(
    **{name: getattr(MATRIX, name) for name in (
        "kernarg", "group_x", "group_y", "a", "b", "c", "m", "n", "k", "alpha", "beta", "top", "left", "t", "u",
        "high", "gelu",
    )},
    blocks=Reg("s", 19), wave=Reg("s", 20), line_a=Reg("s", 21), line_b=Reg("s", 22), line_c=Reg("s", 23),
    fetching=Reg("s", 48), scales=Reg("s", 24, 2), zeros=Reg("s", 26, 2), block=Reg("s", 32), inside=Reg("s", 33),
    shift=Reg("s", 36), line_scales=Reg("s", 37), one=Reg("s", 38), less=Reg("s", 39), nibbles=Reg("s", 40),
    low_pair=Reg("s", 41), high_pair=Reg("s", 42), line_zeros=Reg("s", 43), other=Reg("s", 44),
    base=Reg("s", 46, 2), step_a=Reg("s", 49), step_b=Reg("s", 50), step_scales=Reg("s", 51), step=Reg("s", 52),
    count=53,
)  # fmt: skip
"""SGPRs, those of `isa.gemm.matrix.registers` where an epilogue knows them. a, b, scales, zeros: what the wave's next
block begins with; step_a, step_b, step_scales: what these go on by. block, step: that block's number, likewise. blocks:
that the wave has still to do; fetching: EXEC of the loads of a next one. shift: of the present block's zero points in
their word. line_...: bytes of a row. one, less, nibbles, low_pair, high_pair: constants of unpacking, see `weights`.
inside: the tile's last row of A or B, then with other what is left of C."""
TOGETHER = 2
"""Steps of k whose fragments are read together."""


@dataclass(frozen=True)
class GemvRegisters:
    """VGPRs.

    a_offsets, b_offsets: of each load, bytes from the base to the lane's part of it; of B's for each fragment.
    zero_offsets: of each load of B, to the zero points of the lane's row.
    scale_offsets: of each fragment, to the scales of the row that the lane has in `v_wmma`.
    a: what a block of A is loaded into; b, scales, zeros: likewise, for each fragment.
    group_scales: those of the fragment at hand, as f32. unpacked: weights of loads as floats.
    a_steps, b_steps: fragments, twice as many as are read together.
    part: sums of a group, two in turn. sums: of each fragment.
    a_reads, b_reads, a_writes, b_writes: addresses in LDS.
    free: four for the moment. end: from here on the end of the kernel may take them.
    """

    a_offsets: tuple[Reg, ...]
    b_offsets: tuple[tuple[Reg, ...], ...]
    scale_offsets: tuple[Reg, ...]
    zero_offsets: tuple[tuple[Reg, ...], ...]
    a: tuple[Reg, ...]
    b: tuple[tuple[Reg, ...], ...]
    scales: tuple[Reg, ...]
    zeros: tuple[tuple[Reg, ...], ...]
    group_scales: tuple[Reg, ...]
    unpacked: tuple[Reg, ...]
    a_steps: tuple[Reg, ...]
    b_steps: tuple[Reg, ...]
    part: tuple[Reg, ...]
    a_reads: tuple[Reg, ...]
    b_reads: tuple[Reg, ...]
    a_writes: tuple[Reg, ...]
    b_writes: tuple[Reg, ...]
    sums: tuple[Reg, ...]
    free: Reg
    end: int
    count: int

    @staticmethod
    def of(p: GemvParameters, least: int = 0) -> GemvRegisters:
        """least: VGPRs that the end of the kernel takes. ParameterError where they do not do."""
        end = 1  # v0 is the thread's number

        def take(n: int) -> Reg:
            nonlocal end
            end += n
            return Reg("v", end - n, n)

        def each(n: int, times: int = p.fragments) -> tuple[Reg, ...]:
            return tuple(take(n) for _ in range(times if n else 0))

        words = 4 * p.fragment_loads
        found = GemvRegisters(
            sums=each(p.sum_words if p.group else 8),
            a=each(4, p.loads_a),
            b=tuple(each(4, p.loads_b) for _ in range(p.fragments)),
            scales=each(-(-p.groups // 2)),
            zeros=tuple(each(int(p.zeros), p.loads_b) for _ in range(p.fragments)),
            group_scales=each(1, p.groups),
            unpacked=each(4 * p.expand if p.weights else 0, p.unpacked),
            a_steps=each(words, 2 * TOGETHER),
            b_steps=each(words, 2 * TOGETHER),
            part=each(8 if p.group else 0, 2),
            a_reads=each(1, 8),
            b_reads=each(1, 8),
            a_writes=each(1, min(4, p.loads_a)),
            b_writes=each(1, 4),
            free=take(4),
            a_offsets=each(1, p.loads_a),
            b_offsets=tuple(each(1, p.loads_b) for _ in range(p.fragments)),
            scale_offsets=each(int(bool(p.group))),
            zero_offsets=tuple(each(int(p.zeros), p.loads_b) for _ in range(p.fragments)),
            end=0,
            count=0,
        )
        after_loads = found.a_steps[0].index  # what is loaded into lies before
        after_loads += after_loads % 2
        end = max(end, after_loads + least)
        if end > VGPR_LIMIT:
            raise ParameterError(
                "no GEMV kernel has such columns: the VGPRs do not do", expected=f"at most {VGPR_LIMIT}", got=str(end)
            )
        return replace(found, end=after_loads, count=end)
