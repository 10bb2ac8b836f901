"""What changed between two kernels: numbers, instructions, findings, predicted time, and whether they do the same.

    numbers       what `hipgemm.inspection` counts: registers, LDS, occupancy, instructions by kind
    hunks         instructions that went and came, as a longest-common-subsequence diff of their texts
    findings      lint's, by rule and the text that they stand at: what came, what went
    predictions   of both, where somebody knows a launch
    proof         translation validation (`hipgemm.proving.same`), where both are assembly

Limits: instructions are compared as texts, so a kernel on other registers has changed everywhere; the same instructions
are taken for the same kernel only where nothing can be proved, and constants beside the code are not compared then.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.inspection import Inspection, flow_of, inspect
from hipgemm.inspection.linting import lint
from isa.asm.program import Program
from isa.display import Shown
from isa.errors import Finding, IsaError

if TYPE_CHECKING:
    from hipgemm.kernel_object import Kernel
    from hipgemm.predict import Prediction
    from isa.check.equivalence import Proof
    from isa.object.code_object import CodeObject

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
    there can be none, for the reason `why`. predictions: old and new, None where no launch is known, for the reason
    `unlaunched`."""

    files: tuple[str, str]
    kernel: str
    numbers: Mapping[str, tuple[float, float]]
    modes: tuple[str, str]
    hunks: tuple[Hunk, ...]
    come: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    proof: Proof | None
    why: str = ""
    predictions: tuple[Prediction, Prediction] | None = field(default=None)
    unlaunched: str = ""

    @property
    def verdict(self) -> str:
        """ "proved", "different" or "unproven"; "the same instructions" where there is no proof, and no need of one."""
        verdict = self.proof.verdict if self.proof else "unproven"
        return "the same instructions" if verdict == "unproven" and not self.hunks else verdict

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
            "proof": str(proof) if proof else self.why,
            "numbers": {what: {"old": old, "new": new} for what, (old, new) in self.numbers.items()},
            "mode": {"old": self.modes[0], "new": self.modes[1]},
            "instructions": [{"old": h.at[0], "new": h.at[1], "gone": h.gone, "come": h.come} for h in self.hunks],
            "findings": {"come": [str(f) for f in self.come], "gone": [str(f) for f in self.gone]},
            "time_ms": [p.timing.time_s * 1e3 for p in self.predictions] if self.predictions else None,
            "launch": self.unlaunched or "known",
        }  # fmt: skip


def difference(
    old: Program | CodeObject,
    new: Program | CodeObject,
    files: tuple[str, str],
    kernel: Kernel,
    name: str | None = None,
) -> KernelDifference:
    """What changed from one kernel to another. files: what to call them; kernel: what is known of the new one; name: of
    the kernel, where there are more. IsaError where there is no such kernel, or nothing that can be analysed."""
    from hipgemm import proving

    own = name or (kernel.name if kernel.name in new.kernels else None)
    now = inspect(new, files[1], own)
    before_name = now.kernel if now.kernel in old.kernels else None
    before = inspect(old, files[0], before_name)
    proof, why = None, ""
    try:
        texts = [proving.readable(g, one.kernel, f) for g, one, f in zip((old, new), (before, now), files, strict=True)]
    except IsaError as error:
        why = error.message
    else:
        proof = proving.same(texts[0], texts[1], kernel, now.kernel)
    found = [lint(given, file, one.kernel) for given, file, one in zip((old, new), files, (before, now), strict=True)]
    return KernelDifference(
        files, now.kernel, _numbers(before, now), (before.mode, now.mode),
        _hunks(old, new, files, (before.kernel, now.kernel)), _missing(found[1], found[0]),
        _missing(found[0], found[1]), proof, why,
    )  # fmt: skip


def _numbers(old: Inspection, new: Inspection) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {
        text: (getattr(old, name), getattr(new, name)) for name, text in NUMBERS.items()
    }
    found["waves a SIMD"] = old.occupancy.waves, new.occupancy.waves
    found["instructions"] = old.mix.total, new.mix.total
    found |= {f"{kind} instructions": (old.mix.counts[kind], new.mix.counts[kind]) for kind in old.mix.counts}
    if old.loop and new.loop:
        found["instructions of the main loop"] = old.loop.total, new.loop.total
        found["bank clashes of the main loop"] = (sum(r.clashes for r in old.rows), sum(r.clashes for r in new.rows))
    return found


def _hunks(
    old: Program | CodeObject, new: Program | CodeObject, files: tuple[str, str], names: tuple[str, str]
) -> tuple[Hunk, ...]:
    flows = [flow_of(g, file, name) for g, file, name in zip((old, new), files, names, strict=True)]
    rows = [flow.instructions for flow in flows]
    texts = [[str(inst) for inst in row] for row in rows]
    matcher = difflib.SequenceMatcher(None, texts[0], texts[1], autojunk=False)

    def place(side: int, i: int) -> str:
        inst = rows[side][min(i, len(rows[side]) - 1)]
        if inst.span is None or inst.address is not None:
            return f"{files[side]}+{inst.address:#x}"
        return f"{Path(inst.span.file).name}:{inst.span.line}"

    return tuple(
        Hunk((place(0, a), place(1, c)), tuple(texts[0][a:b]), tuple(texts[1][c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    )


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
