// Sliders for the values of a scenario that one turns most: found in its document, by key and unit, when it is loaded. Each stays bound
// to its keys and keeps its place and name, whatever it is turned to.
import { ask, html, useEffect, useRef, useState } from "./api.js";
import { useKept, useLarge } from "./measures.js";
import { fetchAt, inSeconds, join, put, quantity, tidy } from "./paths.js";

const KEYS = { rate: "rate", delay: "delay", limit: "buffer", loss: "loss", flows: "flows", start: "start", data_rate: "radio rate" };
const MOST = 8;
const SPAN = 16;
const MOST_STARTS = 3;
const MOST_LOSS = 0.1;
// Where a medium can lose packets, and none does yet.
const LOSSY = ["network.bottleneck", "network.sink", "link[0]", "network.downlink"];

export function slidersOf(document) {
  const found = [];
  const add = (path, kind) => found.push({ paths: [path], label: kind, kind, base: fetchAt(document, path) });
  const walk = (value, path, depth) => {
    if (value === null || typeof value !== "object" || depth > 6) return;
    const entries = Array.isArray(value) ? value.map((one, i) => [i, one]) : Object.entries(value);
    for (const [key, below] of entries) {
      const place = join(path, key);
      if (key === "loss" ? typeof below?.p === "number" : KEYS[key] && (quantity(below) || (key === "flows" && typeof below === "number"))) add(place, KEYS[key]);
      else if (key === "queue" && quantity(below)) add(place, "buffer");
      else walk(below, place, depth + 1);
    }
  };
  walk({ network: document.network, link: document.link, flow: document.flow, traffic: document.traffic }, "", 0);
  // The links of hosts are seldom what is asked about.
  const chosen = found.filter(({ paths: [path] }) => !path.startsWith("network.access") && !/^link\[\d+\]/.test(path)).concat(narrowest(document, found));
  const lossy = LOSSY.find((path) => fetchAt(document, path) && !fetchAt(document, path).loss);
  for (const [i, flow] of (document.flow ?? []).slice(0, MOST_STARTS).entries()) {
    if (flow.start === undefined) chosen.push({ paths: [`flow[${i}].start`], label: "start", kind: "start", base: "0s" });
  }
  if (lossy) chosen.push({ paths: [`${lossy}.loss`], label: "loss", kind: "loss", base: undefined });
  const shown = chosen.slice(0, MOST);
  return shown.map((one) => ({ ...one, label: one.kind === "start" ? startOf(one) : shown.some((other) => other !== one && other.kind === one.kind) ? belowTable(one) : one.label }));
}

const startOf = ({ paths: [path] }) => (path.startsWith("flow[") ? `start, flow ${/\d+/.exec(path)[0]}` : "start");

// A label that another slider has too, after the table that it stands in: "queue rate".
function belowTable({ paths: [path], label }) {
  return [path.replace(/\[\d+\]/g, "").split(".").at(-2)?.replaceAll("_", " "), label].filter(Boolean).join(" ");
}

// Of a graph the links that have the least rate when it is loaded share one set of sliders, as far as they are alike.
function narrowest(document, found) {
  const links = document.link ?? [], rates = links.map((link) => quantity(link.rate)?.si ?? Infinity), least = Math.min(...rates);
  const alike = links.flatMap((_, i) => (rates[i] === least ? [`link[${i}]`] : []));
  return found.filter(({ paths: [path] }) => path.startsWith(`${alike[0]}.`)).map((one) => {
    const paths = alike.map((link) => one.paths[0].replace(alike[0], link)).filter((path) => JSON.stringify(fetchAt(document, path)) === JSON.stringify(one.base));
    return { ...one, paths, label: paths.length > 1 ? `${one.label}, ${paths.length} links` : one.label };
  });
}

