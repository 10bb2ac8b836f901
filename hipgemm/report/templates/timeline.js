"use strict";
// The frame of the page is painted first, then filled.
requestAnimationFrame(() => setTimeout(() => {
// What the page holds: hipgemm/report/timeline.py says how it is packed.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const { start: FIRST, end: LAST, causes, groups, group } = data;
const lines = data.lines.map(([text, line, source, loop, hits, stalls], position) =>
  ({ position, text, line, source, loop, hits, stalls, barrier: text.startsWith("s_barrier") }));
const lanes = data.lanes.map(([simd, wave, text]) => ({ simd, wave, ...unpack(text) }));

function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const begin = [], length = [], position = [], cause = [];
  let at = 0, now = 0, follows = 0;
  const number = () => {
    let n = 0, shift = 0, b;
    do { b = bytes[at++]; n |= (b & 127) << shift; shift += 7; } while (b > 127);
    return n;
  };
  while (at < bytes.length) {
    const head = bytes[at++], why = (head & 15) - 1;
    if (head & 16) now += number();
    const cycles = why < 0 ? 1 : number();
    let off = head & 32 ? number() : 0;
    off = off & 1 ? -(off >> 1) : off >> 1;
    begin.push(now); length.push(cycles); position.push(follows + off); cause.push(why);
    now += cycles;
    follows += off + (why < 0 ? 1 : 0);
  }
  return { begin, length, position, cause, n: begin.length };
}

const colourOf = (why) => (why < 0 ? 0 : group[why]);
const name = (lane) => `SIMD ${lane.simd} wave ${lane.wave}`;
const state = { a: FIRST, b: LAST, wave: -1, line: -1, span: -1, sort: "line", down: true };
let colours = [], look = {};

function readColours() {
  const style = getComputedStyle(document.body), of = (v) => style.getPropertyValue(v).trim();
  colours = groups.map((_, k) => of(`--t${k}`));
  look = { fg: of("--fg"), muted: of("--muted"), panel: of("--panel"), mark: of("--mark"), bg: of("--bg"), border: of("--border") };
}
const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
const packed = (hex) => { const [r, g, b] = channels(hex); return (255 << 24 | b << 16 | g << 8 | r) >>> 0; };
function onTop(hex) { // black or white, what reads better
  const [r, g, b] = channels(hex).map((c) => (c /= 255, c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

// The first span of a lane that ends after a cycle.
function from(lane, cycle) {
  let low = 0, high = lane.n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.begin[middle] + lane.length[middle] > cycle) high = middle; else low = middle + 1;
  }
  return low;
}

// ---- drawing ----
const overview = $("overview"), canvas = $("lanes");
let plot = { left: 0, width: 1, tops: [], high: 18 };

function layOut() {
  const wide = canvas.clientWidth || 600, left = wide > 640 ? 110 : 40, high = lanes.length > 32 ? 8 : lanes.length > 16 ? 12 : 18;
  let y = 3;
  const tops = lanes.map((lane, k) => { y += k && lane.simd !== lanes[k - 1].simd ? 6 : 0; const top = y; y += high + 2; return top; });
  plot = { left, width: Math.max(50, wide - left), tops, high, height: y + 20 };
  canvas.style.height = `${plot.height}px`;
}

function fresh(of, height) {
  const ratio = window.devicePixelRatio || 1, width = of.clientWidth;
  of.width = Math.round(width * ratio); of.height = Math.round(height * ratio);
  const c = of.getContext("2d");
  return [c, ratio];
}

// Columns of pixels, each shared out by what the waves do in its cycles.
function shares(some, a, b, columns) {
  const sum = new Float32Array(columns * groups.length), scale = columns / (b - a);
  for (const lane of some)
    for (let k = from(lane, a); k < lane.n && lane.begin[k] < b; k++) {
      const colour = colourOf(lane.cause[k]);
      const x0 = Math.max(0, (lane.begin[k] - a) * scale), x1 = Math.min(columns, (lane.begin[k] + lane.length[k] - a) * scale);
      for (let x = Math.floor(x0); x < x1; x++) sum[x * groups.length + colour] += Math.min(x + 1, x1) - Math.max(x, x0);
    }
  return sum;
}

function paint(c, some, a, b, left, top, columns, height) {
  if (columns < 1 || height < 1) return;
  const image = c.createImageData(columns, height), pixels = new Uint32Array(image.data.buffer);
  const sum = shares(some, a, b, columns), table = colours.map(packed), n = groups.length;
  pixels.fill(packed(look.panel));
  for (let x = 0; x < columns; x++) {
    let filled = 0;
    for (let k = 0; k < n; k++) {
      const until = Math.min(height, filled + (sum[x * n + k] / some.length) * height);
      for (let y = Math.round(filled); y < Math.round(until); y++) pixels[(height - 1 - y) * columns + x] = table[k];
      filled = until;
    }
  }
  c.putImageData(image, left, top);
}

function drawOverview() {
  const [c, ratio] = fresh(overview, 44), scale = overview.width / (LAST - FIRST);
  paint(c, lanes, FIRST, LAST, 0, 0, overview.width, overview.height);
  if (state.line >= 0) {
    c.fillStyle = look.mark;
    for (const lane of chosenLanes())
      for (let k = 0; k < lane.n; k++)
        if (lane.position[k] === state.line && lane.cause[k] < 0) c.fillRect((lane.begin[k] - FIRST) * scale, 0, ratio, 4 * ratio);
  }
  const x0 = (state.a - FIRST) * scale, x1 = Math.max(x0 + 3 * ratio, (state.b - FIRST) * scale);
  c.fillStyle = look.bg; c.globalAlpha = 0.6;
  c.fillRect(0, 0, x0, overview.height); c.fillRect(x1, 0, overview.width - x1, overview.height);
  c.globalAlpha = 1; c.strokeStyle = look.mark; c.lineWidth = 2 * ratio;
  c.strokeRect(x0 + ratio, ratio, Math.max(ratio, x1 - x0 - 2 * ratio), overview.height - 2 * ratio);
}

function drawLanes() {
  const [c, ratio] = fresh(canvas, plot.height), { left, width, tops, high } = plot;
  const X = Math.round(left * ratio), columns = Math.round(width * ratio), scale = columns / (state.b - state.a);
  const px = (cycle) => X + Math.round((cycle - state.a) * scale);
  const font = (size) => { c.font = `${size * ratio}px system-ui, sans-serif`; };
  c.textBaseline = "middle"; font(Math.min(12, high + 2));
  lanes.forEach((lane, number) => {
    const top = Math.round(tops[number] * ratio), tall = Math.round(high * ratio), chosen = number === state.wave;
    c.fillStyle = chosen ? look.mark : look.fg; c.textAlign = "left";
    c.fillText((chosen ? "▸ " : "") + (left > 60 ? name(lane) : `${lane.simd}.${lane.wave}`), 0, top + tall / 2);
    if (scale < ratio) {
      paint(c, [lane], state.a, state.b, X, top, columns, tall);
    } else {
      c.fillStyle = look.panel; c.fillRect(X, top, columns, tall);
      for (let k = from(lane, state.a); k < lane.n && lane.begin[k] < state.b; k++) {
        const x0 = Math.max(X, px(lane.begin[k])), x1 = Math.min(X + columns, Math.max(px(lane.begin[k] + lane.length[k]), x0 + 1));
        const colour = colours[colourOf(lane.cause[k])];
        c.fillStyle = colour; c.fillRect(x0, top, x1 - x0, tall);
        if (high > 8 && x1 - x0 > 64 * ratio) {
          const text = lines[lane.position[k]].text, fits = Math.floor((x1 - x0) / (6.4 * ratio));
          c.fillStyle = onTop(colour);
          c.fillText(text.length > fits ? text.split(/[ ,]/)[0].slice(0, fits - 1) : text, x0 + 4 * ratio, top + tall / 2);
        }
        if (scale > 6 * ratio && lane.cause[k] < 0) { c.fillStyle = look.bg; c.fillRect(x1 - ratio, top, ratio, tall); }
      }
    }
    if (state.line >= 0 && (state.wave < 0 || chosen)) {
      c.fillStyle = look.mark;
      for (let k = from(lane, state.a); k < lane.n && lane.begin[k] < state.b; k++)
        if (lane.position[k] === state.line) {
          const x0 = Math.max(X, px(lane.begin[k]));
          c.fillRect(x0, top + tall - 3 * ratio, Math.max(2 * ratio, Math.min(X + columns, px(lane.begin[k] + lane.length[k])) - x0), 3 * ratio);
        }
    }
    if (chosen && state.span >= 0) {
      const x0 = px(lane.begin[state.span]), x1 = px(lane.begin[state.span] + lane.length[state.span]);
      if (x1 >= X && x0 <= X + columns) {
        c.strokeStyle = look.fg; c.lineWidth = 2 * ratio;
        c.strokeRect(Math.max(X, x0) - ratio, top, Math.max(3 * ratio, x1 - x0 + 2 * ratio), tall);
      }
    }
  });
  const most = Math.max(2, Math.floor(width / 110)), step = round((state.b - state.a) / most), y = (plot.height - 8) * ratio;
  c.fillStyle = look.muted; font(12);
  for (let at = Math.ceil(state.a / step) * step; at <= state.b; at += step) {
    const text = String(Math.round(at)), half = c.measureText(text).width / 2, x = Math.min(px(at), X + columns - half);
    c.fillRect(px(at), y - 12 * ratio, ratio, 4 * ratio);
    c.textAlign = "center"; c.fillText(text, Math.max(half, x), y);
  }
}
function round(rough) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  return [1, 2, 5, 10].map((d) => d * power).find((s) => s >= rough) || 1;
}

let asked = false, listed = true;
function redraw(list) {
  listed = listed || list;
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; drawOverview(); drawLanes(); if (listed) drawList(); listed = false; });
}

