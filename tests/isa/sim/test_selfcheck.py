"""The known answers are the reference engine's; wrong native code is found by them, and another level taken instead."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from isa import cache, llvm
from isa.asm.parse import parse_disassembly
from isa.errors import IsaError
from isa.sim.ir import jit
from isa.sim.ir.jit import NATIVE, HostTarget
from isa.sim.run import selfcheck
from isa.sim.run.card import Card
from isa.sim.run.interpret import AddressedCode, Buffers, Wave

X86 = pytest.mark.skipif(not jit.is_x86(), reason="levels of x86-64 are for such machines")


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """A cache of its own, and nothing known in this process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    selfcheck.settled.cache_clear()
    yield
    selfcheck.settled.cache_clear()


def reference(number):
    """The digest that the reference engine gives for a group."""
    instructions = [i for i in parse_disassembly(selfcheck.listing(), "<known answers>") if i.address >> 12 == number]
    lds = bytearray(selfcheck.LDS_BYTES)
    wave = Wave(AddressedCode(instructions, number << 12), Buffers(), lds)
    wave.vgprs[: selfcheck.REGISTERS] = selfcheck.vgprs()
    wave.sgprs[:] = selfcheck.sgprs()
    wave.run()
    vectors = np.ascontiguousarray(wave.vgprs[: selfcheck.REGISTERS])
    return selfcheck.digest(vectors.tobytes(), wave.sgprs.astype(np.uint32).tobytes(), bytes(lds))


def test_the_answers_are_the_references():
    told = {name: group.answer for name, group in selfcheck.GROUPS.items()}
    assert told == {name: reference(number) for number, name in enumerate(selfcheck.GROUPS)}


@pytest.mark.parametrize("cpu", [NATIVE, *jit.LEVELS])
@pytest.mark.parametrize("baseline", [False, True])
def test_this_machine_knows_them(cpu, baseline):
    if cpu != NATIVE and not (jit.is_x86() and HostTarget(cpu).runs_here):
        pytest.skip(f"this machine cannot run code for {cpu}")
    assert selfcheck.ask(HostTarget(cpu, baseline)) == ()


def breaks(monkeypatch, old, new, cpus=(NATIVE, *jit.LEVELS)):
    """A code generator that takes one operation for another when it compiles for these."""
    compile_ir = jit.compile_ir

    def wrong(text, target, **options):
        return compile_ir(text.replace(old, new) if target.cpu in cpus else text, target, **options)

    monkeypatch.setattr(jit, "compile_ir", wrong)


@pytest.mark.parametrize(
    ("old", "new", "group"),
    [
        (" xor <", " or <", "logic under a mask"), ("icmp slt <", "icmp sgt <", "choices"), ("fmul <", "fadd <", "f32"),
        ("uitofp <", "sitofp <", "integers"), ("lshr <", "ashr <", "integers"), ("zext <", "sext <", "integers"),
        ("i32 17\n", "i32 18\n", "lanes"),
    ],
)  # fmt: skip
def test_wrong_code_is_told(monkeypatch, old, new, group):
    breaks(monkeypatch, old, new)
    assert group in selfcheck.ask(HostTarget())


@X86
@pytest.mark.skipif(not (jit.is_x86() and HostTarget("x86-64-v4").runs_here), reason="needs AVX-512")
def test_llvms_fault_is_told(monkeypatch):
    """Without the fences of `LlvmValue` this LLVM's code for AVX-512 is wrong."""
    monkeypatch.setattr("isa.sim.translate.translate.masked", lambda strip: False)
    assert selfcheck.ask(HostTarget("x86-64-v4")) == ("logic under a mask",)
    assert selfcheck.ask(HostTarget("x86-64-v3")) == ()


@X86
def test_another_level_is_taken_and_said_once(monkeypatch, capfd):
    breaks(monkeypatch, " xor <", " or <", (NATIVE, "x86-64-v4"))
    card = Card(capacity=1 << 20)
    below = [cpu for cpu in jit.LEVELS if HostTarget(cpu).runs_here and cpu != "x86-64-v4"]
    assert card.target == HostTarget(below[-1], baseline=None)
    assert Card(capacity=1 << 20).target == HostTarget(below[-1], baseline=None)
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "logic under a mask" in said
    assert f"code for {below[-1]} is used instead" in said


