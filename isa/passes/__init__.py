"""Rewriting: Program -> Program, one file a pass.

gemm/       the ladder's: bank_balance (kernel 6: the inner loop on registers whose banks never collide), unroll (7: it
            unrolled, its addresses folded into offsets), batch_loads (8: global loads from SGPR bases, spread over it);
            outer_product finds that loop from data flow
general/    any kernel's: waits where hazards need them (vopd_interlock, sgpr_waits) and fewer of them (relax_barriers),
            registers (rename_banks, rename_pairs), loads (widen_loads, spread_loads, scalar_addresses, scalar_sums),
            branches (if_convert, unroll_by), pad_lds, cu_mode
schedule/   dual instructions and the order of each block, s_delay_alu and s_clause (hints)
symbolic/   what registers hold, as polynomials

pipeline.py a pipeline as text, run and verified step by step
edit.py     lines in and out, hints and counts kept true, dead code
words.py    waits, barriers and cache modifiers in the words of a family
"""

from isa.passes.pipeline import PASSES, Pass, parse_pipeline, run_pipeline

__all__ = ["PASSES", "Pass", "parse_pipeline", "run_pipeline"]
