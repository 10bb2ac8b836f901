"""From a kernel's source to its code object: compile, rewrite, prove, assemble, link.

`build` does it in stages, `linked` gives the code object that any kernel is loaded from, and `readable` what verbs that
load nothing look at.

Each step leaves its file in the kernel's stage folder, and one Stage that tells what changed:

    kernel8/  kernel5_lds-hip-amdgcn-...   the compiler's temps
              kernel8.0-compiled.s         what it made of the source (kernel9.0-generated.s: what isa.gemm wrote)
              kernel8.1-bank-balance.s     after the first pass, and so on; a pass that changed nothing leaves no file
              kernel8.proof.txt            that the last .s computes what the first does (kernel9: alpha A B + beta C)
              kernel8.o, kernel8.hsaco     assembled from the last .s, and linked
              build.json                   what built it, and the stages

What the compiler wrote is kept for all kernels of a file (`hipgemm.kernels.compiling.kept`).

Stage folders live in the cache, under a name that is a hash of everything that goes in: source, header, flags, target,
pipeline, the toolchain, and the code of isa, passes and templates. Nothing in them depends on when or where they were
made, except the times.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path

from hipgemm.kernels.compiling import kept, signatures
from hipgemm.kernels.ladder import rung
from hipgemm.kernels.object import Kernel
from hipgemm.kernels.source_lines import Chain, LinePlace, Source, chains, places, shown, source_of
from hipgemm.kernels.stages import Shape, Stage, compiled, made, pipeline
from isa import cache, toolchain
from isa.asm.emit import emit
from isa.asm.expand import text_of
from isa.asm.parse import aimed, parse
from isa.asm.program import Program
from isa.display import number_of
from isa.errors import IsaError, SourceLine, writing
from isa.mangling import parameters
from isa.object.code_object import CodeObject, load
from isa.object.code_object import DescribedKernel as KernelFacts
from isa.object.from_text import TextCode
from isa.object.lines import NO_LINES, Lines
from isa.semantics.instruction import Instruction
from isa.targets import target
from isa.toolchain import Toolchain

LINES = "-gline-tables-only"
"""The flag with which a compiler says which line of the source an instruction comes from; the code stays the same."""
_SINGLE = ("-mllvm", "-amdgpu-hard-clause-length-limit=1")
"""With it, too: of the loads that an s_clause holds together LLVM says one line, the first one's (its AsmPrinter gives
bundles one place). Compilers before LLVM 19 do not know it."""
_LINES = 1000
_IMAGES = 3000
"""Code objects that are kept without their stages, of some 30 kB."""
OnStage = Callable[[Stage, Shape | None], None]
"""Called after each step with its stage and the shape of the code before it."""


@dataclass(frozen=True, slots=True)
class Build:
    """A kernel built for one target. `folder` is its stage folder, `hsaco` the code object in it; `cached` says that
    it was built before; `toolchain` is the text of what compiled it."""

    kernel: Kernel
    arch: str
    folder: Path
    stages: tuple[Stage, ...]
    toolchain: str
    cached: bool

    @property
    def hsaco(self) -> Path:
        return self.folder / f"{self.kernel.stem}.hsaco"

    @property
    def assembly(self) -> Path:
        """The .s that was assembled: after the last pass."""
        return self.folder / next(s.file for s in reversed(self.stages) if s.file.endswith(".s"))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user must be told: that the compiler spilled, and what the tools said."""
        said = tuple(f"{s.name}: {s.said}" for s in self.stages if s.said)
        first = self.stages[0].shape
        if first is None or not first.scratch:
            return said
        scratch, spills = number_of(first.scratch, "byte"), number_of(first.spills, "VGPR")
        spilled = f"{self.kernel.stem}: the compiler uses {scratch} of scratch memory a thread and spilled {spills}"
        return (f"{spilled}: expect it to be slow", *said)

    def code_object(self) -> CodeObject:
        return load(self.hsaco)

    @property
    def lacks(self) -> str:
        """That it calls what nothing defines, in words."""
        names = toolchain.UndefinedSymbols(self.stages[-1].lacks).names
        return f"{self.kernel.title}: not defined: {', '.join(names)}; calls of that are not followed" if names else ""


