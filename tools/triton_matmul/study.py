"""Triton's kernels: twenty that it compiles for the matrix units, as files with launches for tools/optimise_study.py.

    VENV/bin/python tools/triton_matmul/study.py FOLDER

writes NAME.hsaco of 12 matmuls (`kernel.py`: four tiles, three layouts; M = N = K = 2048) and 8 flash attentions
(forward, 16 heads of 64 or 128 columns, f16 or bf16, 64 rows by 4 waves or 128 by 8; 2048 rows), and launches.json,
which holds their launches by the names of the files.
"""
# mypy: ignore-errors

import itertools
import json
import sys
from pathlib import Path

import kernel
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TILES = (64, 64, 32, 4), (64, 64, 64, 4), (128, 64, 32, 4), (128, 128, 32, 8)
LAYOUTS = "nn", "nt", "tn"
SIZE, HEADS = 2048, 16


@triton.jit
def attention(q, k, v, o, t, scale, ROWS: tl.constexpr, STEP: tl.constexpr, D: tl.constexpr):
    rows, d = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, D)
    head = tl.program_id(1) * t * D
    query = tl.load(q + head + rows[:, None] * D + d[None, :])
    top = tl.full([ROWS], -float("inf"), tl.float32)
    total, out = tl.zeros([ROWS], tl.float32), tl.zeros([ROWS, D], tl.float32)
    for at in range(0, t, STEP):
        columns = at + tl.arange(0, STEP)
        s = tl.dot(query, tl.trans(tl.load(k + head + columns[:, None] * D + d[None, :]))) * scale
        new = tl.maximum(top, tl.max(s, 1))
        p, shrink = tl.math.exp2(s - new[:, None]), tl.math.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + head + columns[:, None] * D + d[None, :])
        out = tl.dot(p.to(values.dtype), values, out * shrink[:, None])
        top = new
    tl.store(o + head + rows[:, None] * D + d[None, :], (out / total[:, None]).to(o.dtype.element_ty))


def compiled(function, types, constants, warps):
    signature = types | dict.fromkeys(constants, "constexpr")
    sixteen = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(types.values()) if t != "fp32"}
    source = ASTSource(function, signature, constants, sixteen)
    return triton.compile(source, target=GPUTarget("hip", "gfx1100", 32), options={"num_warps": warps, "num_stages": 2})


def main():
    folder, launches = Path(sys.argv[1]), {}

    def put(name, made, grid, warps, args):
        (folder / f"{name}.hsaco").write_bytes(made.asm["hsaco"])
        args += ["buffer:4:zero"] * 2  # Triton's own, unused
        dynamic = ".amdhsa_group_segment_fixed_size 0" in made.asm["amdgcn"]
        lds = made.metadata.shared if dynamic else 0
        launches[name] = {"grid": grid, "block": [32 * warps, 1, 1], "args": args, "lds": lds}

    for layout, (rows, columns, depth, warps) in itertools.product(LAYOUTS, TILES):
        types = {name: "*fp16" if name in "xwy" else "i32" for name in kernel.NAMES}
        constants = {"ROWS": rows, "COLUMNS": columns, "DEPTH": depth, "GROUP": 8}
        constants |= {"X": layout[0] == "t", "W": layout[1] == "t"}
        made = compiled(kernel.matmul, types, constants, warps)
        args = ["random:f16:2048x2048"] * 2 + ["zeros:f16:2048x2048"] + [f"i32:{SIZE}"] * 6
        tiles = SIZE // rows * (SIZE // columns)
        put(f"matmul-{layout}-{rows}x{columns}x{depth}", made, [tiles, 1, 1], warps, args)
    for width, (rows, warps), kind in itertools.product((64, 128), ((64, 4), (128, 8)), ("fp16", "bf16")):
        types = dict.fromkeys("qkvo", f"*{kind}") | {"t": "i32", "scale": "fp32"}
        made = compiled(attention, types, {"ROWS": rows, "STEP": 64, "D": width}, warps)
        args = [f"random:f16:{HEADS}x{SIZE}x{width}"] * 4
        args += [f"i32:{SIZE}", "f32:0.125"]
        put(f"attention-{kind}-{rows}x{width}", made, [SIZE // rows, HEADS, 1], warps, args)
    (folder / "launches.json").write_text(json.dumps(launches, indent=1))


if __name__ == "__main__":
    main()
