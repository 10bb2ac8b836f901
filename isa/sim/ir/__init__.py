"""LLVM IR: text to native code, the structs that it works on, and values that write it: floats, dot and matrix
products."""
