"use strict";
(() => {
const ROW = 60, AHEAD = 8;
const TITLES = { "data-race": "Data race", hit: "Hit" };
const CLASSES = ["definite", "likely", "possible", "other"];
const OPERATIONS = { rmw: "read and write", exec: "execution", unknown: "access" };
const $ = (id) => document.getElementById(id);
const all = JSON.parse($("findings").textContent);
const sources = JSON.parse($("sources").textContent);

/* Every text goes through here: text nodes only, never markup. */
function make(tag, options, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options || {}))
    if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value);
  for (const child of children.flat())
    if (child !== undefined && child !== null && child !== false) node.append(child);
  return node;
}
const base = (path) => path ? path.slice(path.lastIndexOf("/") + 1) : "";
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const classOf = (finding) => CLASSES.includes(finding.class) ? finding.class : "other";
const place = (access) => access.stack[access.place] || {};
const frameOf = (frame) => typeof frame === "string" ? { pc: frame } : frame;

function placeText(access) {
  const frame = frameOf(place(access));
  if (frame.file) return `${base(frame.file)}${frame.line ? ":" + frame.line : ""}`;
  return frame.module ? `${base(frame.module)}+${frame.offset}` : frame.pc || "?";
}
function title(finding) {
  const names = finding.accesses.map((access) =>
    frameOf(place(access)).function || base(frameOf(place(access)).module) || "?");
  if (!names.length) return finding.message || finding.kind;
  return names[0] === names[1] ? names[0] : names.join(" / ");
}
/* What the filter looks through, made when it is first needed. */
const haystacks = new Map();
function haystack(finding) {
  let text = haystacks.get(finding);
  if (text === undefined) {
    const parts = [finding.id, finding.kind, finding.message, finding.program, finding.host,
      finding.object && finding.object.name];
    for (const access of finding.accesses) {
      parts.push(access.thread);
      for (const frame of access.stack) parts.push(frame.function, frame.file, frame.module);
    }
    text = parts.filter(Boolean).join("\n").toLowerCase();
    haystacks.set(finding, text);
  }
  return text;
}

/* ---- filters ---- */
let shown = [], selected = null, typed = 0;
const state = { classes: new Set(CLASSES), kind: "", program: "", words: [], order: "class" };

function passes(finding) {
  return state.classes.has(classOf(finding)) &&
    (!state.kind || finding.kind === state.kind) &&
    (!state.program || finding.program === state.program) &&
    state.words.every((word) => haystack(finding).includes(word));
}
const places = new Map(all.map((finding, index) => [finding, index]));
const ORDERS = {
  class: (a, b) => places.get(a) - places.get(b), /* as they were written: possible ones by object and rank */
  count: (a, b) => b.count - a.count,
  last: (a, b) => (b.last || b.time || "").localeCompare(a.last || a.time || ""),
  first: (a, b) => (b.time || "").localeCompare(a.time || ""),
};
function apply() {
  shown = all.filter(passes).sort(ORDERS[state.order]);
  $("rows").style.height = `${shown.length * ROW}px`;
  $("empty").hidden = shown.length > 0;
  const times = shown.reduce((sum, finding) => sum + finding.count, 0);
  $("status").textContent = `${plural(shown.length, "finding")} of ${all.length.toLocaleString("en")}, seen ${plural(times, "time")}`;
  if (!shown.includes(selected)) select(shown[0] || null);
  $("list").scrollTop = Math.max(0, shown.indexOf(selected) * ROW - $("list").clientHeight / 2);
  drawRows();
}

