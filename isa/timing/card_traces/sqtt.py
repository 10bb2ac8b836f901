"""SQTT, the instruction trace that an RDNA3 card writes: bytes -> packets -> which instruction issued in which cycle.

The format is a row of packets without a frame: packets are whole nibbles long, begin where the last one ended, and
their lowest bits say which they are (`_PACKETS`). Most carry a delta, and a packet's time is the sum of all deltas up
to it, in core clocks. A trace is of one shader engine, and instructions are those of one SIMD of it; the packets that
matter here:

    VALUINST, INST, IMMEDIATE   an instruction of one wave issues: of the VALU, of another unit (with an operation),
                                one that the sequencer deals with itself (s_waitcnt, s_nop, s_clause ...)
    IMMEDIATE_MASK              the same for several waves at once
    WAVESTART, WAVEEND          of a wave, with its place; the end is that of its s_endpgm
    ALUEXEC, VMEMEXEC           something executes; not which

No packet says which instruction it is: `instructions` follows each wave through the code, where only s_delay_alu has
no packet, and a branch says whether it was taken. A packet that cannot be of the instruction at that place is an error:
the code is not what ran. `encoded` writes issues as such a trace, so that a prediction is read by what reads a card's.

The format was worked out by the tinygrad project (tinygrad/renderer/amd/sqtt.py); traces of layout 3 (RDNA3) are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from isa.analysis.cfg import Cfg
from isa.errors import IsaError
from isa.semantics.branches import branch_target
from isa.semantics.instruction import Instruction
from isa.timing.machine.scheduling_classes import cost
from isa.timing.native import engine_abi

_LAYOUT = 3
_SHORT_BIAS = 4
"""TS_DELTA_SHORT counts from here."""
# packet: bits that say so, their value, nibbles, lowest bit and width of the delta
_PACKETS: dict[str, tuple[int, int, int, int, int]] = {
    "EVENT": (0xFF, 0x61, 6, 8, 3),
    "EVENT_BIG": (0xFF, 0xE1, 8, 8, 3),
    "TS_DELTA_S8_W3": (0x7F, 0x21, 18, 8, 3),
    "TS_DELTA_OR_MARK": (0x7F, 0x01, 12, 12, 36),
    "TS_WAVE_STATE": (0x7F, 0x51, 6, 7, 9),
    "SNAPSHOT": (0x7F, 0x71, 16, 7, 3),
    "LAYOUT_HEADER": (0x7F, 0x11, 16, 0, 0),
    "UTILCTR": (0x7F, 0x31, 12, 7, 2),
    "TS_DELTA_S5_W3": (0x1F, 0x06, 13, 5, 3),
    "TS_DELTA_S5_W2": (0x1F, 0x1C, 12, 5, 2),
    "IMMEDIATE_MASK": (0x1F, 0x04, 6, 5, 3),
    "WAVERDY": (0x1F, 0x14, 6, 5, 3),
    "WAVEEND": (0x1F, 0x15, 5, 5, 3),
    "WAVESTART": (0x1F, 0x0C, 8, 5, 2),
    "WAVEALLOC": (0x1F, 0x05, 5, 5, 3),
    "PERF": (0x1F, 0x16, 7, 5, 3),
    "TS_DELTA_SHORT": (0x0F, 0x08, 2, 4, 4),
    "VMEMEXEC": (0x0F, 0x0F, 2, 4, 2),
    "ALUEXEC": (0x0F, 0x0E, 2, 4, 2),
    "IMMEDIATE": (0x0F, 0x0D, 3, 4, 3),
    "REG": (0x0F, 0x09, 16, 4, 3),
    "VALUINST": (0x07, 0x03, 3, 3, 3),
    "INST": (0x07, 0x02, 5, 4, 3),
    "NOP": (0x0F, 0x00, 1, 0, 0),
}
_KINDS = [next((n for n, p in _PACKETS.items() if byte & p[0] == p[1]), "NOP") for byte in range(256)]
"""By the lowest byte; what is none of them is passed over as a NOP, a nibble at a time, as the format's readers do."""
_OTHER_SIMD = range(0x50, 0x67)
"""Operations of INST that were issued by a SIMD that is not traced."""
_JUMP, _JUMP_NOT = 0x03, 0x04
_VALU, _SALU, _SMEM = {0x0B, 0x0D, 0x0E, 0x0F, 0x73}, {0x00, 0x72}, {0x01}
_MEMORY, _LDS = {*range(0x1C, 0x29)}, {*range(0x29, 0x2F)}
_OPS = {
    engine_abi.VALU: _VALU, engine_abi.SALU: _SALU, engine_abi.SMEM: _SMEM, engine_abi.LDS_LOAD: _LDS,
    engine_abi.LDS_STORE: _LDS, engine_abi.LDS_EXCHANGE: _LDS, engine_abi.LOAD: _MEMORY, engine_abi.STORE: _MEMORY,
    engine_abi.BRANCH: {_JUMP, _JUMP_NOT, 0x05}, engine_abi.BARRIER: {0x13},
}  # fmt: skip
"""By the kind of an instruction, the operations that an INST of it may have; what is not here has IMMEDIATE packets."""
_MESSAGE = {0x09}
_VALU_OPS = {"trans": 0x0B, "valu_64": 0x0D, "int_quarter_rate": 0x0E, "f64": 0x0F, "trans_f64": 0x0F}
"""Classes of the VALU whose instructions have an INST that says how long they take."""
_NO_PACKET = "s_delay_alu"


