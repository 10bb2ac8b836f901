"""What an instruction does, for all who ask: the reference engine, the translator, the clock, checks and proofs.

values.py         what a body computes with: one protocol, from which each engine makes values of its own
describe.py       a description: operands with their roles, and the body
engine.py         what an instruction needs of whoever runs it
execute.py        one instruction on an engine: operands are read, the body is called, results are written under EXEC
operands.py       constants, registers, halves, modifiers, DPP (`dpp.py`); memory_access.py, float_mode.py
"""