// ---- window ----
function show(a, b) {
  const least = 8, wide = Math.min(LAST - FIRST, Math.max(least, b - a));
  a = Math.max(FIRST, Math.min(LAST - wide, a));
  state.a = a; state.b = a + wide;
  $("from").value = Math.round(state.a); $("to").value = Math.round(state.b);
  remember();
  redraw($("scope").value === "shown");
}
const zoom = (by, at = (state.a + state.b) / 2) => show(at - (at - state.a) * by, at + (state.b - at) * by);
const pan = (share) => { const by = (state.b - state.a) * share; show(state.a + by, state.b + by); };
const bring = (a, b) => {
  if (a >= state.a && b <= state.b) return;
  const wide = Math.max(state.b - state.a, 1.2 * (b - a));
  show(a - 0.4 * wide, a + 0.6 * wide);
};
let later = 0;
function remember() { // so that a link shows the same
  clearTimeout(later);
  later = setTimeout(() => {
    const at = new URLSearchParams({ from: Math.round(state.a), to: Math.round(state.b) });
    if (state.wave >= 0) at.set("wave", state.wave);
    if (state.line >= 0) at.set("line", state.line);
    try { history.replaceState(null, "", `#${at}`); } catch { /* where a page has no address */ }
  }, 200);
}

// ---- what is chosen ----
const chosenLanes = () => (state.wave < 0 ? lanes : [lanes[state.wave]]);
function say(text) { $("said").textContent = text; }
function textOf(lane, k) {
  const line = lines[lane.position[k]], a = lane.begin[k], b = a + lane.length[k], why = lane.cause[k];
  const what = why < 0 ? `issues in cycle ${a}` : `cycles ${a} to ${b}: ${lane.length[k]} for ${causes[why]}`;
  return `${line.text}\n${name(lane)}, ${what}\nline ${line.line}${line.source ? ", " + line.source : ""}`;
}
function choose(position, scroll = true) {
  state.line = position;
  if (position >= 0) {
    const line = lines[position], f = figures()[position];
    const parts = f.parts.filter(([, n]) => n >= 0.05).sort((x, y) => y[1] - x[1]).map(([c, n]) => `${n.toFixed(1)} for ${causes[c]}`);
    say(`${line.text} (line ${line.line}${line.source ? ", " + line.source : ""}): ${f.hits} hits; ` +
      (parts.length ? `cycles each: ${parts.join(", ")}` : "no stall"));
    if (scroll) reveal(position);
  }
  remember(); redraw(true);
}
function chooseWave(number) {
  state.wave = number; state.span = -1; $("wave").value = String(number);
  if (number >= 0) $("scope").value = "shown";
  remember(); redraw(true);
}
function chooseSpan(number, k) {
  const lane = lanes[number];
  if (k < 0 || k >= lane.n) return;
  if (state.wave !== number) { state.wave = number; $("wave").value = String(number); }
  state.span = k;
  bring(lane.begin[k], lane.begin[k] + lane.length[k]);
  choose(lane.position[k]);
  say(textOf(lane, k).replaceAll("\n", "; "));
}
// The next instruction of the chosen wave: where the last span of the same one lies, that is its issue.
function step(by) {
  const number = Math.max(0, state.wave), lane = lanes[number];
  let k = state.span >= 0 ? state.span : from(lane, state.a);
  if (state.span >= 0) {
    const held = lane.position[k];
    while (k >= 0 && k < lane.n && lane.position[k] === held) k += by;
  }
  chooseSpan(number, k);
}
// Where the chosen instruction issues next, in the chosen wave or any.
function occurrence(by) {
  if (state.line < 0) return;
  const now = state.span >= 0 && state.wave >= 0 ? lanes[state.wave].begin[state.span] : by > 0 ? state.a - 1 : state.b;
  let best = null;
  (state.wave < 0 ? lanes.map((_, k) => k) : [state.wave]).forEach((number) => {
    const lane = lanes[number];
    for (let k = by > 0 ? 0 : lane.n - 1; k >= 0 && k < lane.n; k += by)
      if (lane.cause[k] < 0 && lane.position[k] === state.line && (lane.begin[k] - now) * by > 0) {
        if (!best || (lane.begin[k] - best.at) * by < 0) best = { at: lane.begin[k], number, k };
        break;
      }
  });
  if (best) chooseSpan(best.number, best.k);
  else say(`${lines[state.line].text}: no ${by > 0 ? "later" : "earlier"} one in cycles ${FIRST} to ${LAST}`);
}

