"""Passes on any kernel: each module defines passes, which `isa.passes.pipeline` finds."""
