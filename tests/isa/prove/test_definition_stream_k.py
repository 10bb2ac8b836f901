"""The proof by definition on kernels whose workgroups stay: pieces of tiles, counters, who comes last."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from isa.asm.emit import emit
from isa.asm.parse import parse
from isa.gemm.vector.generate import generate
from isa.gemm.vector.parameters import Parameters
from isa.gemm.vector.work import COUNTERS, Work
from isa.prove.definition import Given, SymbolicLaunch, Tiling, far, prove, stream_k
from isa.prove.definition.launch import Split
from isa.targets import target

from .edits import assert_named, faults

P = Parameters(stream_k=True)
TEXT = emit(generate(P, "gemm"))


def launches(p: Parameters, which: Callable[..., tuple[SymbolicLaunch, ...]] = stream_k) -> tuple[SymbolicLaunch, ...]:
    def host(m: int, n: int, k: int, groups: int, streamed: int) -> Given:
        work = Work.of(p, m, n, k, groups, streamed)
        return Given(work.grid, work.numbers, work.workspace_bytes)

    return which(Tiling(p.rows, p.columns, p.depth, p.threads, p.trans_a, p.trans_b), COUNTERS, host)


@pytest.mark.parametrize(
    "p",
    [
        P,
        pytest.param(Parameters(stream_k=True, group=1, stages=1, trans_a=True), marks=pytest.mark.slow),
        pytest.param(Parameters(stream_k=True, rows=64, trans_b=True), marks=pytest.mark.slow),
    ],
    ids=lambda p: f"{p.rows} rows, {p.stages} buffers",
)
def test_it_is_proved(p: Parameters) -> None:
    proof = prove(generate(p, "gemm"), "gemm", launches(p))
    assert proof.proved, str(proof)
    assert "pieces in ascending k" in proof.statement
    assert any("invalidated its caches" in a for a in proof.assumptions)


FAULTS = faults("definition/stream_k")


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named(name: str) -> None:
    assert_named(name, FAULTS, TEXT, launches(P)[3:4])


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("cache", ["gl0", "gl1"])
def test_caches_are_invalidated_before_others_sums_are_loaded(cache: str, number: int) -> None:
    """One deletes it, or puts it before the atomic that tells who came last."""
    line = f"\tbuffer_{cache}_inv\n"
    parts = TEXT.split(line)
    assert len(parts) == 3
    without = line.join(parts[: number + 1]) + line.join(["", *parts[number + 1 :]])[len(line) :]
    early = without.replace("\tglobal_atomic_add_u32", f"{line}\tglobal_atomic_add_u32")
    for text in (without, early):
        proof = prove(parse(text, "edited.s"), "gemm", launches(P))
        assert proof.difference is not None, str(proof)
        assert (proof.difference.kind, proof.verdict) == ("race", "different")
        assert f"no buffer_{cache}_inv after the atomic" in str(proof)


@pytest.mark.parametrize(
    ("arch", "how", "lacking"),
    [
        ("gfx1100", "glc dlc", []), ("gfx1100", "glc", ["buffer_gl1_inv"]), ("gfx1100", "dlc", ["buffer_gl0_inv"]),
        ("gfx1201", "scope:SCOPE_DEV", []), ("gfx1201", "scope:SCOPE_SE", ["global_inv scope:SCOPE_DEV"]),
        ("gfx1201", "th:TH_LOAD_NT", ["global_inv scope:SCOPE_DEV"]),
    ],
)  # fmt: skip
def test_loads_past_the_caches_need_no_invalidation(arch: str, how: str, lacking: list[str]) -> None:
    text = emit(generate(P, "gemm", arch=arch))
    for line in target(arch).family.acquire:
        text = text.replace(f"\t{line}\n", "")
    text, count = re.subn(r"(\tglobal_load_\w+ .*, s\[62:63\].*)", rf"\1 {how}", text)
    assert count
    proof = prove(parse(text, "edited.s"), "gemm", launches(P)[3:4])
    assert re.findall("no (.*) after the atomic", str(proof))[:1] == lacking, str(proof)


@pytest.mark.parametrize("instead", ["", "\ts_waitcnt_vscnt null, 0x1\n", "after"])
def test_sums_are_complete_before_an_atomic_tells_of_them(instead: str) -> None:
    """A wait for stores is deleted, or weakened by one, or put behind the atomic."""
    wait = "\ts_waitcnt_vscnt null, 0x0\n"
    assert TEXT.count(wait) == 1
    before, after = TEXT.split(wait)
    end = after.index("\n", after.index("\tglobal_atomic_add_u32")) + 1
    text = before + (after[:end] + wait + after[end:] if instead == "after" else instead + after)
    proof = prove(parse(text, "edited.s"), "gemm", launches(P))
    assert proof.difference is not None, str(proof)
    assert (proof.difference.kind, proof.verdict) == ("race", "different")
    assert "no s_waitcnt_vscnt null, 0x0 between the store and that workgroup's atomic" in str(proof)


@pytest.mark.parametrize("scope", ["", " scope:SCOPE_SE", " scope:SCOPE_SYS"])
def test_an_atomic_tells_those_whom_its_scope_reaches(scope: str) -> None:
    """RDNA4: one that names no scope, or a shader engine's, is an atomic for its own workgroup."""
    lines = emit(generate(P, "gemm", arch="gfx1201")).splitlines(keepends=True)
    number = next(i for i, line in enumerate(lines) if "global_atomic_add_u32" in line)
    assert " scope:SCOPE_DEV" in lines[number]
    lines[number] = lines[number].replace(" scope:SCOPE_DEV", scope)
    proof = prove(parse("".join(lines), "edited.s"), "gemm", launches(P)[3:4])
    assert ("by an atomic without scope:SCOPE_DEV" in str(proof)) == (scope != " scope:SCOPE_SYS"), str(proof)


