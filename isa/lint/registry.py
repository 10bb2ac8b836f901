"""Registry of rules: each rule of `hipgemm lint` and `hipgemm check` once, by its id.

An id is three or four letters for what the rule is about and a number; ids stay what they are, since `--select`,
`--ignore` and comments in assembly name them. A prefix (`LDS`, `LDS00`) stands for all that begin with it.

By whom: "lint" looks at the code over all paths, "check" at what a launch does. docs/lint.md and docs/check.md hold
these tables, and a test holds them against this one.
"""

from __future__ import annotations

from collections.abc import Iterable

from isa.errors import IsaError
from isa.lint.names import Rule

_GUIDE = "RDNA3 ISA guide"
_DESCRIPTOR = "LLVM AMDGPUUsage, Code Object Kernel Descriptor"
_MODEL = "LLVM AMDGPUUsage, memory model"
_START = "LLVM AMDGPUUsage, Initial Kernel Execution State"
_SYNC = "HIP: all threads of a block must reach __syncthreads"
_HAZARDS = "LLVM GCNHazardRecognizer.cpp"
_WAITS = f"{_GUIDE} 5.6"


def _lint(id: str, name: str, meaning: str, source: str, severity: str = "fault") -> Rule:
    return Rule(id, name, meaning, source, severity, ("lint",))


def _check(id: str, name: str, meaning: str, source: str, severity: str = "fault") -> Rule:
    return Rule(id, name, meaning, source, severity, ("check",))