def build(
    kernel: Kernel | str,
    *,
    arch: str = "gfx1100",
    hipcc: Path | None = None,
    tools: Toolchain | None = None,
    flags: Sequence[str] | None = None,
    out: Path | None = None,
    on_stage: OnStage | None = None,
    runs: bool = True,
) -> Build:
    """Builds a kernel, or finds it built; a name is that of a rung.

    arch:     one of isa.toolchain.ARCHS.
    hipcc:    the hipcc that the user named; tools: a Toolchain that was chosen already. Default: what is found.
    flags:    for the compiler; the kernel's own if not given.
    runs:     False for who does not launch it: then it may call what nothing defines (`Build.lacks`).
    out:      a folder in which a copy of the stage folder appears, `<out>/<kernel>`; after an error it holds what there
              was until then.
    Raises IsaError: ToolchainMissing, ToolError with the compiler's own text, UnsupportedArch, a pass's error, or
    Disproved, where a pass changed what the kernel computes.
    """
    kernel = rung(kernel) if isinstance(kernel, str) else kernel
    toolchain.check_arch(arch)
    tools = tools or toolchain.find(hipcc)
    flags = kernel.flags if flags is None else flags
    cached = True

    def fill(folder: Path) -> None:
        nonlocal cached
        cached = False
        try:
            stages: list[Stage] = []
            for stage in made(kernel, arch, tools, flags, folder):
                _tell(on_stage, stage, stages)
                stages.append(stage)
            record = {"toolchain": str(tools), "arch": arch, "stages": [s.as_json() for s in stages]}
            (folder / "build.json").write_text(json.dumps(record, indent=1) + "\n")
        except IsaError:
            _publish(folder, out, kernel.stem)
            raise

    folder = cache.make("build", _entry(kernel, arch, tools, flags), fill)
    record = json.loads((folder / "build.json").read_text())
    stages = [Stage.from_json(s) for s in record["stages"]]
    if cached:
        for i, stage in enumerate(stages):
            _tell(on_stage, stage, stages[:i])
    folder = _publish(folder, out, kernel.stem) or folder
    if runs and stages[-1].lacks:
        raise toolchain.UndefinedSymbols(stages[-1].lacks)
    return Build(kernel, arch, folder, tuple(stages), record["toolchain"], cached)


def image(kernel: Kernel, *, arch: str = "gfx1100") -> bytes:
    """The code object of a generated kernel as `build` makes it, without stages and proof: for those who time hundreds
    and build the best. Raises what `build` does."""
    from isa.gemm.vector.generate import generate
    from isa.passes import run_pipeline

    assert kernel.parameters is not None
    parameters = kernel.parameters
    tools = toolchain.find()

    def make() -> bytes:
        program = generate(parameters, kernel.name, arch=arch)
        *_, (_, program) = run_pipeline(program, pipeline(kernel, arch), lambda k, after: f"{kernel.name}.s")
        return tools.code_object(emit(program), arch=arch, name=f"{kernel.name}.s")

    return _kept_image(_key(kernel, arch, tools, kernel.flags), make)


def _kept_image(name: str, make: Callable[[], bytes]) -> bytes:
    def write(folder: Path, made: bytes) -> None:
        (folder / "kernel.hsaco").write_bytes(made)

    def read(folder: Path) -> bytes:
        return (folder / "kernel.hsaco").read_bytes()

    return cache.find_or_make("images", name, _IMAGES, make, write, read)


@dataclass(frozen=True)
class Linked:
    """A kernel's code, ready to be loaded. image: a code object; text: its assembly, or the file of it, where there is
    one; made_by: what compiled it; warnings: what the user must be told; arch, hipcc: what its text is assembled for
    and with; lacks: `Build.lacks`."""

    kernel: Kernel
    image: bytes
    text: Program | Path | None = None
    made_by: str = ""
    warnings: tuple[str, ...] = ()
    arch: str = ""
    hipcc: Path | None = None
    lacks: str = ""

    @cached_property
    def code_object(self) -> CodeObject:
        """Read of the image; of assembly that there was no assembler for, made from its text."""
        if not self.image and isinstance(self.text, Program):
            return TextCode.of(self.text, self.arch)
        return _loaded(self.kernel, self.image)

    @cached_property
    def facts(self) -> KernelFacts:
        """The kernel in the code object, with the types of arguments where its source was compiled here. IsaError where
        it is not there, or one of several was not named."""
        found = self.code_object.kernel(self.kernel.name, self.kernel.title)
        said = signatures.types(self.text.parent, found.name) if isinstance(self.text, Path) else []
        args = found.args
        for types, known in ((said, ()), (parameters(found.name), ("", "ptr"))):
            if len(types) == sum(not a.hidden for a in args):
                given = iter(types)
                told = [a.type if a.hidden else next(given) for a in args]
                args = tuple(
                    dataclasses.replace(a, type=new) if not known or a.type in known else a
                    for a, new in zip(args, told, strict=True)
                )
        return dataclasses.replace(found, args=args)

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def made_of(self) -> tuple[str | bytes, ...]:
        """All that says what its code is, and which lines it comes from. () of assembly: what that includes may
        change."""
        if self.text is not None and not isinstance(self.text, Path):
            return ()
        return repr(self.kernel), self.name, str(self.text), self.arch, self.image

    @cached_property
    def program(self) -> Program | None:
        """Its assembly, for places in the text."""
        return parse(self.text.read_text(), str(self.text)) if isinstance(self.text, Path) else self.text

    @cached_property
    def lines(self) -> Lines:
        """The lines of its assembly by address."""
        if self.text is None:
            return NO_LINES

        def assemble(text: str) -> bytes:
            program, tools, lacking = self.program, toolchain.find(self.hipcc), bool(self.lacks)
            assert program is not None
            name = cache.key(text, self.arch, tools.identity, str(lacking))
            return _kept_image(name, lambda: _assembled(program, tools, self.arch, text, lacking=lacking))

        return Lines(lambda: self.program, self.code_object, assemble)

    @cached_property
    def source(self) -> Mapping[int, SourceLine]:
        """Where the lines of its assembly come from."""
        return lines_of(self.kernel, self.program, self.arch, self.hipcc) if self.program else {}

    def places(self, instructions: Iterable[Instruction]) -> list[LinePlace | None]:
        """Where instructions of its code object come from; None for each where that is not known."""
        return places(self.lines, instructions, self.source)


