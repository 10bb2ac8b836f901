"""Older names of instructions: the assembler encodes them as it does the present ones, and they mean the same here."""

from pathlib import Path

import pytest

from isa import toolchain
from isa.asm.parse import parse_instruction
from isa.instructions import table
from isa.semantics.instruction import width
from isa.semantics.names import ALIASES


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
        elif role.kind != "f":
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
    tools, made = toolchain.find(), []
    source, out = tmp_path / "k.s", tmp_path / "k.o"
    for names in (ALIASES.keys(), ALIASES.values()):
        lines = [f"{name} {operands(old)}\n" for name, old in zip(names, ALIASES, strict=True)]
        source.write_text("".join(lines))
        tools.assemble(source, out, arch="gfx1100")
        made.append(out.read_bytes())
    assert made[0] == made[1]
