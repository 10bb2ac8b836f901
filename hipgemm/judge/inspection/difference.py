"""Difference of two kernels: numbers, instructions, findings, predicted time, and whether they do the same.

    numbers       what `hipgemm.judge.inspection` counts: registers, LDS, occupancy, instructions by kind
    hunks         instructions that went and came, as a longest-common-subsequence diff of their texts
    beside        what differs beside instructions: descriptor, metadata, data that the kernel names
    findings      lint's, by rule and the text that they stand at: what came, what went
    predictions   of both, where somebody knows a launch
    proof         translation validation (`hipgemm.judge.proving.same`), where both are assembly

The functions that a kernel may call belong to it: their instructions are counted and compared (`isa.prove.named`).

Limits: instructions are compared as texts, so a kernel on other registers has changed everywhere. Where nothing can be
proved, the same kernel is one with the same instructions and nothing that differs beside them.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.judge.assumed import NOTHING, Assumed
from hipgemm.judge.inspection import Inspection, flow_of, inspect, mix
from hipgemm.judge.inspection.linting import lint
from hipgemm.kernels.source_lines import Source, proof_with_origins, with_origins
from isa.analysis.cfg import Cfg
from isa.asm.program import Kernel as ProgramKernel
from isa.asm.program import Program
from isa.display import Shown
from isa.errors import Finding, IsaError
from isa.lint import sound
from isa.prove import named, settings
from isa.prove.named import names_in
from isa.prove.proof import Difference
from isa.semantics.branches import branch_target

if TYPE_CHECKING:
    from hipgemm.judge.predict import Prediction
    from hipgemm.kernels.object import Kernel
    from isa.object.code_object import CodeObject
    from isa.prove.proof import Proof

NUMBERS = {
    "vgprs": "VGPRs", "sgprs": "SGPRs", "lds": "bytes of LDS", "scratch": "bytes of scratch",
    "vgpr_spills": "VGPRs spilled", "sgpr_spills": "SGPRs spilled",
}  # fmt: skip


@dataclass(frozen=True)
class Hunk:
    """Instructions that went, and what stands in their place. at: the first one's place in the old and the new text."""

    at: tuple[str, str]
    gone: tuple[str, ...]
    come: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class KernelDifference(Shown):
    """files: what the two are called. numbers: what -> (old, new), all of them. modes: "WGP" or "CU". proof: None where
    there can be none, for the reason `why`. beside: what differs beside instructions, in words. predictions: old and
    new, None where no launch is known, for the reason `unlaunched`. assumed: of the arguments, in words."""

    files: tuple[str, str]
    kernel: str
    numbers: Mapping[str, tuple[float, float]]
    modes: tuple[str, str]
    hunks: tuple[Hunk, ...]
    come: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    proof: Proof | None
    why: str = ""
    beside: tuple[str, ...] = ()
    predictions: tuple[Prediction, Prediction] | None = field(default=None)
    unlaunched: str = ""
    assumed: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """ "proved", "different" or "unproven"; "the same instructions" where there is no proof, and no need of one."""
        if self.proof is None:
            return "unproven"
        same = self.proof.verdict == "unproven" and not self.hunks and not self.beside
        return "the same instructions" if same else self.proof.verdict

    @property
    def worse(self) -> bool:
        """Not shown to do the same, or with faults that were not there."""
        faults = any(finding.severity == "fault" for finding in self.come)
        return faults or self.verdict in ("different", "unproven")

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        proof = self.proof
        return {
            "old": self.files[0], "new": self.files[1], "kernel": self.kernel, "verdict": self.verdict,
            "proof": str(proof) if proof else self.why, "judge": proof.judge if proof else None,
            "assumptions": list(proof.assumptions) if proof else [], "assumed": list(self.assumed),
            "numbers": {what: {"old": old, "new": new} for what, (old, new) in self.numbers.items()},
            "mode": {"old": self.modes[0], "new": self.modes[1]},
            "instructions": [{"old": h.at[0], "new": h.at[1], "gone": h.gone, "come": h.come} for h in self.hunks],
            "beside": list(self.beside),
            "findings": {"come": [str(f) for f in self.come], "gone": [str(f) for f in self.gone]},
            "time_ms": [p.timing.time_s * 1e3 for p in self.predictions] if self.predictions else None,
            "taken_from_a_run": [p.ran or None for p in self.predictions] if self.predictions else None,
            "launch": self.unlaunched or "known",
        }  # fmt: skip


