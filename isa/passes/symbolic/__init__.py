"""Symbolic integers: a program's integers as polynomials, for passes that compare addresses."""
