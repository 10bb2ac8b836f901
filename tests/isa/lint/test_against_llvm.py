"""The rules about single instructions against LLVM's assembler: what it refuses we refuse, what it takes we take."""

import itertools
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from isa import toolchain
from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.lint import verify
from isa.targets import TARGETS
from isa.toolchain import ToolError

X = """fmac_f32 mul_f32 add_f32 sub_f32 subrev_f32 max_f32 min_f32 max_num_f32 min_num_f32 mul_dx9_zero_f32 mov_b32
    fmamk_f32 fmaak_f32 cndmask_b32 dot2acc_f32_f16 dot2acc_f32_bf16""".split()
Y = [*X, "add_nc_u32", "lshlrev_b32", "and_b32", "or_b32", "dot2c_f32_f16"]
SCALARS = ("s1", "s2", "vcc_lo", "1.0", "5", "0x4048f5c3", "0x42280000", "null", "m0", "ttmp1", "exec_lo")
RARE = ("-7", "64", "65", "0.15915494", "src_scc", "src_shared_base", "vcc_hi", "vccz", "execz")


def vopds(rng: random.Random) -> Iterator[str]:
    """All pairs of opcodes, near legality: few registers, so that banks and parities meet often, and now and then a
    scalar. Two VGPRs that are one stand in no slot: LLVM 22 refuses them, later ones take them for RDNA4."""

    def source(scalar: float, number: int) -> str:
        if rng.random() < scalar:
            return rng.choice(SCALARS if rng.random() < 0.8 else RARE)
        return f"{'-' * (rng.random() < 0.01)}v{number}"

    def half(opcode: str, scalar: float, numbers: tuple[int, int, int]) -> str:
        first, second = source(scalar, numbers[1]), source(0.06, numbers[2])
        k = rng.choice(("0x42280000", "0x4048f5c3", "1.0", "v1", "s3"))
        operands = {
            "mov_b32": (first,), "fmamk_f32": (first, k, second), "fmaak_f32": (first, second, k),
            "cndmask_b32": (first, second, *rng.choice(((), (), (), ("vcc_lo",), ("s4",)))),
        }.get(opcode, (first, second))  # fmt: skip
        return f"v_dual_{opcode} v{numbers[0]}, {', '.join(operands)}"

    while True:
        for x, y in itertools.product(X, Y):
            scalar = rng.choice((0.0, 0.5, 0.9))
            d, a, b = (rng.sample(range(8), 2) for _ in range(3))
            while {d[0], b[0]} & {d[1], b[1]}:  # slot 2 has FMAC's destination, FMAMK's last source
                b = rng.sample(range(8), 2)
            yield " :: ".join(half(op, scalar, (d[k], a[k], b[k])) for k, op in enumerate((x, y)))


def others(rng: random.Random) -> Iterator[str]:
    """Widths, alignment, ranges and scalar limits of instructions of each family."""

    def run(file: str, count: int) -> str:
        first = rng.randrange(12)
        return f"{file}[{first}:{first + count - 1}]" if count > 1 else f"{file}{first}"

    def any_source() -> str:
        return rng.choice(SCALARS + RARE) if rng.random() < 0.6 else f"v{rng.randrange(8)}"

    def offset() -> int:
        edges = (-4097, -4096, -1, 0, 255, 256, 4095, 4096, 65535, 65536, 1 << 20, (1 << 20) - 1, -(1 << 20))
        return rng.choice(edges)

    makers: list[Callable[[], str]] = [
        lambda: f"v_add_f32_e32 v1, {any_source()}, {any_source()}",
        lambda: f"v_fma{rng.choice('am')}k_f32 v1, {any_source()}, {any_source()}, {any_source()}",
        lambda: f"v_fma_f32 v1, {any_source()}, {any_source()}, {any_source()}",
        lambda: f"v_lshlrev_b64 {run('v', rng.choice((1, 2, 2, 3)))}, {any_source()}, {run(rng.choice('vs'), 2)}",
        lambda: f"v_cndmask_b32_e64 v1, {any_source()}, {any_source()}, {rng.choice(('s1', 'vcc_lo', 'v1'))}",
        lambda: f"s_add_u32 s1, {any_source()}, {any_source()}",
        lambda: f"s_mov_b64 {run('s', 2)}, {run(rng.choice('ssv'), rng.choice((1, 2, 2, 2)))}",
        lambda: f"s_load_b{rng.choice((64, 128))} {run('s', rng.choice((2, 4)))}, {run('s', 2)}, {offset()}",
        lambda: f"ds_load_b{rng.choice((64, 128))} {run('v', rng.choice((2, 4)))}, v1 offset:{offset()}",
        lambda: f"ds_load_2addr_b32 {run('v', 2)}, v1 offset0:{offset()} offset1:{offset()}",
        lambda: f"ds_store_b64 v1, {run('v', rng.choice((1, 2, 2)))} offset:{offset()}",
        lambda: (
            f"global_load_b32 v1, {run('v', rng.choice((1, 2)))}, {rng.choice(('off', 's[2:3]', 's[3:4]'))}"
            f" offset:{offset()}"
        ),
        lambda: f"global_store_b64 {run('v', 2)}, {run('v', rng.choice((1, 2)))}, off offset:{offset()}",
        lambda: f"scratch_load_b32 v1, {rng.choice(('off', 'v1'))}, {rng.choice(('off', 's1'))} offset:{offset()}",
        lambda: f"flat_load_b32 v1, {run('v', 2)} offset:{offset()}",
        lambda: f"s_waitcnt vmcnt({rng.choice((0, 63, 64))})",
        lambda: f"s_waitcnt lgkmcnt({rng.choice((0, 63, 64))}) expcnt({rng.choice((0, 7, 8))})",
        lambda: f"s_movk_i32 s1, {offset()}",
    ]
    while True:
        yield rng.choice(makers)()


def refused_by_us(line: str, arch: str) -> bool:
    try:
        return any(True for _ in verify.instructions([parse_instruction(line, target=TARGETS[arch])]))
    except IsaError:
        return True


def refused_by_llvm(lines: list[str], folder: Path, arch: str) -> set[int]:
    source = folder / "k.s"
    source.write_text(f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n' + "\n".join(lines) + "\n")
    try:
        toolchain.find().assemble(source, folder / "k.o", arch=arch)
    except ToolError as e:
        return {int(m[1]) - 2 for m in re.finditer(r"k\.s:(\d+):\d+: error", str(e))}
    return set()


@pytest.mark.parametrize(("make", "arch"), [(vopds, "gfx1100"), (vopds, "gfx1201"), (others, "gfx1100")])
def test_the_assembler_agrees(make: Callable[[random.Random], Iterator[str]], arch: str, tmp_path: Path) -> None:
    stream = make(random.Random(7))
    lines = [next(stream) for _ in range(3000)]
    theirs = refused_by_llvm(lines, tmp_path, arch)
    assert 300 < len(theirs) < 2900, "the generator should stand near the border"
    wrong = [
        f"{line}: LLVM {'refuses' if i in theirs else 'takes'} it"
        for i, line in enumerate(lines)
        if refused_by_us(line, arch) != (i in theirs)
    ]
    assert not wrong, f"{len(wrong)} differ, the first:\n" + "\n".join(wrong[:10])
