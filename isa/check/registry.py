"""All rules of `hipgemm lint` and `hipgemm check`, each once: what both find is one of these.

An id is three or four letters for what the rule is about and a number; ids stay what they are, since `--select`,
`--ignore` and comments in assembly name them. A prefix (`LDS`, `LDS00`) stands for all that begin with it.

By whom: "lint" looks at the code over all paths, "check" at what a launch does. docs/lint.md and docs/check.md hold
these tables, and a test holds them against this one.
"""

from __future__ import annotations

from collections.abc import Iterable

from isa.check.rules import Rule
from isa.errors import IsaError

_GUIDE = "RDNA3 ISA guide"
_DESCRIPTOR = "LLVM AMDGPUUsage, Code Object Kernel Descriptor"
_MODEL = "LLVM AMDGPUUsage, memory model gfx11"
_START = "LLVM AMDGPUUsage, Initial Kernel Execution State"
_SYNC = "HIP: __syncthreads is for all threads"
_HAZARDS = "LLVM GCNHazardRecognizer.cpp"
_WAITS = f"{_GUIDE} 5.6"


def _lint(id: str, name: str, meaning: str, source: str, severity: str = "fault") -> Rule:
    return Rule(id, name, meaning, source, severity, ("lint",))


def _check(id: str, name: str, meaning: str, source: str, severity: str = "fault") -> Rule:
    return Rule(id, name, meaning, source, severity, ("check",))


