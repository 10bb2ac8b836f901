"""The mutation study: faults put into kernels on purpose, and which judge finds each.

Input: kernels of the ladder. For each, its .s after the last pass is changed in one place at a time (`mutants`). Each
mutant is held against the linter, against the proof that the kernel's build ends with (what the compiler wrote for
kernel 5, or the definition), and against the dynamic checker: it is assembled and launched under the sanitizer on the
problems of `study.problems`, which take both sides of the branch on beta and, where the kernel knows them, those at the
edges of C. Output: a table of how many there were, how many each of the three found, how many are proved the same, and
how many survived, with a sample of these and what the proof says of them.

A mutant that only makes workgroups slower is found by the cycle model, as a launch that takes longer. The three judges
are independent: a mutant that is proved the same, and in which a launch finds a fault, counts as found, and the proof
as wrong.
"""

from tools.mutation.outcome import Checks, Outcome, Table
from tools.mutation.study import DEFAULT, study

__all__ = ["DEFAULT", "Checks", "Outcome", "Table", "study"]
