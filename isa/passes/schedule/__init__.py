"""Passes that order instructions: a block -> the same instructions in another order, with waits and hints for it."""
