"""The observers: what a kernel's code calls between its instructions, compiled by `isa.sim.watch.native`."""

import inspect

from isa.sim.watch.observers import common, lanes, late, lds, memory, order, registers, scratch, turns

FUNCTIONS = tuple(
    function
    for module in (common, lanes, late, registers, lds, order, memory, scratch, turns)
    for function in vars(module).values()
    if inspect.isfunction(function) and function.__module__ == module.__name__
)
