// The page of `hipgemm explore`: what the server says of the text, beside it. Texts are put in as text, never as HTML.
import { EditorView, EditorState, StateEffect, StateField, Decoration, Compartment, basicSetup, keymap, indentWithTab, cpp,
  setDiagnostics, lintGutter, oneDark } from "./codemirror.js";

const $ = (id) => document.getElementById(id);
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
const COLOURS = 8, TRACKS = 4;
let name = "kernel.hip", kernel = "", changed = "", seen = null, kept = null, state = null, before = null, chosen = null, walking = Promise.resolve(), due = 0;

function make(tag, attributes = {}, ...children) {
  const made = document.createElementNS(tag === "svg" || attributes.svg ? "http://www.w3.org/2000/svg" : document.documentElement.namespaceURI, tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "svg") continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
const shape = (tag, attributes, ...children) => make(tag, { svg: true, ...attributes }, ...children);
const figure = (text, attributes, ...children) => make("figure", { tabindex: attributes.class ? 0 : false }, make("figcaption", {}, text), shape("svg", { role: "img", "aria-label": text, ...attributes }, ...children));
const percent = (x) => `${(100 * x).toFixed(1)} %`;

async function ask(call, more = {}) {
  const answer = await fetch(`/api/${call}`, { method: "POST", headers: { "x-token": token }, body: JSON.stringify(more) });
  return answer.json();
}
const asked = () => ({ text: editor.state.doc.toString(), name, kernel, launch: $("launch").value, arch: $("arch").value, flags: [$("optimise").value] });
const said = (error) => [error.message, error.expected && `expected: ${error.expected}`, error.found && `found: ${error.found}`,
  error.help && `help: ${error.help}`].filter(Boolean).join("\n");

// --- editor: lines coloured as their instructions are
const paint = StateEffect.define(), link = StateEffect.define();
const decorated = (by) => StateField.define({
  create: () => Decoration.none,
  update(held, change) {
    held = held.map(change.changes);
    for (const effect of change.effects) if (effect.is(by)) held = effect.value;
    return held;
  },
  provide: (field) => EditorView.decorations.from(field),
});
const theme = new Compartment();
const dark = matchMedia("(prefers-color-scheme: dark)");
const editor = new EditorView({
  parent: $("editor"),
  state: EditorState.create({ extensions: [basicSetup, cpp(), lintGutter(), decorated(paint), decorated(link), keymap.of([indentWithTab]),
    theme.of(dark.matches ? oneDark : []), EditorView.contentAttributes.of({ "aria-label": "Kernel source", tabindex: "0" }),
    EditorView.updateListener.of((change) => {
      if (change.docChanged) later();
      else if (change.selectionSet) choose(change.state.doc.lineAt(change.state.selection.main.head).number);
    })] }),
});
// CodeMirror's orange has too little contrast on white.
function legible() {
  for (const sheet of document.styleSheets) for (const rule of sheet.cssRules)
    if (rule.style?.color === "rgb(238, 68, 0)") document.head.append(make("style", {}, `.cm-editor ${rule.selectorText} { color: #b83200; }`));
}
legible();
dark.addEventListener("change", () => {
  editor.dispatch({ effects: theme.reconfigure(dark.matches ? oneDark : []) });
  legible();
});

const ofText = () => /\.(s|S|asm|isa)$/.test(name);
const sourceOf = (row) => (ofText() ? row.line : row.source);
const colourOf = (line, order) => order.indexOf(line) % COLOURS;

// Scrolls within its box alone: the page stays where a reader has put it.
function reveal(box, top, height) {
  box.scrollTop = Math.min(top, Math.max(box.scrollTop, top + height - box.clientHeight));
}
function choose(line) {
  for (const row of $("rows").children) row.classList.toggle("linked", line !== null && Number(row.dataset.source) === line);
  const first = $("rows").querySelector(".linked");
  if (first) reveal($("rows"), first.offsetTop, first.offsetHeight);
}
function toSource(row) {
  const number = sourceOf(row);
  if (!number || number > editor.state.doc.lines) return editor.dispatch({ effects: link.of(Decoration.none) });
  const line = editor.state.doc.line(number), block = editor.lineBlockAt(line.from);
  editor.dispatch({ effects: link.of(Decoration.set([Decoration.line({ class: "linked" }).range(line.from)])) });
  reveal(editor.scrollDOM, block.top, block.height);
}

// --- the view
let timer = 0;
function later(wait = 200) {
  clearTimeout(timer);
  timer = setTimeout(refresh, wait);
}
async function refresh() {
  clearTimeout(timer);
  timer = 0;
  $("status").textContent = "compiling";
  const began = performance.now();
  const found = await ask("view", asked());
  if (found.stale) return;
  if (found.error) return refused(found.error);
  seen = found;
  kernel = found.kernel;
  $("arch").value = found.arch; // of assembly that names its own
  state = before = null;
  show();
  $("status").textContent = `${found.kernel}: ${Math.round(performance.now() - began)} ms`;
  const time = await ask("time", asked());
  if (!time.stale) showTime(time);
  if (!$("values").hidden && state === null && !due) steps.first(); // who has begun to step stays there
  if (quick) run();
}
function refused(error) {
  $("status").textContent = "not compiled";
  const place = error.place;
  const diagnostics = [];
  if (place && place.line <= editor.state.doc.lines) {
    const line = editor.state.doc.line(place.line);
    diagnostics.push({ from: line.from, to: line.to, severity: "error", message: said(error) });
  }
  editor.dispatch(setDiagnostics(editor.state, diagnostics));
  $("findings").replaceChildren(make("p", { class: "error" }, place ? `${place.file}:${place.line}:${place.col}: ${said(error)}` : said(error)));
  select("findings");
}
function show() {
  $("of").hidden = seen.kernels.length < 2;
  $("kernel").replaceChildren(...seen.kernels.map(([symbol, title]) => make("option", { value: symbol, selected: symbol === kernel ? "" : false }, title)));
  const order = [...new Set(seen.instructions.map(sourceOf).filter((line) => line))].sort((a, b) => a - b);
  const most = Math.max(1, ...seen.instructions.map((row) => row.vgprs ?? 0));
  $("rows").replaceChildren(...seen.instructions.map((row) => {
    if (row.line === undefined) return make("div", { class: "row label" }, row.text);
    const line = sourceOf(row);
    const bar = make("span", { class: "live", title: `${row.vgprs} VGPRs live` }, make("i", {}), String(row.vgprs));
    bar.firstChild.style.width = `${(100 * row.vgprs) / most}%`;
    return make("div", { class: `row ${line ? `s${colourOf(line, order)}` : ""}`, role: "option", "aria-selected": "false", "data-line": row.line, "data-source": line ?? "", id: `row${row.line}`,
      onclick: () => pick(row) }, bar, make("span", { class: "text" }, row.text),
      row.banks ? make("span", { class: "tag", title: row.banks.join(", ") }, "bank") : null, row.waits ? make("span", { class: "tag" }, `⤴ ${row.waits.length}`) : null);
  }));
  $("rows").append(arcs());
  const lines = order.filter((line) => line <= editor.state.doc.lines);
  editor.dispatch({ effects: paint.of(Decoration.set(lines.map((line) =>
    Decoration.line({ class: `s${colourOf(line, order)}` }).range(editor.state.doc.line(line).from)))) });
  showFindings();
  showNumbers();
  mark();
}
// From each access to what waits for it, beside the code: on the first track that is free there, the last for the rest.
function arcs() {
  const at = new Map(seen.instructions.map((row, i) => [row.line, i])), ends = Array(TRACKS).fill(-1);
  const height = $("rows").firstChild?.getBoundingClientRect().height ?? 0, y = (i) => (i + 0.5) * height;
  const paths = seen.instructions.flatMap((row, to) => (row.waits ? [[Math.min(...row.waits.map((line) => at.get(line))), to, row.waits]] : []))
    .filter(([from, to]) => from < to).sort(([a], [b]) => a - b).map(([from, to, waits]) => {
      const free = ends.findIndex((end) => end < from), track = free < 0 ? TRACKS - 1 : free, x = 3 + 5 * track;
      ends[track] = Math.max(ends[track], to);
      const loads = waits.map((line) => at.get(line)).filter((i) => i < to).map((i) => `M${x},${y(i)} H${5 * TRACKS + 2}`);
      return shape("path", { class: "arc", d: `M${x},${y(from)} V${y(to)} H${5 * TRACKS + 2} ${loads.join(" ")}` });
    });
  return shape("svg", { class: "arcs", "aria-hidden": "true", width: 5 * TRACKS + 4, height: y(seen.instructions.length) }, ...paths);
}
function pick(row) {
  chosen = row;
  for (const other of $("rows").querySelectorAll("[data-line]")) {
    other.classList.toggle("chosen", Number(other.dataset.line) === row.line);
    other.setAttribute("aria-selected", String(Number(other.dataset.line) === row.line));
    other.classList.toggle("waited", (row.waits ?? []).includes(Number(other.dataset.line)));
  }
  $("rows").setAttribute("aria-activedescendant", `row${row.line}`);
  reveal($("rows"), $(`row${row.line}`).offsetTop, $(`row${row.line}`).offsetHeight);
  const waits = row.waits ? `waits for line ${row.waits.join(", ")}; ` : "", banks = row.banks ? `reads one bank twice: ${row.banks.join(", ")}; ` : "";
  $("detail").textContent = `line ${row.line}: ${row.text}: ${waits}${banks}live before it: ${row.live.join(" ") || "nothing"}`;
  toSource(row);
}
$("rows").addEventListener("keydown", (event) => {
  const code = seen?.instructions.filter((row) => row.line !== undefined) ?? [];
  const at = code.indexOf(chosen), to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: code.length - 1, PageDown: at + 20, PageUp: at - 20 }[event.key];
  if (to === undefined || !code.length) return;
  event.preventDefault();
  pick(code[Math.max(0, Math.min(code.length - 1, to))]);
});
function inPlace(findings) {
  const placed = findings.filter(({ place }) => place && place.file === name && place.line <= editor.state.doc.lines);
  editor.dispatch(setDiagnostics(editor.state, placed.map((finding) => {
    const { from, to } = editor.state.doc.line(finding.place.line);
    return { from, to, severity: finding.severity === "fault" ? "error" : "info", message: `${finding.id}: ${finding.message}` };
  })));
}
const listed = (findings) => findings.map((finding) => {
  const row = seen?.instructions.find((one) => one.line === finding.assembly?.line);
  return make("button", { class: `finding ${finding.severity}`, onclick: () => row && pick(row) }, make("b", {}, `${finding.severity} ${finding.id}`),
    ` ${finding.where}: ${finding.message}${finding.related?.length && finding.count === undefined ? `; ${finding.related.length} more of this line` : ""}`, finding.help ? make("div", { class: "before" }, finding.help) : null);
});
function showFindings() {
  const all = [...seen.findings, ...(seen.time?.notes ?? [])], rows = listed(all), worst = {};
  inPlace(all);
  for (const finding of all)
    for (const { assembly } of [finding, ...finding.related]) if (assembly && worst[assembly.line] !== "fault") worst[assembly.line] = finding.severity;
  for (const row of $("rows").children) for (const mark of ["fault", "note"]) row.classList.toggle(mark, worst[row.dataset.line] === mark);
  const faults = all.filter((finding) => finding.severity === "fault").length;
  $("tab-findings").textContent = faults ? `Findings (${faults})` : "Findings";
  $("findings").replaceChildren(...(rows.length ? rows : [make("p", {}, "lint has nothing to say")]));
}
function showNumbers() {
  const numbers = seen.numbers, old = kept?.seen.numbers;
  const rows = [["VGPRs", "vgprs"], ["SGPRs", "sgprs"], ["LDS, bytes", "lds"], ["scratch, bytes", "scratch"], ["VGPRs spilled", "vgpr_spills"]]
    .map(([title, key]) => [title, numbers[key], old?.[key]]);
  rows.push(["waves of a SIMD", numbers.occupancy.waves, old?.occupancy.waves], ["limited by", numbers.occupancy.binding.join(", "), old?.occupancy.binding.join(", ")],
    ["instructions", numbers.mix.total, old?.mix.total]);
  $("numbers").replaceChildren(table(rows), make("div", { class: "charts" }, ...occupancyCharts()), ...numbers.occupancy.advice.map((text) => make("p", {}, text)),
    table(Object.entries(numbers.mix.counts).filter(([, count]) => count).map(([kind, count]) => [kind, count, old?.mix.counts[kind]])));
}
const table = (rows) => make("table", {}, ...rows.map(([title, now, old]) => make("tr", {}, make("th", {}, title), make("td", {}, String(now)),
  make("td", { class: "before" }, old !== undefined && old !== now ? `was ${old}` : ""))));
