"""Traces: a launch -> the paths, addresses and accesses of its waves."""
