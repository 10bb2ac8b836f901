"""A matmul in Triton as everybody writes it: tiles of C in groups of rows, f16 in, f32 sums, f16 out, x @ w.T.

    VENV/bin/python tools/triton_matmul/kernel.py out.json

writes the code objects of all CONFIGURATIONS for gfx1100. Sizes are said to be multiples of 16, as Triton's own
dispatcher finds them to be.
"""
# mypy: ignore-errors

import base64
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
    GROUP: tl.constexpr,
):  # fmt: skip
    number, across = tl.program_id(0), tl.cdiv(n, COLUMNS)
    first = number // (GROUP * across) * GROUP
    high = min(tl.cdiv(m, ROWS) - first, GROUP)
    rows = (first + number % (GROUP * across) % high) * ROWS + tl.arange(0, ROWS)
    columns = number % (GROUP * across) // high * COLUMNS + tl.arange(0, COLUMNS)
    steps = tl.arange(0, DEPTH)
    at_x = x + (rows % m)[:, None] * line_x + steps[None, :]
    at_w = w + steps[:, None] + (columns % n)[None, :] * line_w
    sums = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for begin in range(0, k, DEPTH):
        a = tl.load(at_x, mask=steps[None, :] < k - begin, other=0.0)
        b = tl.load(at_w, mask=steps[:, None] < k - begin, other=0.0)
        sums = tl.dot(a, b, sums)
        at_x += DEPTH
        at_w += DEPTH
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(y + rows[:, None] * line_y + columns[None, :], sums.to(tl.float16), mask=inside)


def main():
    types = {name: "*fp16" if name in "xwy" else "i32" for name in NAMES}
    found = []
    for rows, columns, depth, warps in CONFIGURATIONS:
        constants = {"ROWS": rows, "COLUMNS": columns, "DEPTH": depth, "GROUP": 6}
        signature = types | dict.fromkeys(constants, "constexpr")
        sixteen = {(i,): [["tt.divisibility", 16]] for i in range(len(NAMES))}
        source = ASTSource(matmul, signature, constants, sixteen)
        made = triton.compile(
            source, target=GPUTarget("hip", "gfx1100", 32), options={"num_warps": warps, "num_stages": 2}
        )
        image = base64.b64encode(made.asm["hsaco"]).decode()
        found.append([rows, columns, depth, warps, made.metadata.shared, image])
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