def difference(
    old: Program | CodeObject,
    new: Program | CodeObject,
    files: tuple[str, str],
    kernel: Kernel,
    name: str | None = None,
    sources: Sequence[Source] = (dict, dict),
    assumed: Assumed = NOTHING,
) -> KernelDifference:
    """What changed from one kernel to another. files: what to call them; kernel: what is known of the new one; name: of
    the kernel, where there are more; sources: as `with_origins` takes them; assumed: of the arguments, for proof and
    lint. IsaError where there is no such kernel, or nothing that can be analysed."""
    from hipgemm.judge import proving

    first, second = proving.names_of(old, new, kernel, name)
    before, now = inspect(old, files[0], first), inspect(new, files[1], second)
    proof, why, others = None, "", list[str]()
    sides = list(zip((old, new), (before.kernel, now.kernel), files, strict=True))
    try:
        texts = [proving.readable(given, its, file) for given, its, file in sides]
        code = [[f.flow for f in names_in(text).functions(its)] for text, (_, its, _) in zip(texts, sides, strict=True)]
    except IsaError as error:
        why = error.message
        code = [[flow_of(given, file, its)] for given, its, file in sides]
    else:
        proof = proof_with_origins(proving.same(texts[0], texts[1], kernel, now.kernel, assumed), *sources)
        others = [str(d) for d in beside(texts[0].kernel(before.kernel), texts[1].kernel(now.kernel))]
    found = [lint(given, file, its, assumed={its: assumed.known}) for given, its, file in sides]
    return KernelDifference(
        files, now.kernel, _numbers(before, now, code), (before.mode, now.mode), tuple(_hunks(code, files)),
        tuple(with_origins(_missing(found[1], found[0]), sources[1])),
        tuple(with_origins(_missing(found[0], found[1]), sources[0])), proof, why, tuple(others),
        assumed=assumed.sentences,
    )  # fmt: skip


def beside(a: ProgramKernel, b: ProgramKernel) -> Iterator[Difference]:
    """What differs that is no instruction of the kernel's or of what it calls."""
    if (setting := settings.of_start(a, b)) is not None:
        yield setting
    unfit = [[f.message for f in sound.of_start(kernel.program, kernel.name)] for kernel in (a, b)]
    yield from (Difference("fault", what, None, None) for what in unfit[1] if what not in unfit[0])
    yield from (d for d in named.differences(a, b) if d.kind != "code")


def _numbers(old: Inspection, new: Inspection, code: Sequence[Sequence[Cfg]]) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {
        text: (getattr(old, name), getattr(new, name)) for name, text in NUMBERS.items()
    }
    found["waves a SIMD"] = old.occupancy.waves, new.occupancy.waves
    first, second = (mix(inst for flow in flows for inst in flow.instructions) for flows in code)
    found["instructions"] = first.total, second.total
    found |= {f"{kind} instructions": (first.counts[kind], second.counts[kind]) for kind in first.counts}
    if old.loop and new.loop:
        found["instructions of the main loop"] = old.loop.total, new.loop.total
        found["bank clashes of the main loop"] = (sum(r.clashes for r in old.rows), sum(r.clashes for r in new.rows))
    return found


def _hunks(code: Sequence[Sequence[Cfg]], files: tuple[str, str]) -> Iterator[Hunk]:
    """Of the kernel and of each function by its name."""
    flows = [{flow.name: flow for flow in row[1:]} for row in code]
    yield from _hunks_of((code[0][0], code[1][0]), files)
    for name in dict.fromkeys([*flows[0], *flows[1]]):
        yield from _hunks_of((flows[0].get(name), flows[1].get(name)), files)


def _hunks_of(flows: tuple[Cfg | None, Cfg | None], files: tuple[str, str]) -> Iterator[Hunk]:
    rows = [flow.instructions if flow else () for flow in flows]
    texts = [[str(inst) for inst in row] for row in rows]
    if texts[0] == texts[1]:  # branches may go elsewhere
        texts = [_with_targets(flow) for flow in flows if flow]
    matcher = difflib.SequenceMatcher(None, texts[0], texts[1], autojunk=False)

    def place(side: int, i: int) -> str:
        if not rows[side]:
            return "nothing"
        inst = rows[side][min(i, len(rows[side]) - 1)]
        if inst.span is None or inst.address is not None:
            return f"{files[side]}:{inst.address:#x}"
        origin = inst.span.origin
        return origin.brief if origin else f"{Path(inst.span.file).name}:{inst.span.line}"

    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            yield Hunk((place(0, a), place(1, c)), tuple(texts[0][a:b]), tuple(texts[1][c:d]))


def _with_targets(flow: Cfg) -> list[str]:
    """Instructions, branches with the position that they go to."""
    places: dict[str | int, int] = {
        inst.address: i for i, inst in enumerate(flow.instructions) if inst.address is not None
    } | dict(flow.labels)
    targets = [None if (at := branch_target(inst)) is None else places.get(at) for inst in flow.instructions]
    return [
        str(inst) if target is None else f"{inst} (to instruction {target})"
        for inst, target in zip(flow.instructions, targets, strict=True)
    ]


def _missing(findings: Sequence[Finding], others: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings that have no like among the others: of the same rule, at the same text."""

    def key(f: Finding) -> tuple[str, str]:
        return f.id, f.span.text.strip() if f.span else f.message

    left = Counter(map(key, others))
    out = []
    for finding in findings:
        if left[key(finding)]:
            left[key(finding)] -= 1
        else:
            out.append(finding)
    return tuple(out)
