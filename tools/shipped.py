#!/usr/bin/env python3
"""Lint over random kernels of libraries that others ship: what it finds there by rule, and how long it takes.

python tools/shipped.py FOLDER                        # unpacked wheels or libraries; 300 kernels
python tools/shipped.py FOLDER --count 1500 --seed 7 --show LDS001

Code objects are read where they lie: in offload bundles, plain or compressed (zlib; zstd where Python has it), anywhere
in a file. The same one in several files counts once. The table is what docs/lint.md judges by hand.

Sources: clang "Offload Bundler: Bundled Code Object File Layout", "Compressed Bundle".
"""

from __future__ import annotations

import hashlib
import importlib
import random
import struct
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout, installed or not

from isa.check.lint import lint_code_object  # noqa: E402
from isa.errors import IsaError  # noqa: E402
from isa.object import code_object  # noqa: E402


def bundles(data: bytes) -> Iterator[bytes]:
    """From each offload bundle's start to the end of what holds it. IsaError for one that cannot be unpacked."""
    at = -1
    while (at := data.find(code_object.BUNDLE_MAGIC, at + 1)) >= 0:
        yield data[at:]
    at = -1
    while (at := data.find(code_object.COMPRESSED_BUNDLE_MAGIC, at + 1)) >= 0:
        version, method = struct.unpack_from("<HH", data, at + 4)
        if version in (2, 3) and method in (0, 1):
            size = struct.unpack_from("<I" if version == 2 else "<Q", data, at + 8)[0]
            yield from bundles(_unpacked(data[at + (24 if version == 2 else 32) : at + size], method))


def _unpacked(data: bytes, method: int) -> bytes:
    if method == 0:
        return zlib.decompress(data)
    for name in ("compression.zstd", "zstandard"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        unpacked: bytes = module.decompress(data)
        return unpacked
    raise IsaError("a bundle is compressed with zstd", hint="Python 3.14, or pip install zstandard")


def kernels(folder: Path, arch: str) -> dict[tuple[str, str], bytes]:
    """(file's name, kernel) -> the code object that holds it."""
    found: dict[tuple[str, str], bytes] = {}
    seen: set[bytes] = set()
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        try:
            for bundle in bundles(file.read_bytes()):
                image = code_object.unbundle(bundle, arch)
                digest = hashlib.sha256(image).digest()
                if digest not in seen:
                    seen.add(digest)
                    code = code_object.load(image, runs=False)
                    found |= {(f"{file.name}:{digest.hex()[:8]}", name): image for name in code.kernels}
        except IsaError as error:
            if not isinstance(error, code_object.OtherTarget):
                click.echo(f"{file.name}: {error.message}", err=True)
    return found


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--arch", default="gfx1100", show_default=True)
@click.option("--count", default=300, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--show", default="", help="Print the faults of the rules that begin with this.")
def main(folder: Path, arch: str, count: int, seed: int, show: str) -> None:
    held = kernels(folder, arch)
    chosen = random.Random(seed).sample(sorted(held), min(count, len(held)))
    faults: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    seconds = []
    for file, name in chosen:
        code = code_object.load(held[file, name], runs=False)
        start = time.process_time()
        found = [f for f in lint_code_object(code, file, name, notes=False) if f.severity == "fault"]
        seconds.append((time.process_time() - start, name))
        faults.update(f.id for f in found)
        inside.update({f.id for f in found})
        for f in found if show else ():
            if f.id.startswith(show):
                click.echo(f"{f}\n")
    click.echo(f"{len(chosen)} of {len(held)} kernels")
    for rule, number in faults.most_common():
        click.echo(f"{number:6} faults in {inside[rule]:4} kernels  {rule}")
    seconds.sort()
    if seconds:
        click.echo(
            f"median {seconds[len(seconds) // 2][0]:.3f} s, slowest {seconds[-1][0]:.1f} s ({seconds[-1][1][:60]})"
        )


if __name__ == "__main__":
    main()