// ---- the list ----
const list = $("rows");
let rows = [], high = 24;

function figures() {
  if ($("scope").value === "played")
    return lines.map((line) => {
      const parts = [];
      for (let k = 0; k < line.stalls.length; k += 2) parts.push([line.stalls[k], line.stalls[k + 1]]);
      return figure(line.hits, parts);
    });
  const hits = new Float64Array(lines.length), held = lines.map(() => new Map());
  for (const lane of chosenLanes())
    for (let k = from(lane, state.a); k < lane.n && lane.begin[k] < state.b; k++) {
      const cycles = Math.min(state.b, lane.begin[k] + lane.length[k]) - Math.max(state.a, lane.begin[k]);
      if (lane.cause[k] < 0) hits[lane.position[k]]++;
      else held[lane.position[k]].set(lane.cause[k], (held[lane.position[k]].get(lane.cause[k]) || 0) + cycles);
    }
  // Cycles of one that does not issue in the window have no hit to be shared by: they count as those of one.
  return lines.map((_, i) => figure(hits[i], [...held[i]].map(([c, n]) => [c, n / Math.max(1, hits[i])])));
}
function figure(hits, parts) {
  const stall = parts.reduce((sum, [, n]) => sum + n, 0);
  const cause = parts.reduce((best, part) => (part[1] > best[1] ? part : best), [-1, 0]);
  return { hits, parts, stall, cause: stall >= 0.05 ? causes[cause[0]] : "", cycles: hits ? hits * (1 + stall) : stall };
}

