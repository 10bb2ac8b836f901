"""Products of matrices: sgemm and gemm on arrays of any library."""
