"""Lets the tests of isa.gemm import what they share (launching.py)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
