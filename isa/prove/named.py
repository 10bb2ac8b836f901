"""Named parts of a kernel: a program -> the functions that the kernel may run and the data that it may read; and where
those of two kernels differ.

In: kernels as text. Out: all code that a kernel may run, through calls and tables; and the first
`difference` of what two kernels mean by a name that both use: bytes, relocations, size, alignment, whether they may be
written or give way to another definition, instructions.

A symbol of `.set` is its value, or what its expression names. A function is its instructions, branches by where they
go, so that labels may have other names. An object is its bytes; those that only a linker knows are expressions.
A kernel that jumps where memory says may run whatever its program holds.

Assumed, and said by `assumed`: an access through a symbol's address stays inside of its object, and a symbol that
neither program defines is the same thing. Limits: see `isa.asm.data`; raw
numbers among instructions.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from isa.analysis import calls, cfg, defuse
from isa.analysis.cfg import Cfg
from isa.analysis.defuse import DefUse
from isa.asm import expression
from isa.asm.data import MAKES_BYTES, Contents, Piece, ProgramData, textual
from isa.asm.program import Directive, Kernel, Program
from isa.errors import IsaError
from isa.prove.proof import Difference, ProofPlace
from isa.registers import Reg
from isa.semantics.instruction import Instruction, Symbol, bare
from isa.targets import GFX1100

_NAME = re.compile(r"(?<![\w.$@])[A-Za-z_.$][\w.$]*(?:@(?!rel32|gotpcrel|abs32|lo\b|hi\b)[\w.$]+)*")

_GLOBAL, _HIDDEN = (".globl", ".global", ".weak"), (".hidden", ".internal", ".local")
_OTHER_NAMES = (".weakref", ".symver")
_LINKAGE = (*_GLOBAL, *_HIDDEN, *_OTHER_NAMES)

ENTRY = 256
"""Bytes to which a kernel's first instruction is aligned: hardware takes its address without the low 8 bits."""


@dataclass(frozen=True)
class Function:
    """Instructions from a label on. labels: of its own blocks, by position."""

    program: Program
    name: str
    flow: Cfg

    @cached_property
    def texts(self) -> list[str]:
        """The instructions, with positions in the place of the function's own labels, and `names` left out."""
        return [self._text(inst) for inst in self.flow.instructions]

    def _text(self, inst: Instruction) -> str:
        text, places = str(inst), self.flow.labels
        for symbol in _symbols(inst, self.program):
            named = _NAME.sub(lambda m: f"@{places[m[0]]}" if m[0] in places else "?", symbol)
            text = text.replace(symbol, named)
        return text

    @cached_property
    def names(self) -> list[str]:
        """What its instructions name, in order, each as often as it is named."""
        rows = (_NAME.findall(text) for inst in self.flow.instructions for text in _symbols(inst, self.program))
        return [name for row in rows for name in row if name not in self.flow.labels]

    @cached_property
    def distances(self) -> list[str]:
        """The expressions of its instructions that name several symbols of others, in order."""
        texts = (text for inst in self.flow.instructions for text in _symbols(inst, self.program))
        return [text for text in texts if len(set(_NAME.findall(text)) - set(self.flow.labels)) > 1]

    @cached_property
    def goes_anywhere(self) -> bool:
        """Whether it jumps where memory or an argument says."""
        jumps = [i for i in self.flow.indirect_jumps if i not in self.flow.calls]
        if not (self.flow.calls or jumps):
            return False
        chains = defuse.analyse(self.flow)
        for i, target in calls.targets(self.flow, chains).items():
            if target is None and (
                i in self.flow.calls or self.name in self.program.kernels or self._loaded(chains, i)
            ):
                return True
        return False

    def _loaded(self, chains: DefUse, jump: int) -> bool:
        """Whether the address of a jump, which may be a return, comes from memory or from a lane."""
        pair = self.flow.instructions[jump].operands[-1]
        units = pair.units() if isinstance(pair, Reg) else ()
        rows = [self.flow.instructions[i] for unit in units for i in chains.defs_of(jump, unit) if i >= 0]
        return any(inst.desc.access or inst.desc.name == "v_readfirstlane_b32" for inst in rows)


