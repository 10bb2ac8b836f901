"""A library's kernels, all of them: what each takes, whether each instruction is described, what lint finds.

In:  files and folders, and whatever is a kernel; in a folder what has neither a code object for gfx11 nor kernels in
     HIP is passed over.
Out: an `Audit` of one `AuditRow` a kernel. Rows are made by jobs (`look`) of some 100 KB of code each, which carry the
     code object with them, so that they run in any process or on any host (`hipgemm.pool`); each row is a line of the
     state file the moment it is known (`State`), and a later audit of the same code by the same lint takes it from
     there.

A kernel counts once for each code object that holds it, a code object once. Counted are the instructions of kernels,
not of the functions that they call; lint looks into these.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import random
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hipgemm.judge.inspection import Held, contents
from hipgemm.kernels.build import linked
from hipgemm.kernels.files import HEADERS, HIP, read_kernels
from hipgemm.measure.jsonl import Lines
from hipgemm.pool import Pool
from isa import cache
from isa.asm.parse import parse_instruction
from isa.display import number_of
from isa.errors import Finding, IsaError
from isa.garbage import uncollected
from isa.lint import sound
from isa.lint.lint import lint_code_object
from isa.object import bundle, code_object
from isa.object.code_object import CodeObject, OtherTarget
from isa.targets import TARGETS, runs_on

JOB_BYTES = 100_000
"""Of code in a job: some seconds of lint."""
NOT_DECODED = "not decoded"
_MAGIC = (b"\x7fELF", bundle.MAGIC, bundle.COMPRESSED)
_UNLINKED = struct.pack("<HH", 1, 224)
"""An ELF's type and machine where it is an assembler's output for an AMD GPU (ET_REL, EM_AMDGPU)."""


@dataclass(frozen=True)
class Said:
    """One finding. places: how many have its cause."""

    id: str
    rule: str
    severity: str
    message: str
    where: str
    expected: str
    found: str
    help: str
    places: int

    @staticmethod
    def of(f: Finding) -> Said:
        where = f.where.rpartition(":")[2]
        return Said(
            f.id, f.rule, f.severity, f.message, where, f.expected or "", f.got or "", f.hint or "", 1 + len(f.related)
        )


@dataclass(frozen=True)
class AuditRow:
    """One kernel. code: the hash of its code object. undescribed: mnemonic -> how many; bytes that are no instruction
    under NOT_DECODED. notes: how many by rule."""

    library: str
    code: str
    held: Held
    instructions: int
    undescribed: Mapping[str, int]
    faults: tuple[Said, ...]
    notes: Mapping[str, int]

    @staticmethod
    def from_json(given: dict[str, Any]) -> AuditRow:
        """What `asdict` made. TypeError, KeyError for anything else."""
        faults = tuple(Said(**one) for one in given.pop("faults"))
        return AuditRow(held=Held(**given.pop("held")), faults=faults, **given)


@dataclass(frozen=True)
class Job:
    """Some kernels of a code object. library: the file that holds it; lint: False to count only."""

    library: str
    code: str
    image: bytes = field(repr=False)
    kernels: tuple[str, ...]
    lint: bool = True


@dataclass(frozen=True)
class Audit:
    """rows: worst first."""

    libraries: tuple[str, ...]
    rows: tuple[AuditRow, ...]

    @property
    def instructions(self) -> int:
        return sum(row.instructions for row in self.rows)

    @functools.cached_property
    def undescribed(self) -> Counter[str]:
        """Mnemonic -> how many instructions."""
        return sum((Counter(row.undescribed) for row in self.rows), Counter())

    @property
    def described(self) -> float | None:
        """The share of instructions that are."""
        return 1 - self.undescribed.total() / self.instructions if self.instructions else None

    def by_rule(self) -> list[tuple[str, str, int, int]]:
        """(id, rule, faults, kernels with some), most kernels first."""
        faults, kernels = Counter[str](), Counter[str]()
        names: dict[str, str] = {}
        for row in self.rows:
            faults.update(f.id for f in row.faults)
            kernels.update({f.id for f in row.faults})
            names.update((f.id, f.rule) for f in row.faults)
        order = sorted(faults, key=lambda id: (-kernels[id], id))
        return [(id, names[id], faults[id], kernels[id]) for id in order]

    def notes(self) -> Counter[str]:
        return sum((Counter(row.notes) for row in self.rows), Counter())

    def as_object(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "libraries": self.libraries,
            "kernels": len(self.rows),
            "instructions": self.instructions,
            "described": self.described,
            "undescribed": dict(self.undescribed.most_common()),
            "rules": [dict(zip(("id", "rule", "faults", "kernels"), r, strict=True)) for r in self.by_rule()],
            "notes": dict(self.notes().most_common()),
            "rows": [asdict(row) for row in self.rows],
        }


class State(Lines):
    """The rows that are known. lint: whether rows are linted ones; tell: called with what a user must know.

    IsaError where it cannot be written, another audit has it, or it is no such file."""

    def __init__(self, path: Path, lint: bool, tell: Callable[[str], None]) -> None:
        super().__init__(path, "audit", "wait for it, or choose another page (-o)")
        self.by = cache.made_by("sim", "sanitize", "timing", "gemm", "passes", *(() if lint else ("lint", "prove")))
        self.rows: dict[tuple[str, str], AuditRow] = {}
        shape = '{"by": ..., "row": {...}}'
        if others := self.read(self._take, "row of an audit", shape, "remove the line, or choose another -o"):
            tell(f"{path}: made again: {number_of(others, 'row')} of another version of lint")

    def _take(self, fields: dict[str, Any]) -> bool:
        row, ours = AuditRow.from_json(fields["row"]), fields["by"] == self.by
        if ours:
            self.rows[row.code, row.held.kernel] = row
        return ours

    def add(self, row: AuditRow) -> None:
        """Written and flushed."""
        self.rows[row.code, row.held.kernel] = row
        self.write({"by": self.by, "row": asdict(row)})


@dataclass(frozen=True)
class Source:
    """A code object. library: the first file that holds it; code: its hash."""

    library: str
    code: str
    image: bytes = field(repr=False)
    loaded: CodeObject = field(repr=False)


def sources(
    paths: Sequence[Path], arch: str | None, tell: Callable[[str], None], flags: Sequence[str] = ()
) -> list[Source]:
    """The code objects in files and folders, each once; what is no folder may be all that `hipgemm.kernels.files`
    takes, and is built, as is HIP source in folders. flags: for HIP source. IsaError for a file that has none or cannot
    be read, and where there is none at all; what is wrong with a file in a folder is told."""
    found: dict[str, Source] = {}

    def add(name: str, image: bytes) -> None:
        code = hashlib.sha256(image).hexdigest()[:16]
        if code not in found:
            loaded = code_object.load(image, runs=False)
            if arch is not None and not runs_on(loaded.arch, arch):
                raise OtherTarget(f"{name} is code for another target", expected=arch, got=loaded.arch)
            found[code] = Source(name, code, image, loaded)

    def built(path: Path) -> None:
        for kernel in read_kernels(str(path), None, flags, arch=arch):
            add(kernel.called, linked(kernel, arch=arch or "gfx1100", runs=False).image)

    for path in paths:
        if not path.is_dir():
            built(path)
            continue
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            try:
                if _has_kernels(file):
                    built(file)
                for image in _images(file, arch):
                    add(str(file), image)
            except IsaError as error:
                if str(file) not in str(error):
                    error.message = f"{file}: {error.message}"
                if not isinstance(error, OtherTarget):
                    tell(str(error))
    if not found:
        raise IsaError(f"no code for {arch or 'gfx11'} in {', '.join(map(str, paths))}")
    return list(found.values())


def files_with_kernels(folder: Path) -> list[str]:
    """The files of a folder that hold kernels: HIP source, assembly, code objects, libraries with such."""

    def holds(file: Path) -> bool:
        try:
            text = file.suffix == ".s" and b".amdhsa_kernel" in file.read_bytes()
            return text or _has_kernels(file) or bool(_images(file, None))
        except IsaError as error:
            return not isinstance(error, OtherTarget)

    return [str(file) for file in sorted(p for p in folder.rglob("*") if p.is_file()) if holds(file)]


def _has_kernels(file: Path) -> bool:
    """Whether it is HIP source with kernels, and no header: these are compiled with what includes them."""
    try:
        return file.suffix in HIP and file.suffix not in HEADERS and b"__global__" in file.read_bytes()
    except OSError as error:
        raise IsaError(error.strerror or "it cannot be read") from error


def _images(file: Path, arch: str | None) -> list[bytes]:
    """The code objects of a file in a folder, which may be anything."""
    try:
        with file.open("rb") as stream:
            head = stream.read(32)
            if not head.startswith(_MAGIC) or head[16:20] == _UNLINKED:
                return []
            stream.seek(0)
            return bundle.images(stream.read(), arch)
    except OSError as error:
        raise IsaError(error.strerror or "it cannot be read") from error


def chosen(held: Sequence[Source], sample: int, seed: int) -> set[tuple[str, str]]:
    """(code object, kernel) of what an audit is about. sample: only so many, by chance; 0 for all."""
    every = [(source.code, name) for source in held for name in source.loaded.kernels]
    return set(random.Random(seed).sample(every, min(sample, len(every))) if sample else every)


def jobs(held: Sequence[Source], wanted: Set[tuple[str, str]], lint: bool) -> list[Job]:
    """What is to be done: the largest code object's first, each one's in a row, since a worker keeps the last one."""
    found = []
    for s in sorted(held, key=lambda s: -len(s.image)):
        names = [name for name in s.loaded.kernels if (s.code, name) in wanted]
        found += [(size, Job(s.library, s.code, s.image, part, lint)) for size, part in _parts(s.loaded, names)]
    return [job for _, job in found]


def _parts(code: CodeObject, names: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(bytes, kernels) of jobs."""
    part: list[str] = []
    size = 0
    for name in sorted(names, key=lambda name: -code.kernels[name].code_size):
        part.append(name)
        size += code.kernels[name].code_size
        if size >= JOB_BYTES:
            yield size, tuple(part)
            part, size = [], 0
    if part:
        yield size, tuple(part)


