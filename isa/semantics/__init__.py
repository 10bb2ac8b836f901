"""Semantics of instructions: one meaning of each for reference engine, translator, clock, passes, checks and proofs.

values.py         what a body computes with: one protocol, from which each engine makes values of its own
instruction.py    an instruction, and its description: operands with their roles, and the body
engine.py         what an instruction needs of whoever runs it
execute.py        one instruction on an engine: bound to its operands once, run on any engine
operands.py       constants, registers, halves, modifiers, DPP (`dpp.py`); memory_access.py, float_mode.py
waits.py          what waits wait for; branches.py where branches go; wave_start.py what a wave starts with
halves.py         which halves of registers are touched

Engines: `isa.lint.lds.machine` and the tests' reference engine (numbers), `isa.sim.translate.translate` (LLVM IR),
`isa.sim.translate.lane_strides`, `isa.timing.trace.emitter` (NumPy source), `isa.passes.symbolic.symbolic`
(polynomials), `isa.prove.refine.engine` (terms). `isa.prove.definition` has a
meaning of instructions of its own, on purpose.
"""