class Names:
    """The names of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._functions: dict[str, Function] = {}

    @cached_property
    def data(self) -> ProgramData:
        return ProgramData(self.program)

    @cached_property
    def unclear(self) -> IsaError | None:
        """That macros or conditions decide what is assembled."""
        if (found := textual(self.program)) is None:
            return None
        what, line = found
        return IsaError(f"what is assembled is not known, because of {what}", span=self.program.span(line))

    def function(self, name: str) -> Function | None:
        """The code at a label. IsaError where it is not only instructions."""
        if name not in self._functions:
            if name not in self.program.kernels and name not in self.data.code:
                return None
            start = self.program.labels[name]
            end = self.program.code_end(start)
            for number in range(start, end):
                node = self.program.lines[number].node
                if isinstance(node, Directive) and node.name in MAKES_BYTES:
                    raise IsaError(f"{name} has numbers among its instructions", span=self.program.span(number))
            self._functions[name] = Function(self.program, name, cfg.of_text(self.program, name, start, end))
        return self._functions[name]

    def set_to(self, name: str) -> str | None:
        """What `.set` makes of a name, as a number where it is one."""
        if name not in self.program.symbols:
            if name in self._set:
                raise IsaError(f"{name} is set several times", span=self.program.span(self._set[name]))
            return None
        text = self.program.symbols[name]
        number = expression.value(text, self.program.symbols)
        return re.sub(r"\s", "", text) if number is None else str(number)

    @cached_property
    def _linkage(self) -> dict[tuple[str, str], int]:
        """Directive of linkage and name -> its line."""
        nodes = ((number, line.node) for number, line in enumerate(self.program.lines))
        rows = ((n, node) for n, node in nodes if isinstance(node, Directive) and node.name in _LINKAGE)
        return {(node.name, name.strip()): number for number, node in rows for name in node.args.split(",")}

    def weak(self, name: str) -> int | None:
        """The line that lets another definition take its place. IsaError where a name stands for another one."""
        for directive in _OTHER_NAMES:
            if (line := self._linkage.get((directive, name))) is not None:
                raise IsaError(f"what {name} means is not known, because of {directive}", span=self.program.span(line))
        return self._linkage.get((".weak", name))

    def is_found(self, name: str) -> bool:
        """Whether a host finds it by its name."""
        return any((d, name) in self._linkage for d in _GLOBAL) and not any((d, name) in self._linkage for d in _HIDDEN)

    @cached_property
    def _set(self) -> dict[str, int]:
        """Name -> the line of the last directive that sets it."""
        nodes = ((number, line.node) for number, line in enumerate(self.program.lines))
        rows = ((n, node.args) for n, node in nodes if isinstance(node, Directive) and node.name in (".set", ".equ"))
        return {args.partition(",")[0].strip(): number for number, args in rows}

    def place(self, line: int | None) -> ProofPlace | None:
        return ProofPlace.of_line(None if line is None else self.program.span(line))

    def line_set(self, name: str) -> int | None:
        return self._set.get(name)

    def defines(self, name: str) -> bool:
        return name in self.program.labels or name in self._set or self.data.contents(name) is not None

    def declared(self) -> list[str]:
        """All functions and objects of the program, but kernels."""
        nodes = (line.node for line in self.program.lines)
        rows = (n.args.partition(",") for n in nodes if isinstance(n, Directive) and n.name == ".type")
        names = [name.strip() for name, _, kind in rows if kind.strip().lstrip("@%") in ("function", "object")]
        return [name for name in names if name not in self.program.kernels]

    def after(self, name: str) -> list[str]:
        """The names that one leads to."""
        if (function := self.function(name)) is not None:
            return function.names + (self.declared() if function.goes_anywhere else [])
        if (text := self.set_to(name)) is not None:
            return _NAME.findall(text)
        pieces = found.pieces if (found := self.data.contents(name)) else ()
        return [n for piece in pieces if isinstance(piece.content, str) for n in _NAME.findall(piece.content)]

    def functions(self, kernel: str) -> list[Function]:
        """A kernel, and all code that it may run. IsaError where some of that is not known."""
        return [function for name in self.reached(kernel) if (function := self.function(name)) is not None]

    def reached(self, kernel: str) -> list[str]:
        """A kernel, and all names that it leads to. IsaError as of `functions`."""
        return list(_closure(kernel, self.after))


_recent: deque[Names] = deque(maxlen=2)


def names_in(program: Program) -> Names:
    """The names of a program. Those of the last two are kept: a program of hundreds of kernels is asked for each."""
    found = next((names for names in _recent if names.program is program), None)
    if found is None:
        _recent.append(found := Names(program))
    return found


def _closure(first: str, after: Callable[[str], Iterable[str]]) -> Iterator[str]:
    seen, work = {first}, [first]
    for name in work:
        yield name
        fresh = [n for n in dict.fromkeys(after(name)) if n not in seen]
        seen.update(fresh)
        work += fresh


def _symbols(inst: Instruction, program: Program) -> Iterator[str]:
    """Expressions of symbols among an instruction's operands."""
    known = {o.text for half in inst.halves for operand in half.operands if isinstance(o := bare(operand), Symbol)}
    yield from sorted(known)
    if program.symbols:
        yield from sorted({name for name in _NAME.findall(str(inst)) if name in program.symbols} - known)


