"""The kernel for a product on the matrix units: by its sizes, the layout of its matrices and the card.

A product with few rows takes a GEMV kernel (`isa.gemm.gemv`), others the largest tile that keeps the card busy, or what
the tuned tables have for that shape.

Memory sets the time, so all CUs are to read as much: a workgroup has N / (CUs x rounds) columns. Each reads all of A,
which counts as the weights of so many more columns, and computes whole fragments: the number of rounds is the one with
the least of all that. One round, one workgroup of 8 waves a CU; more, and 2 waves, so that several are resident.

Where matrix units are as fast as RDNA4's, small tiles wait for what they fetch: the largest tile is taken where there
are fewer of them, and small ones have deep K blocks where operands lie along k or are bytes.

Up to ROWS rows it is the kernel that is predicted to be faster than the one with tiles, wherever it takes the sizes and
the weights lie along k: docs/matrix.md has the figures.
"""

from __future__ import annotations

import dataclasses
import functools
from contextlib import suppress
from typing import Any

from hipgemm.kernels.ladder import rung
from hipgemm.launch.elements import PLAIN, Epilogue, Types
from hipgemm.product.arrays import ArrayValueError
from isa.errors import IsaError
from isa.gemm.gemv.combine import vgprs
from isa.gemm.gemv.parameters import GemvParameters
from isa.gemm.gemv.registers import GemvRegisters
from isa.gemm.matrix.parameters import MatrixParameters
from isa.gemm.matrix.sides import FRAGMENT
from isa.gemm.names import name_of
from isa.gemm.vector.parameters import ParameterError
from isa.targets import target
from isa.timing.machine import cards

ROWS = 16
_ROUNDS = 64
_SMALL = MatrixParameters(rows=64, columns=64, wave_rows=32, wave_columns=32, group=16, prio=True)
_SMALLEST = MatrixParameters(rows=64, columns=32, depth=64, wave_rows=16, wave_columns=32, prio=True)
_BYTES = dataclasses.replace(_SMALL, depth=64, factor="i8", prio=False)
Tiles = tuple[tuple[int, MatrixParameters], ...]
TILES: Tiles = (
    (32, MatrixParameters(group=8, prio=True)),
    (8, _SMALL),
    (2, dataclasses.replace(_SMALL, depth=64)),
    (2, _SMALLEST),
    (0, dataclasses.replace(_SMALLEST, stages=2)),
)
"""From the largest to the smallest, with more than how many of them each CU must have. The last two take A along k
only; of the last one a CU has so few that LDS is there for a second buffer."""
ACROSS_TILES: Tiles = (TILES[0], (8, dataclasses.replace(_SMALL, wave_rows=64)), (0, TILES[2][1]))
"""Where A lies across."""
ALONG_BYTE_TILES: Tiles = ((8, _BYTES), (0, dataclasses.replace(_BYTES, depth=128)))
BYTE_TILES: Tiles = ((32, MatrixParameters(depth=64, factor="i8", group=8)), *ALONG_BYTE_TILES)
"""Of bytes, and of int4 with twice the depth."""


