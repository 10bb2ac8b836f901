"""Integers of a program as polynomials."""