def look(job: Job) -> list[AuditRow]:
    """The rows of a job: what a worker does."""
    code = _loaded(job.image)
    _settle()
    with uncollected():
        return [_row(job, code, name) for name in job.kernels]


@functools.cache
def _settle() -> None:
    """What a worker has imported stays: Python need not look through it for garbage again and again."""
    gc.freeze()


@functools.lru_cache(2)
def _loaded(image: bytes) -> CodeObject:
    return code_object.load(image, runs=False)


def _row(job: Job, code: CodeObject, name: str) -> AuditRow:
    (held,) = contents(code, name)
    rows = code.disassembled(name)
    missing = Counter[str]()
    for text, times in Counter(text for _, _, text in rows).items():
        if mnemonic := _undescribed(text, code.arch):
            missing[mnemonic] += times
    said = lint_code_object(code, job.library, name) if job.lint else _misfits(code, name)
    faults = tuple(Said.of(f) for f in said if f.severity == "fault")
    notes = Counter(f.id for f in said if f.severity != "fault")
    return AuditRow(job.library, job.code, held, len(rows), dict(missing), faults, dict(notes))


def _misfits(code: CodeObject, kernel: str) -> list[Finding]:
    """Where the descriptor does not fit; of code that cannot be followed, what can be said without."""
    try:
        return sound.of_start(code, kernel)
    except IsaError:
        return sound.of_statements(code.kernel(kernel))