_ALL = (
    # --- what can be read at all
    _lint("ANA001", "cannot be analysed",
          "an instruction, a label or a jump table that the analysis cannot follow", ""),
    # --- comments in the text
    Rule("SUP001", "unused suppression", "a comment suppresses a rule that has no finding there",
         "isa.lint.suppress", "note", ("lint", "check")),
    Rule("SUP002", "unknown suppression", "a comment names a rule that does not exist", "isa.lint.suppress", "fault",
         ("lint", "check")),
    # --- instructions by themselves
    _lint("OPD001", "operand kind",
          "an operand of a kind that the instruction does not take in this position", f"{_GUIDE} 16"),
    _lint("OPD002", "operand width", "more or fewer registers than the operand's type has", f"{_GUIDE} 16"),
    _lint("OPD003", "SGPR alignment",
          "a group of SGPRs begins at a number with the wrong alignment", f"{_GUIDE} 3.4.1"),
    _lint("OPD004", "offset range", "an immediate offset that does not fit its field", f"{_GUIDE} 15"),
    _lint("OPD005", "scalar sources of a VALU instruction",
          "more scalar values than one instruction can read", f"{_GUIDE} 7.2"),
    _lint("OPD006", "one literal", "two different literals, or one in an encoding without a literal", f"{_GUIDE} 7.2"),
    _lint("OPD007", "second source of the 32-bit encoding", "the second source is not a VGPR", f"{_GUIDE} 15.3"),
    _lint("OPD008", "DPP",
          "an instruction, a source or a lane pattern that GFX11 does not have with DPP", f"{_GUIDE} 7.7"),
    _lint("WAIT003", "wait counter", "a counter that the target does not have, or a number that its field cannot hold",
          _WAITS),
    _lint("VOPD001", "VOPD opcodes",
          "a half with an opcode that this position does not allow, or with modifiers", f"{_GUIDE} 7.6"),
    _lint("VOPD002", "VOPD source banks", "both halves read the same source slot from one bank", f"{_GUIDE} 7.6"),
    _lint("VOPD003", "VOPD sources",
          "a source that is not the VGPR or constant that its slot requires", f"{_GUIDE} 7.6"),
    _lint("VOPD004", "VOPD destinations", "not one even and one odd VGPR", f"{_GUIDE} 7.6"),
    _lint("VOPD005", "VOPD scalar sources", "more than two scalar values, or two literals",
          f"{_GUIDE} 7.6; LLVM GCNVOPDUtils.cpp"),
    # --- hazards of the hardware
    _lint("VOPD006", "VOPD source parity", "a VOPD that can miss a VALU write in flight",
          "LLVM pull request 220348, GFX11", "note"),
    _lint("HAZ001", "transcendental result read too early",
          "a VALU instruction reads a result that v_rcp or a similar one has not written yet",
          f"{_HAZARDS}, fixVALUTransUseHazard"),
    _lint("HAZ002", "v_permlane after v_cmpx", "no VALU instruction between them, so v_permlane may use the old EXEC",
          f"{_HAZARDS}, fixVcmpxPermlaneHazards"),
    _lint("HAZ003", "WMMA result read by the next WMMA",
          "the result is read as A or B, with no VALU instruction between",
          f"{_HAZARDS}, fixWMMAHazards"),
    _lint("HAZ004", "VGPRs given back without s_nop", "MSG_DEALLOC_VGPRS without an s_nop directly before it",
          "LLVM GCNSubtarget.h, requiresNopBeforeDeallocVGPRs"),
    _lint("HAZ005", "sources from both sides of an EXEC write", "wave64: part of one source may be the old value",
          f"{_HAZARDS}, fixVALUPartialForwardingHazard"),
    _lint("HAZ006", "lane mask overwritten and read",
          "wave64: a SALU read may return the mask from before a SALU write",
          f"{_HAZARDS}, fixVALUMaskWriteHazard"),
    _lint("HAZ007", "scratch given back while stored to",
          "a scratch store that may be in flight at MSG_DEALLOC_VGPRS",
          "LLVM SIInsertWaitcnts.cpp, pull request 178401"),
    _lint("HAZ008", "VGPRs used after they were given back", "an instruction that names a VGPR after MSG_DEALLOC_VGPRS",
          "RDNA3 ISA guide 16.5, S_SENDMSG"),
    _lint("HAZ009", "SGPR read before its write",
          "RDNA4: an SGPR that VALU had read, written and read without ALU wait between",
          "LLVM AMDGPUWaitSGPRHazards.cpp"),
    # --- waits
    _lint("WAIT001", "load not covered by a wait",
          "a register is used before the load that fills it is complete", _WAITS),
    _lint("WAIT002", "LDS store not covered before a barrier", "an LDS store that may be in flight at a barrier",
          _MODEL),
    _lint("WAIT004", "redundant wait", "nothing that it waits for is in flight, or nothing needs the result", _WAITS,
          "note"),
    _lint("WAIT005", "wait stricter than needed", "a larger count is sufficient", _WAITS, "note"),
    _check("WAIT006", "register read while a load fills it", "no wait between the load and the access", _WAITS),
    _check("WAIT007", "register written while a load fills it", "no wait between the load and the access", _WAITS),
    _check("WAIT008", "LDS store in flight at a barrier",
           "another wave may read the old value after the barrier", _MODEL),
    # --- LDS and memory
    _lint("LDS001", "LDS access without a barrier",
          "one wave writes bytes that another one reads, with no barrier between",
          f"{_GUIDE} 12; {_MODEL}"),
    _check("LDS002", "LDS race",
           "two waves access one byte of LDS, at least one writes, and nothing orders them", _MODEL),
    _check("LDS003", "uninitialized LDS read",
           "the bytes contain what an earlier workgroup left in LDS", f"{_GUIDE} 12"),
    _check("LDS004", "misaligned LDS access",
           "an atomic at an address that is not a multiple of its element's size", f"{_GUIDE} 12"),
    _check("LDS005", "unaligned LDS access",
           "a dword or more at an address that is not a multiple of 4, as a packed type or a memcpy may have it",
           "LLVM AMDGPU FeatureUnalignedDSAccess", "note"),
    _check("MEM001", "memory race",
           "two waves access one byte of memory, at least one writes, and nothing orders them", _MODEL),
    _check("MEM002", "uninitialized memory read", "the contents differ from run to run",
           "HIP: hipMalloc does not initialize memory"),
    _check("MEM003", "misaligned memory access",
           "an address that is not a multiple of the element's size, or of 4 bytes where that is larger; of scalar "
           "loads and atomics not of 4 bytes",
           f"{_GUIDE} 11; LLVM AMDGPU FeatureUnalignedAccessMode"),
    _check("MEM004", "out-of-bounds access", "a read or write outside every allocation",
           "HIP: an access must be inside an allocation"),
    _check("MEM005", "unaligned memory access",
           "a dword or more at an address that is not a multiple of 4, in memory whose elements are not known",
           "LLVM AMDGPU FeatureUnalignedAccessMode", "note"),
    _check("RACE001", "same value stored by two waves",
           "nothing orders the stores, but either order gives the same result", _MODEL,
           "note"),
    _check("RACE002", "lanes store different values to one place", "which of the values remains is not defined",
           "CUDA C++ Programming Guide, SIMT Architecture; HIP follows it"),
    # --- lanes
    Rule("LANE001", "lane beyond the wave",
         "a wave of 32 names lane 32 or more, in all lanes that are on: the number wraps",
         f"{_GUIDE} 7.9 and 12 (DS_BPERMUTE_B32)", "fault", ("lint", "check")),
    Rule("LANE002", "lane beyond the wave in some lanes",
         "some lanes of a wave of 32 name lane 32 or more, which wraps; others name a lane of the wave",
         f"{_GUIDE} 12 (DS_BPERMUTE_B32)", "note", ("lint", "check")),
    _check("LANE003", "value of a lane that is off",
           "a lane uses what a shuffle takes from one that takes no part: 0",
           "CUDA C++ Programming Guide, Warp Shuffle Functions; HIP follows it"),
    _check("LANE004", "fragment laid out as on RDNA3",
           "RDNA4: lanes 16 to 31 hold what lanes 0 to 15 hold of A, or of B, at all times that a v_wmma is run",
           "FlyDSL, pull request 172, and rocjitsu, on a gfx1201", "note"),
    # --- barriers
    _check("BAR001", "barrier in divergent control flow",
           "a wave arrives with lanes off, as in a branch that not all threads take", _SYNC,
           "note"),
    _check("BAR002", "waves missing at a barrier", "a wave of the workgroup has ended without reaching it", _SYNC),
    _check("BAR003", "waves at different barriers", "waves of one workgroup wait at two different barriers", _SYNC),
    _lint("BAR004", "half of a barrier",
          "a wave waits at a barrier where it has not arrived, or arrives a second time",
          "RDNA4 ISA guide, S_BARRIER_WAIT"),
    _lint("BAR005", "store between the halves of a barrier",
          "it may not be complete when other waves go on", "RDNA4 ISA guide, S_BARRIER_WAIT", "note"),
    # --- values
    Rule("VAL001", "uninitialized register read", "the register contains what an earlier wave left", _START, "fault",
         ("lint", "check")),
    _lint("VAL002", "register uninitialized on some path",
          "one path writes the register, another one does not", _START, "note"),
    _lint("VAL003", "value never read",
          "the instruction that should read it is missing, or reads another register", "data flow", "note"),
    _lint("VAL004", "unreachable code", "no path from the entry leads to it", "control flow", "note"),
    # --- clobbers
    _lint("CLB001", "clobbered address", "a register used as an address contains a float or a lane mask", "data flow"),
    _lint("CLB002", "clobbered half of an address",
          "one half of a register pair is overwritten by an unrelated value", "data flow"),
    _lint("CLB003", "clobbered sum", "an accumulated value is overwritten before anything reads it", "data flow"),
    _lint("CLB004", "clobbered comparison",
          "the result is overwritten by a side result, which is read instead", "data flow"),
    _lint("CLB005", "clobbered carry", "s_addc or v_div_fmas reads what was not made for it", "data flow"),
    _lint("CLB006", "clobbered EXEC", "EXEC is restored from a register that contains a number", "data flow"),
    # --- inline assembly
    _lint("ASM001", "register lost to inline assembly",
          "an asm statement writes a register that it does not declare, and code after it reads the register",
          "LLVM LangRef, inline asm constraints"),
    _lint("ASM002", "undeclared register of inline assembly",
          "an asm statement writes a register that it does not declare", "LLVM LangRef, inline asm constraints",
          "note"),
    # --- calls
    _lint("CALL001", "register in flight at a call", "the called function uses the register before it waits",
          f"{_WAITS}; LLVM SIInsertWaitcnts.cpp"),
    _lint("CALL002", "load in flight at a return",
          "a function returns with a load in flight that its caller does not know about",
          f"{_WAITS}; LLVM SIInsertWaitcnts.cpp"),
    _lint("CALL003", "return address overwritten",
          "a function with its return address overwritten cannot return to its caller",
          "LLVM AMDGPUUsage, Function Call Convention"),
    _lint("CALL004", "call not followed", "the target of the call, or its code, is not known",
          "limits of this check", "note"),
    _lint("CALL005", "call at the end of the code",
          "the called function can return, into whatever code follows this one",
          "LLVM LangRef, noreturn"),
    # --- hints to the hardware
    _lint("ADDR001", "PC-relative address out of place",
          "an instruction after s_getpc_b64 that the offset does not count",
          "LLVM AMDGPUUsage, Relocation Records"),
    _lint("ADDR002", "flat base below its aperture",
          "a flat access whose base is no address of LDS or scratch, while base and offset together are one",
          "LLVM pull requests 132353, 153001"),
    _lint("HINT001", "s_clause", "the instructions that follow do not match its length",
          f"{_GUIDE} 5.3; LLVM SIInsertHardClauses.cpp"),
    _lint("HINT002", "s_delay_alu", "a delay for a dependence that does not exist",
          f"{_GUIDE} 16.5; LLVM AMDGPUInsertDelayAlu.cpp", "note"),
    # --- descriptor and metadata
    _lint("CNT001", "counts", "the descriptor gives fewer VGPRs, LDS or scratch than needed, or what does not exist",
          _DESCRIPTOR),
    _lint("CNT002", "initialised SGPRs", "fewer user and system SGPRs than this target initialises correctly",
          "LLVM AMDGPU.td, FeatureUserSGPRInit16Bug", "note"),
    _lint("CNT003", "kernel arguments",
          "metadata with arguments that overlap, end beyond the segment, are misaligned or misnamed",
          "LLVM AMDGPUUsage, Code Object V5 Metadata"),
    _lint("CNT004", "counts that differ",
          "SGPR counts, which waves of GFX10 and later do not depend on, or metadata that disagree with the descriptor",
          _DESCRIPTOR, "note"),
    # --- results of a launch
    _check("RUN001", "instruction budget exhausted", "the instruction budget is used up while a loop is still running",
           "the budget of the launch"),
    _check("RUN002", "result depends on the order of waves", "schedules give different results", _MODEL),
    _check("RUN004", "result depends on the order of atomics",
           "schedules give different results, and only atomics and flags can be the cause", _MODEL, "note"),
    _check("RUN005", "register beyond the wave's", "a VGPR beyond the number in the kernel's descriptor", _DESCRIPTOR),
    _check("RUN006", "launch stopped",
           "a trap (an assertion, abort()), a jump to no code, or a barrier of a grid that is not resident",
           "HIP: such a launch fails"),
    _check("RUN003", "wrong result", "elements differ from the reference", "hipgemm.launch.problem"),
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
                f"there is no rule {prefix!r}", expected="an id, or one of the prefixes " + ", ".join(kinds),
                hint="hipgemm lint --rules lists them",
            )  # fmt: skip
        found |= ids
    return found
