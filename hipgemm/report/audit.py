"""An `Audit` for a terminal and as a page: what was read, findings by rule, the worst kernels, and how registers and
waves are spread over all of them."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hipgemm.judge.inspection.audit import NOT_DECODED, Audit, AuditRow
from hipgemm.report.pages import percent, render
from hipgemm.report.terminal import grid
from isa.display import number_of
from isa.lint.registry import RULES

if TYPE_CHECKING:
    from rich.table import Table

WORST = 100
"""Kernels that the page shows; all are in the JSON."""
TOLD = 8
"""Findings of one of them."""


def facts(a: Audit) -> list[tuple[str, str]]:
    """(what, value) lines."""
    held = [row.held for row in a.rows]
    kinds = Counter(h.target for h in held)
    spilled, scratch = sum(h.vgpr_spills + h.sgpr_spills > 0 for h in held), sum(h.scratch > 0 for h in held)
    wide, faulty = sum(h.wave == 64 for h in held), sum(bool(row.faults) for row in a.rows)
    codes = len({row.code for row in a.rows})
    lines = [
        ("read", f"{_count(len(a.rows), 'kernel')} in {_count(codes, 'code object')} of "
                 f"{_count(len({r.library for r in a.rows}), 'file')}"),
        ("targets", ", ".join(f"{n:,} for {name}" for name, n in kinds.most_common())),
        ("instructions", f"{a.instructions:,}; {percent(a.described, 4)} are described"),
        ("faults", f"in {_count(faulty, 'kernel')}" if faulty else "none"),
        ("spills", f"{_count(spilled, 'kernel')}; scratch memory in {scratch:,}"),
    ]  # fmt: skip
    if a.undescribed:
        lines.append(("not described", ", ".join(f"{name} ({n:,})" for name, n in a.undescribed.most_common(20))))
    if wide:
        lines.append(("waves of 64", _count(wide, "kernel")))
    return lines


def rules_table(a: Audit) -> Table:
    """Findings by rule, for a terminal."""
    table = grid(">faults", ">kernels", "rule", box=None, pad_edge=False)
    for id, rule, faults, kernels in a.by_rule():
        table.add_row(str(faults), str(kernels), f"{id} {rule}")
    return table


def page(a: Audit) -> str:
    """The page. It asks no server for anything."""
    most = max((kernels for *_, kernels in a.by_rule()), default=1)
    waves = Counter(round(row.held.waves) for row in a.rows)
    vgprs = Counter(-(-row.held.vgprs // 24) * 24 for row in a.rows)
    return render(
        "audit.html.j2",
        title=", ".join(Path(name).name for name in a.libraries[:3]) + (", ..." if len(a.libraries) > 3 else ""),
        facts=facts(a),
        rules=[
            {"id": i, "rule": r, "meaning": RULES[i].meaning if i in RULES else "", "faults": f, "kernels": k,
             "share": k / most}
            for i, r, f, k in a.by_rule()
        ],
        notes=a.notes().most_common(),
        worst=[_kernel(row) for row in a.rows[:WORST] if row.faults],
        spilled=[_kernel(row) for row in _most_spilled(a.rows)],
        libraries=[_library(name, rows) for name, rows in _by_library(a.rows)],
        waves=_spread(sorted(waves.items(), reverse=True)),
        vgprs=_spread(sorted(vgprs.items())),
        undescribed=a.undescribed.most_common(),
        not_decoded=NOT_DECODED,
    )  # fmt: skip


def _spread(rows: Sequence[tuple[int, int]]) -> list[tuple[int, int, float]]:
    """(value, kernels, share of the most)."""
    most = max((n for _, n in rows), default=1)
    return [(value, n, n / most) for value, n in rows]


def _most_spilled(rows: Iterable[AuditRow]) -> list[AuditRow]:
    spills = [row for row in rows if row.held.vgpr_spills + row.held.sgpr_spills]
    return sorted(spills, key=lambda row: -row.held.vgpr_spills - row.held.sgpr_spills)[: WORST // 4]


def _kernel(row: AuditRow) -> dict[str, Any]:
    by_rule = Counter(f.id for f in row.faults)
    return {
        "name": demangled(row.held.kernel),
        "library": Path(row.library).name,
        "held": row.held,
        "instructions": row.instructions,
        "rules": by_rule.most_common(),
        "faults": row.faults[:TOLD],
        "more": max(0, len(row.faults) - TOLD),
    }


def _by_library(rows: Iterable[AuditRow]) -> list[tuple[str, list[AuditRow]]]:
    found: dict[str, list[AuditRow]] = {}
    for row in rows:
        found.setdefault(row.library, []).append(row)
    return sorted(found.items())


def _library(name: str, rows: Sequence[AuditRow]) -> dict[str, Any]:
    return {
        "name": Path(name).name,
        "codes": len({row.code for row in rows}),
        "kernels": len(rows),
        "instructions": sum(row.instructions for row in rows),
        "faulty": sum(bool(row.faults) for row in rows),
        "spilled": sum(row.held.vgpr_spills + row.held.sgpr_spills > 0 for row in rows),
        "undescribed": sum(sum(row.undescribed.values()) for row in rows),
    }


def _count(n: int, what: str) -> str:
    return number_of(n, what, form=",")


def demangled(name: str) -> str:
    """A C++ kernel's name as its source has it, where this system's C++ runtime can tell; else as it is."""
    function = _demangler()
    if function is None or not name.startswith("_Z"):
        return name
    status = ctypes.c_int()
    pointer = function(name.encode(), None, None, ctypes.byref(status))
    if not pointer:
        return name
    text = ctypes.string_at(pointer).decode(errors="replace")
    _free()(pointer)
    return text


@functools.cache
def _demangler() -> Any:
    """__cxa_demangle of the Itanium C++ ABI; None where there is none."""
    try:
        found = ctypes.CDLL(ctypes.util.find_library("stdc++") or "libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return None
    found.restype = ctypes.c_void_p
    found.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    return found


@functools.cache
def _free() -> Any:
    found = ctypes.CDLL(None).free
    found.argtypes = [ctypes.c_void_p]
    found.restype = None
    return found
