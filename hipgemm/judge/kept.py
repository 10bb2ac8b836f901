"""Verdicts that are kept: what was asked of which code -> the proof, the findings or the time, from the cache or made.

A proof is a fact about texts and what is assumed of launches, so it stays true; so are what lint says of a code, and a
time that no data decides. An entry's name is a hash of all of these and of the program that says it: the sources of isa
and hipgemm, Python, NumPy. Neither parsing nor a prover is needed to find one. Verdicts on what was run are never kept:
a witness may be of data that has changed.

The proof at the end of a build and the one that `hipgemm prove` shows are one question, so they are one entry.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from isa import cache, packed

if TYPE_CHECKING:
    from hipgemm.judge.assumed import Assumed
    from hipgemm.kernels.object import Kernel
    from isa.prove.proof import Proof

_MOST = 2000
"""Of some 4 kB, as a verdict."""
T = TypeVar("T")


def product(kernel: Kernel, text: str, prove: Callable[[], Proof], *how: object) -> Proof:
    """That a kernel of this text computes its product. how: sizes and depth of the question, beside the usual."""
    return _kept(("product", repr(kernel), text, *map(repr, how)), prove)


def rewriting(
    kernel: Kernel, sides: Sequence[tuple[str, str]], name: str, prove: Callable[[], Proof],
    assumed: Assumed | None = None,
) -> Proof:  # fmt: skip
    """That the second computes what the first does. sides: what messages call each, and its text; name: of the kernel
    in both."""
    known: tuple[object, ...] = ()
    if assumed and (assumed.known or assumed.sentences or assumed.launch):
        launch = assumed.launch and (assumed.launch.grid, assumed.launch.block)
        known = (sorted(assumed.known.items()), assumed.sentences, launch)
    return _kept(("rewriting", repr(kernel), name, repr(known), *(word for side in sides for word in side)), prove)


def of_code(
    code: Sequence[str | bytes], asked: Sequence[object], make: Callable[[], T], classes: Sequence[type],
    lasting: Callable[[T], bool] = lambda _: True,
) -> T:  # fmt: skip
    """What is said of a kernel's code and of the lines that it comes from. code: as `Linked.made_of`; asked: all else
    that decides it, as `repr` shows it; classes: the dataclasses that the answer consists of; lasting: whether an
    answer may be kept."""
    if not code:
        return make()

    def write(folder: Path, told: T) -> None:
        (folder / "verdict").write_bytes(packed.pack(told))

    def read(folder: Path) -> T:
        held: T = packed.unpack((folder / "verdict").read_bytes(), classes)
        return held

    name = cache.key(_prover(), os.getcwd(), *code, *map(repr, asked))
    return cache.find_or_make("verdicts", name, _MOST, make, write, read, lasting)


def _kept(asked: Sequence[str], prove: Callable[[], Proof]) -> Proof:
    name = cache.key(_prover(), *asked)
    return cache.find_or_make("proofs", name, _MOST, prove, _write, _read, lambda proof: proof.proved)


@functools.cache
def _prover() -> str:
    """All that a verdict is made by."""
    own = sorted(Path(__file__).parents[1].rglob("*.py"))
    numpy = importlib.util.find_spec("numpy")
    assert numpy is not None
    assert numpy.origin is not None
    files = [Path(numpy.origin).with_name("version.py"), *own]
    return cache.key(cache.made_by(), sys.version, *(file.read_bytes() for file in files))


def _write(folder: Path, proof: Proof) -> None:
    held = {"statement": proof.statement, "assumptions": proof.assumptions, "counts": dict(proof.counts)}
    (folder / "proof.json").write_text(json.dumps({**held, "judge": proof.judge}))


def _read(folder: Path) -> Proof:
    """LookupError for what `_write` did not write."""
    from isa.prove.proof import Proof

    try:
        held = json.loads((folder / "proof.json").read_text())
        return Proof(
            "proved", held["statement"], tuple(held["assumptions"]), counts=held["counts"], judge=held["judge"]
        )
    except (TypeError, ValueError) as error:
        raise LookupError from error
