"""Assembly text: its lines, read (`parse`), held (`program`), written (`emit`); and what LLVM disassembles."""
