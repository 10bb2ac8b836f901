"""GEMM kernels on the vector units: parameters -> fp32 programs."""
