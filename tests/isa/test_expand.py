"""Macros, repetitions, conditions and symbols in registers: what they become, where it is from, and how it is written.

The outside judge of what they mean is LLVM's assembler on the text as it is: the code objects have the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from isa import toolchain
from isa.asm import expand
from isa.asm.emit import emit
from isa.asm.expand import read, text_of
from isa.asm.parse import parse
from isa.asm.program import Instruction, Label, Line, Program
from isa.errors import IsaError
from isa.lint import suppress
from isa.lint.lint import lint_program
from isa.passes import run_pipeline

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no compiler for gfx11 here")
CASES = sorted((Path(__file__).parent / "cases_expand").glob("*.s"))
TAIL = CASES[0].read_text().partition(";; expect")[0].partition("\t.rodata\n")[2]


def case(name: str) -> str:
    return (Path(__file__).parent / "cases_expand" / f"{name}.s").read_text().partition(";; expect\n")[0]


def kernel(body: str, before: str = "") -> str:
    return f"{before}\n.set NUM_VGPRS, 16\n\t.text\nk:\n{body}\n\ts_endpgm\n\t.size k, .-k\n\t.rodata\n{TAIL}"


def shown(text: str) -> str:
    """Each line of code, and where it comes from."""
    program = read(text, "k.s")
    rows = []
    for number, line in enumerate(program.lines):
        if isinstance(line.node, (Instruction, Label)):
            origin = program.span(number).origin
            assert origin is not None
            calls = "".join(f", {call}" for call in origin.calls())
            rows.append(f"{line.text.strip():<56} {origin}: {origin.text}{calls}")
    return "\n".join(rows)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_it_becomes(path: Path, text_case: Callable[[Path, Callable[[str], str]], None]) -> None:
    text_case(path, shown)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_llvm_makes_the_same_bytes_of_the_text_and_of_what_is_read(path: Path, tmp_path: Path) -> None:
    text, tools = case(path.stem), toolchain.find()
    (tmp_path / "k.s").write_text(text)  # nothing of ours between: the assembler as it is
    tools.clang(
        ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-c", "-x", "assembler", "k.s", "-o", "k.o"], "x", tmp_path
    )
    tools.link([tmp_path / "k.o"], tmp_path / "k.hsaco")
    program = read(text)
    assert text_of(program) == text
    assert (
        tools.code_object(text_of(program)) == tools.code_object(emit(program)) == (tmp_path / "k.hsaco").read_bytes()
    )


def test_plain_text_is_read_as_before() -> None:
    text = kernel("\tv_mov_b32_e32 v1, 0").replace("NUM_VGPRS\n", "16\n").replace(".set 16", ".set NUM_VGPRS, 16")
    assert read(text, "k.s") == parse(text, "k.s")
    assert not read(text).units
    with pytest.raises(IsaError, match="not an operand") as error:
        read("\tv_mov_b32_e32 v1000, 0\n")
    assert error.value.span is not None


def changed(program: Program, old: str, new: str) -> Program:
    """With one instruction in the place of another, as passes have it."""
    at = next(n for n, line in enumerate(program.lines) if line.text.strip() == old)
    line = parse(f"\t{new}\n").lines[0]
    return program.with_lines([*program.lines[:at], Line(line.text, line.node), *program.lines[at + 1 :]])


def test_what_was_not_changed_keeps_its_names() -> None:
    program = read(case("symbols"), "k.s")
    old = "v_add_f32_e32 v2, v2, v3"
    made = text_of(changed(program, old, "v_sub_f32_e32 v2, v2, v3")).splitlines()
    given = case("symbols").splitlines()
    at = next(n for n, (a, b) in enumerate(zip(given, made, strict=True)) if a != b)
    assert (given[at].strip(), made[at].strip()) == (
        "v_add_f32 v[vgprX], v[vgprX], v[vgprX+1]",
        "v_sub_f32_e32 v2, v2, v3",
    )
    assert given[at + 1 :] == made[at + 1 :]


def test_a_macro_in_which_something_changed_is_written_out() -> None:
    program = read(case("symbols"), "k.s")
    made = text_of(changed(program, "global_load_b32 v3, v1, s[6:7]", "global_load_b32 v3, v1, s[6:7] offset:4"))
    assert "\tglobal_load_b32 v3, v1, s[6:7] offset:4\n" in made
    assert "\tload vgprX, , sgprIn\n" in made  # the other call
    assert "dst=vgprX+1" not in made


def test_names_that_would_mean_something_else_are_not_written() -> None:
    """The counter of a macro's labels, and a symbol that is set again, are other ones where a call is gone."""
    program = read(case("macros"), "k.s")
    made = changed(program, "v_max_f32_e32 v6, v6, v2", "v_min_f32_e32 v6, v6, v2")
    text = text_of(made)
    assert "twice 4" not in text
    assert "v[vOff]" in text  # names outside of macros are left
    assert [x.node for x in read(text).lines if x.node] == [x.node for x in made.lines if x.node]
    body = "\t.set i, 1\n\tv_mov_b32 v[i], 0\n\t.set i, 2\n\tv_mov_b32 v[i], 0"
    first = read(kernel(body), "k.s")
    moved = [*first.lines]
    a, b = (n for n, line in enumerate(moved) if line.text.strip().startswith("v_mov"))
    moved[a], moved[b] = moved[b], moved[a]
    swapped = first.with_lines(moved)
    again = [str(line.node) for line in read(text_of(swapped)).lines if isinstance(line.node, Instruction)]
    assert again == ["v_mov_b32_e32 v2, 0", "v_mov_b32_e32 v1, 0", "s_endpgm"]


