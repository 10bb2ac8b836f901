"""Passes that order the instructions of a block."""
