"""Where two outcomes differ.

Everything is compared bit for bit: all VGPRs, SGPRs (VCC, EXEC and M0 among them), SCC, memory, LDS, scratch, and how
the wave stopped. Which NaN an operation on floats gives is said by `isa.semantics.reference.nans`, so NaNs are no
exception.
"""

from __future__ import annotations

import numpy as np
from assembly import Case
from engines import Outcome
from inputs import Inputs

from isa.registers import Reg


def differences(case: Case, inputs: Inputs, want: Outcome, got: Outcome) -> list[str]:
    """One line for each place; `want` is the reference's."""
    if want.stopped != got.stopped:
        return [f"the wave's end: {want.stopped or 'end'}, natively {got.stopped or 'end'}"]
    if want.stopped == "fault":  # how far it came before is nowhere said
        return []
    found = []
    unequal = want.vgprs != got.vgprs
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