function drawList() {
  const found = figures(), total = found.reduce((sum, f) => sum + f.cycles, 0) || 1;
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean), loop = $("loop").value;
  rows = lines.filter((line) => {
    const text = `${line.line} ${line.text} ${line.source} ${found[line.position].cause}`.toLowerCase();
    return (loop === "" || line.loop === Number(loop)) && words.every((word) => text.includes(word));
  }).map((line) => ({ line, share: found[line.position].cycles / total, ...found[line.position] }));
  const key = { line: (r) => r.line.position, hits: (r) => r.hits, share: (r) => r.share, stall: (r) => r.stall, bar: (r) => r.stall,
    cause: (r) => r.cause, text: (r) => r.line.text, source: (r) => r.line.source }[state.sort];
  rows.sort((x, y) => {
    const p = key(x), q = key(y), order = p < q ? -1 : p > q ? 1 : 0;
    return (state.down ? order : -order) || x.line.position - y.line.position;
  });
  const scale = $("scale").value, most = new Map();
  for (const row of rows) {
    const where = scale === "loop" ? row.line.loop : 0;
    if (scale !== "loop" || !row.line.barrier) most.set(where, Math.max(most.get(where) || 0, 1 + row.stall));
  }
  for (const row of rows) {
    const top = most.get(scale === "loop" ? row.line.loop : 0) || 1;
    const part = scale === "log" ? Math.log2(2 + row.stall) / Math.log2(1 + top) : (1 + row.stall) / top;
    row.over = part > 1; row.long = row.hits || row.stall ? Math.min(1, part) : 0;
  }
  const shown = rows.reduce((sum, row) => sum + row.share, 0);
  $("count").textContent = `${rows.length} of ${lines.length} instructions, ${(100 * shown).toFixed(1)} % of the cycles`;
  document.querySelectorAll("[data-sort]").forEach((button) => {
    const on = button.dataset.sort === state.sort;
    button.parentElement.setAttribute("aria-sort", on ? (state.down ? "ascending" : "descending") : "none");
    button.textContent = button.textContent.replace(/ [▴▾]$/, "") + (on ? (state.down ? " ▴" : " ▾") : "");
  });
  high = matchMedia("(max-width: 999px)").matches ? 62 : 24;
  list.parentElement.setAttribute("aria-rowcount", rows.length + 1);
  fill();
}