class _Differ(Exception):
    """What a name means is another thing. what: one sentence; at: lines of both programs, None where there is none."""

    def __init__(self, what: str, *at: int | None, kind: str = "data") -> None:
        self.what, self.at, self.kind = what, at, kind


def differences(a: Kernel, b: Kernel, followed: frozenset[str] | None = None) -> Iterator[Difference]:
    """Where two kernels that use the same names mean something else by them; what cannot be known is such a place.
    followed: the functions that both call, where somebody else follows all calls: of these only what they name, as if
    the kernels named it."""
    sides = (names_in(a.program), names_in(b.program))
    try:
        for names in sides:
            if names.unclear is not None:
                raise names.unclear
        aligned = [min(names.data.alignment(k.name), ENTRY) for names, k in zip(sides, (a, b), strict=True)]
        if aligned[1] < aligned[0]:
            what = f"the kernel is aligned to {aligned[1]} bytes, to {aligned[0]} in the original"
            yield Difference("data", what, sides[0].place(a.start), sides[1].place(b.start), certain=False)
        if sides[0].is_found(a.name) and not sides[1].is_found(b.name):
            what = "the host finds the kernel by its name, and does not in the rewritten program"
            yield Difference("data", what, sides[0].place(a.start), sides[1].place(b.start), certain=False)
        parts = [
            [f for f in map(names.function, (kernel.name, *sorted(followed or ()))) if f is not None]
            for names, kernel in zip(sides, (a, b), strict=True)
        ]
        first, second = ({name: None for f in part for name in f.names} for part in parts)
        shared = [name for name in first if name in second and name not in (followed or ())]
        if followed is None and any(f.goes_anywhere for part in parts for f in part):
            shared += sides[0].declared()
    except IsaError as error:
        yield Difference("data", error.message, None, ProofPlace.of_line(error.span), certain=False)
        return
    pairs = dict.fromkeys((name, name) for name in shared)
    back = {name: name for name in shared}
    work = list(pairs)
    for x, y in work:
        try:
            found = list(_compared(sides, x, y))
        except _Differ as differ:
            at = (names.place(line) for names, line in zip(sides, differ.at, strict=True))
            yield Difference(differ.kind, differ.what, next(at), next(at), certain=False)
            continue
        except IsaError as error:
            yield Difference("data", error.message, None, ProofPlace.of_line(error.span), certain=False)
            continue
        for p, q in found:
            if (p, q) in pairs:
                continue
            if back.setdefault(q, p) != p or any(p == first for first, _ in pairs):
                yield Difference("data", f"{x} leads to {p}, {q} in the rewritten program", None, None, certain=False)
                continue
            pairs[p, q] = None
            work.append((p, q))


def assumed(a: Kernel, b: Kernel) -> list[str]:
    """What the comparison of the names of two kernels rests on."""
    sides = names_in(a.program), names_in(b.program)
    reached = sides[1].reached(b.name)[1:]
    outside = [name for name in reached if not any(names.defines(name) for names in sides)]
    targets = [(k.program.target or GFX1100).name for k in (a, b)]
    found = [] if len(set(targets)) == 1 else [f"the kernels run on {' and '.join(targets)}"]
    data = [held for name in reached if sides[1].function(name) is None and (held := sides[1].data.contents(name))]
    if any(isinstance(p.content, str) and len(_NAME.findall(p.content)) > 1 for held in data for p in held.pieces):
        found.append("distances that a table holds are added to its address")
    if data:
        found.append("what is read through the address of a symbol lies in it; a variable that only other kernels or "
                     "the host write is the same for both")  # fmt: skip
    if outside:
        found.append(f"{', '.join(outside)}, which neither file defines: the same for both")
    return found


