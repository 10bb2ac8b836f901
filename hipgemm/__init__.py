"""The GEMM kernels as a product: build them, run them on a card or on the simulated card, check and time them."""