function cell(row, kind, text, title) {
  const made = document.createElement("span");
  made.setAttribute("role", "cell"); made.className = kind; made.textContent = text;
  if (title) made.title = title;
  row.append(made);
  return made;
}
// Only the rows that can be seen are there.
function fill() {
  const first = Math.max(0, Math.floor(list.scrollTop / high) - 8), last = Math.min(rows.length, first + Math.ceil(list.clientHeight / high) + 16);
  const made = document.createDocumentFragment(), bottom = document.createElement("div");
  bottom.style.cssText = `top:${rows.length * high - 1}px;height:1px`; bottom.setAttribute("role", "presentation");
  for (let k = first; k < last; k++) {
    const { line, hits, share, stall, parts, cause, long, over } = rows[k], row = document.createElement("div");
    row.className = "row" + (line.position === state.line ? " chosen" : "") + (k && state.sort === "line" && rows[k - 1].line.loop !== line.loop ? " first" : "");
    row.setAttribute("role", "row"); row.setAttribute("aria-rowindex", k + 2); row.dataset.position = line.position;
    if (line.position === state.line) row.setAttribute("aria-current", "true");
    row.style.top = `${k * high}px`;
    cell(row, "number muted", line.line);
    cell(row, "number", hits);
    cell(row, "number", hits || stall ? `${(100 * share).toFixed(2)} %` : "");
    cell(row, "number", hits || stall ? stall.toFixed(1) : "");
    const bar = cell(row, "latency", "");
    for (const [c, n] of [[-1, 1], ...parts.filter(([, n]) => n >= 0.05).sort((x, y) => group[x[0]] - group[y[0]])]) {
      if (!long) break;
      const piece = document.createElement("i");
      piece.style.cssText = `width:calc(${(100 * long * n) / (1 + stall)}% - 1px);background:var(--t${colourOf(c)})`;
      piece.title = c < 0 ? "issues" : `${causes[c]}: ${n.toFixed(1)} cycles`;
      bar.append(piece);
    }
    if (over) { const more = document.createElement("b"); more.textContent = "»"; bar.append(more); }
    cell(row, "why muted", cause);
    cell(row, "code", line.text, line.text);
    if (list.parentElement.classList.contains("sourced")) cell(row, "code source muted", line.source, line.source);
    made.append(row);
  }
  made.append(bottom);
  list.replaceChildren(made);
}
function reveal(position) {
  if (!rows.length) drawList();
  const k = rows.findIndex((row) => row.line.position === position);
  if (k < 0) return;
  const top = k * high;
  if (top < list.scrollTop || top + high > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
}
function neighbour(by) {
  const k = rows.findIndex((row) => row.line.position === state.line);
  const next = rows[k < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, k + by))];
  if (next) { state.span = -1; choose(next.line.position); }
}

