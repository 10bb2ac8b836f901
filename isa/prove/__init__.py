"""Proofs about kernels: by definition, and of rewritten code against the original."""