function occupancyCharts() {
  const width = 360, height = 130, y = (n) => height - 22 - ((height - 34) * n) / 16, achieved = seen.time?.time?.waves_per_simd_on_average;
  return Object.entries(seen.numbers.chart).map(([what, runs]) => {
    const most = runs.at(-1)[1], x = (n) => 34 + ((width - 44) * n) / most, now = seen.numbers[what.toLowerCase()], waves = seen.numbers.occupancy.waves;
    const text = `Waves of a SIMD over ${what}; dot: this kernel, ${waves} at ${now}${achieved ? `; dashed: ${achieved.toFixed(1)} on average in the launch` : ""}`;
    return figure(text, { viewBox: `0 0 ${width} ${height}`, width },
      ...[0, 4, 8, 12, 16].flatMap((n) => [shape("line", { class: "axis", x1: 34, x2: width - 10, y1: y(n), y2: y(n) }), shape("text", { x: 8, y: y(n) + 4 }, String(n))]),
      ...[1, 2, 3, 4].map((n) => shape("text", { x: x((n * most) / 4), y: height - 6, "text-anchor": "end" }, String((n * most) / 4))), shape("text", { x: 34, y: height - 6 }, what),
      shape("path", { class: "data", d: `M${runs.map(([from, to, n]) => `${x(from)},${y(n)} L${x(to)},${y(n)}`).join(" L")}` }),
      achieved ? shape("line", { class: "data achieved", x1: 34, x2: width - 10, y1: y(achieved), y2: y(achieved) }) : null,
      shape("circle", { class: "dot", cx: x(now), cy: y(waves), r: 4 }));
  });
}
function showTime(found) {
  if (found.error) return $("time").replaceChildren(make("p", { class: "error" }, said(found.error)));
  const time = found.time, old = kept?.time?.time;
  seen.time = found;
  showNumbers();
  showFindings();
  $("time").replaceChildren(
    ...found.guidance.map((text, i) => make("p", i ? {} : { class: "good" }, text)),
    table([["predicted", `${(1e3 * time.time_ms).toFixed(2)} us (${(1e3 * time.low_ms).toFixed(2)} to ${(1e3 * time.high_ms).toFixed(2)}), ${time.card}, ${time.clock_mhz} MHz`,
      old && `${(1e3 * old.time_ms).toFixed(2)} us`]]),
    ...Object.entries(time.causes).filter(([, share]) => share > 0.0005).sort((a, b) => b[1] - a[1]).map(([cause, share]) => {
      const bar = make("i", {});
      bar.style.width = `${100 * share}%`;
      return make("div", { class: "cause" }, make("span", {}, cause), make("div", {}, bar), make("span", {}, percent(share)));
    }),
    time.memory ? roofline(time) : null,
    time.memory ? table(time.memory.levels.map((level) => [level.name, `${(level.bytes / 1e6).toFixed(3)} MB, ${(level.speed / 1e9).toFixed(0)} GB/s`,
      undefined])) : null);
}
function roofline(time) {
  const memory = time.memory, band = memory.peak / memory.ridge;
  if (!memory.intensity) return null;
  const reached = memory.operations / (time.time_ms / 1e3), width = 360, height = 150;
  const lx = [Math.log10(memory.ridge) - 3, Math.log10(memory.ridge) + 1.5], ly = [Math.log10(memory.peak) - 4, Math.log10(memory.peak) + 0.3];
  const clamp = (v, [low, high]) => Math.max(low, Math.min(high, v));
  const x = (v) => 10 + ((width - 20) * (clamp(Math.log10(v), lx) - lx[0])) / (lx[1] - lx[0]);
  const y = (v) => height - 20 - ((height - 30) * (clamp(Math.log10(v), ly) - ly[0])) / (ly[1] - ly[0]);
  const left = 10 ** lx[0];
  const tera = (speed) => (speed / 1e12).toPrecision(3), text = `Roofline, both axes logarithmic: ${memory.intensity.toFixed(2)} operations a byte of memory (the ridge is at ${memory.ridge.toFixed(0)}), ${tera(reached)} of ${tera(memory.peak)} T operations/s, ${percent(reached / memory.peak)} of the peak`;
  return figure(text, { viewBox: `0 0 ${width} ${height}`, width },
    shape("path", { class: "axis", d: `M10,10 V${height - 20} H${width - 10}` }), shape("text", { x: 14, y: 20 }, "operations/s"), shape("text", { x: width - 10, y: height - 6, "text-anchor": "end" }, "operations a byte"),
    shape("path", { class: "data", d: `M${x(left)},${y(left * band)} L${x(memory.ridge)},${y(memory.peak)} L${width - 10},${y(memory.peak)}` }),
    shape("circle", { class: "dot", cx: x(memory.intensity), cy: y(Math.max(1, reached)), r: 4 }));
}
let quick = false; // it took less than a second: then every change is run
async function run() {
  const began = performance.now();
  if (!quick) $("judged").textContent = "running";
  if (timer) await refresh(); // a change that is not yet shown
  const found = await ask("judge", asked());
  if (found.stale) return;
  quick = performance.now() - began < 1000;
  if (found.error) return $("judged").replaceChildren(make("p", { class: "error" }, said(found.error)));
  const verdict = found.right === null ? found.why_not_compared : found.right ? "right" : "wrong", answer = found.answer, first = answer?.first_wrong[0];
  const error = found.right !== null && typeof answer?.max_abs_error === "number" ? `; largest error ${Number(answer.max_abs_error.toPrecision(3))}, tolerance ${Number(Number(answer.tolerance).toPrecision(3))}` : "";
  $("judged").replaceChildren(make("p", { class: found.good ? "good" : "error" }, `${verdict}${error}; ${found.faults} fault${found.faults === 1 ? "" : "s"}`),
    ...(first && !found.right ? [make("p", { class: "error" }, `[${first.index}] is ${first.got}, expected ${first.expected}; ${answer.wrong} elements are wrong`)] : []),
    ...listed(found.findings), ...found.guidance.map((text) => make("p", {}, text)));
  inPlace([...found.findings, ...(seen?.time?.notes ?? [])]);
}
$("run").addEventListener("click", run);