// From the position of a slider, 0 to 1, to a value and back, around the value that the scenario began with. `step` is what a key moves.
export function scaleOf({ kind, base }, duration, rates) {
  if (kind === "loss") {
    const p = (v) => v?.p ?? 0;
    return { step: 0.01, of: (v) => Math.sqrt(p(v) / MOST_LOSS), at: (at, v) => (at === 0 && base === undefined ? undefined : { kind: "packet", ...v, p: Number((MOST_LOSS * at * at).toPrecision(2)) }), text: (v) => `${tidy(100 * p(v))} %` };
  }
  if (kind === "flows") {
    const most = Math.max(20, 2 * base);
    return { step: 1 / most, of: (v) => v / most, at: (at) => Math.max(1, Math.round(at * most)), text: String };
  }
  if (kind === "radio rate" && rates?.length > 1) {
    const stops = rates.map((rate) => quantity(rate)?.si), last = rates.length - 1;
    return { step: 1 / last, of: (v) => Math.max(0, stops.indexOf(quantity(v)?.si)) / last, at: (at) => rates[Math.round(at * last)], text: String };
  }
  const unit = quantity(base)?.unit ?? "s", number = quantity(base)?.number ?? 0, of = (v) => quantity(v)?.number ?? 0;
  if (kind === "start") {
    const most = duration / (quantity(`1${unit}`)?.si ?? 1);
    return { step: 0.005, of: (v) => of(v ?? "0s") / most, at: (at) => `${tidy(at * most)}${unit}`, text: (v) => v ?? base };
  }
  const whole = unit === "p", middle = Math.log(number || 1), width = Math.log(SPAN);
  return {
    step: 0.005,
    of: (v) => (Math.log(of(v) || 1e-9) - middle) / (2 * width) + 0.5,
    at: (at) => { const n = Math.exp(middle + (at - 0.5) * 2 * width); return `${whole ? Math.max(1, Math.round(n)) : tidy(n)}${unit}`; },
    text: String,
  };
}

// Of no standard.
const NO_RATE = "1bps";

// The rates that a radio may have: those that the engine names when it refuses another.
async function ratesOf(document, path) {
  const refused = await ask("check", { document: put(document, path, NO_RATE) }).then(() => null, (error) => error);
  return refused?.path === path ? Array.from(refused.message.split("known:")[1]?.matchAll(/"([0-9.]+[A-Za-z]+)"/g) ?? [], ([, rate]) => rate) : [];
}

const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
const ENDS = { Home: 0, End: 1 };
const bounded = (at) => Math.min(1, Math.max(0, at));

function Slider({ one, document, duration, rates, turn }) {
  const scale = scaleOf(one, duration, rates), [path] = one.paths, value = fetchAt(document, path), id = `slider-${path}`;
  // Values are rounded: the place of the thumb is kept as long as it means the value.
  const [thumb, place] = useState(null), same = (at, v) => JSON.stringify(scale.at(at, v)) === JSON.stringify(v);
  const now = thumb !== null && same(thumb, value) ? thumb : bounded(scale.of(value));
  const move = (at) => {
    place(at);
    if (!same(at, value)) turn(one, scale.at(at, value));
  };
  const press = (e) => {
    const by = STEPS[e.key];
    if (by === undefined && ENDS[e.key] === undefined) return;
    e.preventDefault();
    if (by === undefined) return move(ENDS[e.key]);
    // A key goes on until the value is another one.
    let at = bounded(now + by * scale.step);
    while (same(at, value) && at > 0 && at < 1) at = bounded(at + Math.sign(by) * scale.step);
    return move(at);
  };
  const text = scale.text(value);
  return html`<div class="slider"><label for=${id} title=${one.paths.join(", ")}>${one.label}</label>
    <input type="range" id=${id} min="0" max="1" step="any" value=${now} aria-valuetext=${text} data-path=${path} onKeyDown=${press} onInput=${(e) => move(Number(e.target.value))} /><output for=${id}>${text}</output></div>`;
}

export function Sliders({ document, origin, change }) {
  const kept = useRef({}), [rates, setRates] = useState({}), large = useLarge(), [chosen, choose] = useKept("slider", "");
  if (kept.current.origin !== origin) kept.current = { origin, sliders: slidersOf(document), duration: inSeconds(document.duration) };
  const { sliders, duration } = kept.current, latest = useRef(document);
  latest.current = document;
  // A radio has only the rates of its standard: the engine says which.
  useEffect(() => {
    let stale = false;
    for (const { paths: [path] } of sliders.filter(({ kind }) => kind === "radio rate")) ratesOf(document, path).then((found) => stale || setRates((before) => ({ ...before, [path]: found })));
    return () => {
      stale = true;
    };
  }, [origin]);
  const turn = ({ paths }, value) => {
    latest.current = paths.reduce((changed, path) => put(changed, path, value), latest.current);
    change(latest.current);
  };
  const shown = large ? [sliders.find(({ paths: [path] }) => path === chosen) ?? sliders[0]].filter(Boolean) : sliders;
  return html`<div class="sliders">${large && html`<label class="chosen">slider <select id="slider" onChange=${(e) => choose(e.target.value)}>${sliders.map(({ paths: [path], label }) => html`<option value=${path} selected=${path === chosen}>${label}</option>`)}</select></label>`}
    ${shown.map((one) => html`<${Slider} key=${`${origin} ${one.paths[0]}`} one=${one} document=${document} duration=${duration} rates=${rates[one.paths[0]]} turn=${turn} />`)}</div>`;
}
