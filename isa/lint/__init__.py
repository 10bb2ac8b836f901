"""Lint: faults of programs found without running them, by rules with stable ids."""