def linked(kernel: Kernel, *, arch: str = "gfx1100", hipcc: Path | None = None, runs: bool = True) -> Linked:
    """The code object of a kernel for a target: built, assembled for the target that the text names, or as it is.
    runs: False for who does not launch it: then assembly does without an assembler where there is none, and source may
    call what nothing defines. Raises what `build` does, and CodeObjectError for bytes that are no code object."""
    if isinstance(kernel.code, bytes):
        return Linked(kernel, kernel.code)
    if kernel.code is not None:
        code = aimed(kernel.code, target(arch))
        arch = code.target.name if code.target else arch
        try:
            tools = toolchain.find(hipcc)
        except toolchain.ToolchainMissing:
            if runs:
                raise
            from isa.lint.verify import verify

            verify(code)
            return Linked(kernel, b"", code, arch=arch)
        return Linked(kernel, _assembled(code, tools, arch), code, str(tools), arch=arch, hipcc=hipcc)
    built = build(kernel, arch=arch, hipcc=hipcc, runs=runs)
    image = built.hsaco.read_bytes()
    return Linked(kernel, image, built.assembly, built.toolchain, built.warnings, arch, hipcc, built.lacks)


def readable(
    kernel: Kernel, *, arch: str = "gfx1100", hipcc: Path | None = None, tell: Callable[[str], None] | None = None
) -> Program | CodeObject:
    """What a kernel's code is, for who only reads it: its assembly, as it was assembled, or a code object. tell: called
    with what it lacks."""
    if isinstance(kernel.code, bytes):
        return _loaded(kernel, kernel.code, runs=False)
    if kernel.code is not None:
        return aimed(kernel.code, target(arch))
    made = build(kernel, arch=arch, hipcc=hipcc, runs=False)
    if made.lacks and tell:
        tell(made.lacks)
    return dataclasses.replace(parse(made.assembly.read_text(), str(made.assembly)), title=kernel.called)


def source_lines(
    kernel: Kernel, given: Program | CodeObject, arch: str = "gfx1100", hipcc: Path | None = None
) -> Source:
    """What gives `lines_of` once it is asked for; of a code object nothing."""
    return partial(lines_of, kernel, given, arch, hipcc) if isinstance(given, Program) else dict


def lines_of(
    kernel: Kernel, program: Program, arch: str = "gfx1100", hipcc: Path | None = None
) -> Mapping[int, SourceLine]:
    """Number of a line of a kernel's assembly -> the line of the source that it comes from. Of HIP source that somebody
    brought, by what the compiler writes with -g, instruction by instruction: those that passes have put in come from
    nowhere."""
    own = kernel.code is None and Path(kernel.source).is_absolute()
    below, given = kernel.path.parent if kernel.source else None, (kernel.source, kernel.title) if own else None
    if not own:
        return source_of(program, below, given)
    kernel, flags = dataclasses.replace(kernel, name=""), (*kernel.flags, LINES)  # of all kernels of the file
    tools = toolchain.find(hipcc)

    def write(folder: Path, made: Mapping[int, Chain]) -> None:
        numbers = {chain: n for n, chain in enumerate(dict.fromkeys(made.values()))}
        held = {"chains": [*numbers], "lines": [(line, numbers[chain]) for line, chain in made.items()]}
        (folder / "lines.json").write_text(json.dumps(held))

    def read(folder: Path) -> Mapping[int, Chain]:
        held = json.loads((folder / "lines.json").read_text())
        known = [tuple((file, line) for file, line in chain) for chain in held["chains"]]
        return {line: known[n] for line, n in held["lines"]}

    name = cache.key(_key(kernel, arch, tools, flags), *(line.text for line in program.lines))
    return shown(
        cache.find_or_make("lines", name, _LINES, partial(_matched, kernel, program, arch, tools, flags), write, read),
        below,
        given,
    )


