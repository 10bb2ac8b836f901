"""Reach of a kernel: a kernel of a code object -> the functions and data whose addresses it takes, under their symbols.

In: a `CodeObject`, a kernel's instructions. Out: the kernel's `Code`, then that of each function and the `Data` of each
object that it leads to, in the order in which they are found.

How: s_getpc_b64 and the two additions after it give an address (`isa.semantics.own_place`), and so does a 64-bit
relocation in data. Either lies in a symbol, or is a slot of the table of addresses, whose relocation names the symbol.
A function that calls where memory says may lead to all that have a symbol. An address in no symbol is taken for an
object up to the next symbol, or to the end of what is loaded there, and called `unnamed` with a number.

Limits, each an IsaError: another use of s_getpc_b64; an address in no segment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from isa.analysis import calls, cfg, defuse
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import DefUse
from isa.asm.disassembler import disassemble
from isa.asm.parse import parse_disassembly
from isa.errors import IsaError
from isa.object.code_object import CodeObject, Symbol
from isa.semantics.branches import branch_target
from isa.semantics.instruction import Imm, Instruction
from isa.semantics.own_place import LITERAL_AT

LARGEST_POWER = 4
"""Of an alignment that anything relies on: 16 bytes. Addresses have others by chance."""
_WORD = (1 << 32) - 1


@dataclass(frozen=True)
class Code:
    """texts: of instructions that name symbols, by address; a number in braces stands for the label at that address.
    number: of the function, 0 for the kernel."""

    name: str
    rows: Sequence[Instruction]
    texts: Mapping[int, str]
    number: int


@dataclass(frozen=True)
class Data:
    """pieces: bytes; a number of zeros; or an address as text, 8 bytes. power: of the alignment, 2 to which."""

    name: str
    size: int
    power: int
    pieces: Sequence[bytes | int | str]


def of(code: CodeObject, kernel: str, rows: Sequence[Instruction]) -> list[Code | Data]:
    """See the module's docstring. rows: the kernel's instructions, with their addresses."""
    found = _Reached(code, kernel)
    parts: list[Code | Data] = [Code(kernel, rows, found.texts(rows, kernel), 0)]
    if found.anywhere:
        found.everything()
    for symbol in found.order:  # grows
        parts.append(found.part(symbol, len(parts)))
        if found.anywhere and len(parts) > len(found.order):
            found.everything()
    return parts


@dataclass
class _Reached:
    code: CodeObject
    kernel: str
    order: list[Symbol] = field(default_factory=list)
    anywhere: bool = False
    """Whether a call goes where memory or an argument says."""
    _unnamed: list[Symbol] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._slots: dict[int, int | str] = {**dict(self.code.relative), **dict(self.code.foreign)}
        self._symbols = sorted(self.code.symbols.values(), key=lambda s: (s.address, -s.size, s.name))

    def part(self, symbol: Symbol, number: int) -> Code | Data:
        if symbol.kind == "func":
            raw = disassemble(self.code.read(symbol.address, symbol.size), symbol.address, self.code.arch)
            rows = parse_disassembly(raw, symbol.name, self.code.arch)
            return Code(symbol.name, rows, self.texts(rows, symbol.name), number)
        power = (symbol.address | 1 << LARGEST_POWER) & -(symbol.address | 1 << LARGEST_POWER)
        return Data(symbol.name, symbol.size, power.bit_length() - 1, [*self._pieces(symbol)])

    def everything(self) -> None:
        kernels = {name for kernel in self.code.kernels for name in (kernel, f"{kernel}.kd")}
        self.order += (s for s in self._symbols if s.kind and s.size and s.name not in kernels and s not in self.order)

    # --- addresses
    def _at(self, address: int) -> tuple[Symbol, int]:
        """The symbol that an address lies in, and how far."""
        holding = [s for s in (*self._symbols, *self._unnamed) if s.address <= address < s.address + max(s.size, 1)]
        if not holding:
            holding = [self._new(address)]
        symbol = max(holding, key=lambda s: (s.kind != "", s.address, s.size))
        if symbol not in self.order and symbol.name != self.kernel:
            self.order.append(symbol)
        return symbol, address - symbol.address

    def _new(self, address: int) -> Symbol:
        inside = (s for s in self.code.segments if s.address <= address < s.address + s.size)
        if (segment := next(inside, None)) is None:
            raise IsaError(f"{address:#x}, to which {self.kernel} leads, is not in this code object")
        end = min([segment.address + segment.size, *(s.address for s in self._symbols if s.address > address)])
        symbol = Symbol(f"unnamed.{len(self._unnamed)}", address, end - address, "object")
        self._unnamed.append(symbol)
        return symbol

    def _text(self, address: int | str) -> str:
        """What a slot holds, or names."""
        if isinstance(address, str):
            return address
        symbol, offset = self._at(address)
        return f"{symbol.name}+{offset}" if offset else symbol.name

    def _pieces(self, symbol: Symbol) -> Iterator[bytes | int | str]:
        end = symbol.address + symbol.size
        at = symbol.address
        for slot in [*sorted(s for s in self._slots if symbol.address <= s <= end - 8), end]:
            if slot > at:
                yield from self._bytes(at, slot)
            if slot < end:
                yield self._text(self._slots[slot])
            at = slot + 8

    def _bytes(self, start: int, end: int) -> Iterator[bytes | int]:
        """What a segment holds, which is zeros after what the file holds of it."""
        segment = next((s for s in self.code.segments if s.address <= start and end <= s.address + s.size), None)
        if segment is None:
            raise IsaError(f"an object of {end - start} bytes at {start:#x} is not in one segment")
        held = segment.data[start - segment.address : end - segment.address]
        if held:
            yield held
        if len(held) < end - start:
            yield end - start - len(held)

    # --- code
    def texts(self, rows: Sequence[Instruction], name: str) -> dict[int, str]:
        """The instructions of a function that name a symbol, as text, by address."""
        found: dict[int, str] = {}
        chains: DefUse | None = None
        own = range(rows[0].address or 0, (rows[-1].address or 0) + rows[-1].size) if rows else range(0)
        for inst in rows:
            at = branch_target(inst)
            if isinstance(at, int) and at not in own and inst.mnemonic == "s_call_b64":
                symbol, offset = self._at(at)
                if offset:
                    raise inst.error(f"{name} calls the inside of {symbol.name}")
                found[inst.address or 0] = f"{inst.mnemonic} {inst.operands[0]}, {symbol.name}"
        flow = cfg.of_instructions(rows, name)
        far = {at: text for jump in flow.jumps for at, text in _far(rows, jump, flow).items()}
        for i, inst in enumerate(rows):
            if inst.desc.name == "s_getpc_b64" and inst.address not in far:
                chains = chains or defuse.analyse(flow)
                found |= self._counted(rows, i, chains, name)
        found |= {at: text for at, text in far.items() if text}
        if flow.calls and not self.anywhere:
            known = calls.targets(flow, chains or defuse.analyse(flow))
            self.anywhere = any(known[i] is None for i in flow.calls)
        return found

    def _counted(self, rows: Sequence[Instruction], at: int, chains: DefUse, name: str) -> dict[int, str]:
        """The two additions to what s_getpc_b64 gave."""
        start = rows[at]
        found: dict[int, str] = {}
        literals: list[int] = []
        adds: list[Instruction] = []
        for unit, mnemonic in zip(sorted(start.writes()), ("s_add_u32", "s_addc_u32"), strict=True):
            users = chains.uses_of(at, unit)
            inst = rows[next(iter(users))] if len(users) == 1 else None
            literal = inst.operands[-1] if inst is not None and inst.desc.name == mnemonic else None
            if inst is None or not isinstance(literal, Imm) or inst.operands[1] != unit:
                raise start.error(f"{name} takes its own address, and what it does with it cannot be followed")
            literals.append(int(literal.value) & 0xFFFFFFFF)
            adds.append(inst)
        here = (start.address or 0) + start.size
        target = here + (literals[0] | literals[1] << 32) & (1 << 64) - 1
        slot = target in self._slots and not any(s.address <= target < s.address + s.size for s in self._symbols)
        if slot:
            named, offset = self._text(self._slots[target]), 0
            if "+" in named:
                raise start.error(f"{name} takes the address {named} from the table of addresses")
        else:
            symbol, offset = self._at(target)
            named = symbol.name
        for inst, half in zip(adds, ("lo", "hi"), strict=True):
            added = offset + (inst.address or 0) - here + LITERAL_AT
            how = "gotpcrel32" if slot else "rel32"
            first, second = inst.operands[:2]
            found[inst.address or 0] = f"{inst.mnemonic} {first}, {second}, {named}@{how}@{half}{added:+}"
        return found


def _far(rows: Sequence[Instruction], jump: int, flow: Cfg) -> dict[int, str]:
    """A branch to what is far away (`isa.analysis.jumps`): its s_getpc_b64, whose text stays, and the additions whose
    literals are the distance, with labels in their place. Nothing where it is another jump."""
    start = next((i for i in range(jump - 1, -1, -1) if rows[i].desc.name == "s_getpc_b64"), jump)
    if len(flow.jumps[jump]) != 1:
        return {}
    to, here = rows[flow.jumps[jump][0]].address or 0, (rows[start].address or 0) + rows[start].size
    found = {rows[start].address or 0: ""}
    for inst in rows[start + 1 : jump]:
        at, literal = inst.address or 0, next((o for o in inst.operands if isinstance(o, Imm)), None)
        value = int(literal.value) & _WORD if literal else 0
        first = ", ".join(map(str, inst.operands[: 1 if inst.desc.name == "s_add_i32" else 2]))
        if inst.desc.name == "s_add_i32" and literal is inst.operands[1] and value == to - at - LITERAL_AT & _WORD:
            return found | {at: f"{inst.mnemonic} {first}, {{{to}}}, {inst.operands[2]}"}
        if inst.desc.name == "s_add_u32" and literal is not None and value == to - here & _WORD:
            found[at] = f"{inst.mnemonic} {first}, ({{{to}}}-{{{here}}})&4294967295"
        elif inst.desc.name == "s_addc_u32" and len(found) == 2 and literal and value == (to - here >> 32) & _WORD:
            return found | {at: f"{inst.mnemonic} {first}, ({{{to}}}-{{{here}}})>>32"}
    return {}