// ---- hands ----
const place = (event, of) => { const box = of.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
const cycleAt = (x) => state.a + ((x - plot.left) / plot.width) * (state.b - state.a);
const laneAt = (y) => plot.tops.findIndex((top) => y >= top && y < top + plot.high + 2);
function under(event) {
  const [x, y] = place(event, canvas), number = laneAt(y);
  if (number < 0 || x < plot.left) return { number, k: -1 };
  const lane = lanes[number], cycle = cycleAt(x), k = from(lane, cycle);
  return { number, k: k < lane.n && lane.begin[k] <= cycle ? k : -1 };
}
const held = new Map();
let dragged = 0, grip = null;
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId); held.set(event.pointerId, event.clientX); dragged = 0;
  canvas.classList.add("held"); $("tip").hidden = true;
  if (held.size === 2) { const [p, q] = [...held.values()]; grip = { apart: Math.abs(p - q), a: state.a, b: state.b, at: (p + q) / 2 - canvas.getBoundingClientRect().left }; }
});
canvas.addEventListener("pointermove", (event) => {
  if (!held.has(event.pointerId)) return hover(event);
  const by = event.clientX - held.get(event.pointerId);
  held.set(event.pointerId, event.clientX); dragged += Math.abs(by);
  if (held.size === 1) { const cycles = (by / plot.width) * (state.b - state.a); show(state.a - cycles, state.b - cycles); }
  else if (grip) {
    const [p, q] = [...held.values()], by2 = Math.max(10, grip.apart) / Math.max(10, Math.abs(p - q));
    const at = grip.a + ((grip.at - plot.left) / plot.width) * (grip.b - grip.a);
    show(at - (at - grip.a) * by2, at + (grip.b - at) * by2);
  }
});
const letGo = (event) => {
  if (!held.delete(event.pointerId)) return;
  if (held.size < 2) grip = null;
  if (!held.size) canvas.classList.remove("held");
  if (dragged > 4 || event.type === "pointercancel") return;
  const { number, k } = under(event);
  if (number >= 0 && place(event, canvas)[0] < plot.left) chooseWave(number === state.wave ? -1 : number);
  else if (k >= 0) { chooseSpan(number, k); }
};
canvas.addEventListener("pointerup", letGo); canvas.addEventListener("pointercancel", letGo);
canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; });
canvas.addEventListener("dblclick", (event) => zoom(0.4, cycleAt(place(event, canvas)[0])));
function hover(event) {
  const { number, k } = under(event), tip = $("tip");
  tip.hidden = k < 0 || event.pointerType === "touch";
  if (tip.hidden) return;
  tip.textContent = textOf(lanes[number], k);
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4))}px`;
  tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 12 : event.clientY + 18}px`;
}
canvas.addEventListener("wheel", (event) => {
  if (event.ctrlKey || event.metaKey) zoom(1.0015 ** event.deltaY, cycleAt(place(event, canvas)[0]));
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / plot.width);
  else return;
  event.preventDefault();
}, { passive: false });

