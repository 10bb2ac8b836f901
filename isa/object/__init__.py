"""Code objects: their ELF parts, kernel descriptors, metadata."""