/* ---- the list: only the rows on the screen exist ---- */
function drawRow(finding, index) {
  return make("div", { class: `row ${classOf(finding)}`, role: "option", id: `row-${index}`,
    "data-index": index, style: `top:${index * ROW}px`, "aria-selected": String(finding === selected),
    "aria-posinset": index + 1, "aria-setsize": shown.length },
    make("div", { class: "what" }, make("span", {}, title(finding)),
      make("span", { class: "count" }, `${finding.count.toLocaleString("en")}×`)),
    make("div", { class: "where" }, [finding.accesses.map(placeText).join(" / "),
      finding.object && finding.object.name].filter(Boolean).join(" · ")));
}
function drawRows() {
  const list = $("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - AHEAD);
  const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + AHEAD);
  const rows = [];
  for (let index = first; index < last; index++) rows.push(drawRow(shown[index], index));
  $("rows").replaceChildren(...rows);
  const at = shown.indexOf(selected);
  if (at >= first && at < last) list.setAttribute("aria-activedescendant", `row-${at}`);
  else list.removeAttribute("aria-activedescendant");
}
function select(finding) {
  selected = finding;
  drawDetail();
  if (finding) history.replaceState(null, "", `#${finding.id}`);
}
function move(step) {
  if (!shown.length) return;
  const at = Math.min(shown.length - 1, Math.max(0, shown.indexOf(selected) + step));
  select(shown[at]);
  const list = $("list"), top = at * ROW;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  drawRows();
}