def _matched(
    kernel: Kernel, program: Program, arch: str, tools: Toolchain, flags: Sequence[str]
) -> Mapping[int, Chain]:
    """`chains` of a program by what the compiler writes with other flags, -g among them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.s"
        try:
            compiled(kernel, arch, tools, (*flags, *_SINGLE), file, typed=False)
        except toolchain.ToolError:
            compiled(kernel, arch, tools, flags, file, typed=False)
        other = parse(file.read_text(), file.name)
    sources = chains(other, kernel.source)
    rows = [[(n, str(x.instruction)) for n, x in enumerate(p.lines) if x.instruction] for p in (program, other)]
    texts = [[text for _, text in row] for row in rows]
    blocks = [(0, 0, len(texts[0]))]
    if texts[0] != texts[1]:
        import difflib

        blocks = list(difflib.SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_matching_blocks())
    pairs = [(rows[0][a + i][0], rows[1][b + i][0]) for a, b, size in blocks for i in range(size)]
    found = {own: sources[its] for own, its in pairs if its in sources}
    for (number, text), (after, _) in pairwise(rows[0]):
        if text.startswith("s_clause") and after in found:
            found.setdefault(number, found[after])
    return found


def _loaded(kernel: Kernel, image: bytes, runs: bool = True) -> CodeObject:
    """A code object that was given; what is wrong with it is said of its file."""
    try:
        return load(image, runs=runs)
    except IsaError as error:
        if error.span is None:
            error.message = f"{kernel.title}: {error.message}"
        raise


def assembled(program: Program, hipcc: Path | None = None, arch: str = "gfx1100") -> CodeObject:
    """The code object of assembly, for the target that it names, or `arch` where it names none. UnsupportedArch for one
    that nothing is built for, ToolError where the assembler rejects it."""
    return load(_assembled(program, toolchain.find(hipcc), arch))


def _assembled(
    program: Program, tools: Toolchain, arch: str, text: str | None = None, *, lacking: bool = False
) -> bytes:
    """text: in the place of the program's own, for the same target. lacking: as for `Toolchain.link`."""
    named = program.target
    image = tools.code_object(
        text or text_of(program), arch=named.name if named else arch, name=program.file, lacking=lacking
    )
    if not program.kernels:
        raise IsaError(f"{program.file} has no kernel", expected="an .amdhsa_kernel block")
    return image


def _tell(on_stage: OnStage | None, stage: Stage, before: Sequence[Stage]) -> None:
    if on_stage:
        on_stage(stage, next((s.shape for s in reversed(before) if s.shape), None))


def _entry(kernel: Kernel, arch: str, tools: Toolchain, flags: Sequence[str]) -> str:
    """The stage folder's name in the cache: begins as the kernel is called, whatever its file is called."""
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', kernel.stem)[:80]}-{_key(kernel, arch, tools, flags)}"


def _key(kernel: Kernel, arch: str, tools: Toolchain, flags: Sequence[str]) -> str:
    """A hash of everything that goes into the stage folder."""
    rooms = Path(__file__).parents[1]
    own = [rooms / f"{module}.py" for module in ("kernels/build", "kernels/stages", "judge/proving")]
    compiled = bool(kernel.source) and kernel.code is None
    # Of isa, all that can have a say in what passes write and stages report: not the simulator, not the clock.
    isa = cache.made_by("sim", "sanitize", "timing")
    made_of = text_of(kernel.code) if isinstance(kernel.code, Program) else repr(kernel.parameters or "")
    mode = [kernel.name, kernel.function, kernel.mode, made_of, kernel.pipeline, arch, tools.identity, *flags]
    mode += [kept.key(kernel, arch, tools, flags)] if compiled else []
    return cache.key(*mode, isa, *(f.read_bytes() for f in own))


def _publish(folder: Path, out: Path | None, name: str) -> Path | None:
    """A copy of a stage folder as <out>/<name>, in place of what was there."""
    if out is None:
        return None
    target = out / name
    with writing(target):
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out, prefix=f".{name}.") as own:
            fresh = Path(own) / name
            shutil.copytree(folder, fresh)
            shutil.rmtree(target, ignore_errors=True)
            fresh.rename(target)
    return target
