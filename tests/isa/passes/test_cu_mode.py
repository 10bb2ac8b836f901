"""Pass cu-mode: which kernels it takes; and that the validator takes that step, and not the one back."""

import re
from pathlib import Path

import pytest

from isa import toolchain
from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.asm.program import Program
from isa.object.code_object import load
from isa.object.splice import NewCode, splice
from isa.object.to_text import text_of
from isa.passes import run_pipeline
from isa.prove.refine import validate

FOOTER = (Path(__file__).parent / "footer.s").read_text()
WGP = FOOTER.replace("\t.end_amdhsa_kernel", "\t\t.amdhsa_workgroup_processor_mode 1\n\t.end_amdhsa_kernel")
WGP = WGP.replace("\t\t.amdhsa_next_free_v", "\t\t.amdhsa_wavefront_size32 1\n\t\t.amdhsa_next_free_v")
WGP = WGP.replace("    .wavefront_size", "    .workgroup_processor_mode: 1\n    .wavefront_size")
CODE = """k:
	v_lshlrev_b32_e32 v1, 2, v0
	ds_load_b32 v2, v1
	s_load_b64 s[0:1], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	global_store_b32 v1, v2, s[0:1]
	s_endpgm
"""


def changed(text: str) -> tuple[Program, Program]:
    program = parse(text)
    *_, (_, made) = run_pipeline(program, "cu-mode")
    return program, made


def test_a_kernel_that_uses_lds_is_started_in_cu_mode() -> None:
    program, made = changed(CODE + WGP)
    assert emit(made) == emit(program).replace("processor_mode 1", "processor_mode 0").replace("mode: 1", "mode: 0")
    assert validate(program.kernel(), made.kernel()).proved


def test_the_validator_says_no() -> None:
    """Of the way back, and of a workgroup that fits a WGP and no CU."""
    program, made = changed(CODE + WGP)
    assert validate(made.kernel(), program.kernel()).verdict == "different"
    large = WGP.replace("size: 64", "size: 1024").replace("free_vgpr 32", "free_vgpr 97").replace(": 32\n", ": 97\n", 1)
    by_hand = large.replace("processor_mode 1", "processor_mode 0").replace("mode: 1", "mode: 0")
    assert validate(parse(CODE + large).kernel(), parse(CODE + by_hand).kernel()).verdict == "different"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ds_load_b32 v2, v1", "v_mov_b32_e32 v2, v1"),
        ("global_store_b32 v1", "global_atomic_add_u32 v1"),
        (".max_flat_workgroup_size: 64", ".max_flat_workgroup_size: 1024"),
    ],
    ids=["no LDS", "speaks to others", "too large"],
)
def test_what_stays(old: str, new: str) -> None:
    text = (CODE + WGP).replace(old, new).replace("free_vgpr 32", "free_vgpr 97").replace("_count: 32", "_count: 97")
    program, made = changed(text)
    assert made is program


@pytest.mark.parametrize("mode", [0, 1])
def test_a_code_object_follows(compile_hip: object, mode: int) -> None:
    """Descriptor and metadata, whichever way; LLVM's assembler writes the same."""
    source = """extern "C" __attribute__((global)) void k(float *a) {
        __attribute__((shared)) static float lds[64];
        lds[__builtin_amdgcn_workitem_id_x()] = a[0]; __builtin_amdgcn_s_barrier();
        a[__builtin_amdgcn_workitem_id_x()] = lds[3];
    }"""
    _, image = compile_hip(source)  # type: ignore[operator]
    program = text_of(load(image), "k")
    flipped = re.sub(r"(processor_mode:?) \d", rf"\1 {mode}", emit(program))
    made = load(toolchain.find().code_object(flipped))
    put = load(splice(image, {"k": NewCode.of(made, "k", load(image).kernel("k").descriptor)})).kernel("k")
    assert put.descriptor.wgp_mode == bool(mode)
    assert put.descriptor.raw[48:52] == made.kernel("k").descriptor.raw[48:52]
    assert put.metadata == made.kernel("k").metadata
