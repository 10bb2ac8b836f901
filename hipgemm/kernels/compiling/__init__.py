"""How HIP source is compiled: headers, device libraries, and a compiler of other people's programs."""
