"""Compilation of HIP source: headers, device libraries, and a compiler of other people's programs."""
