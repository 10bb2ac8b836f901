"""The mutation table: faults put into kernels on purpose, and what finds them.

For each kernel its .s after the last pass is changed in one place at a time (`mutants`). Each mutant is held
against the linter, against the proof that the kernel's build ends with (what the compiler wrote for kernel 5, or the
definition), and against the dynamic checker: it is assembled and launched under the sanitizer on the problems of
`study.problems`, which take both sides of the branch on beta and, where the kernel knows them, those at the edges of C.
The table says how many there were, how many each of the three found, and which are equivalent.

A mutant that only makes workgroups slower is found by the cycle model, as a launch that takes longer.

The three are independent of one another. Equivalent is what the proof says is; if the dynamic checker finds a fault in
such a mutant all the same, it counts as found, and the proof as wrong.

    mutants  the kinds of faults, and a kernel's mutants
    judge    what lint and proof say of one
    outcome  one mutant and what became of it; all of them
    study    builds, judges and launches, in several processes
    book     results on disk the moment they are known, so that a study can be stopped and go on
    page     the table as Markdown, a section a study
    peephole_equivalence    whether a changed instruction does what it did, at all sizes, by
    equivalent_mutant       what reads it,
    unstored, quotients     whether that is ever stored, and what a division leaves
    one_lane                what follows it, run twice for one lane
    again    mutants that a page lists as missed, judged again
"""

from tools.mutation.outcome import Checks, Outcome, Table
from tools.mutation.study import DEFAULT, study

__all__ = ["DEFAULT", "Checks", "Outcome", "Table", "study"]
