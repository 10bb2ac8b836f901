"""A card for tests of what stands around the kernels of the matrix units: they are Python functions over device memory,
which compute in float64 what a kernel of their name does, store before they read, as one of many workgroups may, and
fault outside every allocation. No kernel is built.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import struct
from typing import Any

import numpy as np
from small_card import Fault, SmallCard, SmallKernel, SmallMemory, SmallModule, assembly

from hipgemm.kernels import ladder as kernels
from hipgemm.measure.device import Device, LoadedKernel
from isa import toolchain
from isa.object import code_object


def elements(memory: SmallMemory, address: int, dtype: str, shape: Any, strides: Any) -> np.ndarray:
    """Of memory; strides in elements. Fault where a corner is in none."""
    size = np.dtype(dtype).itemsize
    for corner in np.ndindex(*[2] * len(shape)):
        at = address + size * sum(c * (n - 1) * s for c, n, s in zip(corner, shape, strides, strict=True))
        found = memory.find(at)
        if found is None or at + size > sum(found):
            raise Fault(at)
    base = np.frombuffer((ctypes.c_char * size).from_address(address), dtype)
    return np.lib.stride_tricks.as_strided(base, shape, [size * s for s in strides])


def matrix(card: SmallCard, kernarg: bytes, row: kernels.Gemm, grid: Any) -> None:
    """What `row` computes."""
    types, epilogue, kernarg = row.types, row.epilogue, kernarg + bytes(4)
    a, b, c, m, n, k, alpha, beta = struct.unpack_from("<QQQiiiii" if types.integer_scales else "<QQQiiiff", kernarg)
    given = epilogue.lengths(m, n)
    places = dict(zip(given, struct.unpack_from(f"<{len(given)}Q", kernarg, 48), strict=True))
    pack, count = types.of_factor.pack, grid[2]
    units = -(-k // pack)
    lines, strides = [m if row.transposed[0] else units, units if row.transposed[1] else n, n], [0, 0, 0]
    if row.strided:
        numbers = struct.unpack_from("<QQQIII", kernarg, 48 + 8 * len(given))
        strides, lines = list(numbers[:3]), list(numbers[3:])

    def factor(i: int, address: int, rows: int, columns: int) -> np.ndarray:
        flip, axis = row.transposed[i], 2 - i
        shape = (count, columns, rows) if flip else (count, rows, columns)
        found = elements(card.memory, address, types.of_factor.dtype, shape, (strides[i], lines[i], 1))
        found = found.swapaxes(1, 2) if flip else found
        if pack == 1:
            return types.of_factor.numbers(found).astype(np.float64)
        halves = np.stack([found << 4 >> 4, found >> 4], axis=axis + 1).astype(np.float64)
        shape = list(found.shape)
        shape[axis] *= 2
        return halves.reshape(shape)

    out = elements(card.memory, c, types.of_result.dtype, (count, m, n), (strides[2], lines[2], 1))
    before = types.of_result.numbers(out.copy()).astype(np.float64) if beta or epilogue.gate else 0
    out[...] = 77  # as if other workgroups had stored already
    x = alpha * (factor(0, a, m, units) @ factor(1, b, units, n))
    of = {name: elements(card.memory, places[name], "<f4", (size,), (1,)) for name, size in given.items()}
    if epilogue.scales:
        x = x * of["row_scale"].astype(np.float64)[:, None] * of["column_scale"]
    x = x + beta * before
    if epilogue.bias:
        x = x + of["bias"]
    x = x if types.of_result.integer else epilogue.activated(x)
    x = x * before if epilogue.gate else x
    out[...] = types.of_result.stored(x if types.of_result.integer else x.astype(np.float32))


def element_copy(card: SmallCard, kernarg: bytes, size: int) -> None:
    """As kernels_hip/element_copy.hip."""
    source, *s, target = struct.unpack_from("<QqqqQ", kernarg)
    *t, count, rows, columns = struct.unpack_from("<qqqiii", kernarg, 40)
    shape = count, rows, columns
    out = elements(card.memory, target, f"<u{size}", shape, t)
    out[...] = elements(card.memory, source, f"<u{size}", shape, s).copy()


class MatrixCard(SmallCard):
    loading: str
    """The kernel that is loaded next, of which the code object knows only the arguments."""

    def load(self, image: bytes) -> SmallModule:
        name = self.loading
        if name.startswith("element_copy"):
            body: Any = functools.partial(element_copy, size=int(name[-1]))
        else:
            body = functools.partial(matrix, row=kernels.rung(name))
        return SmallModule({stand_in: SmallKernel(name, body) for stand_in in code_object.load(image).kernels})

    def launch(self, kernel: SmallKernel, grid: Any, block: Any, kernarg: bytes, dynamic_lds: int = 0) -> Any:
        body = kernel.body if kernel.name.startswith("element_copy") else functools.partial(kernel.body, grid=grid)
        return super().launch(SmallKernel(kernel.name, body), grid, block, kernarg, dynamic_lds)

    def function(self, device: Device, source: kernels.Kernel) -> LoadedKernel:
        """What stands for `hipgemm.product.sgemm.function`."""
        self.loading = source.name
        stand_in = "copy"
        if isinstance(source, kernels.Gemm):
            stand_in = f"takes_{len(source.epilogue.lengths(1, 1))}_{int(source.strided)}"
        return device.load(image(), stand_in)


@functools.cache
def image() -> bytes:
    """A code object with a kernel for each list of arguments; they end at once."""
    sizes = {"copy": (8,) * 8 + (4,) * 3}
    for vectors, strided in itertools.product(range(4), range(2)):
        sizes[f"takes_{vectors}_{strided}"] = (8,) * 3 + (4,) * 5 + (8,) * vectors + ((8,) * 3 + (4,) * 3) * strided
    made = [assembly(name, each) for name, each in sizes.items()]
    code, entries = ("".join(parts) for parts in zip(*made, strict=True))
    entries = entries.replace("max_flat_workgroup_size: 128", "max_flat_workgroup_size: 1024")
    metadata = f"amdhsa.version: [1, 2]\namdhsa.kernels:\n{entries}"
    text = f"{code}\n.amdgpu_metadata\n---\n{metadata}\n...\n.end_amdgpu_metadata\n"
    return toolchain.find().code_object(text, arch="gfx1100", name="matrix.s")
