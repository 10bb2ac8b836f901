"""The observers: what a kernel's code calls between its instructions, compiled by `isa.sanitize.native`."""

import inspect

from isa.sanitize.hooks import common, lanes, late, lds, memory, registers, scratch, time_slice, workgroup_order

FUNCTIONS = tuple(
    function
    for module in (common, lanes, late, registers, lds, workgroup_order, memory, scratch, time_slice)
    for function in vars(module).values()
    if inspect.isfunction(function) and function.__module__ == module.__name__
)
