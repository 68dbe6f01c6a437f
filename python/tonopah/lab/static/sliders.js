// Sliders for the values of a scenario that one turns most: found in its document, by key and unit.
import { html, useRef } from "./api.js";
import { fetchAt, inSeconds, join, put, quantity, tidy } from "./paths.js";

const KEYS = { rate: "rate", delay: "delay", limit: "buffer", p: "loss", flows: "flows", start: "start", data_rate: "radio rate" };
const MOST = 8;
const SPAN = 16;
const MOST_STARTS = 3;
// Where a medium can lose packets, and none does yet.
const LOSSY = ["network.bottleneck", "network.sink", "link[0]", "network.downlink"];

export function slidersOf(document) {
  const found = [];
  const walk = (value, path, depth) => {
    if (value === null || typeof value !== "object" || depth > 6) return;
    const entries = Array.isArray(value) ? value.map((one, i) => [i, one]) : Object.entries(value);
    for (const [key, below] of entries) {
      const place = join(path, key);
      if (KEYS[key] && (quantity(below) || (key === "flows" && typeof below === "number") || (key === "p" && typeof below === "number"))) found.push({ path: place, label: `${KEYS[key]}`, value: below, kind: KEYS[key] });
      else if (key === "queue" && quantity(below)) found.push({ path: place, label: "buffer", value: below, kind: "buffer" });
      else walk(below, place, depth + 1);
    }
  };
  walk({ network: document.network, link: document.link, flow: document.flow, traffic: document.traffic }, "", 0);
  // The links of hosts are seldom what is asked about.
  const chosen = found.filter(({ path }) => !path.startsWith("network.access") && !/^link\[\d+\]/.test(path)).concat(narrowest(document, found));
  const lossy = LOSSY.find((path) => fetchAt(document, path) && !fetchAt(document, path).loss);
  for (const [i, flow] of (document.flow ?? []).slice(0, MOST_STARTS).entries()) {
    if (flow.start === undefined) chosen.push({ path: `flow[${i}].start`, label: `start, flow ${i}`, value: "0s", kind: "start" });
  }
  if (lossy) chosen.push({ path: `${lossy}.loss`, label: "loss", value: 0, kind: "none" });
  return chosen.slice(0, MOST).map((one, _, all) => ({ ...one, label: all.some((other) => other !== one && other.label === one.label) ? belowTable(one) : one.label }));
}

// A label that another slider has too, after the table that it stands in: "queue rate".
function belowTable({ path, label }) {
  return [path.split(".").at(-2)?.replaceAll("_", " "), label].filter(Boolean).join(" ");
}

// Of a graph the links with the least rate share one set of sliders: the first of them.
function narrowest(document, found) {
  const rates = (document.link ?? []).map((link) => quantity(link.rate)?.si ?? Infinity);
  const index = rates.indexOf(Math.min(...rates));
  return found.filter(({ path }) => path.startsWith(`link[${index}]`));
}

// From the position of a slider, 0 to 1, to a value and back, around the value that the scenario began with.
function scaleOf({ kind, value }, base, duration) {
  if (kind === "loss" || kind === "none") {
    return { of: (v) => Math.sqrt((typeof v === "number" ? v : v?.p ?? 0) / 0.1), at: (p) => (p === 0 ? undefined : Number((0.1 * p * p).toPrecision(2))), text: (v) => `${tidy(100 * (typeof v === "number" ? v : 0))} %` };
  }
  if (kind === "flows") {
    const most = Math.max(20, 2 * base);
    return { of: (v) => v / most, at: (p) => Math.max(1, Math.round(p * most)), text: String };
  }
  const unit = quantity(value).unit, of = (v) => quantity(v)?.number ?? 0;
  if (kind === "start") {
    const most = duration / (quantity(value).si / quantity(value).number || 1);
    return { of: (v) => of(v) / most, at: (p) => `${tidy(p * most)}${unit}`, text: String };
  }
  const whole = unit === "p", middle = Math.log(base || 1), width = Math.log(SPAN);
  return {
    of: (v) => (Math.log(of(v) || 1e-9) - middle) / (2 * width) + 0.5,
    at: (p) => { const n = Math.exp(middle + (p - 0.5) * 2 * width); return `${whole ? Math.max(1, Math.round(n)) : tidy(n)}${unit}`; },
    text: String,
  };
}

export function Sliders({ document, origin, change }) {
  const bases = useRef(new Map());
  if (bases.current.origin !== origin) bases.current = Object.assign(new Map(), { origin });
  const duration = inSeconds(document.duration);
  return html`<div class="sliders">${slidersOf(document).map((one) => {
    const number = typeof one.value === "number" ? one.value : quantity(one.value).number;
    if (!bases.current.has(one.path)) bases.current.set(one.path, number);
    const scale = scaleOf(one, bases.current.get(one.path) || number, duration), id = `slider-${one.path}`;
    const turn = (position) => {
      const value = scale.at(position);
      change(one.kind === "none" ? put(document, one.path, value === undefined ? undefined : { kind: "packet", p: value }) : put(document, one.path, one.kind === "loss" ? value ?? 0 : value));
    };
    return html`<div class="slider" key=${one.path}><label for=${id} title=${one.path}>${one.label}</label>
      <input type="range" id=${id} min="0" max="1" step="0.001" value=${Math.min(1, Math.max(0, scale.of(one.value)))} aria-valuetext=${scale.text(one.value)} data-path=${one.path}
        onInput=${(e) => turn(Number(e.target.value))} /><output for=${id}>${scale.text(one.value)}</output></div>`;
  })}</div>`;
}
