"""The lab: small experiments, each about one thing that decides how fast a kernel is.

An experiment builds its kernels, runs every one of them on a device and checks its answers, and makes a `Study`: a
table, a paragraph that explains it, and plots. The code path is that of `hipgemm run`: on a card the times are
measured, on the simulated card they are predicted by the cycle model, and each row says which.

    frame      what an experiment is, and what it leaves
    bench      building, running, checking and timing one kernel; counting what its waves execute
    one module an experiment; EXPERIMENTS lists them
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from isa.errors import IsaError, meant

if TYPE_CHECKING:
    from hipgemm.lab.frame import Experiment

EXPERIMENTS = {
    "ilp": "nested loops against values held in registers, at -O0 and optimised",
    "tiles": "tiles of a thread: from 1 x 1 to 16 x 8 elements of C",
    "steps": "padding, CU mode, tile and width of loads, one after another",
    "profile": "a profiler's figures, from one element a thread to kernel 8",
    "registers": "kernel 5 under a cap on its VGPRs",
    "blocks": "a vector addition: registers that sources want, caps, sizes of workgroups",
    "vectors": "32, 64 and 128 bits a load, from memory and from LDS; padding to multiples of four",
    "banks": "the registers that a dual FMA reads its operands from",
    "rates": "the most that a unit or a cache can do, against known values",
    "strides": "lines far apart: sets of L0, and pages",
    "lds": "strides of 1 to 32 between the lanes of an LDS load or store",
    "coalescing": "what the lanes of a load ask for, and the sectors that are moved",
}
"""Name of an experiment and of its module -> what it varies."""


def experiment(name: str) -> Experiment:
    """The experiment of that name, or IsaError with the names there are."""
    if name not in EXPERIMENTS:
        raise IsaError(
            f"there is no experiment {name!r}", expected=", ".join(EXPERIMENTS), hint=meant(name, EXPERIMENTS)
        )
    found: Experiment = importlib.import_module(f"hipgemm.lab.{name}").EXPERIMENT
    return found