// --- the timeline: a page of its own in a frame, of the text as it is
let played = "";
async function play() {
  const wanted = asked(), key = JSON.stringify(wanted);
  if (key === played) return;
  played = key;
  $("timeline").replaceChildren(make("p", {}, "playing the waves"));
  const found = await ask("timeline", wanted);
  if (found.stale) return;
  if (found.error) played = "";
  $("timeline").replaceChildren(found.error ? make("p", { class: "error" }, said(found.error))
    : make("iframe", { src: found.page, title: "Timeline of the waves", sandbox: "allow-scripts" }));
}

// --- values
// One after another: a key that is pressed while a step is under way is the next step. how: of the state then.
function walk(how) {
  due++;
  walking = walking.then(() => walked(how())).catch(() => null).finally(() => due--);
}
async function walked(how) {
  const group = $("workgroup").value.split(",").map(Number);
  const found = await ask("step", { ...asked(), ...how, workgroup: group, wave: Number($("wave").value) });
  if (found.stale) return;
  if (found.error) return $("where").replaceChildren(make("span", { class: "error" }, said(found.error)));
  before = state;
  state = found;
  showValues();
  mark();
}
const rowAt = (offset) => seen?.instructions.find((row) => row.offset === offset && row.offset !== undefined);
function mark() {
  const now = state && state.offset !== null ? rowAt(state.offset) : null;
  for (const row of $("rows").children) row.classList.toggle("now", now !== null && now !== undefined && Number(row.dataset.line) === now.line);
  if (!now) return;
  reveal($("rows"), $(`row${now.line}`).offsetTop, $(`row${now.line}`).offsetHeight);
  toSource(now);
}
const as = {
  hex: (word) => word,
  i32: (word) => String(parseInt(word, 16) | 0),
  f32: (word) => { const view = new DataView(new ArrayBuffer(4)); view.setUint32(0, parseInt(word, 16)); return Number(view.getFloat32(0).toPrecision(6)).toString(); },
};
function showValues() {
  const format = as[$("format").value], words = (text) => text.match(/.{8}/g) ?? [];
  const exec = parseInt(state.exec, 16), fresh = (now, old) => (old !== undefined && old !== now ? "new" : "");
  const next = state.offset === null ? null : rowAt(state.offset);
  const where = state.fault ? make("span", { class: "error" }, state.fault) : `${state.executed} instructions run${state.done ? ", ended" : state.waiting ? ", at a barrier" : ""}; EXEC ${state.exec}, VCC ${state.vcc}, SCC ${state.scc}${next ? `; next: ${next.text}` : ""}`;
  $("where").replaceChildren(where);
  const lanes = [...Array(32).keys()];
  $("accesses").replaceChildren(...state.accesses.map(access));
  $("registers").replaceChildren(
    make("table", {}, make("tr", {}, make("th", {}, "lane"), ...lanes.map((lane) => make("th", {}, String(lane)))),
      ...state.vgprs.map((row, i) => make("tr", {}, make("th", {}, `v${i}`), ...words(row).map((word, lane) =>
        make("td", { class: `${(exec >>> lane) & 1 ? "" : "off"} ${fresh(word, before?.vgprs[i]?.slice(8 * lane, 8 * lane + 8))}` }, format(word)))))),
    make("table", {}, ...chunks(state.sgprs, 8).map((part, k) => make("tr", {}, make("th", {}, `s${8 * k}`),
      ...part.map((word, j) => make("td", { class: fresh(word, before?.sgprs[8 * k + j]) }, format(word)))))),
    ...state.arrays.map((array, k) => make("table", {}, make("tr", {}, make("th", {}, `${array.name} (${array.type}, ${array.shape.join(" x ")})`)),
      ...chunks(array.values.slice(0, 64), 8).map((part, i) => make("tr", {}, make("th", {}, `[${8 * i}]`),
        ...part.map((value, j) => make("td", { class: fresh(value, before?.arrays[k]?.values[8 * i + j]) }, typeof value === "number" ? String(Number(value.toPrecision(6))) : value)))))),
    state.lds ? make("table", {}, make("tr", {}, make("th", {}, "LDS")), ...chunks(words(state.lds).slice(0, 64), 8).map((part, i) => make("tr", {}, make("th", {}, String(32 * i)),
      ...part.map((word) => make("td", {}, format(word.match(/../g).reverse().join(""))))))) : null);
}
// A row is 128 bytes: a line of memory, or a dword of each of the 32 banks of the LDS. A cell is a dword: the lane that asks
// for it, or how many do; of memory the sectors that are moved are shaded.
function access(one) {
  const rows = new Map(), most = 32, side = 15, left = 74, inLds = one.name === "LDS";
  for (const [lane, byte] of one.lanes)
    for (let dword = Math.floor(byte / 4); dword <= Math.floor((byte + one.bytes - 1) / 4); dword++) {
      const line = Math.floor(dword / 32), cells = rows.get(line) ?? rows.set(line, Array.from({ length: 32 }, () => [])).get(line);
      cells[dword - 32 * line].push(lane);
    }
  const shown = [...rows].sort(([a], [b]) => a - b).slice(0, most);
  const bytes = one.lanes.length * one.bytes;
  const costs = inLds ? `${bytes} bytes in ${one.cost} cycle${one.cost === 1 ? "" : "s"} of the LDS` : `${bytes} bytes asked for, ${32 * one.cost} moved (${one.cost} sectors)`;
  const text = `next, a ${one.kind} of ${one.name}: ${costs}${rows.size > most ? `; the first ${most} of ${rows.size} rows` : ""}`;
  const height = side * (shown.length + 1), width = left + 32 * side;
  return figure(text, { viewBox: `0 0 ${width} ${height}`, width, class: "access" },
    ...[0, 8, 16, 24].map((bank) => shape("text", { x: left + bank * side + 2, y: 11 }, inLds ? `bank ${bank}` : `+${4 * bank}`)),
    ...shown.flatMap(([line, cells], row) => [shape("text", { x: 2, y: side * (row + 2) - 4 }, `[${128 * line}]`),
      ...cells.flatMap((who, i) => {
        const x = left + i * side, y = side * (row + 1), sector = cells.slice(i & ~7, (i & ~7) + 8).some((other) => other.length);
        return [shape("rect", { x, y, width: side - 1, height: side - 1, class: who.length ? "asked" : sector && !inLds ? "moved" : "" }),
          who.length ? shape("text", { x: x + 1, y: y + 11 }, who.length > 1 ? `${who.length}×` : String(who[0])) : null];
      })]));
}
const chunks = (list, size) => Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
const steps = {
  first: () => walk(() => ({ at: 0 })),
  back: () => walk(() => ({ at: Math.max(0, (state?.executed ?? 1) - 1) })),
  step: () => walk(() => ({ at: (state?.executed ?? -1) + 1 })),
  here: () => chosen?.offset !== undefined && walk(() => ({ break: { offset: chosen.offset, condition: $("condition").value } })),
  go: () => walk(() => ({ break: { condition: $("condition").value } })),
};
for (const [id, action] of Object.entries(steps)) $(id).addEventListener("click", action);
for (const id of ["workgroup", "wave"]) $(id).addEventListener("change", steps.first);
$("format").addEventListener("change", () => state && showValues());
addEventListener("keydown", (event) => {
  const action = event.key === "F10" ? (event.shiftKey ? "back" : "step") : event.key === "F8" ? "go" : null;
  if (!action) return;
  event.preventDefault();
  if (event.repeat && due) return; // a key that is held does not run ahead
  const begins = state === null && $("values").hidden && action === "step";
  select("values");
  if (!begins) steps[action]();
});