_ALL = (
    # --- what can be read at all
    _lint("ANA001", "cannot be analysed", "an instruction, a label or a table that this tool cannot follow", ""),
    # --- comments in the text
    Rule("SUP001", "unused suppression", "a comment ignores a rule that has nothing to say there",
         "isa.check.suppress", "note", ("lint", "check")),
    Rule("SUP002", "unknown suppression", "a comment ignores what is no rule", "isa.check.suppress", "fault",
         ("lint", "check")),
    # --- instructions by themselves
    _lint("OPD001", "operand kind", "an operand is none of what the instruction takes there", f"{_GUIDE} 16"),
    _lint("OPD002", "operand width", "more or fewer registers than the operand's type has", f"{_GUIDE} 16"),
    _lint("OPD003", "SGPR alignment", "a run of SGPRs begins at a number that it may not", f"{_GUIDE} 3.4.1"),
    _lint("OPD004", "offset range", "an immediate offset that its field cannot hold", f"{_GUIDE} 15"),
    _lint("OPD005", "scalar sources of a VALU instruction", "more scalar values than it can read", f"{_GUIDE} 7.2"),
    _lint("OPD006", "one literal", "two different literals, or one where there is no room", f"{_GUIDE} 7.2"),
    _lint("OPD007", "second source of the 32-bit encoding", "it is no VGPR", f"{_GUIDE} 15.3"),
    _lint("WAIT003", "wait counter range", "a wait for a number that its counter's field cannot hold", _WAITS),
    _lint("VOPD001", "VOPD opcodes", "a half that cannot stand there, or has modifiers", f"{_GUIDE} 7.6"),
    _lint("VOPD002", "VOPD source banks", "both halves read one source from one bank", f"{_GUIDE} 7.6"),
    _lint("VOPD003", "VOPD sources", "a source that is not the VGPR or number it has to be", f"{_GUIDE} 7.6"),
    _lint("VOPD004", "VOPD destinations", "not one even and one odd", f"{_GUIDE} 7.6"),
    _lint("VOPD005", "VOPD scalar sources", "more than two scalar values, or two literals",
          f"{_GUIDE} 7.6; LLVM GCNVOPDUtils.cpp"),
    # --- hazards of the hardware
    _lint("VOPD006", "VOPD source parity", "a VOPD that can miss a VALU write under way",
          "LLVM pull request 220348, GFX11"),
    _lint("HAZ001", "transcendental result read too early", "a VALU reads what v_rcp or its kind has yet to write",
          f"{_HAZARDS}, fixVALUTransUseHazard"),
    _lint("HAZ002", "v_permlane after v_cmpx", "no VALU instruction between, so that it may see the old EXEC",
          f"{_HAZARDS}, fixVcmpxPermlaneHazards"),
    _lint("HAZ003", "WMMA result read by the next WMMA", "as A or B, with no VALU instruction between",
          f"{_HAZARDS}, fixWMMAHazards"),
    _lint("HAZ004", "VGPRs given back without s_nop", "MSG_DEALLOC_VGPRS with no s_nop right before it",
          "LLVM GCNSubtarget.h, requiresNopBeforeDeallocVGPRs"),
    _lint("HAZ005", "sources from both sides of an EXEC write", "wave64: a part of one may be the old value",
          f"{_HAZARDS}, fixVALUPartialForwardingHazard"),
    _lint("HAZ006", "lane mask overwritten and read", "wave64: SALU may read it as it was before SALU wrote it",
          f"{_HAZARDS}, fixVALUMaskWriteHazard"),
    # --- waits
    _lint("WAIT001", "load not covered by a wait", "a register used before the load that fills it has landed", _WAITS),
    _lint("WAIT002", "LDS store not covered before a barrier", "an LDS store that may be in flight at a barrier",
          _MODEL),
    _lint("WAIT004", "redundant wait", "nothing that it could wait for is in flight, or nothing needs it", _WAITS,
          "note"),
    _lint("WAIT005", "wait stricter than needed", "a larger number would do", _WAITS, "note"),
    _check("WAIT006", "register read while a load fills it", "no wait stands between the two", _WAITS),
    _check("WAIT007", "register written while a load fills it", "no wait stands between the two", _WAITS),
    _check("WAIT008", "LDS store in flight at a barrier", "another wave may read the old value after it", _MODEL),
    # --- LDS and memory
    _lint("LDS001", "LDS access without a barrier", "bytes that waves write and others read, no barrier between",
          f"{_GUIDE} 12; {_MODEL}"),
    _check("LDS002", "LDS race", "two waves at one byte of LDS, one writes, nothing orders them", _MODEL),
    _check("LDS003", "uninitialized LDS read", "LDS holds what a workgroup before left", f"{_GUIDE} 12"),
    _check("LDS004", "misaligned LDS access", "an address that is no multiple of the element", f"{_GUIDE} 12"),
    _check("MEM001", "memory race", "two waves at one byte of memory, one writes, nothing orders them", _MODEL),
    _check("MEM002", "uninitialized memory read", "what it holds differs from run to run",
           "hipMalloc gives memory as it is"),
    _check("MEM003", "misaligned memory access",
           "an address that is no multiple of the array's element; of 4 bytes, where that is wider or not known",
           f"{_GUIDE} 11; LLVM AMDGPU FeatureUnalignedAccessMode"),
    _check("MEM004", "out-of-bounds access", "a read or write where no allocation is",
           "HIP: an access is in an allocation"),
    _check("RACE001", "same value stored by two waves", "nothing orders them, and either leaves the same", _MODEL,
           "note"),
    _check("RACE002", "lanes store different values to one place", "one instruction; which lane's value stays is open",
           "CUDA C++ Programming Guide, SIMT Architecture; HIP follows it"),
    # --- barriers
    _check("BAR001", "barrier in divergent control flow", "is it in a branch that not all threads take?", _SYNC,
           "note"),
    _check("BAR002", "waves missing at a barrier", "a wave of the workgroup has ended and will not come", _SYNC),
    _check("BAR003", "waves at different barriers", "waves of a workgroup wait at two places", _SYNC),
    # --- values
    Rule("VAL001", "uninitialized register read", "it holds what a wave before left", _START, "fault",
         ("lint", "check")),
    _lint("VAL002", "register uninitialized on some path", "another path writes it", _START, "note"),
    _lint("VAL003", "value never read", "its reader is missing, or takes another", "data flow", "note"),
    _lint("VAL004", "unreachable code", "no path from the entry comes there", "control flow", "note"),
    # --- clobbers
    _lint("CLB001", "clobbered address", "an address that is a float or a lane mask", "data flow"),
    _lint("CLB002", "clobbered half of an address", "one half of a pair overwritten by something else", "data flow"),
    _lint("CLB003", "clobbered sum", "what was added up is overwritten before anything reads it", "data flow"),
    _lint("CLB004", "clobbered comparison", "its result is overwritten by a by-product, which is read", "data flow"),
    _lint("CLB005", "clobbered carry", "s_addc or s_subb adds what is no carry", "data flow"),
    _lint("CLB006", "clobbered EXEC", "lanes are brought back from a number", "data flow"),
    # --- calls
    _lint("CALL001", "register in flight at a call", "the function touches it before it waits",
          f"{_WAITS}; LLVM SIInsertWaitcnts.cpp"),
    _lint("CALL002", "load in flight at a return", "the caller cannot know what to wait for",
          f"{_WAITS}; LLVM SIInsertWaitcnts.cpp"),
    _lint("CALL003", "return address overwritten", "the function returns to itself",
          "LLVM AMDGPUUsage, Function Call Convention"),
    _lint("CALL004", "call not followed", "where it goes, or what stands there, is not known",
          "limits of this check", "note"),
    _lint("CALL005", "call at the end of the code", "the function can return, to what stands after this one",
          "LLVM LangRef, noreturn"),
    # --- hints to the hardware
    _lint("ADDR001", "PC-relative address out of place", "something between s_getpc_b64 and what it does not count",
          "LLVM AMDGPUUsage, Relocation Records"),
    _lint("HINT001", "s_clause", "it covers something else than its number says",
          f"{_GUIDE} 5.3; LLVM SIInsertHardClauses.cpp"),
    _lint("HINT002", "s_delay_alu", "a delay for a dependence that is not there",
          f"{_GUIDE} 16.5; LLVM AMDGPUInsertDelayAlu.cpp", "note"),
    # --- descriptor and metadata
    _lint("CNT001", "counts", "registers and sizes in code, descriptor and metadata that disagree", _DESCRIPTOR),
    _lint("CNT002", "initialised SGPRs", "fewer SGPRs at the start than this target initialises rightly",
          "LLVM AMDGPU.td, FeatureUserSGPRInit16Bug"),
    _lint("CNT003", "kernel arguments", "metadata in which they overlap, pass the end, are misaligned or misnamed",
          "LLVM AMDGPUUsage, Code Object V5 Metadata"),
    # --- results of a launch
    _check("RUN001", "instruction budget exhausted", "the budget of instructions is spent and a loop goes on",
           "the budget of the launch"),
    _check("RUN002", "result depends on the order of waves", "schedules leave different results", _MODEL),
    _check("RUN004", "result depends on the order of atomics",
           "schedules leave different results, and nothing but atomics and flags decides", _MODEL, "note"),
    _check("RUN005", "register beyond the wave's", "a VGPR that the kernel's descriptor does not give", _DESCRIPTOR),
    _check("RUN003", "wrong result", "elements of C are not the reference's", "hipgemm.problem"),
)  # fmt: skip

RULES: dict[str, Rule] = {rule.id: rule for rule in _ALL}
"""id -> rule."""


def chosen(select: Iterable[str], ignore: Iterable[str]) -> frozenset[str]:
    """The ids that both leave: those that `select` names (all where it names none), but for those that `ignore` names.
    Each is an id, a prefix of ids, or several with commas between. IsaError for what no id begins with."""
    wanted = _named(select) or frozenset(RULES)
    return wanted - _named(ignore)


def named(prefix: str) -> frozenset[str]:
    """The ids that begin with this; none where it is empty."""
    return frozenset(id for id in RULES if prefix and id.startswith(prefix))


def _named(prefixes: Iterable[str]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for prefix in (part.strip().upper() for text in prefixes for part in text.split(",")):
        if not (ids := named(prefix)):
            kinds = sorted({id.rstrip("0123456789") for id in RULES})
            raise IsaError(
                f"no rule is called {prefix!r}", expected="an id, or what one begins with: " + ", ".join(kinds),
                hint="hipgemm lint --rules lists them",
            )  # fmt: skip
        found |= ids
    return found
