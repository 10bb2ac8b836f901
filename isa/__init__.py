"""The gfx11 machine and its programs: reading, analysis, checks, proofs, passes, simulation and timing of code."""
