"""`rates`: what one unit or one level of memory does at the most, against what is known of it.

Sources, by short name as in `isa.timing.machine.rdna3`; beside them: clpeak, issue 127 (gfx1103: 544 of 2657 GIOPS for
32-bit products); memtest_vulkan's figures of a 7900 XTX; AMD's peak figures. ISA 16.5 says of s_delay_alu that a
dependent instruction without it is issued, stalls in the ALU and keeps other waves from these cycles: so a chain takes
the VALU's latency, 5, however many waves there are, and one a cycle with it.

"Floor" is the least time that the bytes take at the rates which memtest_vulkan shows: what a kernel is held to that
moves each of them once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from hipgemm.lab import micro
from hipgemm.lab.bench import Bench
from hipgemm.lab.frame import Bars, Column, Experiment, Row
from hipgemm.lab.rate_kernels import Case, independent, lds, repeated, streamed, transposed

if TYPE_CHECKING:
    from isa.timing.machine.cards import Card

_ONE = 0x3F800000  # 1.0
_HALVES, _BRAINS = 0x3C003C00, 0x3F803F80  # two ones
_FACTORS = {"v2": _ONE, "v3": _ONE, "v4": _ONE}
_NUMBERS = {"v2": 3, "v3": 5, "v4": 0, "v5": 0}
_READ, _WRITTEN = 0.868, 0.907
"""Of the VRAM's peak: 756 to 796 and 797 to 825 GiB/s of 960 GB/s (memtest_vulkan, 7900 XTX)."""


@dataclass(frozen=True)
class Rate:
    """what: its name. case: the kernel on a card of so many CUs. unit: "cycles" an instruction, of a SIMD or of LDS, or
    bytes a time. known: what a card does; limit: what none can do better; source: of both."""

    what: str
    case: Callable[[int], Case]
    unit: str
    known: Callable[[Card], float]
    limit: Callable[[Card], float]
    source: str


def _cycles(what: str, case: Case, known: float, source: str, limit: float | None = None) -> Rate:
    best = known if limit is None else limit
    return Rate(what, lambda _: case, "cycles", lambda _: known, lambda _: best, source)


def _matrix(kind: str, words: int, ones: int, answer: float, cycles: int, *, one_bank: bool = False) -> Rate:
    """Factors of so many registers that hold ones; on one bank with the accumulator, or not."""
    first, second = 80, 88 if one_bank else 89
    factors = [f"v[{at}:{at + words - 1}]" for at in (first, second)]
    inputs = {f"v{at + k}": ones for at in (first, second) for k in range(words)}
    total = "{0}" if one_bank else "0"
    case = independent(
        f"wmma_{kind.rsplit('_')[-1]}{'_bank' * one_bank}", f"v_wmma_{kind} {{0}}, {', '.join(factors)}, {total}",
        0.0 if one_bank else answer, inputs=inputs, width=8, each_iteration=8 * answer if one_bank else 0,
    )  # fmt: skip
    source = "LLVM issue 204254" if one_bank else "ACO; AMD: peak"
    return _cycles(f"WMMA {kind.rsplit('_')[-1]}" + ", operands on one bank" * one_bank, case, cycles, source)


