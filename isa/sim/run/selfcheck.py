"""Self-check: known answers, asked of this machine's native code once a machine.

In:  a processor to compile for (`isa.sim.ir.jit.HostTarget`).
Out: `verdict(target)`: which of GROUPS come out wrong; `settled(target)`: the target itself where none does, else the
     highest processor level below it at which none does.

Each group is a few instructions on registers that follow from a formula; its known answer is a digest of all registers
and LDS after it, as the reference engine leaves them (tests hold both to each other). All groups are translated and
compiled as kernels are, entered one by one, in the plain version, which keeps lanes under EXEC; those that leave EXEC
alone in the fast version, too. What is asked for is what code generators have been seen to get wrong, or do differently
at each level: logic under a mask, choices, FMAs, conversions, f16, LDS, moves across lanes.

A verdict is kept in the cache under the processor's name and features, LLVM's version and the engine (its sources), so
that it costs one read. Processes that need it at one time each ask for themselves; where the cache takes nothing each
process does. It says no more than that these answers are right: it is a net for a machine or an LLVM that was not
tried, not a proof. Code so wrong that it ends the process is not caught.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import struct
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from isa import cache, llvm
from isa.errors import IsaError
from isa.registers import LANES
from isa.semantics.float_mode import FloatMode
from isa.sim.ir import jit, translations
from isa.sim.ir.jit import LEVELS, NATIVE, HostTarget
from isa.sim.ir.state import LDS_PADDING, VGPRS, Context, Stop, Wave
from isa.sim.ir.translations import Facts

KIND = "selfcheck"
MOST = 40
REGISTERS, LDS_BYTES = 48, 1024
_EDGES = (0, 1 << 31, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00123, 1, 0x807FFFFF, 0x7F7FFFFF, 0x4F000000)


@dataclass(frozen=True)
class Group:
    """text: its instructions; answer: `digest` of what they leave."""

    text: str
    answer: str

    @property
    def versions(self) -> tuple[bool, ...]:
        """Which are run, by `fast`: what sets EXEC is for the plain one."""
        return (False,) if "exec_lo" in self.text or "v_cmpx" in self.text else (False, True)


GROUPS = {
    "logic under a mask": Group(
        """s_mov_b32 exec_lo, 0x0ff0f00f
        v_mul_lo_u32 v8, v9, v8
        v_bfi_b32 v8, 0x7fffffff, v12, v8
        v_mul_lo_u32 v13, v9, v13
        v_mul_lo_u32 v10, v9, v11
        v_bfi_b32 v13, 0x1234fedc, v13, v10
        v_bfi_b32 v10, v14, v10, v15
        v_and_or_b32 v14, v14, v9, v10
        v_xor_b32 v15, v9, v15
        v_not_b32 v9, v9
        v_lshl_or_b32 v11, v11, 7, v8
        v_perm_b32 v24, v8, v14, v10
        v_bfe_i32 v10, v10, 5, 9""",
        "791cc20c9c4e41d5",
    ),
    "choices": Group(
        """v_cmp_gt_f32 vcc_lo, v0, v1
        v_cmp_le_u32 s20, v8, v9
        v_cndmask_b32 v9, v0, v1, vcc_lo
        v_med3_f32 v2, v2, v3, v4
        v_max_u32 v10, v10, v11
        v_cmpx_lt_i32 v10, v8
        v_cndmask_b32 v11, v9, v11, s20
        v_min_i32 v8, v8, v10""",
        "cce1dd1b966eabb1",
    ),
    "f32": Group(
        """v_fma_f32 v8, v0, v1, v2
        v_fmac_f32 v8, v3, v4
        v_fmac_f32 v9, -v5, |v6|
        v_mul_f32 v10, v0, v5
        v_sub_f32 v11, v1, v6
        v_sqrt_f32 v12, v3
        v_rndne_f32 v13, v4
        v_fmac_f32 v8, v9, v7""",
        "97ea6107dbc84801",
    ),
    "f64": Group(
        """v_fma_f64 v[34:35], v[40:41], v[42:43], v[44:45]
        v_add_f64 v[36:37], v[40:41], v[42:43]
        v_max_f64 v[38:39], v[42:43], v[44:45]
        v_cvt_f32_f64 v8, v[40:41]
        v_cvt_i32_f64 v9, v[42:43]
        v_cvt_f64_f32 v[10:11], v2""",
        "ab3cf7d17808df4a",
    ),
    "f16": Group(
        """v_fma_f16 v8.l, v16.l, v17.h, v18.l
        v_pk_fma_f16 v9, v16, v17, v18
        v_pk_mul_f16 v10, v19, v20
        v_pk_add_u16 v11, v21, v22
        v_cvt_f16_f32 v12.l, v1
        v_cvt_f32_f16 v13, v23.l
        v_cvt_pk_rtz_f16_f32 v14, v2, v3""",
        "c032ebf4883590f4",
    ),
    "integers": Group(
        """v_mul_hi_u32 v0, v8, v9
        v_mad_u64_u32 v[34:35], vcc_lo, v10, v11, v[12:13]
        v_add_co_ci_u32 v1, vcc_lo, v8, v9, vcc_lo
        v_lshrrev_b64 v[36:37], v24, v[14:15]
        v_cvt_i32_f32 v2, v2
        v_cvt_u32_f32 v3, v3
        v_cvt_f32_u32 v4, v8
        v_bcnt_u32_b32 v5, v8, v9""",
        "759f344f832f11bd",
    ),
    "LDS": Group(
        """v_lshlrev_b32 v32, 2, v33
        ds_store_b32 v32, v8
        ds_store_b32 v32, v9 offset:128
        ds_load_b64 v[10:11], v32
        s_mov_b32 exec_lo, 0x00ffff55
        ds_add_rtn_u32 v12, v32, v13 offset:64
        ds_load_b32 v14, v32 offset:68""",
        "18c83332cc214b0d",
    ),
    "lanes": Group(
        """v_mov_b32_dpp v8, v9 quad_perm:[3,1,0,2] row_mask:0xf bank_mask:0x5
        v_add_f32_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf
        v_readlane_b32 s20, v10, 17
        v_permlanex16_b32 v11, v11, s20, s21
        s_mov_b32 exec_lo, 0x7ffffffe
        v_mov_b32_dpp v12, v13 row_ror:5 row_mask:0xf bank_mask:0xf
        v_readfirstlane_b32 s22, v9""",
        "7d0c6944c894f93b",
    ),
}


@functools.cache
def settled(target: HostTarget) -> HostTarget:
    """The target, or what is compiled for instead; said once on stderr. IsaError where all that there is computes wrong
    numbers."""
    if target.baseline is None:  # of optimised code `better` asks, once some is to be made
        first = settled(replace(target, baseline=True))
        return replace(first, baseline=None)
    wrong = verdict(target)
    if not wrong:
        return target
    if target.baseline:
        return settled(replace(target, baseline=False))
    below = list(LEVELS)[: list(LEVELS).index(target.cpu)] if target.cpu != NATIVE else list(LEVELS)
    for cpu in reversed(below):
        lower = HostTarget(cpu)
        if lower.runs_here and not verdict(lower):
            print(
                f"hipgemm: code for {target.name} computes wrong numbers on this machine ({', '.join(wrong)}); "
                f"code for {cpu} is used instead, see hipgemm doctor",
                file=sys.stderr,
            )
            return lower
    raise IsaError(
        f"native code computes wrong numbers on this machine: {', '.join(wrong)}",
        expected="the known answers at some processor level",
        hint="another version of rocm-llvm-python may work",
    )


@functools.cache
def better(first: HostTarget) -> HostTarget:
    """What baseline code gives way to: optimised code for the same processor; itself, said once on stderr, where that
    computes wrong numbers: waves do not change from one level of x86-64 to another."""
    good = replace(first, baseline=False)
    if wrong := verdict(good):
        print(
            f"hipgemm: optimised code for {first.name} computes wrong numbers on this machine ({', '.join(wrong)}); "
            "code without optimisation is used instead, see hipgemm doctor",
            file=sys.stderr,
        )
        return first
    return good


def verdict(target: HostTarget) -> tuple[str, ...]:
    """The names of the groups that come out wrong, from the cache or asked now."""
    name = translations.key(("answers", target.name, target.features, target.baseline, llvm.identity()))

    def write(folder: Path, wrong: tuple[str, ...]) -> None:
        (folder / "wrong.json").write_text(json.dumps(wrong))

    def read(folder: Path) -> tuple[str, ...]:
        return tuple(json.loads((folder / "wrong.json").read_text()))

    return cache.find_or_make(KIND, name, MOST, lambda: ask(target), write, read)


def ask(target: HostTarget) -> tuple[str, ...]:
    """Compile and run all groups now."""
    versions = _Versions(target)
    return tuple(
        name
        for number, (name, group) in enumerate(GROUPS.items())
        if any(versions.run(number, fast) != group.answer for fast in group.versions)
    )


def vgprs() -> list[list[int]]:
    """What the VGPRs begin with, a list of 32 words each."""
    word, rows = 1, []
    for number in range(REGISTERS):
        row = []
        for lane in range(LANES):
            word = (word * 1664525 + 1013904223) & 0xFFFFFFFF  # Numerical Recipes' generator
            bits = word ^ word >> 15
            if number < 8:  # f32 around 1, with edges
                bits = _EDGES[bits % len(_EDGES)] if lane % 5 == number % 5 else 0x3E000000 + (bits & 0x81FFFFFF)
            elif number == 33:
                bits = lane
            elif 24 <= number < 32:
                bits &= 63
            elif number in (41, 43, 45):  # the upper half of an f64 around 1
                bits = 0x3F000000 + (bits & 0x80FFFFFF)
            row.append(bits)
        rows.append(row)
    return rows


def sgprs() -> list[int]:
    """What the SGPRs begin with: EXEC has all lanes on."""
    return [0x9E3779B1 * n & 0xFFFFFFFF if n < 106 else 0xFFFFFFFF if n == 126 else 0 for n in range(128)]


def digest(vectors: bytes, scalars: bytes, lds: bytes) -> str:
    """Of VGPRs (register by register, lane by lane), SGPRs and LDS."""
    return hashlib.sha256(vectors + scalars + lds).hexdigest()[:16]


def listing() -> list[tuple[int, int, str]]:
    """The rows of all groups, as a disassembler gives them; group n begins at address n << 12."""
    rows = []
    for group_number, group in enumerate(GROUPS.values()):
        for i, line in enumerate([*group.text.splitlines(), "s_endpgm"]):
            rows.append(((group_number << 12) + 8 * i, 8, line.strip()))
    return rows


class _Versions:
    """The groups' native code, and a wave to run it with."""

    def __init__(self, target: HostTarget) -> None:
        from isa.asm.parse import parse_disassembly
        from isa.sim.translate.cfg import blocks_of
        from isa.sim.translate.translate import Translator

        class Asked(Translator):
            several = 1  # so that baseline code is made of what it is made of mostly

        facts = Facts.on(target, REGISTERS, FloatMode())
        parsed = parse_disassembly(listing(), "<known answers>")
        functions = [[inst for inst in parsed if (inst.address or 0) >> 12 == n] for n in range(len(GROUPS))]
        self.strip = target.strip
        self._calls = {}
        self._kept = []
        for fast in (False, True):
            chosen = [f for f, g in zip(functions, GROUPS.values(), strict=True) if fast in g.versions]
            translator = Asked(blocks_of(chosen), facts, fast=fast, entries=None)
            native = jit.load_object(translator.compiled(target).code, target)
            self._kept.append(native)
            call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
            self._calls[fast] = call(native.address(translator.symbol))
        self._sites = (ctypes.c_uint64 * (2 * len(parsed)))()

    def run(self, number: int, fast: bool) -> str:
        """The digest after a group."""
        size, strip = VGPRS + 4 * LANES * REGISTERS, self.strip
        room = ctypes.create_string_buffer(size + 64)
        at = -(-ctypes.addressof(room) // 64) * 64
        wave = Wave.from_address(at)
        wave.s[:] = sgprs()
        wave.pc = number << 12
        rows = vgprs()
        begin = [rows[r][i : i + strip] for i in range(0, LANES, strip) for r in range(REGISTERS)]
        ctypes.memmove(at + VGPRS, b"".join(struct.pack(f"<{strip}I", *lanes) for lanes in begin), size - VGPRS)
        lds = ctypes.create_string_buffer(LDS_BYTES + 2 * LDS_PADDING)
        abort = ctypes.c_uint32(0)
        context = Context(
            abort=ctypes.addressof(abort), lds=ctypes.addressof(lds) + LDS_PADDING,
            sites=ctypes.addressof(self._sites), budget=1 << 40, lds_bytes=LDS_BYTES, wave_count=1, entry=wave.pc,
        )  # fmt: skip
        stop = self._calls[fast](at, ctypes.addressof(context))
        if stop != Stop.END:
            return f"stopped: {stop}"
        words = ctypes.string_at(at + VGPRS, size - VGPRS)
        parts = [words[4 * strip * n : 4 * strip * (n + 1)] for n in range(LANES // strip * REGISTERS)]
        vectors = b"".join(parts[s * REGISTERS + r] for r in range(REGISTERS) for s in range(LANES // strip))
        return digest(vectors, bytes(wave.s), lds.raw[LDS_PADDING:-LDS_PADDING])
