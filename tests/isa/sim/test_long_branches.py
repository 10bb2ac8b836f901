"""Branches to what is too far away for s_branch, as Tensile and LLVM write them: control flow by `isa.analysis.jumps`
against what the simulated card runs, over blocks in random order."""

import random
import re

import numpy as np
import programs
import pytest

from isa.analysis import cfg
from isa.asm.emit import emit
from isa.asm.parse import parse, parse_disassembly
from isa.object import code_object
from isa.object.to_text import whole_text
from isa.prove.refine import validate


def forward(n, to):
    return (
        f"s_getpc_b64 s[8:9]\ns_add_i32 s10, {to}, 4\ns_add_u32 s8, s8, s10\ns_addc_u32 s9, s9, 0\ns_setpc_b64 s[8:9]"
    )


def either(n, to):
    """Tensile's, where the distance may be negative."""
    return f"""s_getpc_b64 s[8:9]
s_add_i32 s10, {to}, 4
s_cmp_ge_i32 s10, 0
s_cbranch_scc1 positive{n}
s_abs_i32 s10, s10
s_sub_u32 s8, s8, s10
s_subb_u32 s9, s9, 0
s_setpc_b64 s[8:9]
positive{n}:
s_add_u32 s8, s8, s10
s_addc_u32 s9, s9, 0
s_setpc_b64 s[8:9]"""


def llvm(n, to):
    return f"""s_getpc_b64 s[8:9]
post{n}:
s_add_u32 s8, s8, ({to}-post{n})&4294967295
s_addc_u32 s9, s9, ({to}-post{n})>>32
s_setpc_b64 s[8:9]"""


def chain(seed, blocks=12):
    """Assembly whose blocks, in random order, go on to one another by long branches and multiply by 3 and add their
    number; and what comes out."""
    chosen = random.Random(seed)
    order = chosen.sample(range(1, blocks), blocks - 1)
    where = {n: place for place, n in enumerate([0, *order])}
    texts = {}
    for n in range(blocks):
        ways = [either, llvm] + ([forward] if where.get(n + 1, 0) > where[n] else [])
        goes = chosen.choice(ways)(n, f"block{n + 1}") if n + 1 < blocks else "s_branch done"
        texts[n] = f"block{n}:\ns_mul_i32 s4, s4, 3\ns_add_i32 s4, s4, {n}\n{goes}"
    body = "\n".join(["s_mov_b32 s4, 1", *(texts[n] for n in [0, *order])])
    end = """
done:
s_load_b64 s[6:7], s[0:1], 0x0
v_mov_b32 v0, 0
v_mov_b32 v1, s4
s_waitcnt lgkmcnt(0)
global_store_b32 v0, v1, s[6:7]
s_endpgm
"""
    result = 1
    for n in range(blocks):
        result = (result * 3 + n) & 0xFFFFFFFF
    return body + end, result


def path(flow):
    """The labels block0, block1, ... in the order in which control comes to them."""
    at = {flow.block_of(i).index: name for name, i in flow.labels.items() if name.startswith("block")}
    return [at[b] for b in flow.order if b in at]


@pytest.mark.parametrize("seed", range(6))
def test_blocks_in_any_order(seed):
    text, result = chain(seed)
    flow = cfg.of_text(parse(text, "chain.s"))
    assert not flow.indirect_jumps
    assert path(flow) == [f"block{n}" for n in range(12)]
    image = programs.assembled(text)
    code = code_object.load(image)
    machine = cfg.of_instructions(parse_disassembly(code.disassembled("test"), "test"), "test")
    assert [b.successors for b in machine.blocks] == [b.successors for b in flow.blocks]
    assert launched(image) == result


def test_a_wrong_distance_shows():
    """With one label exchanged the control flow is that of the exchanged code, and so is the result."""
    text, result = chain(1)
    wrong = text.replace("block5,", "block6,").replace("(block5-", "(block6-")
    assert "block5" not in path(cfg.of_text(parse(wrong, "chain.s")))
    assert launched(programs.assembled(wrong)) != result


def test_the_text_of_a_code_object_names_their_targets():
    """It gives the same code again, may be moved, and is proved; with another target it is not."""
    image = programs.assembled(chain(1)[0])
    text = emit(whole_text(code_object.load(image)))
    assert code_object.load(programs.linked(text)).disassembled("test") == code_object.load(image).disassembled("test")
    original = parse(text).kernel()
    for edit, proved in (
        (lambda t: t.replace("s_mul_i32", "s_nop 0\n\ts_mul_i32"), True),
        (
            lambda t: re.sub(r"(s_add_i32 s10, )\.LBB0_(\d+)", lambda m: f"{m[1]}.LBB0_{int(m[2]) ^ 1}", t, count=1),
            False,
        ),
    ):
        assert edit(text) != text
        assert validate(original, parse(edit(text)).kernel()).proved == proved


def launched(image):
    return programs.launched(image, np.zeros(1, np.uint32), block=(1, 1, 1))[0]
