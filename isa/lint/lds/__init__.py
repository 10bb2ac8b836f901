"""LDS races: a function -> pairs of accesses to one byte, found by running a workgroup of which only the numbers of its
work-items are known.

values      numbers of all work-items at once, each known or not
machine     one step of the waves that stand at one place; `isa.semantics.execute` on these values
needed      which instructions the addresses, masks and branches depend on; the rest is not run
conditions  comparisons of one unknown number, which a path answers alike
explore     the paths of the workgroup: choices, waves that part and meet, barriers
footprint   which wave reaches which byte
"""
