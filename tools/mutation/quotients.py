"""What a division by the host's reciprocal leaves, and that a piece of a sum begins within its tile.

A workgroup has a range of K blocks, begin to end, of which it takes the last piece that lies in one tile of `d` blocks:

    begin < end                              else there is nothing to do
    n = end - 1;  q = n / d                  the tile
    first = max(begin, q d) - q d            the piece's first K block in it

`first` is 0 or begin - q d <= n - q d, the remainder, so first < d. The division is a multiplication by what the host
gives, by = floor((2^32 - 1) / d), and a correction:

    q = hi(n by);  r = n - q d;  if r >= d: q = q + 1, r = r - d

From by > (2^32 - 1) / d - 1 follows 2^32 - by d <= d, hence n / d - n by / 2^32 <= n / 2^32 < 1 for n of 32 bits. So
the first q is n / d rounded down or one less.

`piece` knows that text, whatever its registers: it is one straight line, entered at its top only; `quotient` and
`remainder` know the division alone. Who asks must know that `by` and `d` belong together; `blocks` knows the texts of
d = size / step rounded up, 1 at least.
"""

from __future__ import annotations

from isa.analysis.cfg import Cfg
from isa.asm.program import Imm
from isa.registers import Reg

_PIECE = """
s_cmp_gt_u32 end begin
s_cbranch_scc0 elsewhere
s_sub_u32 n end 1
s_mul_hi_u32 q n by
s_mul_i32 r q d
s_sub_u32 r n r
s_cmp_ge_u32 r d
s_addc_u32 q q 0
s_mul_i32 n q d
s_max_u32 r begin n
s_sub_u32 first r n
"""
_QUOTIENT = """
s_mul_hi_u32 q n by
s_mul_i32 r q d
s_sub_u32 r n r
"""
_CORRECTION = """
s_cmp_ge_u32 r d
s_cselect_b32 u d 0
s_addc_u32 q q 0
s_sub_u32 r r u
"""
_ROUNDED = """
s_add_u32 t size less
s_lshr_b32 d t shift
"""
_BLOCKS = """
s_add_u32 d size less
s_lshr_b32 d d shift
s_max_u32 d d 1
"""
_APART = {"begin", "end", "n", "q", "r", "d", "by"}
"""Names that must be different registers."""


def piece(flow: Cfg, position: int) -> dict[str, Reg] | None:
    """The registers of the text, by their names in it, whose last instruction stands there; None where it does not."""
    found = _matched(flow, position, _PIECE)
    if found is None or len({found[name] for name in _APART}) < len(_APART):
        return None
    top, rest = (flow.block_of(at) for at in (position - 10, position - 8))
    if top.end != position - 8 or rest.start != position - 8 or rest.end <= position:
        return None
    if rest.predecessors != (top.index,):
        return None
    registers = {name: operand for name, operand in found.items() if isinstance(operand, Reg)}
    return registers if set(registers) >= _APART else None


def quotient(flow: Cfg, position: int) -> dict[str, Reg] | None:
    """The registers of a division whose first remainder is left there, before any correction: q is n / d or one less,
    r what is over then."""
    return _apart(flow, position, _QUOTIENT, 2)


def in_pieces(flow: Cfg, position: int) -> dict[str, Reg] | None:
    """The registers of this text, which numbers the first K block of a tile in pieces along the line (`isa.gemm.work`):
    then d is 2 or more, and n + d below 2^31."""
    found = _matched(flow, position, "s_cmp_eq_u32 count d\ns_cbranch_scc1 elsewhere\ns_mul_i32 n tile d")
    registers = {name: operand for name, operand in (found or {}).items() if isinstance(operand, Reg)}
    return registers if found and len(flow.block_of(position).predecessors) == 1 else None


def remainder(flow: Cfg, position: int) -> dict[str, Reg] | None:
    """Those of a division whose last remainder is left there: r < d."""
    return _apart(flow, position, _QUOTIENT + _CORRECTION, 6)


def _apart(flow: Cfg, position: int, text: str, back: int) -> dict[str, Reg] | None:
    found = _matched(flow, position, text)
    if found is None or flow.block_of(position - back) != flow.block_of(position):
        return None
    registers = {name: operand for name, operand in found.items() if isinstance(operand, Reg)}
    others = [reg for name, reg in registers.items() if name != "n"]
    known = len(registers) == len(found) and len(set(others)) == len(others)
    return registers if known and registers["n"] not in (registers["q"], registers["r"]) else None


def blocks(flow: Cfg, position: int) -> tuple[int, Reg, int] | None:
    """(where it begins, size, step) where the text of d ends there; None where it does not."""
    found, back = _matched(flow, position, _BLOCKS), 2
    if found is None:
        found, back = _matched(flow, position, _ROUNDED), 1
    if found is None or flow.block_of(position - back) != flow.block_of(position):
        return None
    size, less, shift = found["size"], found["less"], found["shift"]
    if not isinstance(size, Reg) or not isinstance(less, Imm) or not isinstance(shift, Imm) or size == found["d"]:
        return None
    if not isinstance(less.value, int) or not isinstance(shift.value, int) or not 0 <= shift.value < 32:
        return None
    return (position - back, size, less.value + 1) if less.value + 1 == 1 << shift.value else None


def _matched(flow: Cfg, position: int, text: str) -> dict[str, object] | None:
    """What each name stands for, where the instructions that end there read like the text."""
    lines = [line.split() for line in text.splitlines() if line]
    first = position + 1 - len(lines)
    if first < 0:
        return None
    found: dict[str, object] = {}
    for inst, (mnemonic, *names) in zip(flow.instructions[first : position + 1], lines, strict=True):
        if inst.mnemonic != mnemonic or inst.pair is not None or inst.modifiers or len(inst.operands) != len(names):
            return None
        for name, operand in zip(names, inst.operands, strict=True):
            if name.isdigit():
                if not isinstance(operand, Imm) or operand.value != int(name):
                    return None
            elif found.setdefault(name, operand) != operand:
                return None
    return found