def test_a_comment_above_the_target_stays() -> None:
    target = '.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n'
    text = "; sets i\n" + kernel(".set i, 1\n.set i, 3\n\tv_mov_b32 v[i], 1", target)
    made = text_of(changed(read(text, "k.s"), "v_mov_b32_e32 v3, 1", "v_mov_b32_e32 v3, 2"))
    assert made.startswith(f"; sets i\n{target}")
    assert "v_mov_b32_e32 v3, 2" in made


def test_passes_keep_names() -> None:
    body = "\tv_dual_mov_b32 v[a], 0 :: v_dual_mov_b32 v[a+1], 1\n\tv_add_f32 v[a], v[a], v[a]\n"
    body += "\tv_mul_f32 v[b], v[a], v[a]\n\tglobal_store_b32 v[b], v[a], s[0:1]"
    program = read(kernel(body, ".set a, 2\n.set b, 5"), "k.s")
    *_, (_, made) = run_pipeline(program, "relax-waits,spread-loads,vopd-interlock")
    text = text_of(made)
    assert "\tv_mul_f32 v[b], v[a], v[a]\n" in text
    assert toolchain.find().code_object(text) == toolchain.find().code_object(emit(made))


def test_a_finding_names_the_macro_and_its_call() -> None:
    text = case("symbols").replace("\ts_waitcnt lgkmcnt(0)\n", "")
    first = next(f for f in lint_program(read(text, "k.s")) if f.id == "WAIT001" and "global_load" in f.message)
    assert str(first).startswith("k.s:16: ")
    assert "\n    global_load_b32 v[\\dst], v[\\off], s[\\where:\\where+1]\n" in str(first)
    assert "\n  in expansion of macro load at k.s:20: load vgprX, , sgprIn\n" in str(first)
    assert "\n  assembled: global_load_b32 v2, v1, s[6:7]\n" in str(first)


def test_comments_that_ignore_rules_hold() -> None:
    def found(text: str) -> list[str]:
        program = read(text)
        return [f.id for f in suppress.apply(lint_program(program), program, "lint")]

    body = "\tv_mov_b32 v[1], v[5]\n\tglobal_store_b32 v[0], v[1+0], s[0:1]"
    assert found(kernel(body)) == ["VAL001"]
    here = body.replace("v[5]\n", "v[5] ; hipgemm: ignore VAL001 (why)\n")
    assert found(kernel(here)) == []
    above = f"\t// hipgemm: ignore VAL001\n{body}"
    assert found(kernel(above)) == []
    inside = f".macro m\n{here}\n.endm\n\tm"
    assert found(kernel(inside)) == []


# --- what is refused
@pytest.mark.parametrize(
    ("body", "message", "line"),
    [
        ("\tv_mov_b32 v[nothing], 0", "LLVM's assembler: ", 5),
        ("\t.rept 3\n\ts_nop 0", "LLVM's assembler: no matching '.endr'", 5),
        ("\t.include \"other\"", "a text without a folder includes no files", 5),
    ],
)  # fmt: skip
def test_what_the_assembler_rejects_is_at_its_line(body: str, message: str, line: int) -> None:
    with pytest.raises(IsaError) as error:
        read(kernel(f"\tv_mov_b32 v[0+0], 0\n{body}") if "include" not in body else kernel("\ts_nop 0\n" + body), "k.s")
    assert message in error.value.message
    assert error.value.span is not None
    assert error.value.span.line in (line, line + 1)


@pytest.mark.parametrize(
    ("body", "line", "calls"),
    [
        (".macro m x\n\ts_nop 0\n\tv_foo v[\\x]\n.endm\n\tm 1", 3, ["m at k.s:{}: m 1"]),
        (".rept 2\n\ts_nop 0\n\tv_foo v[1]\n.endr", 3, []),
        (
            ".macro m x\n.irp k, 0, 1\n.if \\k\n\tv_foo v[\\k]\n.endif\n.endr\n.endm\n"
            ".macro n\n\ts_nop 0\n\tm 5\n.endm\n.rept 3\n\ts_nop 1\n\tn\n.endr",
            4,
            ["m at k.s:{}: m 5", "n at k.s:{}: n"],
        ),
    ],
)  # fmt: skip
def test_what_the_assembler_rejects_in_a_body_is_at_the_bodys_line(body: str, line: int, calls: list[str]) -> None:
    text = kernel(body)
    rows = [row.strip() for row in text.split("\n")]
    begin = rows.index(body.split("\n")[0].strip())
    with pytest.raises(IsaError) as error:
        read(text, "k.s")
    said = str(error.value).split("\n")
    assert said[0].startswith(f"k.s:{begin + line}: LLVM's assembler: invalid instruction")
    assert error.value.user_place is not None
    assert error.value.user_place.line == begin + line
    told = [x.strip().removeprefix("in expansion of macro ") for x in said if "in expansion of" in x]
    assert told == [call.format(rows.index(call.split(": ")[1]) + 1) for call in calls]
    assert "v_foo v[1]" in str(error.value)


