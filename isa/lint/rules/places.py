"""PC-relative addresses (`isa.semantics.own_place`): findings where the offsets do not count the instructions between.

An instruction put between s_getpc_b64 and the additions, by hand or by a tool, moves the address. The assembler takes
it. Both halves must have one offset from the symbol, and where something stands between, none before it. Looked at
within a block, and in text, where symbols have names.
"""

from __future__ import annotations

from collections.abc import Iterator

from isa.asm.encoding import size_of
from isa.errors import Finding
from isa.lint.functions import LintedFunction
from isa.lint.registry import RULES
from isa.semantics.own_place import LITERAL_AT, distance

MOVED = RULES["ADDR001"]


def findings(f: LintedFunction) -> Iterator[Finding]:
    """Literals whose distance from s_getpc_b64 is another than they count."""
    cfg = f.flow
    for start in cfg.where(lambda desc: desc.name == "s_getpc_b64"):
        between = 0  # bytes since then
        low: tuple[str, bool, int] | None = None
        for i in range(start + 1, cfg.block_of(start).end):
            inst = cfg.instructions[i]
            if inst.desc.name == "s_getpc_b64":
                break
            if found := distance(inst):
                offset = found.offset(between)
                if found.high:
                    wrong = low is not None and low[:2] == (found.symbol, found.slot) and low[2] != offset
                else:
                    low, wrong = (found.symbol, found.slot, offset), between > 0 > offset
                if wrong:
                    right = found.added - offset + (low[2] if found.high and low else 0)
                    yield MOVED.broken(
                        inst,
                        f"the literal is {between + LITERAL_AT} bytes after s_getpc_b64, but its offset is that for "
                        f"{found.added}",
                        expected=f"+{right}",
                        got=f"+{found.added}",
                        hint="move what is between them before s_getpc_b64, or add its size to the offset",
                    )
            between += size_of(inst)