/* ---- one finding ---- */
function drawSource(frame) {
  const lines = frame.file && sources[`${frame.file}:${frame.line}`];
  if (!lines) return null;
  return make("pre", { class: "source" }, lines.slice(1).map((text, index) =>
    make("span", { class: lines[0] + index === frame.line ? "at" : null },
      make("i", {}, String(lines[0] + index)), text || " ")));
}
function drawFrame(raw, index, open) {
  const frame = frameOf(raw), source = open ? drawSource(frame) : null;
  const item = make("li", {},
    make("span", { class: "number" }, `#${index}`),
    make("span", { class: "function" }, frame.function || frame.pc), " ",
    frame.file && make("span", { class: "file", title: frame.file },
      `${base(frame.file)}${frame.line ? ":" + frame.line : ""} `),
    frame.inlined && make("span", { class: "tag" }, "inlined"), " ",
    frame.module && make("span", { class: "module", title: `${frame.module}${frame.build_id ? "\nbuild-id " + frame.build_id : ""}` },
      `${base(frame.module)}+${frame.offset}`),
    source);
  return item;
}
function drawStack(stack, open) {
  return make("ol", { class: "stack" }, stack.map((frame, index) => drawFrame(frame, index, index === open)));
}
function accessTitle(access) {
  const operation = OPERATIONS[access.op] || access.op;
  return [access.atomic ? "atomic " : "", operation,
    access.size ? ` of ${plural(access.size, "byte")}` : "",
    access.unseen ? " by code that was not seen; what follows is the allocation, by" : access.kernel ? " by the kernel for" : " by", " thread ",
    access.thread || "", access.tid ? ` (${access.tid})` : ""].join("");
}
function drawAccess(access, finding) {
  const before = access.before || finding.old, after = access.after || finding.new;
  return make("section", { class: "card" },
    make("h3", {}, accessTitle(access)),
    (before || after) && make("p", { class: "facts values" }, `value ${[before, after].filter(Boolean).join(" → ")}`),
    drawStack(access.stack, access.place));
}
const OBJECTS = { global: "Global", heap: "Heap block", stack: "Stack variable", tls: "Thread-local", other: "Object" };
const MEMORY = { global: "Static data", heap: "Heap memory", stack: "Memory on the stack", tls: "Thread-local memory" };
const threadText = (one) => `thread ${one.thread || ""}${one.tid ? ` (${one.tid})` : ""}`;
const ageText = (from, to) => `${spanText(milliseconds(to) - milliseconds(from))} before`;
function drawFreed(freed, time) {
  return [make("p", { class: "facts" }, `freed by ${threadText(freed)}, ${ageText(freed.time, time)}, and perhaps another block since`),
    freed.stack && drawStack(freed.stack, -1)];
}
function objectFacts(object, time) {
  const facts = [object.offset && `at offset ${object.offset}`, object.type && `of type ${object.type}`,
    object.size && plural(object.size, "byte"), object.address && `at ${object.address}`,
    (object.thread || object.tid) && `${object.kind === "heap" ? "allocated by" : "of"} ${threadText(object)}`,
    object.time && time && ageText(object.time, time),
    object.file && `declared at ${base(object.file)}:${object.line}`];
  return facts.filter(Boolean);
}
/* Is more known of it than where it lies? */
const isDescribed = (object) => object && (object.name || object.stack || object.freed || objectFacts(object).length);
function drawObject(object, time) {
  if (!isDescribed(object)) return null;
  return make("section", { class: "card" },
    make("h3", {}, object.name || object.size ? `${OBJECTS[object.kind] || "Object"} ${object.name || ""}` : MEMORY[object.kind] || "Memory"),
    make("p", { class: "facts" }, objectFacts(object, time).join(", ")),
    object.stack && drawStack(object.stack, -1),
    object.freed && drawFreed(object.freed, time));
}
/* Milliseconds with their fraction: Date alone drops what is below a millisecond. */
function milliseconds(text) {
  const match = /^(.*?)(\.\d+)?Z$/.exec(text);
  return match ? Date.parse(match[1] + "Z") + 1000 * Number(match[2] || 0) : NaN;
}
function moments(finding) {
  const list = finding.accesses.filter(() => finding.time).map((access) =>
    ({ tid: access.tid, thread: access.thread, time: milliseconds(access.time || finding.time) }));
  for (const one of finding.occurrences || []) list.push({ tid: one.tid, time: milliseconds(one.time) });
  return list.filter((one) => !Number.isNaN(one.time));
}
function svg(tag, options, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(options)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}
function spanText(span) {
  if (span >= 172800000) return `${(span / 86400000).toFixed(1)} days`;
  if (span >= 120000) return `${(span / 60000).toFixed(1)} min`;
  if (span >= 1000) return `${(span / 1000).toFixed(2)} s`;
  return span >= 1 ? `${span.toFixed(2)} ms` : `${(span * 1000).toFixed(1)} µs`;
}
function drawTimeline(finding) {
  const list = moments(finding), threads = [...new Set(list.map((one) => one.tid))].slice(0, 16);
  if (!list.length) return null;
  const names = new Map(finding.accesses.map((access) => [access.tid, access.thread]));
  const start = Math.min(...list.map((one) => one.time)), end = Math.max(...list.map((one) => one.time));
  const left = 150, width = 900, step = 24, height = threads.length * step + 26;
  const x = (time) => left + (end > start ? (time - start) / (end - start) : 0.5) * (width - left - 20);
  const picture = svg("svg", { class: "timeline", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `When it was seen: ${plural(list.length, "moment")} in ${plural(threads.length, "thread")}` });
  threads.forEach((tid, row) => {
    const y = row * step + 14, name = names.get(tid);
    picture.append(svg("text", { x: 4, y: y + 4 }, name ? `${name.slice(0, 15)} (${tid})` : `thread ${tid}`),
      svg("line", { x1: left, x2: width - 20, y1: y, y2: y }));
    for (const one of list.filter((each) => each.tid === tid)) {
      const dot = svg("circle", { cx: x(one.time), cy: y, r: 5, class: `a${row % 2}` });
      dot.append(svg("title", {}, new Date(one.time).toISOString()));
      picture.append(dot);
    }
  });
  picture.append(svg("text", { x: left, y: height - 4 }, new Date(start).toISOString().replace("T", " ").slice(0, 19)),
    svg("text", { x: width - 20, y: height - 4, "text-anchor": "end" }, end > start ? `+ ${spanText(end - start)}` : ""));
  return make("section", { class: "card" }, make("h3", {}, "When, in which thread"), picture);
}
function drawFacts(finding) {
  const short = (time) => time.replace("T", " ").slice(0, 19);
  const facts = [`seen ${plural(finding.count, "time")}`,
    finding.time && (finding.last ? `${short(finding.time)} to ${short(finding.last)}` : short(finding.time)),
    finding.runs > 1 && `in ${plural(finding.runs, "run")}, ${plural(finding.hosts, "host")}, ${plural(finding.builds, "build")}`,
    finding.program && `${finding.program}${finding.pid ? ` (${finding.pid})` : ""}`,
    finding.object && !isDescribed(finding.object) && MEMORY[finding.object.kind],
    finding.host && `on ${finding.host}`, `id ${finding.id}`];
  return make("p", { class: "facts" }, facts.filter(Boolean).join(" · "));
}
function drawDetail() {
  const finding = selected, detail = $("detail");
  detail.scrollTop = 0;
  if (!finding) { detail.replaceChildren(); return; }
  detail.replaceChildren(
    make("h2", { class: classOf(finding) }, `${TITLES[finding.kind] || finding.kind}: ${title(finding)}`,
      finding.class && make("span", { class: "badge" }, finding.class)),
    drawFacts(finding),
    ...[finding.message && finding.accesses.length && make("p", { class: "card" }, finding.message),
      make("div", { class: "sides" }, finding.accesses.map((access) => drawAccess(access, finding))),
      drawObject(finding.object, finding.time),
      finding.evidence && finding.evidence.length && make("section", { class: "card" }, make("h3", {}, "Why"),
        make("ul", {}, finding.evidence.map((text) => make("li", {}, text)))),
      drawTimeline(finding)].filter(Boolean));
}

