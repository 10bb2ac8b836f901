"""Runs the reference engine on forms of the described instructions and compares with what the texts say."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from assembly import Case
from inputs import SCRATCH_BYTES, Inputs, draw

from isa.semantics.float_mode import FloatMode
from isa.sim.run.interpret import AddressedCode, Buffers, Wave
from isa.targets import TARGETS
from pcode.evaluate import Env, Statement, condition, program
from pcode.excuses import ALWAYS, EXCUSES, ULPS, Excuse
from pcode.floats import Format
from pcode.machine import Machine
from pcode.state import LANES, State
from pcode.texts import texts

BASE = 1 << 20


@dataclass(frozen=True)
class Question:
    """One launch: a case with its inputs."""

    case: Case
    seed: int
    pattern: str
    ieee: bool = True

    @property
    def mode(self) -> FloatMode:
        bits = TARGETS[self.case.form.arch].family.mode_bits
        return FloatMode(ieee=self.ieee, omod=not bits)

    def __str__(self) -> str:
        return f"{self.case.instructions[0]} [seed {self.seed}, EXEC {self.pattern}{'' if self.ieee else ', IEEE off'}]"

    @functools.cached_property
    def inputs(self) -> Inputs:
        return draw(self.case, self.seed, self.pattern, BASE)

    @functools.cached_property
    def before(self) -> State:
        """Without memories where the instruction has none."""
        inputs, first = self.inputs, self.case.instructions[0]
        memory, lds, scratch = b"", b"", b""
        if first.desc.access is not None:
            memory, lds, scratch = inputs.memory, inputs.lds, inputs.scratch
        return State(
            inputs.vgprs, inputs.sgprs, inputs.scc, bytearray(memory), BASE, bytearray(lds),
            [bytearray(scratch[SCRATCH_BYTES * n : SCRATCH_BYTES * (n + 1)]) for n in range(LANES)] if scratch else [],
            self.case.address, self.mode.register,
        )  # fmt: skip


def answered(question: Question) -> State:
    """What the reference engine leaves after the first instruction of the case."""
    case, after = question.case, question.before.copy()
    memory = Buffers()
    memory.add(BASE, after.memory)
    wave = Wave(AddressedCode(case.instructions, case.address), memory, after.lds, scratch_bytes=0, mode=question.mode)
    wave.vgprs, wave.sgprs, wave.scc, wave.scratch = after.vgprs, after.sgprs, after.scc, after.scratch
    wave.step()
    after.scc, after.pc, after.mode = wave.scc, wave.pc, wave.mode.register
    return after


def expected(question: Question, excuses: Sequence[Excuse] = EXCUSES, text: str = "") -> State:
    """What its text (or another) says. NoValue or SyntaxError where it says nothing."""
    inst = question.case.instructions[0]
    name = inst.desc.name
    text = text or texts(inst.family.name)[name]
    rows = [excuse for excuse in excuses if excuse.applies(name, inst.family.name)]
    if rows and rows[0].where == ALWAYS:  # so that a text that is no code need not be run
        text = rows[0].filled(rows.pop(0).instead, name, text)
    run = program(text)
    for excuse in rows:
        run = _excused(excuse, name, text, run)
    return Machine(inst, text, run, question.before).execute()


def _excused(excuse: Excuse, name: str, text: str, otherwise: Statement) -> Statement:
    where, instead = (excuse.filled(t, name, text) for t in (excuse.where, excuse.instead))
    inside, amended = condition(where), program(instead)

    def run(env: Env) -> str | None:
        return amended(env) if inside(env).true else otherwise(env)

    return run


def differences(want: State, got: State) -> list[str]:
    """One line for each place."""
    found = []
    for (file, number, lane, bit), form in want.loose.items():
        _settle(want, got, file, number, lane, bit, form)
    for number, lane in np.argwhere(want.vgprs != got.vgprs)[:4]:
        found.append(f"v{number} lane {lane}: text {want.vgprs[number, lane]:#x}, here {got.vgprs[number, lane]:#x}")
    for number in np.nonzero(want.sgprs != got.sgprs)[0][:4]:
        found.append(f"s{number}: text {want.sgprs[number]:#x}, here {got.sgprs[number]:#x}")
    for name in ("scc", "pc", "mode"):
        if getattr(want, name) != getattr(got, name):
            found.append(f"{name}: text {getattr(want, name)!r}, here {getattr(got, name)!r}")
    for name in ("memory", "lds", "scratch"):
        a, b = (getattr(s, name) for s in (want, got))
        if a != b:
            found.append(f"{name} differs{_first(a, b)}")
    return found


def _first(a: object, b: object) -> str:
    if isinstance(a, list):
        return "".join(f" of lane {n}{_first(x, y)}" for n, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)[:60]
    x, y = (np.frombuffer(m, np.uint8) for m in (a, b))
    at = int(np.nonzero(x != y)[0][0]) & ~3
    return f" at {at:#x}: text {bytes(x[at : at + 8]).hex()}, here {bytes(y[at : at + 8]).hex()}"


def _settle(want: State, got: State, file: str, number: int, lane: int, bit: int, form: Format) -> None:
    """Where the text leaves open which NaN (or zero) it is, and one is there: take that one."""
    if file == "v":
        words = range(number, number + (bit + form.width + 31) // 32)
        value = sum(int(got.vgprs[n, lane]) << 32 * i for i, n in enumerate(words)) >> bit
        if form.leaves_open(value & (1 << form.width) - 1):
            mask = ((1 << form.width) - 1) << bit
            for i, n in enumerate(words):
                part = mask >> 32 * i & 0xFFFFFFFF
                want.vgprs[n, lane] = int(want.vgprs[n, lane]) & ~part | int(got.vgprs[n, lane]) & part
        return
    if file == "s":
        value = int(got.sgprs[number]) >> bit
        if form.leaves_open(value & (1 << form.width) - 1):
            mask = ((1 << form.width) - 1) << bit
            want.sgprs[number] = int(want.sgprs[number]) & ~mask | int(got.sgprs[number]) & mask
        return
    a, b = (getattr(s, file)[lane] if file == "scratch" else getattr(s, file) for s in (want, got))
    place = slice(number + bit // 8, number + bit // 8 + form.width // 8)
    if form.leaves_open(int.from_bytes(b[place], "little")):
        a[place] = b[place]


def _settle_approximation(want: State, got: State, ulps: int) -> None:
    """Where a normal result in f32 of the same sign is at most that far from the text's: take that one."""
    for old, new in ((want.vgprs, got.vgprs), (want.sgprs, got.sgprs)):
        a, b = old.astype(np.int64), new.astype(np.int64)
        near = (a >> 31 == b >> 31) & (a >> 23 & 0xFF != 0) & (b >> 23 & 0xFF != 0) & (np.abs(a - b) <= ulps)
        old[near] = new[near]


def ask(question: Question, excuses: Sequence[Excuse] = EXCUSES, text: str = "") -> list[str]:
    """What differs between what the text says, or another text, and the reference engine."""
    want, got = expected(question, excuses, text), answered(question)
    _settle_approximation(want, got, ULPS.get(question.case.instructions[0].desc.name, 0))
    return differences(want, got)
