"""Table of the comparison with Triton: `python -m tools.triton_matmul.compare --python VENV/bin/python --write`.

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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from isa.object.code_object import CodeObject

PAGE = Path(__file__).resolve().parents[2] / "docs" / "record" / "matrix-figures.md"
CARD, CLOCK_MHZ = "7900 XTX", 2500.0
SHAPES = (
    (1, 4096, 4096), (16, 4096, 4096), (1, 28672, 4096), (16, 28672, 4096), (1, 4096, 14336), (16, 4096, 14336),
    (1, 3584, 18944), (16, 37888, 3584), (64, 4096, 4096), (128, 4096, 4096), (128, 768, 3072), (512, 2304, 768),
    (512, 3072, 768), (512, 768, 3072), (512, 6144, 4096), (512, 4096, 14336), (2048, 6144, 4096),
    (2048, 4608, 3584), (1500, 1280, 1280), (1500, 5120, 1280),
)  # fmt: skip
"""M, N, K: projections and MLPs of Llama 3 8B, Qwen2.5 7B, GPT-2 or BERT, and Whisper large."""
SQUARES = 1024, 2048, 4096, 8192
LAYOUTS = "nn", "nt", "tn", "tt"
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Compiled:
    """One configuration for one layout of A and B. lds: bytes that the launch adds."""

    layout: str
    tile: Triple
    warps: int
    lds: int
    code: CodeObject


@click.command()
@click.option("--python", required=True, type=click.Path(exists=True, path_type=Path), help="One that has Triton.")
@click.option("--write", is_flag=True, help="Into docs/record/matrix-figures.md; else to stdout.")
def main(python: Path, write: bool) -> None:
    """Compare all shapes, then squares in all layouts."""
    from tools.shapes import put

    kernels = compiled(python)
    page = PAGE.read_text(encoding="utf-8")
    for name, lines in (("triton", table(of_models(kernels))), ("triton-squares", squares(of_squares(kernels)))):
        text = "\n".join(lines)
        click.echo(text)
        page = put(PAGE, page, name, text)
        if write:
            PAGE.write_text(page, encoding="utf-8")


def compiled(python: Path) -> list[Compiled]:
    """All configurations in all layouts."""
    from isa.object.code_object import load

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        subprocess.run([python, Path(__file__).with_name("kernel.py"), out, *LAYOUTS], check=True)
        rows = json.loads(out.read_text(encoding="utf-8"))
    return [
        Compiled(layout, (r, c, d), warps, lds, load(base64.b64decode(image), "gfx1100"))
        for layout, r, c, d, warps, lds, image in rows
    ]


@dataclass(frozen=True)
class Pair:
    """Both sides at a shape, in seconds. tile: of Triton's best configuration."""

    shape: Triple
    ours: float
    theirs: float
    tile: Triple

    @property
    def ratio(self) -> float:
        """How many times as fast ours is."""
        return self.theirs / self.ours


def of_models(kernels: list[Compiled]) -> list[Pair]:
    """SHAPES, as models have them."""
    return [pair(shape, "nt", kernels) for shape in SHAPES]


def of_squares(kernels: list[Compiled]) -> list[Pair]:
    """SQUARES, each in all LAYOUTS."""
    return [pair((n, n, n), layout, kernels) for n in SQUARES for layout in LAYOUTS]


def pair(shape: Triple, layout: str, kernels: list[Compiled]) -> Pair:
    """Both sides."""
    return Pair(shape, ours(shape, layout), *fastest(shape, layout, kernels))


def table(pairs: list[Pair]) -> list[str]:
    """Markdown, of `of_models`."""
    rows = ["| M x N x K | hipgemm.gemm, us | Triton, us | its tile | times as fast |", "|" + "---|" * 5]
    rows += [
        f"| {_text(p.shape)} | {1e6 * p.ours:.1f} | {1e6 * p.theirs:.1f} | {_text(p.tile)} | {p.ratio:.2f} |"
        for p in pairs
    ]
    return [*rows, f"| geometric mean | | | | {mean(pairs):.2f} |"]


def squares(pairs: list[Pair]) -> list[str]:
    """Markdown, of `of_squares`: how many times as fast, and TFLOP/s of both."""
    rows = ["| M = N = K | " + " | ".join(LAYOUTS) + " |", "|---|" + "---|" * len(LAYOUTS)]
    for i in range(0, len(pairs), len(LAYOUTS)):
        n = pairs[i].shape[0]
        said = []
        for p in pairs[i : i + len(LAYOUTS)]:
            rates = (f"{2e-12 * n**3 / seconds:.1f}" for seconds in (p.ours, p.theirs))
            said.append(f"{p.ratio:.2f} ({' / '.join(rates)}, {_text(p.tile)})")
        rows.append(f"| {n} | {' | '.join(said)} |")
    return [*rows, f"| geometric mean | {mean(pairs):.2f} | | | |"]


def fastest(shape: Triple, layout: str, kernels: list[Compiled]) -> tuple[float, Triple]:
    """Seconds of the best configuration, and its tile."""
    fitting = (kernel for kernel in kernels if kernel.layout == layout and sensible(shape, kernel.tile))
    return min((theirs(shape, kernel), kernel.tile) for kernel in fitting)


def _text(sizes: Triple) -> str:
    return " x ".join(map(str, sizes))


def mean(pairs: list[Pair]) -> float:
    """The geometric one of how many times as fast ours are."""
    return math.exp(sum(math.log(p.ratio) for p in pairs) / len(pairs))


def sensible(shape: Triple, tile: Triple) -> bool:
    """Whether the configuration may be the best one."""
    return tile[0] <= 32 if shape[0] <= 16 else shape[0] < 512 or min(tile[:2]) >= 64


def ours(shape: Triple, layout: str) -> float:
    """Seconds of what `hipgemm.gemm` launches for matrices that lie so, with a C of f16."""
    from hipgemm.launch.elements import PLAIN, Types
    from hipgemm.product.choice import kernel_for
    from hipgemm.tuning import trial
    from hipgemm.tuning.shapes import Shape
    from isa.timing.machine.cards import card

    flips = tuple(letter == "t" for letter in layout)
    name = kernel_for(shape, card(CARD).cus, Types("f16", "f16"), flips, PLAIN, CARD)
    return trial.launch(name, Shape(*shape), trial.TrialTarget(CARD, CLOCK_MHZ)).estimate(CLOCK_MHZ).time_s


def theirs(shape: Triple, kernel: Compiled) -> float:
    """Seconds of one configuration."""
    from hipgemm.judge.predict import timed
    from hipgemm.launch.launch import Argument, Array, Launch, Scalar, explicit
    from isa.timing.machine.cards import card

    m, n, k = shape
    own = next(iter(kernel.code.kernels.values()))
    lines = m if kernel.layout[0] == "t" else k, k if kernel.layout[1] == "t" else n, n
    arguments: list[Argument] = [Array("<f2", (size,)) for size in (m * k, n * k, m * n)]
    arguments += [Scalar("i32", value) for value in (m, n, k, *lines)]
    arguments += [Array("|u1", (4,)) for _ in explicit(own)[len(arguments) :]]  # Triton's own, unused
    grid = -(-m // kernel.tile[0]) * -(-n // kernel.tile[1])
    dynamic = 0 if own.descriptor.lds_bytes else kernel.lds
    launch = Launch((grid, 1, 1), (32 * kernel.warps, 1, 1), tuple(arguments), dynamic_lds=dynamic)
    return timed(kernel.code, own.name, launch, card(CARD)).estimate(CLOCK_MHZ).time_s


if __name__ == "__main__":
    main()
