"""gfx11 code to LLVM IR: blocks, registers, memory accesses."""