def _compared(sides: tuple[Names, Names], x: str, y: str) -> Iterator[tuple[str, str]]:
    """The pairs of names that two names lead to. _Differ where they are not the same."""
    weak = [names.weak(name) for names, name in zip(sides, (x, y), strict=True)]
    if (weak[0] is None) != (weak[1] is None):
        kinds = [f"{'gives way to no' if w is None else 'may give way to another'} definition" for w in weak]
        raise _Differ(f"{x} {kinds[0]}, and {kinds[1]} in the rewritten program", *weak)
    first, second = (names.function(name) for names, name in zip(sides, (x, y), strict=True))
    if first and second:
        return _same_code(sides, first, second)
    a, b = (names.set_to(name) for names, name in zip(sides, (x, y), strict=True))
    if a is not None and b is not None:
        if _NAME.sub("?", a) != _NAME.sub("?", b):
            raise _Differ(f"{x} is {a}, {b} in the rewritten program", sides[0].line_set(x), sides[1].line_set(y))
        return _meant(sides, (a, b), x, sides[0].line_set(x), sides[1].line_set(y))
    p, q = (names.data.contents(name) for names, name in zip(sides, (x, y), strict=True))
    if p and q:
        return _same_data(sides, x, p, q)
    kinds = ["a function" if f else "set by .set" if t else "data" if c else "not in the file"
             for f, t, c in ((first, a, p), (second, b, q))]  # fmt: skip
    if kinds[0] != kinds[1] or x != y:
        raise _Differ(f"{x} is {kinds[0]}, {kinds[1]} in the rewritten program", None, None)
    return iter(())


def _meant(sides: tuple[Names, Names], texts: tuple[str, str], name: str, *at: int | None) -> Iterator[tuple[str, str]]:
    """The pairs of names in what two programs make of `name`: a symbol's address, or its distance from `name` in
    another section. Other distances are numbers, which must be the same. _Differ where that is not known."""
    first, second = map(_NAME.findall, texts)
    apart = [names.data.distance(text) for names, text in zip(sides, texts, strict=True)]
    if len(first) < 2 or (first[1:] in ([name], ["."]) and apart == [None, None]):
        return zip(first, second, strict=True)
    if apart[0] is None or apart[0] != apart[1]:
        raise _Differ(f"{name} is made of {texts[0]}, which may be another number in the rewritten program", *at)
    return iter(())


def _same_code(sides: tuple[Names, Names], a: Function, b: Function) -> Iterator[tuple[str, str]]:
    for k in range(max(len(a.texts), len(b.texts))):
        if a.texts[k : k + 1] != b.texts[k : k + 1]:
            lines = (f.flow.lines[min(k, len(f.texts) - 1)] for f in (a, b))
            raise _Differ(f"the function {b.name} differs", *lines, kind="code")
    for first, second in zip(a.distances, b.distances, strict=True):
        yield from _meant(sides, (first, second), a.name, None, None)
    yield from zip(a.names, b.names, strict=True)


def _same_data(sides: tuple[Names, Names], name: str, a: Contents, b: Contents) -> Iterator[tuple[str, str]]:
    if a.held != b.held or a.size != b.size:
        raise _Differ(f"{name} has {b.size} bytes, {a.size} in the original", a.line, b.line)
    found: list[tuple[str, str]] = []
    rows, others = list(a.pieces), list(b.pieces)
    at, i, j = 0, 0, 0
    while i < len(rows):
        p, q = rows[i], others[j]
        end = min(p.at + p.size, q.at + q.size)
        if isinstance(p.content, str) or isinstance(q.content, str):
            same = isinstance(p.content, str) and isinstance(q.content, str) and (p.at, p.size) == (q.at, q.size)
            texts = (str(p.content), str(q.content))
            if not same or _NAME.sub("?", texts[0]) != _NAME.sub("?", texts[1]):
                was, now = (c if isinstance(c, str) else "a number" for c in (p.content, q.content))
                raise _Differ(f"byte {at} of {name} begins {was}, {now} in the rewritten program", p.line, q.line)
            found += _meant(sides, texts, name, p.line, q.line)
        elif (k := _first_other(_part(p, at, end), _part(q, at, end))) is not None:
            x, y = (_part(piece, at, end)[k] if isinstance(piece.content, bytes) else 0 for piece in (p, q))
            what = f"byte {at + k} of {name} is {x:#04x}, {y:#04x} in the rewritten program"
            raise _Differ(what, p.line, q.line)
        at = end
        i, j = i + (end == p.at + p.size), j + (end == q.at + q.size)
    if a.writable != b.writable:
        kinds = ["may be written" if x.writable else "is read only" for x in (a, b)]
        raise _Differ(f"{name} {kinds[0]}, and {kinds[1]} in the rewritten program", a.line, b.line)
    if b.align < a.align:
        raise _Differ(f"{name} is aligned to {b.align}, to {a.align} in the original", a.line, b.line)
    return iter(found)


def _part(piece: Piece, start: int, end: int) -> bytes:
    """Bytes of a piece, none of zeros."""
    return piece.content[start - piece.at : end - piece.at] if isinstance(piece.content, bytes) else b""


def _first_other(a: bytes, b: bytes) -> int | None:
    """Where two runs of one length first differ; no bytes are zeros."""
    size = max(len(a), len(b))
    x, y = (run or bytes(size) for run in (a, b))
    return None if x == y else next(k for k in range(size) if x[k] != y[k])
