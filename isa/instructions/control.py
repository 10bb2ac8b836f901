"""Program control (SOPP and its kin in SOP1, SOPK): RDNA3 ISA guide 5 and 16.5; cache control of SMEM and MUBUF."""

from typing import Any

from isa.semantics.instruction import inst

# --- where control goes on
inst("s_branch l", sched="branch", effect="branch", terminator=True)
inst("s_cbranch_scc0 l", lambda scc: ~scc, sched="branch", effect="branch", reads="scc")
inst("s_cbranch_scc1 l", lambda scc: scc, sched="branch", effect="branch", reads="scc")
for name in ("vcc", "exec"):
    inst(f"s_cbranch_{name}z l", lambda mask: mask == 0, sched="branch", effect="branch", reads=name)
    inst(f"s_cbranch_{name}nz l", lambda mask: mask != 0, sched="branch", effect="branch", reads=name)
inst("s_setpc_b64 s.u64", lambda a: a, sched="branch", writes="pc", terminator=True)
inst("s_swappc_b64 =s.u64, s.u64", lambda a, here: (here, a), sched="branch", writes="pc", fields="next")
inst("s_call_b64 =s.u64, l", lambda here: here, sched="branch", effect="branch", fields="next")
inst("s_endpgm", sched="end", effect="end", terminator=True)
inst("s_endpgm_saved", sched="end", effect="end", terminator=True)
inst("s_trap i.u16", sched="trap", effect="trap")
inst("s_barrier", sched="barrier", effect="barrier", until="gfx1200")
# In two halves, between which a wave may do other work: it arrives, and waits for the others. -1 is the barrier of the
# workgroup; named ones are not simulated (RDNA4 ISA guide, S_BARRIER_SIGNAL, S_BARRIER_WAIT).
inst("s_barrier_signal s.b32", sched="barrier_signal", effect="signal", since="gfx1200")
inst("s_barrier_wait i.i16", sched="barrier_wait", effect="barrier", since="gfx1200")
_NAMED: dict[str, Any] = {"sched": "barrier_state", "effect": "named barrier", "since": "gfx1200"}
inst("s_barrier_signal_isfirst s.b32", writes="scc", **_NAMED | {"sched": "barrier_first"})
inst("s_barrier_init s.b32", reads="m0", **_NAMED)
inst("s_barrier_join s.b32", **_NAMED)
inst("s_barrier_leave", writes="scc", **_NAMED)
inst("s_get_barrier_state =s.b32, s.b32", **_NAMED)

# --- waits and hints: no effect on what is computed, since a simulated access is done when it is issued
inst("s_waitcnt f", sched="wait", effect="wait")
for counter in ("vmcnt", "vscnt", "lgkmcnt", "expcnt"):
    inst(f"s_waitcnt_{counter} s.u32, i.u16", sched="wait", effect="wait", until="gfx1200")
for counter in "loadcnt storecnt dscnt kmcnt samplecnt bvhcnt expcnt loadcnt_dscnt storecnt_dscnt".split():
    inst(f"s_wait_{counter} i.u16", sched="wait", effect="wait", since="gfx1200")
inst("s_waitcnt_depctr f", sched="wait_alu", effect="wait")
inst("s_wait_idle", sched="wait", effect="wait")
inst("s_wait_event i.u16", sched="wait_event", effect="wait")
inst("s_delay_alu f", sched="delay", words="how long the next instructions wait for results of the ALUs that they read")
inst(
    "s_clause i.u16",
    sched="clause",
    words="the next instructions, of one kind, issue without those of other waves between",
)
inst("s_nop i.u16", sched="nop", words="nothing, for its number and one more cycles")
inst("s_sleep i.u16", sched="sleep", words="the wave does not issue for about 64 times its number of cycles")
inst("s_setprio i.u16", sched="priority", words="the priority of the wave where several could issue")
inst("s_sleep_var s.u32", sched="sleep", words="as s_sleep, by an SGPR", since="gfx1200")
for name in ("s_set_inst_prefetch_distance", "s_inst_prefetch"):
    inst(f"{name} i.u16", sched="hint", until="gfx1200", words="how far instructions are fetched ahead")
for pattern in ("inst s.u64, ", "data s.u64, ", "inst_pc_rel ", "data_pc_rel "):
    inst(
        f"s_prefetch_{pattern}i.i32, s.u32, i.u16",
        sched="hint",
        words="lines are fetched into a cache; nothing waits for them",
        since="gfx1200",
    )
inst(
    "s_buffer_prefetch_data rs.b128, i.i32, s.u32, i.u16",
    sched="hint",
    words="lines of a buffer are fetched into a cache; nothing waits for them",
    since="gfx1200",
)
for name, words in (
    ("s_ttracedata_imm", "its number goes into the thread trace"),
    ("s_incperflevel", "a performance counter goes up"),
    ("s_decperflevel", "a performance counter goes down"),
    ("s_version", "nothing: the number is the code's version, for tools"),
):
    inst(f"{name} i.u16", sched="hint", words=words)
for name in ("s_sethalt", "s_setkill"):
    inst(f"{name} i.u16", sched="halt", words="the wave stops, or is to be stopped, as its number says: for debuggers")
inst("s_code_end", sched="hint", words="nothing: code behind it is not run, so that tools know the end")
inst("s_ttracedata", sched="hint", words="M0 goes into the thread trace")
inst("s_wakeup", sched="hint", words="the other waves of the workgroup leave s_sleep")
for name in ("s_icache_inv", "s_dcache_inv"):
    inst(name, sched="scalar_cache", words=f"the {'instruction' if name[2] == 'i' else 'scalar'} cache is made invalid")
inst("s_gl1_inv", sched="scalar_cache", words="the L1 cache is made invalid", until="gfx1200")
for bits in (32, 64):
    inst(f"s_sendmsg_rtn_b{bits} =s.b{bits}, f", sched="message_return", effect="ask")
inst("s_sendmsg f", sched="message", words="a message to the host or to the hardware, as MSG_DEALLOC_VGPRS", reads="m0")
for name in ("buffer_gl0_inv", "buffer_gl1_inv"):
    inst(
        name, sched="cache_control", until="gfx1200", words=f"the {'L0' if '0' in name else 'L1'} cache is made invalid"
    )
# What their scope says is made invalid, written back (system scope only), or both (AMDGPUUsage, "Memory Model GFX12").
inst("global_inv", sched="cache_control", words="the caches that its scope names are made invalid", since="gfx1200")
inst("global_wb", sched="cache_write", words="the caches that its scope names are written back", since="gfx1200")
inst(
    "global_wbinv",
    sched="cache_write",
    words="the caches that its scope names are written back and made invalid",
    since="gfx1200",
)

# --- the MODE register and other hardware registers
inst("s_round_mode i.u16", sched="mode", effect="mode round")
inst("s_denorm_mode i.u16", sched="mode", effect="mode denorm")
inst("s_getreg_b32 =s.b32, f", sched="hwreg", effect="getreg")
inst("s_setreg_b32 f, s.b32", sched="hwreg", effect="setreg")
inst("s_setreg_imm32_b32 f, s.b32", sched="hwreg", effect="setreg")