@functools.lru_cache(1024)
def of_few_rows(m: int, n: int, k: int, cus: int, types: Types, epilogue: Epilogue = PLAIN) -> str | None:
    """The kernel for C of m x n, weights of N x K; None where none takes these sizes, K that is no whole blocks, or a
    gate."""
    if epilogue.gate:
        return None
    best: tuple[int, str] | None = None
    for rounds in range(1, _ROUNDS):
        columns = -(-n // (cus * rounds))
        try:
            p = GemvParameters(
                min(m, ROWS), columns, 8 if rounds == 1 else 2, types.factor, types.weights, types.result,
                epilogue.bias,
                epilogue.scales, epilogue.activation,
            )  # fmt: skip
            GemvRegisters.of(p, vgprs(p))
        except ParameterError:  # too many columns
            continue
        if k % p.depth:
            return None
        read = columns + p.rows * 8 * p.factor_bytes // p.bits
        cost = rounds * (read + FRAGMENT * p.fragments)
        if best is None or cost < best[0]:
            best = cost, name_of(p)
        if columns <= FRAGMENT:
            break
    return best[1] if best else None


def kernel_for(
    sizes: tuple[int, int, int], cus: int, types: Types, flips: tuple[bool, ...], epilogue: Epilogue, card: str = "",
    *, batch: int = 1, strided: bool = False, by_table: bool = True,
) -> str:  # fmt: skip
    """The kernel for M, N and K, few rows or many. flips: which of A and B lie transposed. card: its name; by_table:
    its tuned shapes count. batch: how many products; strided: a kernel that takes gaps between lines, as one for a
    batch does."""
    m, n, k = sizes
    strided = strided or batch > 1
    lies_along_k = flips[1] or n == 1 or k == 1
    few = types.weights or (m <= ROWS and lies_along_k and not strided and not types.half_sums)
    if few and (name := of_few_rows(m, n, k, cus, types, epilogue)):
        return name
    if types.weights:
        raise ArrayValueError(
            f"no kernel takes {types.weights} weights of these sizes", expected="K in blocks of 128", got=f"K = {k}"
        )
    if card and by_table and epilogue == PLAIN and not types.half_sums:
        from hipgemm.tuning.choose import chosen_tuned
        from hipgemm.tuning.shapes import Shape

        trans = "".join("nt"[flip] for flip in flips)
        found = chosen_tuned(Shape(m, n, k, trans, types=f"{types.factor}_{types.result}", batch=batch), card)
        if found:
            p = rung(found.kernel).parameters
            if strided and isinstance(p, MatrixParameters):
                return name_of(dataclasses.replace(p, strided=True, stream_k=False))
            return found.kernel
    return choose(m, n, cus, types, flips, epilogue, card, batch=batch, strided=strided)


def choose(
    m: int, n: int, cus: int, types: Types, flips: tuple[bool, ...] = (False, False), epilogue: Epilogue = PLAIN,
    card: str = "", *, batch: int = 1, strided: bool = False,
) -> str:  # fmt: skip
    """The kernel for C of m x n on a card with so many CUs. flips: which of A and B lie transposed; the rest as of
    `kernel_for`."""
    found = candidates(m, n, types, flips, epilogue, card, batch=batch, strided=strided)
    return next(name for fill, tiles, name in found if tiles > fill * cus)


def candidates(
    m: int,
    n: int,
    types: Types,
    flips: tuple[bool, ...],
    epilogue: Epilogue = PLAIN,
    card: str = "",
    *,
    batch: int = 1,
    strided: bool = False,
) -> list[tuple[int, int, str]]:
    """What `choose` looks at, in order: (more than how many tiles each CU must have, tiles that C has, all of a batch,
    kernel)."""
    along, bytes_, fast = flips == (False, True), types.of_factor.bytes == 1, _fast(card)
    tiles = ACROSS_TILES if flips[0] else TILES
    if bytes_:
        tiles = ALONG_BYTE_TILES if along and not fast else BYTE_TILES
    if fast:
        sooner, largest = (2, BYTE_TILES[0][1]) if bytes_ else (4, TILES[0][1])
        tiles = ((sooner, dataclasses.replace(largest, prio=True)), *tiles[2 if bytes_ or along else 1 :])
    fields: dict[str, Any] = {"factor": types.factor, "result": types.result, "strided": strided or batch > 1}
    fields |= {"half_sums": types.half_sums}
    fields |= dataclasses.asdict(epilogue)
    found = []
    for fill, tile in tiles:
        depth = tile.depth * types.of_factor.pack
        p = dataclasses.replace(tile, **fields, depth=depth, trans_a=flips[0], trans_b=flips[1])
        found.append((fill, batch * -(-m // p.rows) * -(-n // p.columns), name_of(p)))
    return found


@functools.cache
def _fast(name: str) -> bool:
    """Whether a card's matrix units do more than twice what its vector units do; False where it is not known."""
    with suppress(IsaError):
        return target(cards.card(name).arch).family.matrix_rate[16] > 2
    return False