def _vector() -> Iterator[Rate]:
    """Of the vector ALU: SIMD cycles an instruction."""
    sqtt, aco = "SQTT", "ACO"
    yield _cycles("f32 add", independent("add", "v_add_f32_e32 {0}, v2, v3", 2.0, inputs=_FACTORS), 1, sqtt)
    yield _cycles("f32 FMA", independent("fma", "v_fma_f32 {0}, v2, v3, v4", 2.0, inputs=_FACTORS), 1, sqtt)
    dual = [f"v_dual_fmac_f32 v{16 + 2 * (i % 8)}, v2, v3 :: v_dual_fmac_f32 v{17 + 2 * ((i + 4) % 8)}, v5, v4"
            for i in range(64)]  # fmt: skip
    setup = [f"v_mov_b32_e32 v{k}, 1.0" for k in (2, 3, 4, 5)] + [f"v_mov_b32_e32 v{k}, 0" for k in range(16, 32)]
    made = repeated("vopd", dual, 64, 0.0, each_iteration=8.0, setup=setup, finish=["v_mov_b32_e32 v1, v16"])
    yield _cycles("dual FMA", made, 1, "study; SQTT")
    count = "v_add_nc_u32_e32 v1, 1, v1"
    start = ["v_mov_b32_e32 v1, 0"]
    waits = [line for _ in range(32) for line in ("s_delay_alu instid0(VALU_DEP_1)", count)]
    yield _cycles(
        "chain with s_delay_alu", repeated("chain_delay", waits, 32, 0, each_iteration=32, setup=start, waves=10), 1,
        "ISA 16.5: others go on",
    )  # fmt: skip
    yield _cycles(
        "chain without", repeated("chain", [count] * 32, 32, 0, each_iteration=32, setup=start), 5,
        "ISA 16.5: it stalls the ALU", 1,
    )  # fmt: skip
    made = independent("dpp", "v_add_f32_dpp {0}, v2, v3 row_ror:1 row_mask:0xf bank_mask:0xf", 2.0, inputs=_FACTORS)
    yield _cycles("DPP", made, 1, aco)
    ones = {f"v{k}": _HALVES for k in (2, 3, 4)}
    yield _cycles("packed f16 FMA", independent("pk", "v_pk_fma_f16 {0}, v2, v3, v4", 0x40004000, inputs=ones), 1, aco)
    ones = {"v2": _HALVES, "v3": _HALVES, "v4": 0}
    yield _cycles("f16 dot product", independent("dot2", "v_dot2_f32_f16 {0}, v2, v3, v4", 2.0, inputs=ones), 1, aco)
    yield _cycles("24-bit product", independent("u24", "v_mul_u32_u24_e32 {0}, v2, v3", 15, inputs=_NUMBERS), 1, aco)
    quarter = "clpeak; SQTT; ACO"
    yield _cycles("32-bit product", independent("mul_lo", "v_mul_lo_u32 {0}, v2, v3", 15, inputs=_NUMBERS), 4, quarter)
    wide = {"v2": 1 << 31, "v3": 6}
    yield _cycles("its high half", independent("mul_hi", "v_mul_hi_u32 {0}, v2, v3", 3, inputs=wide), 4, quarter)
    made = independent("mad64", "v_mad_u64_u32 {0}, null, v2, v3, v[4:5]", 15, inputs=_NUMBERS, width=2)
    yield _cycles("64-bit multiply-add", made, 4, quarter)
    made = independent("shift64", "v_lshlrev_b64 {0}, 1, v[2:3]", 6, inputs=_NUMBERS, width=2)
    yield _cycles("64-bit shift", made, 2, "SQTT")
    trans = "ISA; SQTT"
    yield _cycles("exp", independent("exp", "v_exp_f32_e32 {0}, v2", 1.0, inputs={"v2": 0}), 4, trans)
    yield _cycles("rcp", independent("rcp", "v_rcp_f32_e32 {0}, v2", 1.0, inputs=_FACTORS), 4, trans)
    beside = [line for i in range(8) for line in (
        f"v_exp_f32_e32 v{16 + i}, v2", *(f"v_add_f32_e32 v{24 + 3 * i + k}, v3, v4" for k in range(3)))]  # fmt: skip
    setup = ["v_mov_b32_e32 v2, 0", "v_mov_b32_e32 v3, 1.0", "v_mov_b32_e32 v4, 1.0"]
    made = repeated("exp_beside", beside, 8, 1.0, setup=setup, finish=["v_mov_b32_e32 v1, v23"])
    yield _cycles("exp with three adds", made, 4, "ACO: a unit beside")
    zeros = {f"v{k}": 0 for k in range(2, 8)}
    made = independent("f64", "v_fma_f64 {0}, v[2:3], v[4:5], v[6:7]", 0, inputs=zeros, width=2)
    yield _cycles("f64 FMA", made, 16, "ISA; AMD: peak")
    yield _matrix("f32_16x16x16_f16", 8, _HALVES, 16.0, 32)
    yield _matrix("f32_16x16x16_bf16", 8, _BRAINS, 16.0, 32)
    yield _matrix("i32_16x16x16_iu8", 4, 0x01010101, 16, 32)
    yield _matrix("i32_16x16x16_iu4", 2, 0x11111111, 16, 16)
    yield _matrix("f32_16x16x16_f16", 8, _HALVES, 16.0, 34, one_bank=True)


def _local() -> Iterator[Rate]:
    """Of LDS: its cycles a load, of a CU or of a WGP."""
    for dwords in (1, 2, 4):
        source = "ISA 12.1"
        yield _cycles(f"LDS b{32 * dwords}, CU mode", lds(dwords, True), dwords, source)
    for dwords in (1, 2, 4):
        source = "C&C"
        yield _cycles(f"LDS b{32 * dwords}, WGP mode", lds(dwords, False), dwords, source, dwords / 2)


