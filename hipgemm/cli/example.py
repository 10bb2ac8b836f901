"""`hipgemm example`: a kernel to begin with, as HIP source, launch file and the arrays that the launch names.

The sources and launch files are in `kernels_hip/examples`, kernel 5 is the ladder's. The arrays are made here: random
input from a fixed seed, and the answer computed by NumPy in float64 and then rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click
import numpy as np

from hipgemm.cli import options, say
from hipgemm.cli.answers import answer
from isa import errors
from isa.errors import IsaError, meant

SOURCES = Path(__file__).resolve().parents[2] / "kernels_hip"
Arrays = dict[str, np.ndarray]


def _softmax(random: np.random.Generator) -> Arrays:
    rows = random.standard_normal((8, 1024), np.float32)
    powers = np.exp(rows - rows.max(axis=1, keepdims=True).astype(np.float64))
    return {"rows": rows, "softmax": (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)}


def _rmsnorm(random: np.random.Generator) -> Arrays:
    tokens, gain = (random.standard_normal(shape, np.float32).astype(np.float16) for shape in ((16, 1024), 1024))
    wide = tokens.astype(np.float64)
    normed = wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + 1e-5) * gain
    return {"tokens": tokens, "gain": gain, "normed": normed.astype(np.float16)}


def _conv3x3(random: np.random.Generator) -> Arrays:
    image, weights = random.standard_normal((96, 256), np.float32), random.standard_normal((3, 3), np.float32)
    around = np.pad(image.astype(np.float64), 1)
    convolved = sum(weights[y, x] * around[y : y + 96, x : x + 256] for y in range(3) for x in range(3))
    return {"image": image, "weights": weights, "convolved": np.float32(convolved)}


def _half_gemm(random: np.random.Generator) -> Arrays:
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((64, 96), (128, 96)))
    return {"a": a, "b": b, "product": (a.astype(np.float64) @ b.T.astype(np.float64)).astype(np.float32)}


def _int4_gemv(random: np.random.Generator) -> Arrays:
    weights = random.integers(0, 16, (64, 512), np.uint32)
    packed = np.bitwise_or.reduce(weights.reshape(64, 64, 8) << (4 * np.arange(8, dtype=np.uint32)), axis=2)
    scales = random.uniform(0.01, 0.1, (64, 16)).astype(np.float16)
    vector = random.standard_normal(512, np.float32)
    dots = ((weights.astype(np.float64) - 8) * np.repeat(scales, 32, axis=1)) @ vector
    return {"packed": packed, "scales": scales, "vector": vector, "dots": dots.astype(np.float32)}


def _histogram(random: np.random.Generator) -> Arrays:
    found = random.integers(0, 256, 20000, np.uint8)
    return {"bytes": found, "counts": np.bincount(found, minlength=256).astype(np.uint32)}


def _kernel5(random: np.random.Generator) -> Arrays:
    left, right = (random.standard_normal((256, 256), np.float32) for _ in range(2))
    square = (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)
    return {"left": left, "right": right, "square": square}


_ARRAYS: Mapping[str, Callable[[np.random.Generator], Arrays]] = {
    "softmax": _softmax, "rmsnorm": _rmsnorm, "conv3x3": _conv3x3, "half_gemm": _half_gemm, "int4_gemv": _int4_gemv,
    "histogram": _histogram, "kernel5": _kernel5,
}  # fmt: skip
EXAMPLES = tuple(_ARRAYS)


def _source(name: str) -> Path:
    return SOURCES / "kernel5_lds.hip" if name == "kernel5" else SOURCES / "examples" / f"{name}.hip"


def title(name: str) -> str:
    """What the example's source says that it computes: its first comment up to the first colon or period."""
    comment = " ".join(
        line.removeprefix("//").strip() for line in _source(name).read_text().partition("#include")[0].splitlines()
    )
    return min((comment.partition(end)[0] for end in (": ", ". ")), key=len)


def write(name: str, folder: Path, *, force: bool = False) -> list[Path]:
    """Writes an example into a folder, which is made: `name.hip`, `name.toml`, the launch's arrays as .npy. Returns the
    files. IsaError where there is no such example, or, unless force, where a file of that name holds something else."""
    if name not in EXAMPLES:
        raise IsaError(
            f"there is no example {name!r}", expected=", ".join(EXAMPLES), hint=meant(name, EXAMPLES) or None
        )
    contents = {f"{name}.hip": _source(name).read_bytes()}
    contents[f"{name}.toml"] = (SOURCES / "examples" / f"{name}.toml").read_bytes()
    for array_name, array in _ARRAYS[name](np.random.default_rng(0)).items():
        contents[f"{array_name}.npy"] = _npy(array)
    files = {folder / file: held for file, held in contents.items()}
    for file, held in files.items():
        if not force and file.exists() and file.read_bytes() != held:
            raise IsaError(
                f"{file} exists and is not what would be written", hint="another folder by -o, or --force to replace it"
            )
    folder.mkdir(parents=True, exist_ok=True)
    for file, held in files.items():
        errors.write(file, held)
    return list(files)


def _npy(array: np.ndarray) -> bytes:
    import io

    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


@click.command("example")
@click.argument("name", required=False)
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), default=Path(), help="into this folder")
@click.option("--force", is_flag=True, help="replace files that hold something else")
@options.as_json
def command(name: str | None, folder: Path, force: bool, as_json: bool) -> None:
    """Write an example: its HIP source, the launch file that every verb finds beside it, inputs and the expected
    answer. Without NAME, list them."""
    if name is None:
        titles = {example: title(example) for example in EXAMPLES}
        if as_json:
            answer("example", {"examples": titles})
            return
        say([*titles.items()])
        return
    files = write(name, folder, force=force)
    if as_json:
        answer("example", {"example": name, "files": [str(file) for file in files]})
        return
    say(f"wrote {', '.join(map(str, files))}")
    mode = " --cu-mode" if name == "kernel5" else ""
    for verb in ("lint", "check", "run", "time", "timeline"):
        page = f" -o {name}.html" if verb == "timeline" else ""
        say(f"  hipgemm {verb} {files[0]}{mode}{page}")
