#!/usr/bin/env python3
"""Lint over random kernels of libraries that others ship: what it finds there by rule, and how long it takes.

python tools/shipped.py FOLDER                        # unpacked wheels or libraries; 300 kernels
python tools/shipped.py FOLDER --count 1500 --seed 7 --show LDS001

The same code object in several files counts once. The table is what docs/lint.md judges by hand.
"""

from __future__ import annotations

import hashlib
import random
import sys
import time
from collections import Counter
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout, installed or not

from isa.check.lint import lint_code_object  # noqa: E402
from isa.errors import IsaError  # noqa: E402
from isa.object import bundle, code_object  # noqa: E402


def kernels(folder: Path, arch: str) -> dict[tuple[str, str], bytes]:
    """(file's name, kernel) -> the code object that holds it."""
    found: dict[tuple[str, str], bytes] = {}
    seen: set[bytes] = set()
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = file.read_bytes()
        if not data.startswith((b"\x7fELF", bundle.MAGIC, bundle.COMPRESSED)):
            continue
        try:
            for image in bundle.images(data, arch):
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