@functools.lru_cache(maxsize=1 << 16)
def _undescribed(text: str, arch: str) -> str:
    """The mnemonic where it is not described, "" where it is."""
    if text.startswith("."):
        return NOT_DECODED
    try:
        for half in parse_instruction(text, target=TARGETS[arch]).halves:
            half.desc  # noqa: B018  IsaError where there is none
    except IsaError:
        return text.split()[0]
    return ""


def run(work: Sequence[Job], pool: Pool, state: State, tell: Callable[[int], None]) -> None:
    """Does the jobs; tell: called with so many more kernels. Two jobs a worker are in progress, no more, since they
    carry their code object."""
    waiting = iter(work)
    running: set[Future[list[AuditRow]]] = set()
    while True:
        for job in waiting:
            running.add(pool.executor.submit(look, job))
            if len(running) >= 2 * pool.size:
                break
        if not running:
            return
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            rows = future.result()
            for row in rows:
                state.add(row)
            tell(len(rows))


def audit(held: Sequence[Source], rows: Iterable[AuditRow]) -> Audit:
    """The rows with the worst first: many kinds of faults, then many faults, then spills and scratch."""
    order = sorted(rows, key=_badness, reverse=True)
    return Audit(tuple(dict.fromkeys(source.library for source in held)), tuple(order))


def _badness(row: AuditRow) -> tuple[object, ...]:
    kinds = {f.id for f in row.faults}
    return len(kinds), len(row.faults), row.held.vgpr_spills + row.held.sgpr_spills, row.held.scratch, row.held.kernel