let brush = null;
const overviewCycle = (event) => FIRST + (place(event, overview)[0] / overview.clientWidth) * (LAST - FIRST);
overview.addEventListener("pointerdown", (event) => {
  const at = overviewCycle(event);
  overview.setPointerCapture(event.pointerId);
  brush = at > state.a && at < state.b && state.b - state.a < LAST - FIRST ? { move: at - state.a } : { at };
});
overview.addEventListener("pointermove", (event) => {
  if (!brush) return;
  const at = overviewCycle(event), wide = state.b - state.a;
  if (brush.move !== undefined) show(at - brush.move, at - brush.move + wide);
  else show(Math.min(at, brush.at), Math.max(at, brush.at));
});
overview.addEventListener("pointerup", (event) => {
  const at = overviewCycle(event), wide = state.b - state.a;
  if (brush && brush.at !== undefined && Math.abs(at - brush.at) * overview.clientWidth < 4 * (LAST - FIRST)) show(at - wide / 2, at + wide / 2);
  brush = null;
});

const keys = {
  ArrowLeft: () => pan(-0.15), a: () => pan(-0.15), ArrowRight: () => pan(0.15), d: () => pan(0.15),
  "+": () => zoom(0.6), "=": () => zoom(0.6), w: () => zoom(0.6), "-": () => zoom(1 / 0.6), s: () => zoom(1 / 0.6), 0: () => show(FIRST, LAST),
  ArrowUp: () => chooseWave(Math.max(0, state.wave - 1)), ArrowDown: () => chooseWave(Math.min(lanes.length - 1, state.wave + 1)),
  "[": () => step(-1), "]": () => step(1), Enter: () => { if (state.line >= 0) reveal(state.line); list.focus(); },
};
const everywhere = {
  n: () => occurrence(1), p: () => occurrence(-1), "/": () => $("filter").focus(),
  Escape: () => { state.line = state.span = -1; chooseWave(-1); say(""); },
};
const listKeys = {
  ArrowUp: () => neighbour(-1), ArrowDown: () => neighbour(1), PageUp: () => neighbour(-15), PageDown: () => neighbour(15),
  Home: () => neighbour(-rows.length), End: () => neighbour(rows.length), Enter: () => { occurrence(1); canvas.focus(); },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select")) { if (event.key === "Escape") event.target.blur(); return; }
  const own = event.target === canvas ? keys : event.target === list ? listKeys : {};
  const act = own[event.key] || everywhere[event.key];
  if (act) { event.preventDefault(); act(); }
});

$("in").onclick = () => zoom(0.6); $("out").onclick = () => zoom(1 / 0.6); $("fit").onclick = () => show(FIRST, LAST);
$("before").onclick = () => occurrence(-1); $("after").onclick = () => occurrence(1);
$("from").onchange = $("to").onchange = () => show(Number($("from").value), Math.max(Number($("from").value) + 1, Number($("to").value)));
$("wave").onchange = () => chooseWave(Number($("wave").value));
$("filter").oninput = $("loop").onchange = () => { list.scrollTop = 0; redraw(true); };
$("scope").onchange = $("scale").onchange = () => redraw(true);
document.querySelectorAll("[data-sort]").forEach((button) => {
  button.onclick = () => {
    const key = button.dataset.sort;
    if (state.sort === key) state.down = !state.down;
    else { state.sort = key; state.down = ["line", "cause", "text", "source"].includes(key); }
    list.scrollTop = 0; redraw(true);
  };
});
list.addEventListener("scroll", fill, { passive: true });
list.addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (row) { state.span = -1; choose(Number(row.dataset.position), false); }
});
list.addEventListener("dblclick", () => occurrence(1));

// ---- begin ----
lanes.forEach((lane, k) => $("wave").add(new Option(name(lane), k)));
data.loops.forEach((text, k) => { if (text) $("loop").add(new Option(text, k)); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); redraw(true); });
new ResizeObserver(() => { layOut(); redraw(true); }).observe(canvas);
readColours(); layOut();
const said = new URLSearchParams(location.hash.slice(1));
const most = Math.min(LAST - FIRST, plot.width);
const middle = (FIRST + LAST) / 2;
show(Number(said.get("from") || middle - most / 2), Number(said.get("to") || middle + most / 2));
if (lanes[said.get("wave")]) chooseWave(Number(said.get("wave")));
drawOverview(); drawLanes(); drawList(); listed = false;
if (lines[said.get("line")]) choose(Number(said.get("line")));
else list.scrollTop = high * rows.findIndex((row) => row.line.loop === data.hottest);
}));