// --- tabs
const tabs = [...document.querySelectorAll("[role=tab]")];
function select(id) {
  for (const tab of tabs) {
    const mine = tab.getAttribute("aria-controls") === id;
    tab.setAttribute("aria-selected", String(mine));
    tab.tabIndex = mine ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !mine;
  }
  if (id === "values" && state === null && seen) steps.first();
  if (id === "timeline") play();
}
for (const tab of tabs) tab.addEventListener("click", () => select(tab.getAttribute("aria-controls")));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = tabs[(tabs.findIndex((tab) => tab.tabIndex === 0) + step + tabs.length) % tabs.length];
  select(next.getAttribute("aria-controls"));
  next.focus();
});

// --- state, options, the file on disk
for (const id of ["arch", "optimise"]) $(id).addEventListener("change", () => later(0));
$("kernel").addEventListener("change", () => { kernel = $("kernel").value; later(0); });
$("launch").addEventListener("input", () => later());
$("keep").addEventListener("click", () => { kept = { seen, time: seen?.time }; $("status").textContent = "kept: what follows is compared with this"; if (seen) showNumbers(); });
$("save").addEventListener("click", () => {
  const blob = new Blob([JSON.stringify({ ...asked(), workgroup: $("workgroup").value, wave: $("wave").value, at: state?.executed ?? 0 }, null, 1)], { type: "application/json" });
  const link = make("a", { href: URL.createObjectURL(blob), download: `${name}.explore.json` });
  link.click();
  URL.revokeObjectURL(link.href);
});
$("load").addEventListener("change", async (event) => {
  const held = await event.target.files[0].text().then(JSON.parse).catch(() => null);
  if (typeof held?.text !== "string") return ($("status").textContent = "this file holds no saved state");
  kernel = held.kernel ?? "";
  $("launch").value = held.launch ?? "";
  $("arch").value = held.arch ?? $("arch").value;
  $("optimise").value = held.flags?.[0] ?? "-O3";
  $("workgroup").value = held.workgroup ?? "0,0,0";
  $("wave").value = held.wave ?? 0;
  put(held.name ?? name, held.text);
  await refresh();
  if (!held.at) return;
  select("values");
  walk(() => ({ at: held.at }));
});
function put(file, text) {
  name = file;
  $("file").textContent = file;
  document.title = `${file} – hipgemm explore`;
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
}
async function follow() {
  const held = await ask("file", { changed }).catch(() => null);
  if (!held) return ($("status").textContent = "the server has ended");
  if (held.error) return ($("status").textContent = held.error.message);
  if (held.text !== undefined) {
    if (!$("arch").value) $("arch").replaceChildren(...held.targets.map((target) => make("option", { selected: target === held.arch ? "" : false }, target)));
    $("launch").value = held.launch;
    put(held.name, held.text);
  }
  changed = held.changed;
  setTimeout(follow, 1000);
}
follow();
