"""Where two outcomes differ.

Everything is compared bit for bit: all VGPRs, SGPRs (VCC, EXEC and M0 among them), SCC, memory, LDS, scratch, and how
the wave stopped. One thing the ISA guide leaves open: which NaN an operation on floats gives (sign and payload), where
neither says more than that it is quiet. So two quiet NaNs are equal in what an instruction computes as a float, and
nowhere else: a move, a select, a class, an integer see every bit of a NaN.
"""

from __future__ import annotations

import numpy as np
from assembly import Case
from engines import Outcome
from inputs import LANES, Inputs

from isa.describe import lookup, width
from isa.registers import Reg

# Floats that stand in registers of another type.
PACKED_FLOATS = {
    "v_wmma_f32_16x16x16_f16": "f32", "v_wmma_f32_16x16x16_bf16": "f32", "v_wmma_f16_16x16x16_f16": "f16",
    "v_wmma_bf16_16x16x16_bf16": "bf16", "v_dot2_bf16_bf16": "bf16", "v_cvt_pk_rtz_f16_f32": "f16",
}  # fmt: skip
_QUIET = {"f16": (16, 0x7E00), "bf16": (16, 0x7FC0), "f32": (32, 0x7FC00000), "f64": (64, 0x7FF8 << 48)}


def differences(case: Case, inputs: Inputs, want: Outcome, got: Outcome) -> list[str]:
    """One line for each place; `want` is the reference's."""
    if want.stopped != got.stopped:
        return [f"the wave's end: {want.stopped or 'end'}, natively {got.stopped or 'end'}"]
    if want.stopped == "fault":  # how far it came before is nowhere said
        return []
    found = []
    unequal = want.vgprs != got.vgprs
    if unequal.any():
        unequal &= ~_both_nan(case, want.vgprs, got.vgprs)
    for number, lane in np.argwhere(unequal)[:4]:
        found.append(
            f"v{number} lane {lane}: {want.vgprs[number, lane]:#x}, natively {got.vgprs[number, lane]:#x}, before "
            f"{inputs.vgprs[number, lane]:#x}; {_sources(case, inputs, lane)}"
        )
    for number in np.nonzero(want.sgprs != got.sgprs)[0][:4]:
        found.append(f"{Reg('s', int(number))}: {want.sgprs[number]:#x}, natively {got.sgprs[number]:#x}")
    if want.scc != got.scc:
        found.append(f"scc: {want.scc}, natively {got.scc}")
    for name in ("memory", "lds", "scratch"):
        a, b = (np.frombuffer(getattr(o, name), np.uint32) for o in (want, got))
        unequal = a != b
        if unequal.any() and (access := case.instructions[0].desc.access) is not None and access.kind == "atomic":
            unequal &= ~_nans(access.element, a, b)
        found += [f"{name} at {4 * i:#x}: {a[i]:#x}, natively {b[i]:#x}" for i in np.nonzero(unequal)[0][:3]]
    return found


def _sources(case: Case, inputs: Inputs, lane: int) -> str:
    """The registers that are read, in one lane."""
    words = []
    for reg in sorted({r for inst in case.instructions for r in inst.reads()}):
        if reg.is_vgpr and reg.index < 256:
            words.append(f"{reg}={inputs.vgprs[reg.index, lane]:#x}")
        elif reg.file == "s":
            words.append(f"{reg}={inputs.sgprs[reg.index]:#x}")
    return " ".join(words[:12])


def _both_nan(case: Case, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where both hold a quiet NaN that an operation on floats may have made."""
    result = np.zeros(a.shape, np.bool_)
    for inst in (half for i in case.instructions for half in i.halves):
        desc = lookup(inst)
        for role, reg in desc.roles_of(inst):
            type_ = PACKED_FLOATS.get(desc.name, {"pkf16": "f16", "f16h": "f16"}.get(role.type, role.type))
            if not role.written or type_ not in _QUIET or not isinstance(reg, Reg) or not reg.is_vgpr:
                continue
            rows = slice(reg.index, reg.index + width(role.type))
            x, y = (np.ascontiguousarray(m[rows].T).reshape(-1) for m in (a, b))
            result[rows] |= _nans(type_, x, y).reshape(LANES, -1).T
    return result


def _nans(type_: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which words differ in numbers of `type_` that are quiet NaNs on both sides, and in nothing else."""
    if type_ not in _QUIET:
        return np.zeros(a.shape, np.bool_)
    size, quiet = _QUIET[type_]
    x, y = (m.view(f"u{size // 8}") for m in (a, b))
    mask = x.dtype.type(quiet)
    open_ = (x == y) | (((x & mask) == mask) & ((y & mask) == mask))
    if size == 16:
        return open_.reshape(-1, 2).all(axis=1)
    return np.repeat(open_, size // 32)
