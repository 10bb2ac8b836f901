"""Measurements on a real card: its numbers, its trace, and the reference of a launch on it."""
