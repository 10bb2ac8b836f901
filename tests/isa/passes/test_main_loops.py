"""The main loops of kernels 6 to 8, counted in the code object of each compiler's kernel 5."""

from collections import Counter
from typing import Any

from isa.analysis import banks, cfg, inner, waits
from isa.registers import Reg
from isa.semantics.instruction import Instruction, base_name


def loop_of(rung: Any) -> list[Instruction]:
    found = inner.main_loop(rung.machine_code)
    assert found is not None
    return inner.body(rung.machine_code, found)


def fmas(loop: list[Instruction]) -> tuple[int, int]:
    """Dual and single ones."""
    kinds = Counter(map(inner.fmas, loop))
    return kinds[2], kinds[1]


def accesses(loop: list[Instruction]) -> Counter[str]:
    """Of memory, by name."""
    return Counter(base_name(x.mnemonic) for x in loop if x.desc.access is not None)


def test_kernel6(ladder: dict[str, Any]) -> None:
    """64 dual FMAs, 12 LDS loads, two addresses that move on, the loop's counter, one wait."""
    loop = loop_of(ladder["kernel6"])
    assert fmas(loop) == (64, 0)
    assert accesses(loop) == {"ds_load_b64": 12}
    assert sum(x.desc.is_wait for x in loop) == 1
    assert len(loop) == 64 + 12 + 2 + 3 + 1


def test_kernel7(ladder: dict[str, Any]) -> None:
    """Eight steps without control or address arithmetic: what is left in the loop beside them is the outer loop's."""
    loop = loop_of(ladder["kernel7"])
    assert fmas(loop) == (512, 0)
    assert accesses(loop)["ds_load_b64"] == 96
    first, last = (i for i in (0, -1) for i in [[k for k, x in enumerate(loop) if inner.fmas(x)][i]])
    between = {x.mnemonic for x in loop[first:last]}
    assert between == {"v_dual_fmac_f32", "ds_load_b64", "s_waitcnt"}


def test_kernel8(ladder: dict[str, Any]) -> None:
    """16 loads from SGPR bases, two in each step, and no 64-bit vector arithmetic."""
    loop = loop_of(ladder["kernel8"])
    assert fmas(loop) == (512, 0)
    assert accesses(loop)["global_load_b32"] == 16
    loads = [x for x in loop if x.mnemonic == "global_load_b32"]
    assert all(isinstance(x.operands[2], Reg) and x.operands[2].file == "s" for x in loads)
    assert len({x.operands[1] for x in loads}) == 2
    assert len({x.operands[2] for x in loads}) == 16
    rest = [x for x in loop if x.desc.is_valu and not inner.fmas(x)]
    assert [x.mnemonic for x in rest] == ["v_add_nc_u32_e32"] * 2
    steps = "".join("L" if x in loads else "F" if inner.fmas(x) else "" for x in loop)
    assert steps == ("LL" + 64 * "F") * 8


def test_every_pair_reads_four_banks(ladder: dict[str, Any]) -> None:
    for name in ("kernel6", "kernel7", "kernel8"):
        for inst in loop_of(ladder[name]):
            if inst.pair:
                read = [s.reg for s in banks.sources(inst) if s.slot < 2]
                assert sorted(r.bank for r in read) == [0, 1, 2, 3], inst
                assert not banks.same_parity(inst), inst
                assert not banks.clashes(inst), inst
                x, y = banks.destinations(inst)
                assert x.parity != y.parity


def test_destinations_take_turns_over_the_banks(ladder: dict[str, Any]) -> None:
    written = [d.bank for x in loop_of(ladder["kernel6"]) if x.pair for d in banks.destinations(x)]
    assert written == [1, 2, 3, 0] * 32


def test_cache_use_is_symmetric_and_better_than_the_compilers(ladder: dict[str, Any]) -> None:
    """Per two pairs one half's source of each bank: 2 reads a pair in the mean, as in the study's last table."""
    (before, _), (after, _) = (banks.bank_reads(loop_of(ladder[name])) for name in ("kernel5", "kernel6"))
    assert after < before
    assert after <= 2 * 64 + 2


def test_registers_leave_room_for_six_waves(ladder: dict[str, Any]) -> None:
    for name in ("kernel6", "kernel7", "kernel8"):
        kernel = ladder[name].linked.kernel("kernel5")
        assert kernel.vgprs <= 216
        assert kernel.sgprs <= 106
        assert kernel.descriptor.scratch_bytes == 0


def test_nothing_is_read_before_its_wait(ladder: dict[str, Any]) -> None:
    for name, rung in ladder.items():
        assert list(waits.analyse(rung.machine_code).hazards()) == [], name


def test_outside_of_the_loops_kernel8_has_no_dead_address_arithmetic(ladder: dict[str, Any]) -> None:
    """The prologue loads the first tile from the same bases."""
    code = cfg.of_kernel(ladder["kernel8"].program.kernel())
    found = inner.main_loop(code)
    assert found is not None
    before = code.instructions[: code.blocks[found.header].start]
    loads = [x for x in before if x.mnemonic == "global_load_b32"]
    assert len(loads) == 16
    assert all(isinstance(x.operands[2], Reg) for x in loads)
    assert not [x for x in before if "_co_" in x.mnemonic or ("b64" in x.mnemonic and x.mnemonic.startswith("v_"))]