def test_of_optimised_code_nothing_is_asked_before_it_is_made(monkeypatch):
    asked = []
    monkeypatch.setattr(selfcheck, "ask", lambda target: asked.append(target.baseline) or ())
    assert Card(capacity=1 << 20).target == HostTarget(baseline=None)
    assert asked == [True]


def test_baseline_code_that_is_wrong_gives_way_to_the_other(monkeypatch):
    compile_ir = jit.compile_ir
    monkeypatch.setattr(
        jit,
        "compile_ir",
        lambda text, target: compile_ir(text.replace(" xor <", " or <") if target.baseline else text, target),
    )
    assert selfcheck.settled(HostTarget(baseline=True)) == HostTarget()


def test_nothing_right_is_an_error(monkeypatch):
    breaks(monkeypatch, " xor <", " or <")
    with pytest.raises(IsaError, match="native code computes wrong numbers on this machine: logic under a mask"):
        _ = Card(capacity=1 << 20).target


def test_it_is_asked_once(monkeypatch):
    asked = []
    ask = selfcheck.ask
    monkeypatch.setattr(selfcheck, "ask", lambda target: asked.append(target) or ask(target))
    for _ in range(2):
        assert selfcheck.verdict(HostTarget()) == ()
    assert asked == [HostTarget()]
    (entry,) = (cache.root() / selfcheck.KIND).iterdir()
    (entry / "wrong.json").write_text(json.dumps(["a damaged entry"]))
    assert selfcheck.verdict(HostTarget()) == ()
    assert asked == [HostTarget()] * 2
    monkeypatch.setattr(llvm, "identity", lambda: "another library")
    assert selfcheck.verdict(HostTarget()) == ()
    assert asked == [HostTarget()] * 3, "another LLVM is another question"


def test_without_a_cache_each_process_asks(monkeypatch, tmp_path):
    (tmp_path / "hipgemm").write_text("a file where the folder should be")
    asked = []
    monkeypatch.setattr(selfcheck, "ask", lambda target: asked.append(target) or ())
    for _ in range(2):
        assert selfcheck.settled(HostTarget()) == HostTarget()
    assert asked == [HostTarget()]


def test_processes_that_ask_at_one_time():
    code = "from isa.sim.run.selfcheck import verdict, HostTarget; print(verdict(HostTarget()))"
    runs = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [run.communicate()[0] for run in runs] == ["()\n"] * 3
    assert len(list((cache.root() / selfcheck.KIND).iterdir())) == 1


def test_what_keeps_long_kernels_from_taking_quadratic_time_is_known_to_this_llvm():
    """LLVM ends the process at an option that it does not know, so the options are for versions that were tried."""
    assert llvm.version()[0] in jit.LINEAR_KNOWN, "try jit.LINEAR with this version, and add it"


def test_four_times_as_many_loops_take_about_four_times_as_long_to_compile():
    """In processor time. Where each loop looks at all uses of the pointer to a wave's state, it is 25 times."""

    def seconds(loops: int) -> float:
        lines = ["define void @many(ptr %w) {", "entry:", "  br label %l0"]
        for k in range(loops):
            lines += [f"l{k}:", f"  %i{k} = phi i64 [0, %{f'l{k - 1}' if k else 'entry'}], [%n{k}, %l{k}]"]
            for j in range(24):
                lines += [f"  %p{k}_{j} = getelementptr i8, ptr %w, i64 %i{k}", f"  store i64 {j}, ptr %p{k}_{j}"]
            lines += [f"  %n{k} = add i64 %i{k}, 64", f"  %m{k} = icmp ult i64 %n{k}, 128"]
            lines += [f"  br i1 %m{k}, label %l{k}, label %l{k + 1}"]
        text = "\n".join([*lines, f"l{loops}:", "  ret void", "}"])
        begun = time.process_time()
        jit.compile_ir(text, HostTarget())
        return time.process_time() - begun

    assert seconds(1200) < 12 * seconds(300)