def test_files_below_the_folder_are_included(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "names.inc").write_text('.set x, 3\n.include "more.inc"\n')
    (tmp_path / "inner" / "more.inc").write_text("\tv_mov_b32 v[x], 0\n")
    (tmp_path / "data.bin").write_bytes(bytes(range(70)))
    body = '\t.include "inner/names.inc"\n\t.incbin "data.bin", 2, 66\n\t.long x'
    program = read(kernel(body), str(tmp_path / "k.s"), tmp_path)
    at = next(n for n, line in enumerate(program.lines) if line.text.strip() == "v_mov_b32_e32 v3, 0")
    assert str(program.span(at).origin) == f"{tmp_path}/inner/more.inc:1"
    image = toolchain.find().code_object(text_of(program))
    assert bytes(range(2, 68)) in image
    assert image == toolchain.find().code_object(emit(program))


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/hostname", "link", "pipe", "folder", "missing", "inner/../../secret"]
)
def test_other_files_are_not(name: str, tmp_path: Path) -> None:
    below = tmp_path / "below"
    (below / "inner").mkdir(parents=True)
    (below / "folder").mkdir()
    (tmp_path / "secret").write_text("a line of another file\n")
    (below / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(below / "pipe")
    for directive in ("include", "incbin"):
        with pytest.raises(IsaError, match="no regular file") as error:
            read(kernel(f'\t.{directive} "{name}"'), str(below / "k.s"), below)
        assert "a line of" not in str(error.value)
        assert f'    \t.{directive} "{name}"\n' in str(error.value)
        assert read(kernel(f'\t.if 0\n\t.{directive} "{name}"\n\t.endif'), str(below / "k.s"), below).units


def test_the_names_that_gnu_as_makes_local_are_said_in_llvms_way() -> None:
    with pytest.raises(IsaError, match=r"LOCAL: name\\@ is a label") as error:
        read(kernel(".altmacro\n.macro m\n LOCAL a\na:\n s_nop 0\n.endm\n m"), "k.s")
    assert "LOCAL a" in str(error.value)
    read(kernel(".altmacro\n.macro m\na\\@:\n s_nop 0\n.endm\n m\n m"), "k.s")


def test_files_that_include_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text('.include "a"\n')
    with pytest.raises(IsaError, match="include each other too deeply"):
        read('.include "a"\n', "k.s", tmp_path)
    (tmp_path / "large").write_text("\n" * 1000)
    monkeypatch.setattr(expand, "LARGEST", 1999)
    with pytest.raises(IsaError, match="no regular file"):
        read('.include "large"\n.include "large"\n', "k.s", tmp_path)
    (tmp_path / "bytes").write_bytes(bytes(9))
    with pytest.raises(IsaError, match="is no text"):
        read('.include "bytes"\n', "k.s", tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        '.macro m a, b\n\\a\\b "FILE"\n.endm\nm .inc, lude',
        '.macro m a, b\n\\a\\b "FILE"\n.endm\nm .IN, cBiN',
        '.irp x,include\n.\\x "FILE"\n.endr',
        '.altmacro\n.macro m a\na\n.endm\nm <.include !"FILE!">',
        '.macro m a\n\\a .include\n.include "FILE"\n.endm\nm .purgem',
        '.rept 1\n".include" "FILE"\n.endr',
        '.macro m a\n\\a\n".INCLUDE" "FILE"\n.endm\nm .macros_off',
    ],
)
def test_macros_make_up_no_other_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "other"
    file.write_text("\ts_nop 7\n")
    with pytest.raises(IsaError) as error:
        read(kernel(text.replace("FILE", str(file))), str(tmp_path / "below" / "k.s"), tmp_path / "below")
    assert "s_nop 7" not in str(error.value)


@pytest.mark.parametrize("text", [".macro a\na\na\n.endm\na\n", ".rept 1000000000\n\ts_nop 0\n.endr\n"])
def test_what_stands_for_too_much(text: str) -> None:
    with pytest.raises(
        IsaError, match=r"(?s)(within its limits|it crashed).*at most 3 GiB.*files of 64 MiB|LLVM's assembler"
    ):
        read(f".set NUM_VGPRS, 16\n{text}")
