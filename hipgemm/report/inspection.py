"""An inspection as text for a terminal and as an HTML page; the bank table in the published study's colours."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from isa.analysis.banks import COLUMNS

if TYPE_CHECKING:
    from hipgemm.inspect import Inspection

_ANSI = {"0": "33", "1": "38;5;208", "2": "31", "3": "34"}
_LINES = 64  # rows of the bank table in a terminal


def rows(i: Inspection) -> list[tuple[str, str]]:
    """(what, value) lines."""
    fits, loop = i.occupancy, i.loop
    unit = "CU" if i.cu_mode else "WGP"
    fma = loop.dual + loop.single
    lines = [
        ("registers", f"{i.vgprs} VGPRs, {i.sgprs} SGPRs"),
        ("LDS", f"{i.lds} bytes a workgroup of {i.threads} threads, {unit} mode"),
        ("occupancy", f"{fits.waves:g} of 16 waves a SIMD, {fits.workgroups} workgroups a {unit}"),
        ("held by", ", ".join(f"{n} ({fits.limits[n]} workgroups)" for n in fits.binding)),
        *[("next step", advice) for advice in fits.advice],
        ("instructions", f"{i.instructions}, {loop.instructions} in the main loop"),
        ("FMAs there", f"{loop.dual} dual, {loop.single} single" + (f": {_share(loop.dual, fma)} dual" if fma else "")),
        ("operands", f"{loop.bank_reads} reads from banks, {loop.cache_reads} from operand caches"),
        ("mix", ", ".join(f"{count} {unit}" for unit, count in i.mix.items())),
    ]
    if i.scratch:
        lines.insert(2, ("scratch", f"{i.scratch} bytes a thread: registers were spilled"))
    return lines


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def text(i: Inspection, *, colour: bool = False, table: bool = False) -> str:
    """As lines. table: with the bank table of the main loop."""
    lines = rows(i)
    width = max(len(what) for what, _ in lines)
    out = [i.name, *(f"  {what:<{width}}  {value}" for what, value in lines)]
    if table:
        out += ["", "  " + "".join(f"{c:<8}" for c in COLUMNS)]
        for name, cells in i.table[:_LINES]:
            out.append("  " + "".join(_painted(cell, colour) for cell in cells) + "  " + name)
        if len(i.table) > _LINES:
            out.append(f"  ... {len(i.table) - _LINES} more: see --html")
    return "\n".join(out)


def _painted(cell: str, colour: bool) -> str:
    padded = f"{cell:<8}"
    if not colour or not cell:
        return padded
    code = "32" if cell.startswith("Cache") else _ANSI[cell[-1]]
    return f"\x1b[{code}m{padded}\x1b[0m"


def as_json(i: Inspection) -> dict[str, Any]:
    """Everything as numbers and lists."""
    return {
        "kernel": i.name,
        "vgprs": i.vgprs,
        "sgprs": i.sgprs,
        "lds_bytes": i.lds,
        "scratch_bytes": i.scratch,
        "cu_mode": i.cu_mode,
        "threads": i.threads,
        "waves_per_simd": i.occupancy.waves,
        "workgroups": i.occupancy.workgroups,
        "limits": dict(i.occupancy.limits),
        "binding": list(i.occupancy.binding),
        "advice": list(i.occupancy.advice),
        "instructions": i.instructions,
        "main_loop": {"instructions": i.loop.instructions, "dual": i.loop.dual, "single": i.loop.single},
        "bank_reads": i.loop.bank_reads,
        "cache_reads": i.loop.cache_reads,
        "mix": i.mix,
        "banks": [{"instruction": name, **dict(zip(COLUMNS, cells, strict=True))} for name, cells in i.table],
    }


_STYLE = """
:root { color-scheme: light dark; --fg: #1d2330; --bg: #ffffff; --line: #d5d9e0; --mute: #5b6474; }
@media (prefers-color-scheme: dark) { :root { --fg: #e4e7ee; --bg: #14171d; --line: #343b48; --mute: #9aa3b2; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--fg); background: var(--bg); margin: 2rem auto;
  max-width: 72rem; padding: 0 1.5rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.facts th { text-align: left; font-weight: 500; color: var(--mute); padding: .15rem 1.5rem .15rem 0;
  vertical-align: top; white-space: nowrap; }
.banks { border-collapse: collapse; font: 13px/1.5 ui-monospace, monospace; }
.banks th { position: sticky; top: 0; background: var(--bg); text-align: left; padding: .2rem .6rem;
  border-bottom: 1px solid var(--line); }
.banks td { padding: 0 .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
.b0 { background: #f2c94c; color: #222; } .b1 { background: #f2994a; color: #222; }
.b2 { background: #d9534f; color: #fff; } .b3 { background: #3b7dd8; color: #fff; }
.cache { background: #3d9a5f; color: #fff; }
"""


def fragment(i: Inspection) -> str:
    """The facts as an HTML table."""
    cells = "".join(f"<tr><th>{escape(what)}</th><td>{escape(value)}</td></tr>" for what, value in rows(i))
    return f"<table class='facts'>{cells}</table>"


def page(i: Inspection) -> str:
    """A self-contained HTML page."""
    head = "".join(f"<th>{c}</th>" for c in (*COLUMNS, "instruction"))
    lines = []
    for name, cells in i.table:
        tds = "".join(f"<td class='{_class(cell)}'>{cell}</td>" for cell in cells)
        lines.append(f"<tr>{tds}<td>{escape(name)}</td></tr>")
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>{escape(i.name)}</title><style>{_STYLE}</style><h1>{escape(i.name)}</h1>{fragment(i)}"
        f"<h2>VGPR banks in the main loop</h2><p>R and W: a read from and a write to that bank, a write one row below "
        f"its instruction; Cache: a read that the bank's operand cache serves. SRC2 is not shown.</p>"
        f"<table class='banks'><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></html>\n"
    )


def _class(cell: str) -> str:
    return "" if not cell else "cache" if cell.startswith("Cache") else f"b{cell[-1]}"
