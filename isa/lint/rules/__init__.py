"""The rules of lint, a module each: `findings` of a `LintedFunction`.

Adding one: a name in `isa.lint.registry`, a module here, its line in `MODULES` (docs/write-a-rule.md). Rules that ask
about a kernel and not about a function, its counts and its arguments, are called by `isa.lint.lint` itself.
"""

from isa.lint.rules import apertures, calls, clobbers, hazards, hints, lanes, lds, places, values, waits

MODULES = (hazards, waits, calls, lds, lanes, apertures, values, clobbers, hints, places)
