"""What a straight piece of AVX-512 assembly computes, by what Intel's manual says of each instruction.

In:  LLVM's AT&T text of one function `f(ptr)` that only moves, compares with nothing, and computes bit by bit on
     registers of 128 to 512 bits, with masks and broadcasts; and the bytes at ptr.
Out: the bytes at ptr when it returns.

So the code for a processor with AVX-512 is examined on any machine. What the function may hold is what such functions
were seen to hold; another instruction is an AssertionError that names it.
"""

from __future__ import annotations

import re

import numpy as np

DATA, STACK, CONSTANTS = 0x10000, 0x80000, 0x100000
_SIZES = {".byte": 1, ".short": 2, ".long": 4, ".quad": 8}
_WHOLE = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "andn": lambda a, b: ~a & b}
_ARITHMETIC = {"vpadd": np.add, "vpsub": np.subtract, "vpmull": np.multiply}
_MASKS = {
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "andn": lambda a, b: ~a & b,
    "xnor": lambda a, b: ~(a ^ b),
}  # fmt: skip


class Machine:
    """One run of a function's text."""

    def __init__(self, text: str, data: bytes) -> None:
        self.memory = np.zeros(CONSTANTS + (1 << 16), np.uint8)
        self.memory[DATA : DATA + len(data)] = np.frombuffer(data, np.uint8)
        self.size = len(data)
        self.vectors = np.zeros((32, 64), np.uint8)
        self.masks = [0] * 8
        self.words = {"rdi": DATA, "rsp": STACK}
        self.labels: dict[str, int] = {}
        self.ternary: list[str] = []
        """The vpternlogs that keep lanes under a mask, as they stand in the text."""
        self.lines = self._read(text)

    def run(self) -> bytes:
        for line in self.lines:
            name, _, rest = line.partition("\t")
            operands = re.findall(r"(?:\([^)]*\)|\{[^}]*\}|[^,\s(])+(?:\s\{[^}]*\})*", rest)
            if name in ("retq", "vzeroupper"):
                continue
            if name.startswith("v"):
                self._vector(line, name, operands)
            elif name.startswith("k"):
                self._mask(line, name, operands)
            else:
                self._word(line, name, operands)
        return self.memory[DATA : DATA + self.size].tobytes()

    def _read(self, text: str) -> list[str]:
        """The instructions; constants go to memory."""
        lines, at = [], CONSTANTS
        for raw in text.splitlines():
            line = raw.partition("#")[0].strip()
            directive, _, value = line.partition("\t")
            if m := re.fullmatch(r"(\.LCPI\w+):", line):
                at = -(-at // 64) * 64
                self.labels[m[1]] = at
            elif directive in _SIZES and self.labels:
                size = _SIZES[directive]
                bits = int(value, 0) & (1 << 8 * size) - 1
                self.memory[at : at + size] = np.frombuffer(bits.to_bytes(size, "little"), np.uint8)
                at += size
            elif directive == ".zero" and self.labels:
                at += int(value.split(",")[0])
            elif raw.startswith("\t") and not line.startswith("."):
                lines.append(line)
        return lines

    # --- operands

    def _place(self, text: str) -> int:
        m = re.fullmatch(r"(-?\d+)?\(%(\w+)\)", text)
        assert m, text
        return int(m[1] or 0) + self.words[m[2]]

    def _source(self, text: str, bits: int, lane: int) -> np.ndarray:
        """The bytes of a source: a register, memory, or an element of memory in each lane."""
        count = bits // 8
        if m := re.fullmatch(r"%[xyz]mm(\d+)", text):
            return self.vectors[int(m[1]), :count].copy()
        text, _, broadcast = text.partition("{")
        at = self._place(text)
        if broadcast:
            return np.tile(self.memory[at : at + lane], count // lane)
        return self.memory[at : at + count].copy()

    def _store(self, text: str, value: np.ndarray, lane: int, whole: bool = True) -> None:
        """Under the mask that the operand names; a register's bytes after the value become 0."""
        place, *rest = text.split()
        chosen = np.ones(len(value) // lane, bool)
        if m := re.search(r"\{%k(\d)\}", " ".join(rest)):
            chosen = (self.masks[int(m[1])] >> np.arange(len(chosen))) & 1 == 1
        chosen = np.repeat(chosen, lane)
        if m := re.fullmatch(r"%[xyz]mm(\d+)", place):
            old = np.zeros_like(value) if "{z}" in rest else self.vectors[int(m[1]), : len(value)].copy()
            self.vectors[int(m[1])] = 0
            self.vectors[int(m[1]), : len(value)] = np.where(chosen, value, old)
        else:
            at = self._place(place)
            self.memory[at : at + len(value)] = np.where(chosen, value, self.memory[at : at + len(value)])

    # --- instructions

    def _vector(self, line: str, name: str, operands: list[str]) -> None:
        registers = re.findall(r"%([xyz])mm", line)
        bits = {"x": 128, "y": 256, "z": 512}[registers[-1] if registers else "z"]
        lane = 8 if name.endswith(("q", "q64", "pd")) else 4
        *sources, target = operands
        if m := re.fullmatch(r"vmov(?:dq[au]|[au]p)(?:8|16|32|64|s|d)?", name):
            lane = {"8": 1, "16": 2, "64": 8}.get(re.findall(r"\d*$", name)[0], lane)
            return self._store(target, self._source(sources[0], bits, lane), lane)
        if m := re.fullmatch(r"vpbroadcast([dq])|vbroadcasts([sd])", name):
            width = 8 if m[1] == "q" or m[2] == "d" else 4
            if sources[0].startswith("%") and "mm" not in sources[0]:
                word = np.frombuffer((self.words[_full(sources[0])] & (1 << 8 * width) - 1).to_bytes(width, "little"),
                                     np.uint8)  # fmt: skip
            else:
                word = self._source(sources[0], 8 * width, width)
            return self._store(target, np.tile(word, bits // 8 // width), width)
        if m := re.fullmatch(r"vbroadcast[if](\d+)x(\d)", name):
            width = int(m[1]) * int(m[2]) // 8
            return self._store(target, np.tile(self._source(sources[0], 8 * width, 4), bits // 8 // width), 4)
        if re.fullmatch(r"vpternlog[dq]", name):
            if "{%k" in target and "{z}" not in target:
                self.ternary.append(line)
            table = int(sources[0].lstrip("$"), 0) & 0xFF
            c, b = (self._source(s, bits, lane) for s in sources[1:])
            a = self._source(target.split()[0], bits, lane)
            result = np.zeros_like(a)
            for index in range(8):
                if table >> index & 1:
                    picked = (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
                    result |= picked
            return self._store(target, result, lane)
        if m := re.fullmatch(r"v(?:p(andn|and|or|xor)[dq]?|(andn|and|or|xor)p[sd])", name):
            b, a = (self._source(s, bits, lane) for s in sources)
            return self._store(target, _WHOLE[m[1] or m[2]](a, b), lane)
        if m := re.fullmatch(r"v(?:pblendm[bwdq]|blendmp[sd])", name):
            lane = {"b": 1, "w": 2}.get(name[-1], lane)
            b, a = (self._source(s, bits, lane) for s in sources)
            value = a.copy()
            number = int(re.findall(r"\{%k(\d)\}", target)[0])
            chosen = (self.masks[number] >> np.arange(len(a) // lane)) & 1 == 1
            value = np.where(np.repeat(chosen, lane), b, np.zeros_like(a) if "{z}" in target else a)
            return self._store(target.split()[0], value, lane)
        if m := re.fullmatch(r"(vpadd|vpsub|vpmull)([dq])", name):
            type_ = np.uint32 if m[2] == "d" else np.uint64
            b, a = (self._source(s, bits, lane).view(type_) for s in sources)
            return self._store(target, _ARITHMETIC[m[1]](a, b).view(np.uint8), lane)
        raise AssertionError(f"not described: {line}")

    def _mask(self, line: str, name: str, operands: list[str]) -> None:
        width = {"b": 8, "w": 16, "d": 32, "q": 64}[name[-1]]
        *sources, target = operands
        if name[:-1] == "kmov":
            if "(" in target:
                at = self._place(target)
                value = self.masks[int(sources[0][2])] & (1 << width) - 1
                self.memory[at : at + width // 8] = np.frombuffer(value.to_bytes(width // 8, "little"), np.uint8)
                return
            if sources[0].startswith("%k"):
                value = self.masks[int(sources[0][2])]
            elif sources[0].startswith("%"):
                value = self.words[_full(sources[0])]
            else:
                value = int.from_bytes(self._source(sources[0], width, 1).tobytes(), "little")
        elif name[:-1] == "knot":
            value = ~self.masks[int(sources[0][2])]
        elif name[:-1] in ("kshiftr", "kshiftl"):
            count, old = int(sources[0].lstrip("$")), self.masks[int(sources[1][2])] & (1 << width) - 1
            value = old >> count if name[-2] == "r" else old << count
        elif name[1:-1] in _MASKS:
            b, a = (self.masks[int(s[2])] for s in sources)
            value = _MASKS[name[1:-1]](a, b)
        else:
            raise AssertionError(f"not described: {line}")
        value &= (1 << width) - 1
        if target.startswith("%k"):
            self.masks[int(target[2])] = value
        else:
            self.words[_full(target)] = value

    def _word(self, line: str, name: str, operands: list[str]) -> None:
        if name == "movabsq" and operands[0].startswith("$.LCPI"):
            self.words[_full(operands[1])] = self.labels[operands[0][1:]]
        elif name in ("movw", "movl", "movabsq") and operands[0].startswith("$"):
            size = {"movw": 2, "movl": 4, "movabsq": 8}[name]
            self.words[_full(operands[1])] = int(operands[0][1:], 0) & (1 << 8 * size) - 1
        elif name in ("movzwl", "movl") and "(" in operands[0]:
            at = self._place(operands[0])
            size = 2 if name == "movzwl" else 4
            self.words[_full(operands[1])] = int.from_bytes(self.memory[at : at + size].tobytes(), "little")
        else:
            raise AssertionError(f"not described: {line}")


def _full(register: str) -> str:
    """The 64-bit name of a general register."""
    name = register.lstrip("%")
    if m := re.fullmatch(r"e?([a-d]x|[sd]i|[bs]p)", name):
        return f"r{m[1]}"
    return name.rstrip("dw") if re.fullmatch(r"r\d+[dw]", name) else name
