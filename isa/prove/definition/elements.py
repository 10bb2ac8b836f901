"""Memory accesses of waves with slopes (see `affine`): elements of A and B whose k depends on K, and all others, whose
addresses must not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isa.prove.definition import access, matrix_units, pointers
from isa.prove.definition.affine import LOW_BITS, Longs, Sloped, keys_of
from isa.prove.definition.epilogue import VECTORS
from isa.prove.definition.launch import layout
from isa.prove.definition.narrow import BYTES
from isa.prove.definition.operands import scalar_index
from isa.prove.definition.waves import Fault, Step, Waves
from isa.registers import Reg
from isa.semantics.instruction import Imm, Instruction


def follow(inst: Instruction, step: Step) -> Step:
    if not inst.operands:  # a cache is emptied
        return step
    atomic = inst.mnemonic.startswith("global_atomic")
    stores = atomic or inst.mnemonic.startswith("global_store")
    targets = keys_of(inst.operands[:1]) if not stores or (atomic and inst.gives_back) else ()
    sources = keys_of(inst.operands if stores else inst.operands[1:])
    plain = _scalar_load(inst) if inst.mnemonic.startswith("s_load") else None
    where = None if stores or plain else access.address_of(inst, inst.operands[1], inst.operands[2])

    half = matrix_units.half_load(inst.mnemonic)

    def refused() -> Fault:
        return Fault("every", f"an address, or what is stored, depends on K in {inst}", refused=True)

    def sloped(w: Waves) -> None:
        assert isinstance(w, Sloped)
        some = w.sloped(sources)
        if some and (stores or plain is not None):
            raise refused()
        if half and w.sloped(targets):
            raise Fault("every", f"half of {inst.operands[0]} depends on K at {inst}", refused=True)
        try:
            if where is not None and (w.mask is None or w.mask.any()):
                kind, offset = where(w)
                if kind in ("A", "B"):
                    element = BYTES[w.launches[0].factor]
                    bytes_ = half[1] if half else 4 * len(targets)
                    _check_load(w, inst, kind, offset.astype(np.int64), bytes_, element)
                elif some or kind not in ("C", *VECTORS):
                    raise refused()
            step(w)
        except Fault as fault:
            raise w.explained(fault, sources) from None
        for key in targets:
            w.put_slope(key, None)
        if plain is not None:
            plain(w)

    return sloped


def _scalar_load(inst: Instruction) -> Callable[[Sloped], None]:
    """K's slopes where the arguments are read: whoever calls has seen that the address has none."""
    target, count = keys_of(inst.operands[:1])[0], len(keys_of(inst.operands[:1]))
    offset = inst.operands[2]

    def give(w: Sloped) -> None:
        start = inst.offset + (offset.value if isinstance(offset, Imm) and isinstance(offset.value, int) else 0)
        if isinstance(offset, Reg) and not offset.is_null:
            raise Fault("every", f"the offset in {inst} is a register", refused=True)
        base = inst.operands[1]
        assert isinstance(base, Reg)
        low = w.s[scalar_index(base)][:, w.at]
        if pointers.kind_of(low, pointers.LOW) != "arguments" or low[0].any():
            raise Fault("every", f"{inst} reads no argument by its place", refused=True)
        places = {name: at for at, name in layout(w.launches[0].arguments)}
        if start <= places["K"] < start + 4 * count:
            key = target + (places["K"] - start) // 4
            w.put_slope(key, w.launches[0].pack * np.array(w.domain.size, np.int64)[:, None])

    return give


def _check_load(w: Sloped, inst: Instruction, matrix: str, offset: Longs, bytes_: int, element: int) -> None:
    """element: bytes of one. Each element goes with the symbols as it should, and stays inside of the matrix."""
    address, base = inst.operands[1:]
    if not (isinstance(base, Reg) and isinstance(address, Reg) and address.count == 1):
        raise Fault("every", f"{inst} has its address in VGPRs", refused=True)
    low, high = (w.slope(key) for key in keys_of((base,)))
    if ((low ^ high) & LOW_BITS).any():
        raise Fault("address", f"the halves of the address do not belong together for some K: {inst}", refused=True)
    slopes = high[:, :, None] + w.slope(keys_of((address,))[0])
    mine = w.launch[w.at]
    sizes = np.array([(x.m, x.n, x.units) for x in w.launches], np.int64)[mine]
    m, n, k = sizes.T[:, :, None]
    size, step = (np.array(x, np.int64)[:, None, None] for x in (w.domain.size, w.domain.step))
    active = w.active((len(w.numbers), 32))
    corners = w.domain.corners[:, :, w.at]
    moved = np.einsum("csw,s->cw", corners, step[:, 0, 0])[..., None]
    grown = np.einsum("csw,s->cw", corners, size[:, 0, 0])[..., None]
    along = w.launches[0].trans_b if matrix == "B" else not w.launches[0].trans_a
    across = n if matrix == "B" else m
    pitch = w.memory.narrow[matrix].pitch[mine][:, None] if w.memory.narrow else np.int64(0)
    fixed = np.array([x.layer is not None for x in w.launches])[mine][:, None]
    whole = (offset % element == 0) & (bytes_ % element == 0)
    for i in range(max(1, bytes_ // element)):
        at = offset // element + i
        if along:
            line = np.where(fixed, pitch, k)
            inner, outer = at % line, at // line
            wanted = element * (outer * np.where(fixed, 0, size) + step)
        else:
            line = np.where(fixed, pitch, across)
            inner = at // line
            wanted = element * line * step
        good = whole & (slopes == wanted).all(axis=0) & (inner + moved >= 0).all(axis=0)
        good &= (inner + moved < k + grown).all(axis=0)
        if not (good | ~active).all():
            bad = tuple(int(x[0]) for x in np.nonzero(~good & active))
            line = "row" if matrix == "A" else "column"
            what = f"for some K it does not load what comes next in its {line} of {matrix}, or loads beyond the end"
            raise Fault("every", what, (int(w.numbers[bad[0]]), bad[1]), refused=True)
