#!/usr/bin/env python3
"""Outputs of a state: the ladder, the lab and other kernels -> a folder of what the toolchain makes of them, to compare
two states.

python tools/outputs.py after
python tools/outputs.py before --tree ../old-checkout
diff -r before after                   # says nothing where a change of structure changed nothing else

built/     each stage of each kernel, as `tools/build_isa.py` leaves it
told/      what `prove`, `lint`, `inspect`, `time`, `check` and `lab` print with --json
ir/        the LLVM IR that each kernel is translated to, for a plain processor
kernels/   HIP kernels beside the repository (`shared/kernels`, if it is there) at -O0 and -O3, with its lint

Only the command line and `isa.sim.ir.jit.compile_ir` are used of a tree, so that both may be of different structure.
Keys that hold a time of this machine are left out. Caches are those of a folder that is thrown away.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
KERNELS = tuple(f"kernel{i}" for i in range(1, 11))
PROVED = KERNELS[5:]
SIZE = "128"
COMMAND = "from hipgemm.cli import main; main()"
TRANSLATE = """
import sys
from pathlib import Path
from hipgemm.cli import main
from isa.sim.ir import jit
out, kernel, size = Path(sys.argv[1]), *sys.argv[2:]
texts, compile_text = [], jit._compile
def keep(text, target, *rest):
    texts.append(text)
    return compile_text(text, target, *rest)
jit._compile = keep
try:
    main(["run", kernel, "-n", size, "--device", "simulated", "--cpu", "x86-64-v3"])
except SystemExit as done:
    assert not done.code
out.write_text("\\n".join(t for t in dict.fromkeys(texts) if "selfcheck" not in t))
"""
MACHINE = re.compile(r"seconds|elapsed|host|cached|version|built_with")
"""Keys whose values are of this machine or run."""


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--tree", default=ROOT, type=click.Path(path_type=Path, exists=True), help="A checkout of the project.")
@click.option("--jobs", default=2, show_default=True)
def main(out: Path, tree: Path, jobs: int) -> None:
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(jobs) as pool:
        tried = Tree(tree.resolve(), out.resolve(), Path(cache))
        tried.build()
        work = [pool.submit(tried.tell, *what) for what in questions()]
        work += [pool.submit(tried.translate, kernel) for kernel in KERNELS]
        work += [pool.submit(tried.foreign, *what) for what in foreign()]
        for one in work:
            one.result()


def questions() -> list[tuple[str, Sequence[str]]]:
    """A file's name, and the command whose answer it gets."""
    asked: list[tuple[str, Sequence[str]]] = []
    for k in KERNELS:
        asked += [(f"{verb}-{k}", (verb, k)) for verb in ("lint", "inspect")]
        asked += [(f"time-{k}", ("time", k, "-n", "2048")), (f"check-{k}", ("check", k, "-n", SIZE))]
    asked += [(f"prove-{k}", ("prove", k)) for k in PROVED]
    return asked + [(f"lab-{name}", ("lab", name)) for name in ("banks", "ilp", "lds", "registers", "tiles", "vectors")]


def foreign() -> list[tuple[Path, str]]:
    folder = ROOT.parent / "shared" / "kernels"
    return [(file, level) for file in sorted(folder.glob("*.hip")) for level in ("-O0", "-O3")]


class Tree:
    """A checkout whose programs run with empty caches."""

    def __init__(self, tree: Path, out: Path, cache: Path) -> None:
        self.tree, self.out = tree, out
        self.environment = {**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": str(cache)}
        for folder in ("built", "told", "ir", "kernels"):
            (out / folder).mkdir(parents=True, exist_ok=True)

    def build(self) -> None:
        self._run("tools/build_isa.py", "--all", "-o", str(self.out / "built"))

    def tell(self, name: str, command: Sequence[str]) -> None:
        (self.out / "told" / f"{name}.json").write_text(self._answer(*command))

    def translate(self, kernel: str) -> None:
        self._run("-c", TRANSLATE, str(self.out / "ir" / f"{kernel}.ll"), kernel, SIZE)

    def foreign(self, source: Path, level: str) -> None:
        """Compiles with the toolchain and headers of this tree, so that both trees judge the same text."""
        from hipgemm.kernels.compiling.headers import compile_kernel
        from isa import toolchain

        text = self.out / "kernels" / f"{source.stem}{level}.s"
        with tempfile.TemporaryDirectory() as temps:  # what the compiler leaves beside its output names that folder
            made = Path(temps, text.name)
            compile_kernel(toolchain.find(), source, made, arch="gfx1100", cu_mode=True, flags=(level,))
            text.write_bytes(made.read_bytes())
        text.with_suffix(".json").write_text(self._answer("lint", str(text)))

    def _answer(self, *command: str) -> str:
        done = self._run("-c", COMMAND, *command, "--json")
        text = done.stdout.replace(str(self.out), "OUT").replace(str(self.tree), "TREE")
        try:
            return json.dumps(_without_machine(json.loads(text)), indent=1) + f"\nexit {done.returncode}\n"
        except ValueError:
            return f"{text}{done.stderr}\nexit {done.returncode}\n"

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.tree, env=self.environment, capture_output=True, text=True
        )
        if done.returncode and arguments[1] != COMMAND:
            raise click.ClickException(f"{' '.join(arguments)}: {done.stderr}")
        return done


def _without_machine(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_machine(v) for k, v in value.items() if not MACHINE.search(k)}
    return [_without_machine(v) for v in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
