"""Older names of instructions: the assembler encodes them as it does the present ones, and they mean the same here."""

from pathlib import Path

import pytest

from isa import toolchain
from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.instructions import table
from isa.semantics.instruction import width
from isa.semantics.names import ALIASES, RENAMED
from isa.targets import target


def _v(count: int, first: int = 8) -> str:
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def _s(count: int, first: int = 16) -> str:
    return f"s{first}" if count == 1 else f"s[{first}:{first + count - 1}]"


def operands(name: str) -> str:
    """Some that fit, by the described roles."""
    entry, found = table()[ALIASES[name]], []
    for k, role in enumerate(entry.roles):
        count = max(1, width(role.type)) if role.type != "mask" else 1
        if role.kind == "va":
            found.append(_v(2, 2) if name.startswith(("global", "flat")) else _v(1, 2))
        elif role.kind == "sa":
            found.append("off" if name.startswith(("global", "scratch")) else "s[2:3]")
        elif role.kind == "vb":
            found.append("off")
        elif role.kind in ("s", "m", "rs"):
            found.append(_s(count, 16 * (k + 1)))
        elif role.kind in ("i", "l"):
            found.append("0x1")
        elif role.kind == "f":
            found.append("0xfffe")
        else:
            found.append(_v(count, 8 * (k + 1)))
    return ", ".join(found)


def test_every_alias_is_described() -> None:
    assert {new for new in ALIASES.values() if new not in table()} == set()
    assert set(ALIASES) & set(table()) == set()


def test_an_alias_means_what_its_present_name_means_and_stays_in_the_text() -> None:
    old, new = parse_instruction("v_add_u32_e32 v1, v2, v3"), parse_instruction("v_add_nc_u32_e32 v1, v2, v3")
    assert old.desc is new.desc
    assert old.mnemonic == "v_add_u32_e32"


@pytest.mark.skipif(not list(toolchain.available()), reason="no assembler for gfx11 here")
def test_the_assembler_encodes_both_alike(tmp_path: Path) -> None:
    tools = toolchain.find()
    source, out = tmp_path / "k.s", tmp_path / "k.o"
    older = {old: new for old, new in ALIASES.items() if old not in RENAMED}
    for aliases, arch in ((older, "gfx1100"), (RENAMED, "gfx1201")):
        made = []
        for names in (aliases.keys(), aliases.values()):
            lines = [f"{name} {operands(old)}\n" for name, old in zip(names, aliases, strict=True)]
            source.write_text("".join(lines))
            tools.assemble(source, out, arch=arch)
            made.append(out.read_bytes())
        assert made[0] == made[1]


def test_a_new_name_is_refused_where_it_is_not_known() -> None:
    text = "s_add_co_u32 s0, s1, s2"
    assert parse_instruction(text, target=target("gfx1201")).desc.name == "s_add_u32"
    with pytest.raises(IsaError, match="s_add_u32 is an instruction of gfx1200 and later"):
        _ = parse_instruction(text, target=target("gfx1100")).desc
