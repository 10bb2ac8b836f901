"""Where the reference engine answers otherwise than the text, and why. Each row holds for its own inputs only.

A row states what holds there instead, in the language of the texts, and the engine must give that: an excuse says what
is right, not that anything is. `test_every_excuse_is_needed` shows that the text alone differs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Excuse:
    """entries: names, or beginnings of names with a `*`. why: the reason and its source.

    where:   the inputs, as an expression of the pseudocode, asked lane by lane where the text runs so.
    instead: the text that holds there.
    In both {f} is the entry's last type (f32), {n} the one before it, {w} the width of {f}, {text} its own text.
    """

    entries: str
    where: str
    instead: str
    why: str

    def applies(self, name: str) -> bool:
        return any(name == e or (e.endswith("*") and name.startswith(e[:-1])) for e in self.entries.split())

    def filled(self, template: str, name: str, text: str) -> str:
        types = name.split("_")
        rows = {"{f}": types[-1], "{n}": types[-2], "{w}": types[-1].lstrip("bfiu"), "{text}": text}
        for old, new in rows.items():
            template = template.replace(old, new)
        return template


ALWAYS = "true"
ULPS = dict.fromkeys(
    ("v_rcp_f32", "v_rcp_iflag_f32", "v_rsq_f32", "v_sqrt_f32", "v_exp_f32", "v_log_f32"), 1
) | dict.fromkeys(("v_sin_f32", "v_cos_f32"), 8)
"""Entries whose text names a function that the card approximates -> how many units in the last place a result may be
off. The prose of the ISA guide promises 1 for all but sine and cosine. Of these it says nothing: their slope at 0 is
0xc90fd5 on a card, and 2 pi is 0xc90fdb. Which bits are right is asked of captures (`test_transcendental.py`)."""
_FLUSH = (
    "in f32 the transcendental unit flushes denormals, operands and results, in any mode (ISA guide 16.8, prose of "
    "each)"
)

_STEP = (
    "sum = alignedDot2(VGPR[row][SRC0 + k][15 : 0].{f}, VGPR[lane][SRC1 + k][15 : 0].{f}, "
    "VGPR[row][SRC0 + k][31 : 16].{f}, VGPR[lane][SRC1 + k][31 : 16].{f}, sum)"
)


def _wmma(name: str, place: str, steps: int, step: str) -> Excuse:
    """place: of an element in its register of C and D."""
    return Excuse(
        f"v_wmma_{name}",
        ALWAYS,
        f"""
        for lane in 0 : 31 do if EXEC[lane].u1 then for r in 0 : 7 do
        row = 2 * r + lane / 16 + (lane & 16);
        sum = VGPR[lane][SRC2 + r]{place};
        for k in 0 : {steps - 1} do {step} endfor;
        result = VGPR[lane][VDST + r];
        result{place} = sum;
        VGPR[lane][VDST + r] = result
        endfor endif endfor
        """,
        "the text is the formula D = A * B + C; layout by the ISA guide's 7.9, sums of floats as in v_dot2, "
        "two k at a time; a 16-bit result leaves the other half of its register (rocjitsu's fixtures of gfx1100)",
    )


def _integer_step(size: int) -> str:
    """One register of fields; NEG says whether A and B are signed."""
    count = 32 // size
    fields = (f"[i * {size} +: {size}]", f".i{size}", f".u{size}")
    a, b = (
        f"(NEG[{n}].u1 ? signext(VGPR[{lane}][SRC{n} + k]{fields[0]}{fields[1]}) : "
        f"64'I(VGPR[{lane}][SRC{n} + k]{fields[0]}{fields[2]}))"
        for n, lane in ((0, "row"), (1, "lane"))
    )
    return f"for i in 0 : {count - 1} do sum += 32'I({a} * {b}) endfor"


_MATRICES = (
    ("f32_16x16x16_f16", ".f32", 8, _STEP.replace("{f}", "f16")),
    ("f32_16x16x16_bf16", ".f32", 8, _STEP.replace("{f}", "bf16")),
    ("f16_16x16x16_f16", "[15 : 0].f16", 8, _STEP.replace("{f}", "f16")),
    ("bf16_16x16x16_bf16", "[15 : 0].bf16", 8, _STEP.replace("{f}", "bf16")),
    ("i32_16x16x16_iu8", ".i32", 4, _integer_step(8)),
    ("i32_16x16x16_iu4", ".i32", 2, _integer_step(4)),
)


def _interpolation(name: str, value: str) -> Excuse:
    """value: of a lane, from its own operands a, b, c; from those of lane n of its four with a number; h: as f16."""
    rows = {"a": ("lane", 0), "b": ("lane", 1), "c": ("lane", 2), "a1": ("(lane & 28) + 1", 0)}
    rows |= {"a2": ("(lane & 28) + 2", 0), "c0": ("lane & 28", 2)}
    places = {key: f"VGPR[{lane}][SRC{n}]" for key, (lane, n) in rows.items()}
    halves = {
        f"{key}h": f"(OPSEL[{n}].u1 ? {places[key]}[31 : 16].f16 : {places[key]}[15 : 0].f16)"
        for key, (_, n) in rows.items()
    }
    value = value.format(**places, **halves)
    put = "result.f32 = sum"
    if name.startswith("p2") and "f16" in name:
        half = "f32_to_f16(sum)"
        put = f"if OPSEL[3].u1 then result[31 : 16].f16 = {half} else result[15 : 0].f16 = {half} endif"
    if name == "p2_rtz_f16_f32":
        put = f"mode = ROUND_MODE; ROUND_MODE = ROUND_TOWARD_ZERO; {put}; ROUND_MODE = mode"
    return Excuse(
        f"v_interp_{name}",
        ALWAYS,
        f"""
        for lane in 0 : 31 do if EXEC[lane].u1 then
        result = VGPR[lane][VDST];
        sum = {value};
        {put};
        VGPR[lane][VDST] = result
        endif endfor
        """,
        "the same, with halves as op_sel picks them (ISA guide 12.5); of p2_rtz the text says f32, its name f16",
    )


def _of_wave(name: str, sign: str) -> Excuse:
    return Excuse(
        f"ds_{name}",
        ALWAYS,
        f"""
        at = 32'U(M0[15 : 0]) + 32'U(OFFSET);
        old = MEM[at].u32;
        count = 0U;
        for lane in 0 : 31 do if EXEC[lane].u1 then count += 1U; VGPR[lane][VDST] = old endif endfor;
        MEM[at].u32 = old {sign} count
        """,
        "the text is prose; LLVM puts the address into M0 as it is (AMDGPUISelDAGToDAG.cpp, SelectDSAppendConsume)",
    )


EXCUSES: tuple[Excuse, ...] = (
    # --- rounding
    Excuse(
        "v_rndne_* s_rndne_*",
        ALWAYS,
        "D0.{f} = rndne(S0.{f})",
        "the text adds 0.5 and rounds that sum, which is wrong next to 0.5 and above 2**23 and loses the sign of "
        "-0.2; the "
        "prose says to the nearest even integer, and so does LLVM's constant folder",
    ),
    Excuse(
        "v_fract_*",
        "S0.{f} + -floor(S0.{f}) >= {w}'1.0",
        "D0.{f} = predecessor({w}'1.0)",
        "for a small negative number the sum rounds to 1, which is no fraction: the card gives the greatest number "
        "below "
        "(LLVM AMDGPUCodeGenPrepare, matchFractPat; its constant folder says the same)",
    ),
    # --- scalar floats
    Excuse(
        "s_add_f16 s_sub_f16 s_mul_f16 s_min_f16 s_max_f16 s_fmac_f16 s_ceil_f16 s_floor_f16 s_trunc_f16 s_rndne_f16 "
        "s_cvt_f16_f32",
        ALWAYS,
        "{text};\nD0[31 : 16].u16 = 16'0U",
        "the text names 16 bits and says nothing of the other half of the SGPR, which no compiler reads: zeros here",
    ),
    # --- lanes of other corners, and one access of a whole wave
    _interpolation("p10_f32", "fma({a1}.f32, {b}.f32, {c0}.f32)"),
    _interpolation("p2_f32", "fma({a2}.f32, {b}.f32, {c}.f32)"),
    _interpolation("p10_f16_f32", "fma(32'F({a1h}), {b}.f32, 32'F({c0h}))"),
    _interpolation("p10_rtz_f16_f32", "fma(32'F({a1h}), {b}.f32, 32'F({c0h}))"),
    _interpolation("p2_f16_f32", "fma(32'F({a2h}), {b}.f32, {c}.f32)"),
    _interpolation("p2_rtz_f16_f32", "fma(32'F({a2h}), {b}.f32, {c}.f32)"),
    _of_wave("append", "+"),
    _of_wave("consume", "-"),
    Excuse(
        "ds_condxchg32_rtn_b64",
        ALWAYS,
        """
        at = ADDR.u32 & 0xfff8U;
        RETURN_DATA[31 : 0] = MEM[at].b32;
        RETURN_DATA[63 : 32] = MEM[at + 4U].b32;
        if DATA[31].u1 then MEM[at].b32 = { 1'0U, DATA[30 : 0] } endif;
        if DATA[63].u1 then MEM[at + 4U].b32 = { 1'0U, DATA[62 : 32] } endif
        """,
        "the same, in the names that other DS texts have for address, data and memory",
    ),
    # --- exponents
    Excuse(
        "v_frexp_mant_*",
        "isSignalNAN(S0.{f})",
        "D0.{f} = cvtToQuietNAN(S0.{f})",
        "a signalling NaN becomes quiet (recorded on a gfx1100 by the authors of AMD's emulator, rocjitsu)",
    ),
    Excuse(
        "v_frexp_exp_*",
        "isDENORM(S0.{f}) || S0.{f} == {w}'0.0",
        "D0.{n} = S0.{f} == {w}'0.0 ? 0 : exponent(ldexp(64'F(S0.{f}), 64)) - 64 - 1023 + 1",
        "the field of a denormal is not its exponent: 1 is 0.5 * 2**-148 in f32 (recorded on a gfx1100, rocjitsu), "
        "and 0 "
        "has exponent 0 (LLVM's constant folder)",
    ),
    Excuse(
        "v_ldexp_f16",
        "32'I(S1.i16) > 15 || 32'I(S1.i16) < -24",
        "D0.f16 = ldexp(S0.f16, 32'I(S1.i16))",
        "the text turns the power into f16 by itself, which overflows where the product does not; the prose says that "
        "the significand's exponent is changed, and so does LLVM's constant folder",
    ),
    Excuse(
        "v_med3_f16 v_med3_f32",
        "!(isNAN(S0.{f}) || isNAN(S1.{f}) || isNAN(S2.{f})) && (oppositeZeros(S0.{f}, S1.{f}) || "
        "oppositeZeros(S0.{f}, S2.{f}) || "
        "oppositeZeros(S1.{f}, S2.{f}))",
        "D0.{f} = v_max_{f}(v_min_{f}(S0.{f}, S1.{f}), v_min_{f}(v_max_{f}(S0.{f}, S1.{f}), S2.{f}))",
        "the text compares with the maximum, which takes -0 for +0; minimum and maximum sort -0 below +0, and so "
        "does the "
        "median (LLVM pull request 201896)",
    ),
    # --- the transcendental unit
    Excuse(
        "v_rcp_f32 v_rcp_iflag_f32",
        "isDENORM(S0.f32) || isDENORM(1.0F / S0.f32)",
        "D0.f32 = flushed(1.0F / flushed(S0.f32))",
        _FLUSH,
    ),
    Excuse("v_exp_f32", "isDENORM(pow(2.0F, S0.f32))", "D0.f32 = flushed(pow(2.0F, S0.f32))", _FLUSH),
    Excuse("v_log_f32", "isDENORM(S0.f32)", "D0.f32 = log2(flushed(S0.f32))", _FLUSH),
    Excuse("v_sqrt_f32", "isDENORM(S0.f32)", "D0.f32 = flushed(S0.f32)", _FLUSH),
    Excuse(
        "v_rsq_f16",
        ALWAYS,
        "D0.{f} = rsqrt(S0.{f})",
        "the text rounds the root, too; the prose promises 1 ULP, and the exact value rounded once is given here",
    ),
    Excuse("v_rsq_f32", "isDENORM(S0.f32)", "D0.f32 = rsqrt(flushed(S0.f32))", _FLUSH),
    Excuse(
        "v_sin_f16 v_sin_f32",
        ALWAYS,
        "D0.{f} = S0.{f} == {w}'0.0 ? S0.{f} : sin2pi(S0.{f})",
        "2 pi in f16 or f32, and a product rounded to it, are far off for all but small angles: the guide's examples "
        "(the "
        "sine of -MAX_FLOAT is +0, that of 0.25 is 1, that of -0 is -0) hold for the exact product alone. Which zero "
        "stands "
        "at half turns nobody says",
    ),
    Excuse(
        "v_cos_f16 v_cos_f32",
        ALWAYS,
        "D0.{f} = cos2pi(S0.{f})",
        "as for the sine: the guide's examples say that the cosine of -MAX_FLOAT is 1 and that of 0.25 is 0",
    ),
    # --- division and its kind
    *(
        Excuse(
            f"v_div_scale_{f}",
            ALWAYS,
            f"""
            apart = exponent(S2.{f}) - exponent(S1.{f});
            VCC.u64[laneId] = apart >= {widest} || (exponent(S1.{f}) != 0 && apart <= -{widest});
            if S2.{f} == 0.0F || S1.{f} == 0.0F then D0.{f} = NAN.{f}
            elsif isNAN(S0.{f}) then D0.{f} = cvtToQuietNAN(S0.{f})
            elsif apart >= {widest} then D0.{f} = S0.{f} == S1.{f} ? ldexp(S0.{f}, {step}) : S0.{f}
            elsif exponent(S1.{f}) == 0 then D0.{f} = ldexp(S0.{f}, {step})
            elsif exponent(S1.{f}) >= {great} then
            D0.{f} = apart <= -{widest} && S0.{f} != S1.{f} ? S0.{f} : ldexp(S0.{f}, -{step})
            elsif apart <= -{widest} then D0.{f} = S0.{f} == S1.{f} ? S0.{f} : ldexp(S0.{f}, {step})
            elsif exponent(S2.{f}) <= {small} then D0.{f} = ldexp(S0.{f}, {step})
            else D0.{f} = S0.{f} endif
            """,
            "the text asks whether quotients are denormal, scales a denominator up whose quotient is tiny, clears "
            "VCC for "
            "zeros and says nothing of an operand that needs no scaling; the card goes by the encoded exponents alone "
            "(ROCm/rocm-systems pull request 11613, checked on a gfx1100)",
        )
        for f, step, widest, great, small in (("f32", 64, 96, 253, 24), ("f64", 128, 768, 2045, 53))
    ),
    *(
        Excuse(
            f"v_div_fmas_{f}",
            "VCC.u64[laneId]",
            f"D0.{f} = exactFma(S0.{f}, S1.{f}, S2.{f}) * 2.0 ** (exponent(S2.{f}) > {bias} ? {step} : -{step})",
            "2**32 does not undo the 2**64 of v_div_scale, and a second rounding makes denormal quotients wrong; the "
            "card "
            "scales up or down by the addend's exponent and rounds once (ROCm/rocm-systems pull request 11613, "
            "checked on a "
            "gfx1100)",
        )
        for f, bias, step in (("f32", 127, 64), ("f64", 1023, 128))
    ),
    Excuse(
        "v_div_fixup_*",
        "isNAN(S0.{f})",
        "S0.{f} = INF.{f}; {text}",
        "a NaN for a quotient of ordinary numbers is an estimate that overflowed, so the result is an infinity with "
        "the "
        "sign of the quotient (recorded on a gfx1100 for f16, rocjitsu; the guides of later chips say it in the text)",
    ),
    Excuse(
        "v_trig_preop_f64",
        ALWAYS,
        """
        shift = 32'I(S1[4 : 0].u32) * 53;
        if exponent(S0.f64) > 1077 then shift += exponent(S0.f64) - 1077 endif;
        result = 64'F(({ 1201'B(2.0 / PI), 2402'0 } >> (3550 - shift)) & 1201'0x1fffffffffffff);
        scale = -53 - shift;
        if exponent(S0.f64) >= 1968 then scale += 128 endif;
        D0.f64 = ldexp(result, scale)
        """,
        "the text shifts left and keeps the low 53 bits, but explains that the shift moves bits into the whole part "
        "and "
        "that the whole part is kept: 53 bits of 2/pi from bit `shift` after the point, as their weight 2**scale says",
    ),
    *(
        Excuse(
            name,
            f"64'F(S0.f32) == 0.0 || 64'F(S1.f32) == 0.0 || isDENORM(S0.f32) || isDENORM(S1.f32) || "
            f"isDENORM({c}.f32) || isDENORM(fma(S0.f32, S1.f32, {c}.f32))",
            f"if flushed(S0.f32) == 0.0F || flushed(S1.f32) == 0.0F then D0.f32 = flushed({c}.f32) + 0.0F else "
            f"D0.f32 = flushed(fma(flushed(S0.f32), flushed(S1.f32), flushed({c}.f32))) endif",
            "denormals are dropped in any mode (recorded on a gfx1100, rocjitsu); the addend is added to +0, which "
            "makes +0 of -0 (LLVM AMDGPUInstCombineIntrinsic, amdgcn_fma_legacy; rocjitsu's cases of gfx1100)"
            + misprint,
        )
        for name, c, misprint in (
            ("v_fma_dx9_zero_f32", "S2", ""),
            ("v_fmac_dx9_zero_f32", "D0", "; S2 is a misprint for D0: the instruction has two sources"),
        )
    ),
    Excuse(
        "v_mullit_f32",
        "S0.f32 == 0.0F || S1.f32 == 0.0F",
        "if S1.f32 == 0.0F || !(isNAN(S1.f32) || S1.f32 == -INF.f32 || S1.f32 == -MAX_FLOAT_F32) then "
        "if S2.f32 <= 0.0F || isNAN(S2.f32) then D0.f32 = -MAX_FLOAT_F32 else D0.f32 = 0.0F endif "
        "else D0.f32 = -MAX_FLOAT_F32 endif",
        "the prose says 0 * x = 0",
    ),
    *(
        Excuse(
            f"v_dot2_{c}_{f}" if target == "S2" else f"v_dot2acc_{c}_{f}",
            ALWAYS,
            f"D0.{c} = alignedDot2(S0[15 : 0].{f}, S1[15 : 0].{f}, S0[31 : 16].{f}, S1[31 : 16].{f}, {target}.{c})",
            "the text rounds after each sum; the card cuts the terms to a common grid, rounds once (characterised on "
            "gfx1100: ROCm/rocm-systems issue 12056, rocjitsu's gfx11_dot2.h)",
        )
        for c, f, target in (
            ("f32", "f16", "S2"),
            ("f32", "bf16", "S2"),
            ("f16", "f16", "S2"),
            ("bf16", "bf16", "S2"),
            ("f32", "f16", "D0"),
        )
    ),
    *(_wmma(*row) for row in _MATRICES),
    # --- MODE
    Excuse(
        "s_setreg_imm32_b32",
        "SIMM16.u16[10 : 6] != 0U",
        """
        mask = ((1U << (SIMM16.u16[15 : 11].u32 + 1U)) - 1U) << SIMM16.u16[10 : 6].u32;
        HW_REGISTERS[SIMM16.u16[5 : 0]] = (SIMM32.u32 << SIMM16.u16[10 : 6].u32) & mask | HW_REGISTERS[1].u32 & ~mask
        """,
        "the text moves the value to the field but not the mask, so that a field that does not begin at bit 0 would "
        "never "
        "be written; compilers write such fields (LLVM SIModeRegister)",
    ),
    # --- lanes
    Excuse(
        "ds_permute_b32",
        ALWAYS,
        """
        declare tmp : 32'B[64];
        for i in 0 : 31 do
        if EXEC[i].u1 then tmp[(VGPR[i][ADDR].u32 + OFFSET.u32)[6 : 2]] = VGPR[i][DATA0] endif
        endfor;
        for i in 0 : 31 do if EXEC[i].u1 then VGPR[i][VDST] = tmp[i] endif endfor
        """,
        "the text divides a signed address and takes a remainder, which is negative above 2**31, though its comment "
        "says "
        "that high-order bits are ignored",
    ),
    Excuse(
        "ds_bpermute_b32",
        ALWAYS,
        """
        declare tmp : 32'B[64];
        for i in 0 : 31 do
        src_lane = (VGPR[i][ADDR].u32 + OFFSET.u32)[6 : 2];
        if EXEC[src_lane].u1 then tmp[i] = VGPR[src_lane][DATA0] endif
        endfor;
        for i in 0 : 31 do if EXEC[i].u1 then VGPR[i][VDST] = tmp[i] endif endfor
        """,
        "as for ds_permute_b32",
    ),
    Excuse(
        "v_permlane16_b32 v_permlanex16_b32",
        "EXEC_LO != 0xffffffffU",
        """
        lanesel = { S2.u32, S1.u32 };
        for i in 0 : 31 do
        source = (i & 16 ^ OTHER_ROW) + lanesel[(i & 15) * 4 +: 4].u32;
        if EXEC[i].u1 then
        if OPSEL[0].u1 || EXEC[source].u1 then VGPR[i][VDST.u32] = VGPR[source][SRC0.u32]
        elsif OPSEL[1].u1 then VGPR[i][VDST.u32] = 0 endif
        endif
        endfor
        """,
        "the text leaves out FETCH_INACTIVE and BOUND_CTRL (op_sel): a source lane that is off gives its value with "
        "the "
        "first, 0 with the second, and else leaves the destination (ISA guide 16.12, prose of V_PERMLANE16_B32)",
    ),
)
