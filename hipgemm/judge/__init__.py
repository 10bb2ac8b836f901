"""Verdicts on kernels: proofs, checks, inspections, predicted times."""
