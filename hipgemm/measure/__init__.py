"""Measurements: kernels and problems -> results on a device, and their records."""
