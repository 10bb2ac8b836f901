"""Frame of a matrix-unit kernel: its first instructions, and the text around all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isa.asm.parse import parse
from isa.asm.program import Program
from isa.gemm.matrix.parameters import ElementTypes, MatrixParameters
from isa.gemm.matrix.registers import SCALARS
from isa.passes.edit import render_text
from isa.passes.general.sgpr_waits import SgprWaits
from isa.passes.words import text_in_words
from isa.targets import target


def program(
    p: ElementTypes, registers: object, lines: Iterable[str], name: str, arch: str, file: str | None, sgprs: int
) -> Program:
    """The kernel of these instructions and labels, with its descriptor and metadata."""
    strided = p.places if isinstance(p, MatrixParameters) else ()
    text = render_text(
        "gemm_matrix.s.j2", name=name, target=target(arch), p=p, r=registers, s=SCALARS, lines=list(lines),
        kernarg=p.kernarg_bytes, vectors=p.vectors.values(), strided=strided, work_offset=p.after_vectors, sgprs=sgprs,
    )  # fmt: skip
    return SgprWaits().run(parse(text_in_words(target(arch), text), file or f"{name}.s"))


def place(p: ElementTypes) -> Iterator[str]:
    """Where the workgroup's tile begins; before `arguments`, which take the workgroup's place."""
    yield f"s_mul_i32 {SCALARS.top}, {SCALARS.group_y}, {p.rows}"
    yield f"s_mul_i32 {SCALARS.left}, {SCALARS.group_x}, {p.columns}"


def arguments(matrices: int = SCALARS.a.index) -> Iterator[str]:
    """Loads of those that all have. matrices: the first of the SGPRs that A and B go to."""
    s = SCALARS
    yield f"s_load_b128 s[{matrices}:{matrices + 3}], {s.kernarg}, 0x0"
    yield f"s_load_b64 {s.c}, {s.kernarg}, 0x10"
    yield f"s_load_b128 s[12:15], {s.kernarg}, 0x18"
    yield f"s_load_b32 {s.beta}, {s.kernarg}, 0x28"
