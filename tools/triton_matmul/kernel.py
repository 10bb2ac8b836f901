"""A matmul in Triton as everybody writes it: tiles of C in groups of rows, f16 in, f32 sums, f16 out.

    VENV/bin/python tools/triton_matmul/kernel.py out.json nt nn

writes the code objects of all CONFIGURATIONS for gfx1100, for each of these layouts of x and w: n as they are
multiplied (x is M x K, w K x N), t stored transposed. Elements of a line of a matrix lie side by side, which Triton's
dispatcher finds by their stride of 1; lines of x lie `line_x` apart, and so on. Groups are of 8 rows, as in Triton's
tutorial. Sizes are said to be multiples of 16, as Triton's own dispatcher finds them to be.
"""
# mypy: ignore-errors

import base64
import itertools
import json
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

CONFIGURATIONS = (
    (16, 64, 64, 4), (16, 64, 128, 4), (16, 128, 64, 4), (32, 32, 64, 4), (32, 64, 64, 4), (64, 32, 64, 4),
    (64, 64, 64, 4), (64, 128, 64, 4), (128, 64, 64, 4), (128, 128, 32, 4), (128, 128, 32, 8), (128, 128, 64, 8),
    (128, 256, 32, 8), (256, 128, 32, 8),
)  # fmt: skip
"""Rows, columns and depth of the tile; warps."""
NAMES = ("x", "w", "y", "m", "n", "k", "line_x", "line_w", "line_y")


@triton.jit
def matmul(
    x, w, y, m, n, k, line_x, line_w, line_y, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
    GROUP: tl.constexpr, X: tl.constexpr, W: tl.constexpr,
):  # fmt: skip
    number, across = tl.program_id(0), tl.cdiv(n, COLUMNS)
    first = number // (GROUP * across) * GROUP
    high = min(tl.cdiv(m, ROWS) - first, GROUP)
    rows = (first + number % (GROUP * across) % high) * ROWS + tl.arange(0, ROWS)
    columns = number % (GROUP * across) // high * COLUMNS + tl.arange(0, COLUMNS)
    steps = tl.arange(0, DEPTH)
    row_x, step_x = (1, line_x) if X else (line_x, 1)
    step_w, column_w = (1, line_w) if W else (line_w, 1)
    at_x = x + (rows % m)[:, None] * row_x + steps[None, :] * step_x
    at_w = w + steps[:, None] * step_w + (columns % n)[None, :] * column_w
    sums = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for begin in range(0, k, DEPTH):
        a = tl.load(at_x, mask=steps[None, :] < k - begin, other=0.0)
        b = tl.load(at_w, mask=steps[:, None] < k - begin, other=0.0)
        sums = tl.dot(a, b, sums)
        at_x += DEPTH * step_x
        at_w += DEPTH * step_w
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(y + rows[:, None] * line_y + columns[None, :], sums.to(tl.float16), mask=inside)


def main():
    types = {name: "*fp16" if name in "xwy" else "i32" for name in NAMES}
    found = []
    for layout, (rows, columns, depth, warps) in itertools.product(sys.argv[2:], CONFIGURATIONS):
        constants = {"ROWS": rows, "COLUMNS": columns, "DEPTH": depth, "GROUP": 8}
        constants |= {"X": layout[0] == "t", "W": layout[1] == "t"}
        signature = types | dict.fromkeys(constants, "constexpr")
        sixteen = {(i,): [["tt.divisibility", 16]] for i in range(len(NAMES))}
        source = ASTSource(matmul, signature, constants, sixteen)
        made = triton.compile(
            source, target=GPUTarget("hip", "gfx1100", 32), options={"num_warps": warps, "num_stages": 2}
        )
        image = base64.b64encode(made.asm["hsaco"]).decode()
        found.append([layout, rows, columns, depth, warps, made.metadata.shared, image])
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
