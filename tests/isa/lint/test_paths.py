"""Paths that a wave can take: random code is run, and what is in flight on the way must be among what may be."""

from hypothesis import given, settings
from hypothesis import strategies as st

from isa.analysis import cfg, waits
from isa.asm.parse import parse
from isa.lint import known, paths
from isa.lint.lds.values import constant

REGISTERS = range(4, 7)
STEPS = 60
_reg = st.sampled_from([f"s{n}" for n in REGISTERS])
_small = st.one_of(_reg, st.integers(0, 3).map(str))
_code = st.one_of(
    st.builds(
        "s_{} {}, {}, {}".format, st.sampled_from(["add_u32", "sub_u32", "and_b32", "lshr_b32"]), _reg, _reg, _small
    ),
    st.builds("s_mov_b32 {}, {}".format, _reg, _small),
    st.just("global_load_b32 v2, v1, s[0:1]"),
    st.just("s_waitcnt vmcnt(0)"),
)
_jump = st.builds(
    "s_cmp_{}_u32 {}, {}\ns_cbranch_scc{} L{}".format, st.sampled_from(["eq", "lg", "lt"]), _reg, st.integers(0, 1),
    st.integers(0, 1), st.integers(0, 5),
)  # fmt: skip
_block = st.tuples(st.lists(_code, min_size=0, max_size=2), _jump)


@settings(max_examples=150, deadline=None)
@given(st.lists(_block, min_size=6, max_size=6), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_what_runs_is_on_a_path(blocks: list[tuple[list[str], str]], first: list[int]) -> None:
    lines = [f"L{n}:\n{chr(10).join(code)}\n{jump}" for n, (code, jump) in enumerate(blocks)]
    flow = cfg.of_text(parse("\n".join([*lines, "s_endpgm"]), "case.s"))
    flight = waits.analyse(flow)
    may_be = paths.in_flight(flight, lambda: paths.Paths(flow))
    start = {("s", r): constant("u32", n) for r, n in zip(REGISTERS, first, strict=True)}
    scalars = known._Scalars(known.NOWHERE, {**start, ("scc", 0): constant("b1", 0)})
    state: dict[waits.Event, int] = {}
    block = flow.blocks[0]
    for _ in range(STEPS):
        for i in block.range:
            for position, counter in state:
                assert i in may_be(position, counter)
            state = flight.machine.step(i, state)
            scalars.run(flow.instructions[i])
        if not block.successors:
            break
        taken = scalars.taken is not None and bool(scalars.taken.a.all()) and len(block.successors) == 2
        assert scalars.taken is None or scalars.taken.known is True
        block = flow.blocks[block.successors[taken]]


def test_masks_of_many_comparisons_leave_the_paths_open() -> None:
    """The diagram of (a & b) | (c & d) | ... doubles with each pair: it is given up, and not what branches say."""
    pairs = range(30, 46)
    older = "\n".join(f"s_or_b32 s20, s20, s{k}" for k in pairs)
    masks = "\n".join(f"v_cmp_ne_u32_e64 s20, v{k}, v1\ns_and_b32 s{k}, s20, s{k}" for k in pairs)
    joined = f"s_mov_b32 s20, 0\n{older}\ns_or_saveexec_b32 s21, s20"
    many = "\n".join(f"M{n}:\n{masks}\n{joined}\ns_cbranch_execnz M{n}" for n in range(16))
    text = f"""s_cmp_eq_u32 s4, 0
s_cbranch_scc1 L0
global_load_b32 v2, v1, s[0:1]
L0:
{older}
s_or_saveexec_b32 s21, s20
s_cbranch_execnz L1
L1:
{many}
s_cmp_eq_u32 s4, 0
s_cbranch_scc0 L2
v_mov_b32 v3, v2
L2:
s_endpgm"""
    flow = cfg.of_text(parse(text, "case.s"))
    load = next(i for i, inst in enumerate(flow.instructions) if inst.mnemonic == "global_load_b32")
    may_be = paths.in_flight(waits.analyse(flow), lambda: paths.Paths(flow))(load, "vmcnt")
    end = len(flow) - 1
    assert end - 2 in may_be
    assert end - 1 not in may_be
