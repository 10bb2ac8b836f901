"""Page of the docs site "From 1 to 58 TFLOP/s": the ladder's kernels -> for each what is predicted of it, made with the
site, beside the page of its timeline.

Nothing is computed here: predictions, causes, registers, operand reads and timelines are those of `hipgemm time`,
`inspect` and `timeline` at M = N = K = 4096 on a 7900 XTX. A first build compiles and plays ten kernels, which takes a
minute; the cache has most of it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import hipgemm
from hipgemm.kernels.ladder import LADDER, PUBLISHED_SIZE, Rung
from hipgemm.report import timeline, timing
from isa.analysis.banks import COLUMNS

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

    from hipgemm.judge.inspection import Inspection
    from hipgemm.judge.predict import Prediction

TITLE, PAGE = "From 1 to 58 TFLOP/s", "story.md"
KERNELS = [rung for rung in LADDER.values() if int(rung.name.removeprefix("kernel")) <= 10]
"""Those that multiply fp32."""
_READS = 16
"""FMAs of a main loop whose operand reads are shown."""
_HEAD = f"""# {TITLE}

The [ladder](ladder.md) at M = N = K = {PUBLISHED_SIZE} on a 7900 XTX. Predicted: by the cycle model at 2.5 GHz.
Published: measured by the study that the ladder follows, on a card, with another compiler. A bar is the part of the
predicted time that a SIMD spends so. In tables of banks R2 is a read from bank 2, Cache2 one that its operand cache
serves, W2 a write.

<style>
.causes {{ display: grid; grid-template-columns: 11em 1fr 4em; gap: .1em .6em; align-items: center; font-size: .7rem }}
.causes i {{ display: block; height: .7em; background: var(--md-typeset-a-color) }}
.md-typeset table:not([class]) :is(th, td) {{ padding: .4em .6em; min-width: 0 }}
.md-typeset td code {{ white-space: nowrap }}
iframe.waves {{ width: 100%; height: 32rem; border: 1px solid var(--md-default-fg-color--lightest) }}
</style>
"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The page first in the gallery."""
    next(section["Gallery"] for section in config.nav or () if "Gallery" in section).insert(0, {TITLE: PAGE})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The page, and the timelines that it shows."""
    from mkdocs.structure.files import File

    parts, rows = [], []
    for rung in KERNELS:
        kernel = hipgemm.kernel(rung.name)
        found, waves = kernel.time(n=PUBLISHED_SIZE), f"story/{rung.name}.html"
        files.append(File.generated(config, waves, content=timeline.page(kernel.timeline(n=PUBLISHED_SIZE))))
        parts += ["", *_rung(rung, found, kernel.inspect())]
        published = f"{rung.published.gflops / 1e3:.1f}" if rung.published else ""
        rows.append(f"| [{rung.name}](#{rung.name}) | {rung.title} | {found.tflops:.1f} | {published} |")
    table = ["| kernel | what it adds | predicted, TFLOP/s | published |", "|---|---|---|---|", *rows]
    files.append(File.generated(config, PAGE, content="\n".join([_HEAD, *table, *parts, ""])))
    return files


def _rung(rung: Rung, found: Prediction, seen: Inspection) -> Iterator[str]:
    yield f"## {rung.name}: {rung.title} {{ #{rung.name} }}\n"
    yield f"{found.timing.time_s * 1e3:.2f} ms predicted, {found.tflops:.1f} TFLOP/s; {timing.guidance(found, ())[0]}."
    loop = seen.loop or seen.mix
    counts = ", ".join(f"{n} {kind}" for kind, n in loop.counts.items() if n)
    yield f"{seen.vgprs} VGPRs, {seen.lds} bytes of LDS, {seen.occupancy.waves:g} waves a SIMD. Main loop: {counts}.\n"
    yield '<div class="causes">'
    for cause, share in sorted(found.timing.causes.items(), key=lambda one: -one[1]):
        if share >= 0.005:
            bar = f'<i style="width: {100 * share:.1f}%"></i>'
            yield f"<span>{escape(cause)}</span><span>{bar}</span><span>{100 * share:.1f} %</span>"
    yield "</div>\n"
    fmas = [row for row in seen.rows if "FMA" in row.kind][:_READS]
    clashes = sum(row.clashes for row in seen.rows)
    yield f'??? note "Banks: what the first FMAs of the main loop read; {clashes} reads of the loop collide"\n'
    yield f"    | instruction | {' | '.join(COLUMNS)} |"
    yield f"    |---|{'---|' * len(COLUMNS)}"
    yield from (f"    | `{row.text}` | {' | '.join(row.cells)} |" for row in fmas)
    yield '\n??? note "The timeline of its waves"\n'
    source = f'loading="lazy" title="Timeline of {rung.name}" src="story/{rung.name}.html"'
    yield f'    <iframe class="waves" {source}></iframe>\n'
    yield f"    [The page alone](story/{rung.name}.html)\n"
