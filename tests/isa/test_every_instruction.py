"""Every instruction that LLVM's assembler knows for a target, and every one of AMD's list, is described, or stands in
`isa.semantics.names` with the reason. LLVM's list is the table of its assembler's mnemonics in the library that
disassembles here, in which each stands after its length; which target has which says the assembler."""

import re
import subprocess
from pathlib import Path

import pytest
from assembly import assembler
from pcode import texts

from isa import packages
from isa.asm.parse import parse_instruction
from isa.errors import IsaError
from isa.instructions import table
from isa.semantics.instruction import base_name, described
from isa.semantics.names import LEFT_OUT, RENAMED, RENAMED_SINCE, why
from isa.targets import TARGETS, target, version
from isa.toolchain import assembler_options

_WORD = rb"(?:s|v|ds|global|flat|scratch|t?buffer|image|lds)_[a-z0-9_]+"
ALSO = {"exp"}
"""Too short to be told from chance."""
OTHER_NAMES = {"v_cmp_tru": "v_cmp_t", "v_cmpx_tru": "v_cmpx_t"}
ONLY_HERE = {"v_dot2acc_f32_bf16", "v_dot2acc_f32_f16"}
"""What stands in pairs only, or older LLVMs do not know."""


@pytest.fixture(scope="module")
def mnemonics() -> list[str]:
    data = (packages.folder("rocm.llvm") / "librocmllvm.so").read_bytes()
    found = set(ALSO)
    for match in re.finditer(rb"[\x05-\x30](?=" + _WORD + rb")", data):
        start, length = match.end(), data[match.start()]
        if re.fullmatch(_WORD, data[start : start + length]):
            found.add(data[start : start + length].decode())
    return sorted(found)


def of_target(names: list[str], arch: str, folder: Path) -> set[str]:
    """Those that the assembler does not refuse by name: without operands it says that they are missing."""
    (folder / "all.s").write_text("\n".join(names) + "\n")
    command = [*assembler().compiler, *assembler_options(arch), "-ferror-limit=0", "-c", "all.s"]
    said = subprocess.run([*command, "-o", "all.o"], cwd=folder, capture_output=True, text=True).stderr
    pattern = r"all\.s:(\d+):\d+: error: (?:invalid instruction|instruction not supported on this GPU)"
    refused = re.findall(pattern, said)
    return set(names) - {names[int(number) - 1] for number in refused}


def is_known(name: str, arch: str) -> bool:
    for old, new in OTHER_NAMES.items():
        name = name.replace(old, new)
    if name in RENAMED and target(arch).version < version(RENAMED_SINCE):
        return False
    name = base_name(name)
    entries = [e for e in table().values() if e.name == target(arch).family.names.get(name, name)]
    return any(entry.exists_on(target(arch)) for entry in entries)


@pytest.mark.parametrize("arch", [t.name for t in TARGETS.values() if t.built])
def test_all_of_llvms(mnemonics: list[str], arch: str, tmp_path: Path) -> None:
    there = of_target(mnemonics, arch, tmp_path)
    assert len(there) > 1600
    left = {name for name in there if not is_known(name, arch)}
    assert not {name for name in left if not why(name)}, "neither described nor left out"
    assert not {name for name in there - left if why(name)}, "described and left out"
    ours = {entry.name for entry in table().values() if entry.exists_on(target(arch))} - ONLY_HERE
    assert ours <= there, "LLVM does not have it"


@pytest.mark.skipif(texts.PATH is None, reason="AMD's pseudocode is not on this machine")
def test_all_of_amds() -> None:
    names = {name.replace("v_dual_", "v_") for name in texts.texts()}
    assert len(names) > 1000
    assert not {name for name in names if not described(name) and not why(name)}


def test_no_reason_is_for_nothing(mnemonics: list[str]) -> None:
    for pattern, _ in LEFT_OUT:
        assert any(re.fullmatch(pattern, name) for name in mnemonics), pattern


def test_the_error_says_why() -> None:
    with pytest.raises(IsaError, match=r"ds_ordered_count is not described(.|\n)*the whole card"):
        _ = parse_instruction("ds_ordered_count v0, v1 gds").desc