/* ---- controls ---- */
function fillSelect(id, name, values) {
  $(id).append(make("option", { value: "" }, `every ${name}`),
    ...values.map((value) => make("option", { value }, id === "program" ? base(value) : value)));
  $(id).hidden = values.length < 2;
  $(id).addEventListener("change", () => { state[id] = $(id).value; apply(); });
}
const distinct = (values) => [...new Set(values.filter(Boolean))].sort();
function fillClasses() {
  for (const name of CLASSES) {
    const count = all.filter((finding) => classOf(finding) === name).length;
    if (!count) continue;
    const button = make("button", { type: "button", class: `class ${name}`, "aria-pressed": "true" },
      `${name} ${count.toLocaleString("en")}`);
    button.addEventListener("click", () => {
      const on = !state.classes.has(name);
      state.classes[on ? "add" : "delete"](name);
      button.setAttribute("aria-pressed", String(on));
      apply();
    });
    $("classes").append(button);
  }
}
function setTheme(theme) { document.documentElement.dataset.theme = theme; }
function switchTheme() { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); }

const KEYS = {
  j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
  PageDown: () => move(10), PageUp: () => move(-10), Home: () => move(-all.length), End: () => move(all.length),
  Enter: () => $("detail").focus(), "/": () => $("search").focus(), t: switchTheme,
};
document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") { $("list").focus(); return; }
  if (target.tagName === "INPUT" && event.key === "Enter") { $("list").focus(); event.preventDefault(); return; }
  if (["INPUT", "SELECT", "BUTTON"].includes(target.tagName)) return;
  if (target === $("detail") && !["j", "k", "/", "t"].includes(event.key)) return; /* it scrolls itself */
  if (KEYS[event.key]) { KEYS[event.key](); event.preventDefault(); }
});
$("search").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => {
    state.words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    apply();
  }, 80);
});
$("order").addEventListener("change", () => { state.order = $("order").value; apply(); });
$("theme").addEventListener("click", switchTheme);
$("list").addEventListener("scroll", drawRows, { passive: true });
$("list").addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (row) { select(shown[Number(row.dataset.index)]); drawRows(); }
});
addEventListener("resize", drawRows);
addEventListener("hashchange", () => {
  const wanted = shown.find((finding) => `#${finding.id}` === location.hash);
  if (wanted && wanted !== selected) { select(wanted); drawRows(); }
});

setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
fillClasses();
fillSelect("kind", "kind", distinct(all.map((finding) => finding.kind)));
fillSelect("program", "program", distinct(all.map((finding) => finding.program)));
selected = all.find((finding) => `#${finding.id}` === location.hash) || null;
if (selected) drawDetail();
apply();
$("list").focus();
})();
