"""The rules of lint, a module each: `findings` of a `LintedFunction`.

Adding one: a name in `isa.lint.registry` and a module here, which `isa.lint.lint` finds (docs/write-a-rule.md).
Rules that ask about a kernel and not about a function, its counts and its arguments, are called by `isa.lint.lint`
itself. Nothing is imported here: some ask for one rule, and not for NumPy.
"""