class Packet(NamedTuple):
    """A packet: its time, its name and its bits."""

    time: int
    kind: str
    bits: int

    def field(self, low: int, width: int) -> int:
        """`width` bits from bit `low` on."""
        return self.bits >> low & (1 << width) - 1

    @property
    def wave(self) -> int:
        """Of a packet that is of one wave."""
        low = {"INST": 8, "VALUINST": 7, "IMMEDIATE": 7, "WAVEEND": 15, "WAVESTART": 13}[self.kind]
        return self.field(low, 5)

    @property
    def place(self) -> tuple[int, int]:
        """(WGP, SIMD) of a WAVESTART or WAVEEND; a WGP of the second shader array counts from 8."""
        array, simd, wgp = (7, 8, 10) if self.kind == "WAVESTART" else (8, 9, 11)
        return self.field(wgp, 3) | self.field(array, 1) << 3, self.field(simd, 2)


@dataclass(frozen=True, slots=True)
class Issued:
    """An instruction of a wave issues. position: of the code; packet: what said so, with its operation."""

    cycle: int
    wave: int
    position: int
    packet: str
    op: int | None = None


def packets(data: bytes) -> Iterator[Packet]:
    """The packets of a trace. IsaError where it is none of an RDNA3 card."""
    if len(data) < 8 or (first := int.from_bytes(data[:8], "little")) & 0x7F != 0x11 or first >> 7 & 0x3F != _LAYOUT:
        raise IsaError(
            "this is no SQTT trace of an RDNA3 card",
            expected=f"a layout header of layout {_LAYOUT} in the first 8 bytes",
            got=data[:8].hex(" ") or "nothing",
            hint="traces of RDNA4 and CDNA cards have other layouts, which are not read",
        )
    at = time = 0
    while at // 2 + 8 <= len(data):
        word = int.from_bytes(data[at // 2 : at // 2 + 9], "little") >> 4 * (at % 2) & (1 << 64) - 1
        kind = _KINDS[word & 0xFF]
        _, _, nibbles, low, width = _PACKETS[kind]
        delta = word >> low & (1 << width) - 1
        if kind == "TS_DELTA_SHORT":
            delta += _SHORT_BIAS
        elif kind == "TS_DELTA_OR_MARK" and word >> 8 & 3 == 2:  # a marker
            delta = 0
        time += delta
        yield Packet(time, kind, word & (1 << min(64, 4 * nibbles)) - 1)
        at += nibbles


def instructions(trace: Iterable[Packet], cfg: Cfg) -> Iterator[Issued]:
    """What issued, wave by wave followed through the code of the kernel. IsaError where code and trace do not agree."""
    found = _Followed(cfg)
    traced = (0, 0)
    for packet in trace:
        kind = packet.kind
        if kind == "LAYOUT_HEADER":
            traced = 0, packet.field(13, 2)
        elif kind == "WAVESTART":
            if packet.place == traced:
                found.start(packet)
        elif kind == "WAVEEND":
            if packet.place == traced:
                yield from found.end(packet)
        elif kind == "IMMEDIATE_MASK":
            for wave in range(16):
                if packet.field(8, 16) >> wave & 1:
                    yield found.issue(packet, wave)
        elif kind in ("VALUINST", "IMMEDIATE") or (kind == "INST" and packet.field(13, 7) not in _OTHER_SIMD):
            yield found.issue(packet, packet.wave)


def encoded(issues: Sequence[Issued], cfg: Cfg, simd: int = 0) -> bytes:
    """A trace that says what `issues` do, in order of cycles, as a card would write it. A wave's number is its slot in
    the SIMD, below 32; it begins with its first instruction, and again after each s_endpgm."""
    out = _Bits()
    out.put(0x11 | _LAYOUT << 7 | simd << 13, 16)
    begun: set[int] = set()
    following: dict[int, int] = {}  # by index: the position that its wave is at next
    last: dict[int, int] = {}
    for k, issue in enumerate(issues):
        if issue.wave in last:
            following[last[issue.wave]] = issue.position
        last[issue.wave] = k
    time = 0
    for k, issue in enumerate(issues):
        inst = cfg.instructions[issue.position]
        if inst.mnemonic == _NO_PACKET:
            continue
        if issue.cycle > time + 3:  # what the shortest field holds
            out.put(0x01 | (issue.cycle - time) << 12, 12)
            time = issue.cycle
        delta, time = issue.cycle - time, issue.cycle
        if issue.wave not in begun:
            begun.add(issue.wave)
            out.put(0x0C | delta << 5 | simd << 8 | issue.wave << 13, 8)
            delta = 0
        kinds, ops = packets_of(inst)
        if kinds == ("WAVEEND",):
            begun.discard(issue.wave)
            out.put(0x15 | delta << 5 | simd << 9 | issue.wave << 15, 5)
        elif kinds[0] == "IMMEDIATE":
            out.put(0x0D | delta << 4 | issue.wave << 7, 3)
        elif kinds[0] == "VALUINST" and (op := _VALU_OPS.get(inst.scheduling_class)) is None:
            out.put(0x03 | delta << 3 | issue.wave << 7, 3)
        else:
            if kinds[0] != "VALUINST":
                op = issue.op if issue.op is not None else min(ops)
            if inst.desc.is_branch:
                op = _JUMP_NOT if following.get(k, issue.position + 1) == issue.position + 1 else _JUMP
            assert op is not None
            out.put(0x02 | delta << 4 | issue.wave << 8 | op << 13, 5)
    out.put(0, 16)
    return out.bytes()


class _Bits:
    """Nibbles, one after the other."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def put(self, bits: int, nibbles: int) -> None:
        self._parts.append(f"{bits:0{nibbles}x}"[::-1])

    def bytes(self) -> bytes:
        digits = "".join(self._parts)
        digits += "0" * (len(digits) % 2)
        return bytes(int(digits[k + 1] + digits[k], 16) for k in range(0, len(digits), 2))


def packets_of(inst: Instruction) -> tuple[tuple[str, ...], set[int]]:
    """The packets that an instruction's issue may be recorded by, and the operations that an INST among them may
    have."""
    found = cost(inst)
    name = inst.scheduling_class
    if name == "message":
        return ("INST",), _MESSAGE
    if name == "cache_control":
        return ("IMMEDIATE", "INST"), _MEMORY
    if found.kind == engine_abi.VALU:
        return ("VALUINST", "INST"), _VALU
    if found.kind == engine_abi.END:
        return ("WAVEEND",), set()
    return (("INST",), _OPS[found.kind]) if found.kind in _OPS else (("IMMEDIATE",), set())


class _Followed:
    """Where each wave is in the code."""

    def __init__(self, cfg: Cfg) -> None:
        self.cfg = cfg
        self.at: dict[int, int] = {}
        self.by_address = {i.address: k for k, i in enumerate(cfg.instructions) if i.address is not None}

    def start(self, packet: Packet) -> None:
        if packet.wave in self.at:
            raise IsaError(f"cycle {packet.time}: wave {packet.wave} begins again", expected="a whole trace")
        self.at[packet.wave] = 0

    def end(self, packet: Packet) -> Iterator[Issued]:
        at = self._next(packet, packet.wave)
        del self.at[packet.wave]
        if at == 0 and len(self.cfg) > 1:
            return  # instructions of this shader engine were not traced
        if "WAVEEND" not in packets_of(self.cfg.instructions[at])[0]:
            self._refuse(packet, packet.wave, at)
        yield Issued(packet.time, packet.wave, at, packet.kind)

    def issue(self, packet: Packet, wave: int) -> Issued:
        at = self._next(packet, wave)
        op = packet.field(13, 7) if packet.kind == "INST" else None
        this = self.cfg.instructions[at]
        kinds, ops = packets_of(this)
        if packet.kind.removesuffix("_MASK") not in kinds or (op is not None and op not in ops):
            self._refuse(packet, wave, at)
        self.at[wave] = self._target(this, at) if op == _JUMP else at + 1
        return Issued(packet.time, wave, at, packet.kind, op)

    def _next(self, packet: Packet, wave: int) -> int:
        """The position of the instruction that the packet is of."""
        if wave not in self.at:
            raise IsaError(f"cycle {packet.time}: wave {wave} issues and has not begun", expected="a whole trace")
        at = self.at[wave]
        while at < len(self.cfg) and self.cfg.instructions[at].mnemonic == _NO_PACKET:
            at += 1
        if at >= len(self.cfg):
            raise IsaError(f"cycle {packet.time}: wave {wave} is past the code's end", expected="the code that ran")
        return at

    def _target(self, branch: Instruction, at: int) -> int:
        target = branch_target(branch)
        if isinstance(target, str):
            return self.cfg.labels[target]
        return at + 1 if target is None else self.by_address[target]

    def _refuse(self, packet: Packet, wave: int, at: int) -> None:
        op = f" of operation {packet.field(13, 7):#04x}" if packet.kind == "INST" else ""
        raise IsaError(
            f"cycle {packet.time}: the trace is not of this code: wave {wave} is at {self.cfg.instructions[at]}",
            expected=" or ".join(packets_of(self.cfg.instructions[at])[0]) or "no packet",
            got=packet.kind + op,
            hint="a trace goes with the code object that ran",
        )
