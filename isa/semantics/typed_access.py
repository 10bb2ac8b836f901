"""Typed buffers: MTBUF loads and stores. RDNA3 ISA guide 9.1; numbers and formats are in `isa.semantics.formats`.

An element is in range as a whole or not at all (guide 9.1.5). A store of fewer components than the format has leaves
the others as they are; where they share a dword that is not of whole bytes each, it is rejected: what a card does with
the rest is not known. In a swizzled buffer the dwords of an element may lie apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from isa.registers import Reg
from isa.semantics import buffers
from isa.semantics.engine import Engine, Request
from isa.semantics.formats import expand, format_of, narrow
from isa.semantics.instruction import Access, Instruction
from isa.semantics.operands import Put, Sources, put_words
from isa.semantics.values import Value, select

_PIECES = {1: (1,), 2: (2,), 3: (2, 1), 4: (4,), 6: (4, 2), 8: (8,), 12: (12,), 16: (16,)}
"""Bytes of an element -> those of the accesses that reach all of them."""


def typed(inst: Instruction, access: Access, sources: Sources) -> Callable[[Engine], Sequence[Put]]:
    """Does the access; gives back how to write what it loaded."""
    rows = [(n, role, operand) for n, (role, operand) in enumerate(sources.pairs) if not role.written]
    form, count, halves = format_of(inst), access.components, access.half != ""
    place, reach = buffers.place(inst, sources, rows), form.reach(count)
    if access.kind == "store" and form.packed and count < len(form.bits):
        whole = f"all of its {len(form.bits)} components"
        raise inst.error("a store of a part of a packed element is not simulated", expected=whole, got=f"{count}")

    def requests(engine: Engine) -> list[tuple[int, Request[Value]]]:
        """(first byte, request)."""
        at, mask, found, first = place(engine), engine.exec_mask(), [], 0
        where = at.inside(0, form.size)

        def part(first: int, size: int, where: Value, rest: bool = False) -> tuple[int, Request[Value]]:
            element = f"b{8 * size}" if size >= 4 or access.kind == "store" else f"u{8 * size}"
            on = where if mask is None else mask & where
            return first, Request(inst, replace(access, element=element, half=""), at.at(first), on, rest)

        for size in _PIECES[reach]:
            found.append(part(first, size, where & at.whole if size > 4 else where))
            if size > 4:
                found += [part(k, 4, where & ~at.whole, True) for k in range(0, size, 4)]
            first += size
        return found

    if access.kind == "store" and form.kind.endswith("SCALED"):
        raise inst.error(
            "a store of scaled integers is not simulated", expected="a format of another kind", got=form.kind
        )
    operand = next(o for role, o in sources.pairs if role.kind == "v")
    assert isinstance(operand, Reg)
    run = range(operand.index, operand.index + operand.count)

    def load(engine: Engine) -> Sequence[Put]:
        words = [engine.constant("u32", 0)] * ((reach + 3) // 4)
        for first, request in requests(engine):
            for k, word in enumerate(engine.load(request), first // 4):
                assert request.mask is not None
                words[k] = words[k] | select(request.mask, word, 0) << 8 * (first % 4)
        found = expand(words, form, count, halves)
        if halves:
            found += [engine.read_vgpr(run[-1]) >> 16] * (count % 2)
            found = [low | high << 16 for low, high in zip(found[::2], found[1::2], strict=True)]
        return [put_words(engine, operand, found, engine.exec_mask())]

    def store(engine: Engine) -> Sequence[Put]:
        values = [engine.read_vgpr(i) for i in run]
        if halves:
            values = [half for word in values for half in (word & 0xFFFF, word >> 16)][:count]
        words = narrow(values, form, halves)
        for first, request in requests(engine):
            own = words[first // 4 : first // 4 + request.words]
            engine.store(request, (own[0] >> 8 * (first % 4), *own[1:]))
        return ()

    return load if access.kind == "load" else store
