"""Kernels as objects: the ladder's and files, built through all stages."""