def test_pieces_of_a_tile() -> None:
    """K = 25 is four K blocks, the first one step long; ranges of 5 blocks over three tiles of a row of two."""
    split = Split(rows=128, columns=128, depth=8, streamed=3, chunk=5)
    assert split.pieces(0, 0, 256, 256, 25) == [(0, 25)]
    assert split.pieces(0, 1, 256, 256, 25) == [(0, 1), (1, 25)]
    assert split.pieces(1, 0, 256, 256, 25) == [(0, 9), (9, 25)]
    assert split.pieces(1, 1, 256, 256, 25) == [(0, 25)]


def test_pieces_are_those_of_the_host() -> None:
    for m, n, k, groups, streamed in [
        (300, 500, 100, 7, 5), (128, 128, 9, 2, 1), (1, 1, 0, 2, 1), (256, 256, 64, 3, 4),
    ]:  # fmt: skip
        work = Work.of(P, m, n, k, groups, streamed)
        split = Split(P.rows, P.columns, P.depth, streamed, work.chunk)
        for tile in range(work.tiles):
            blocks = [count for _, count in work.parts(tile)]
            pieces = split.pieces(*divmod(tile, work.across), m, n, k)
            assert [-(-(end - first) // P.depth) or 1 for first, end in pieces] == blocks


*FAR, HALVES = launches(P, far)


def test_the_last_slot_below_8_gib_is_a_tile_s_first_and_another_s_last() -> None:
    for launch, piece in zip(FAR, (0, -1), strict=True):
        assert launch.part is not None
        tile = launch.rows.stop // P.rows - 1
        assert launch.part.name == f"tile {tile}"
        assert launch.followed[piece] + tile == (8 << 30) // (4 * P.rows * P.columns) - 1
        # All of its pieces, and no other workgroup's.
        work = Work.of(P, launch.m, launch.n, launch.k, launch.grid[0], tile + 1)
        assert len(launch.followed) == len(work.parts(tile)) == launch.groups
        for group in launch.followed:
            assert tile in {tile for tile, _, _ in work.pieces(group)} <= {tile - 1, tile}


@pytest.mark.parametrize("launch", [FAR[0], pytest.param(FAR[1], marks=pytest.mark.slow)], ids=str)
def test_a_tile_of_a_large_launch_is_proved(launch: SymbolicLaunch) -> None:
    proof = prove(parse(TEXT, "gemm.s"), "gemm", [launch], whole=False)
    assert proof.proved, str(proof)
    assert proof.counts["elements"] == P.rows * P.columns


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s_cmp_eq_u32 s64, s76", "s_cmp_eq_u32 s65, s76"),  # is it the last range of the tile?
        ("s_cmp_eq_u32 s78, s77", "s_cmp_eq_u32 s79, s77"),  # are all others there?
    ],
)
def test_numbers_that_meet_by_chance_in_halves(old: str, new: str) -> None:
    assert prove(parse(TEXT, "gemm.s"), "gemm", [HALVES], whole=False).proved
    assert old in TEXT
    proof = prove(parse(TEXT.replace(old, new, 1), "gemm.s"), "gemm", [HALVES], whole=False, explain=False)
    assert proof.verdict == "different"


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_each_slot_is_found_there(number: int) -> None:
    """A high half that is wrong only where the low one is about to carry: at the usual sizes nobody sees it."""
    match = list(re.finditer(r"(s_mul_hi_u32 .*), 0x10000\n", TEXT))[number]
    program = parse(f"{TEXT[: match.start()]}{match[1]}, 0x10001\n{TEXT[match.end() :]}", "gemm.s")
    far_ones = FAR[1:] if number == 5 else FAR[:1]
    proof = prove(program, "gemm", far_ones, whole=False, explain=False)
    assert proof.difference is not None
    assert proof.difference.kind == "outside"
    assert "of workspace, which has " in str(proof)


def test_what_belongs_to_other_workgroups_is_out_of_reach() -> None:
    match = next(re.finditer(r"(s_add_u32 (s\d+), s\d+, s\d+\n)(\ts_mul_hi_u32 .*, 0x10000\n)", TEXT))
    text = TEXT[: match.end(1)] + f"\ts_sub_u32 {match[2]}, {match[2]}, 9\n" + TEXT[match.start(3) :]
    proof = prove(parse(text, "gemm.s"), "gemm", FAR[:1], whole=False, explain=False)
    assert "which belong to other workgroups" in str(proof)
