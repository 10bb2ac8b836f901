#!/usr/bin/env python3
"""Build rungs of the ladder and leave every stage where it can be read: `hipgemm build`, from a checkout.

python tools/build_isa.py kernel8                      # stages in build/kernel8/
python tools/build_isa.py --all -o DIR
python tools/build_isa.py kernel6 --print-after all    # the assembly after each pass, on stdout
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from hipgemm.cli.build import command as main

if __name__ == "__main__":
    main()
