"""Write the table: `python -m tools.triton_matmul.compare --python VENV/bin/python --write`.

Both sides are the cycle model's estimates for a 7900 XTX; of Triton's configurations the best for each shape stands,
without launch overhead, as ours does. Left out, to save time, are tiles that are hopeless: of more than 32 rows for 16
rows or fewer, of fewer than 64 rows or columns from 512 rows on.
"""

from __future__ import annotations

import base64
import json
import math
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from isa.object.code_object import CodeObject

PAGE = Path(__file__).resolve().parents[2] / "docs" / "matrix.md"
CARD, CLOCK_MHZ = "7900 XTX", 2500.0
SHAPES = (
    (1, 4096, 4096), (16, 4096, 4096), (1, 28672, 4096), (16, 28672, 4096), (1, 4096, 14336), (16, 4096, 14336),
    (1, 3584, 18944), (16, 37888, 3584), (64, 4096, 4096), (128, 4096, 4096), (128, 768, 3072), (512, 2304, 768),
    (512, 3072, 768), (512, 768, 3072), (512, 6144, 4096), (512, 4096, 14336), (2048, 6144, 4096),
    (2048, 4608, 3584), (1500, 1280, 1280), (1500, 5120, 1280),
)  # fmt: skip
"""M, N, K: projections and MLPs of Llama 3 8B, Qwen2.5 7B, GPT-2 or BERT, and Whisper large."""
Triple = tuple[int, int, int]


@click.command()
@click.option("--python", required=True, type=click.Path(exists=True, path_type=Path), help="One that has Triton.")
@click.option("--write", is_flag=True, help="Into docs/matrix.md; else to stdout.")
def main(python: Path, write: bool) -> None:
    """Compare all shapes."""
    from tools.shapes import put

    text = "\n".join(table(compiled(python)))
    if write:
        PAGE.write_text(put(PAGE, PAGE.read_text(encoding="utf-8"), "triton", text), encoding="utf-8")
    else:
        click.echo(text)


def compiled(python: Path) -> list[tuple[Triple, int, int, CodeObject]]:
    """(Tile, warps, bytes of LDS, code object) of each configuration."""
    from isa.object.code_object import load

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        subprocess.run([python, Path(__file__).with_name("kernel.py"), out], check=True)
        rows = json.loads(out.read_text(encoding="utf-8"))
    return [((r, c, d), warps, lds, load(base64.b64decode(image), "gfx1100")) for r, c, d, warps, lds, image in rows]


def table(kernels: list[tuple[Triple, int, int, CodeObject]]) -> list[str]:
    """Markdown."""
    rows = ["| M x N x K | hipgemm.gemm, us | Triton, us | its tile | times as fast |", "|" + "---|" * 5]
    ratios = []
    for shape in SHAPES:
        mine = ours(shape)
        best, tile = min((theirs(shape, *kernel), kernel[0]) for kernel in kernels if sensible(shape, kernel[0]))
        ratios.append(best / mine)
        rows.append(
            f"| {' x '.join(map(str, shape))} | {1e6 * mine:.1f} | {1e6 * best:.1f} | {' x '.join(map(str, tile))} | "
            f"{ratios[-1]:.2f} |"
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return [*rows, f"| geometric mean | | | | {mean:.2f} |"]


def sensible(shape: Triple, tile: Triple) -> bool:
    """Whether the configuration may be the best one."""
    return tile[0] <= 32 if shape[0] <= 16 else shape[0] < 512 or min(tile[:2]) >= 64


def ours(shape: Triple) -> float:
    """Seconds of what `hipgemm.gemm(x, w.T, out_dtype="float16")` launches."""
    from hipgemm.elements import PLAIN, Types
    from hipgemm.matrix_multiply import kernel_for
    from hipgemm.tuning import trial
    from hipgemm.tuning.shapes import Shape
    from isa.timing.cards import card

    name = kernel_for(shape, card(CARD).cus, Types("f16", "f16"), (False, True), PLAIN)
    return trial.launch(name, Shape(*shape), trial.TrialTarget(CARD, CLOCK_MHZ)).estimate(CLOCK_MHZ).time_s


def theirs(shape: Triple, tile: Triple, warps: int, lds: int, code: CodeObject) -> float:
    """Seconds of one configuration."""
    from hipgemm.launch import Argument, Array, Launch, Scalar, explicit
    from hipgemm.predict import timed
    from isa.timing.cards import card

    m, n, k = shape
    kernel = next(iter(code.kernels.values()))
    arguments: list[Argument] = [Array("<f2", (size,)) for size in (m * k, n * k, m * n)]
    arguments += [Scalar("i32", value) for value in (m, n, k, k, k, n)]
    arguments += [Array("|u1", (4,)) for _ in explicit(kernel)[len(arguments) :]]  # Triton's own, unused
    grid = -(-m // tile[0]) * -(-n // tile[1])
    dynamic = 0 if kernel.descriptor.lds_bytes else lds
    launch = Launch((grid, 1, 1), (32 * warps, 1, 1), tuple(arguments), dynamic_lds=dynamic)
    return timed(code, kernel.name, launch, card(CARD)).estimate(CLOCK_MHZ).time_s


if __name__ == "__main__":
    main()