def _memory() -> Iterator[Rate]:
    """Of caches and VRAM: bytes a cycle of a unit, or GB/s of the chip."""

    def rate(
        what: str, case: Callable[[int], Case], known: Callable[[Card], float], limit: Callable[[Card], float],
        source: str, unit: str = "GB/s",
    ) -> Rate:  # fmt: skip
        return Rate(what, case, unit, known, limit, source)

    def vram(share: float) -> Callable[[Card], float]:
        return lambda card: share * card.vram_bandwidth / 1e9

    peak = vram(1)
    yield rate("L0", lambda n: streamed("l0", 1, False, (n, 1, 1), (32, 128), again=8), lambda _: 128, lambda _: 128,
               "C&C", "B/cycle")  # fmt: skip
    yield rate("L1", lambda n: streamed("l1", 1, False, (n, 4, 2), (16, 64), shared=True),
               lambda card: 256 * card.shader_arrays / card.cus, lambda _: 64,
               "RDNA", "B/cycle")  # fmt: skip
    yield rate("L2", lambda n: streamed("l2", 1, False, (n, 3, 1), (16, 64)), lambda card: card.l2_bandwidth / 1e9,
               lambda card: 64e-3 * card.cus * card.clock_mhz, "C&C")  # fmt: skip
    yield rate("L3", lambda n: streamed("l3", 1, False, (n, 4, 8), (8, 16)), lambda card: card.l3_bandwidth / 1e9,
               lambda card: 3.5e3 / 96 * card.l3_bytes / 2**20, "C&C; limit: AMD")  # fmt: skip
    both = (_READ + _WRITTEN) / 2
    memtest, floor = "memtest_vulkan", "floor: each byte once"
    yield rate("VRAM read", lambda n: streamed("read", 1, False, (n, 4, 40), (1, 3)), vram(_READ), peak, memtest)
    yield rate("VRAM write", lambda n: streamed("write", 0, True, (n, 4, 40), (1, 3)), vram(_WRITTEN), peak, memtest)
    yield rate("copy", lambda n: streamed("copy", 1, True, (n, 4, 40), (1, 3)), vram(both), peak, floor)
    yield rate("a + b", lambda n: streamed("add", 2, True, (n, 2, 80), (1, 3)),
               vram((2 * _READ + _WRITTEN) / 3), peak, floor)  # fmt: skip
    yield rate("transpose", lambda _: transposed(8192), vram(both), peak, floor)
    yield rate("reduction", lambda n: streamed("sum", 1, False, (n, 4, 40), (1, 3), reduced=True),
               vram(_READ), peak, floor)  # fmt: skip


@cache
def rates() -> tuple[Rate, ...]:
    """All of them, in the order of the table."""
    return (*_vector(), *_local(), *_memory())


def value(rate: Rate, case: Case, cycles: float, clock_mhz: float, cus: int) -> float:
    """What an iteration of so many cycles means in the rate's unit."""
    if rate.unit == "cycles":
        return cycles / case.amount
    each = case.amount / cycles
    return each / cus if rate.unit == "B/cycle" else each * clock_mhz / 1e3


def predicted(rate: Rate, on: Card, numbers: Mapping[str, float] | None = None) -> float:
    """By the cycle model's estimate, in the rate's unit; nothing is run."""
    case = rate.case(on.cus)
    return value(rate, case, micro.predicted_cycles(case.micro, case.step, on, numbers), on.clock_mhz, on.cus)


def beyond(rate: Rate, found: float, on: Card) -> bool:
    """Whether no card can do that: it is past the limit by more than the last rounding."""
    return found < 0.999 * rate.limit(on) if rate.unit == "cycles" else found > 1.001 * rate.limit(on)


@dataclass(frozen=True)
class Rates(Experiment):
    """only: names of those that are run, all if empty."""

    only: Sequence[str] = ()
    name = "rates"
    title = "Rates: the most that a unit or a cache can do"
    paragraph = (
        "One kind of instruction, with so many waves that none waits for a latency: cycles of a SIMD for the vector "
        "ALU, of a CU's LDS (WGP mode: of both) for LDS. For memory a workgroup of 1024 on each CU, which goes over "
        "a region that fits into one cache but not into the ones before it, or over 240 MB. Beside each rate are "
        "what is known of it, and whether it is more than any card can do."
    )

    columns = (
        Column("what", "rate"),
        Column("value", "found", "a unit", 2, "cycles an instruction, or bytes a time"),
        Column("known", "known", "a unit", 2, "on a card, from the source"),
        Column("unit", "unit", what="cycles an instruction, bytes a cycle of a CU, bytes a time of the card"),
        Column("off", "apart", "%", 1, "difference of found and known"),
        Column("beyond", "too", "good", 0, "more than a card can do"),
        Column("source", "source"),
    )

    bars = Bars("Found over known", "ratio", "found / known", "{what}", "{off:+.1f} %", left=190)

    def run(self, bench: Bench, n: int) -> Iterator[Row]:
        from isa.timing.machine import cards

        on = cards.card(bench.device.card)
        for rate in rates():
            if self.only and rate.what not in self.only:
                continue
            case = rate.case(on.cus)
            found = micro.run(bench, case.micro, case.step, case.expected, case.written)
            known = rate.known(on)
            got = None
            if found.cycles is not None and known:
                got = value(rate, case, found.cycles, bench.device.clock_mhz, on.cus)
            yield {
                "what": rate.what,
                "value": got,
                "known": known,
                "unit": rate.unit,
                "ratio": None if got is None else got / known,
                "off": None if got is None else 100 * (got / known - 1),
                "beyond": "not known" if got is None else "yes" if beyond(rate, got, on) else "no",
                "source": rate.source,
                "time_kind": found.time_kind,
                "correct": found.correct,
            }


EXPERIMENT = Rates()
