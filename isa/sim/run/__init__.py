"""The simulated card at run time: memory, code objects, tiers of native code, launches, faults."""
