"""Generated fp32 kernels on the vector units."""
