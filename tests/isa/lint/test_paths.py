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
    may_be = paths.in_flight(flight)
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
