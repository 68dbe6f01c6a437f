// Studies: start and stop them, read their claims, explore what they measured, and open a run of a point on the bench.
/* global known, show */
import { ask, asRefused, html, useEffect, useRef, useState } from "./api.js";
import { useWidth } from "./measures.js";
import { addressOf } from "./share.js";

const LOOK_MS = 1000;
const DRAWING = ["/vendor/d3.min.js", "/vendor/plot.umd.min.js"];

// The drawing of reports, loaded when a figure is first drawn.
let drawing = null;
const loadDrawing = () =>
  (drawing ??= DRAWING.reduce(
    (before, src) => before.then(() => new Promise((resolve, reject) => document.head.append(Object.assign(document.createElement("script"), { src, onload: resolve, onerror: reject })))),
    Promise.resolve(),
  ));

const minutes = (seconds) => (seconds === null || seconds === undefined ? "" : seconds < 90 ? `about ${Math.ceil(seconds)} s left` : `about ${Math.ceil(seconds / 60)} min left`);

function Figure({ figure, swept, facet, off, pick }) {
  const host = useRef(null), width = useWidth(host);
  useEffect(() => {
    const shown = figure.series.filter((one) => !off.has(one.label));
    if (!width || !shown.length) return;
    // `DRAW` is in page/charts.js, which the reports share.
    // The label of the host says what there is; those of the parts inside belong to no role.
    loadDrawing().then(() => {
      // Facets have one scale, so that they can be held against one another.
      const drawn = draw(figure, shown, width, Boolean(facet));
      drawn.setAttribute("aria-hidden", "true");
      // The point under the pointer, as Observable Plot has it; the table below leads there from the keyboard.
      // Without this a press holds the pointer where it is until the next one.
      drawn.addEventListener("pointerdown", (e) => e.stopImmediatePropagation(), true);
      drawn.addEventListener("click", () => drawn.value && pick(drawn.value.label, swept?.[figure.x.values.indexOf(drawn.value.x)]));
      host.current?.replaceChildren(drawn);
    });
  }, [figure, width, facet, [...off].join()]);
  return html`<figure class="chart"><figcaption>${figure.heading}${facet && `, ${figure.title}`}</figcaption><div class="plot" ref=${host} role="img" aria-label=${figure.caption}></div><p class="meta">${figure.caption}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="points"><table class="points"><thead><tr><th>${figure.x.label || "algorithm"}</th>${figure.series.map((one) => html`<th key=${one.label}>${one.label}</th>`)}</tr></thead><tbody>
      ${rowsOf(figure, swept).map((row) => html`<tr key=${row.tick}><td>${row.tick}</td>${row.cells.map((cell) => html`<td key=${cell.label}>${cell.value === null ? "–" : html`<button type="button" class="csv point" data-label=${cell.label} data-value=${row.tick} title="its runs" onClick=${() => pick(cell.label, row.value)}>${show(cell.value)}</button>${cell.low === null ? "" : html` <small>${show(cell.low)} to ${show(cell.high)}</small>`}`}</td>`)}</tr>`)}</tbody></table></div></figure>`;
}

/* global DRAW */
const draw = (figure, shown, width, common) => DRAW[figure.kind](figure, shown, width, { common, bands: true });

const at = (array, i) => (Array.isArray(array) ? array[i] ?? null : array ?? null);

function rowsOf(figure, swept) {
  const values = figure.x.values?.length ? figure.x.values : [null], ticks = figure.x.ticks ?? [];
  const places = figure.kind === "bar" ? [null] : values;
  // As the study writes them: with their unit.
  const written = (i) => swept?.[i] ?? ticks[i] ?? places[i];
  return places.map((value, i) => ({
    value: written(i), tick: String(written(i) ?? "nominal point"),
    cells: figure.series.map((one) => {
      const index = figure.kind === "bar" ? 0 : one.x.indexOf(value);
      return { label: one.label, value: known(one.y[index]) ? one.y[index] : null, low: at(one.low, index), high: at(one.high, index) };
    }),
  }));
}

function Points({ study, chosen, close }) {
  const [runs, set] = useState(null), [error, setError] = useState("");
  useEffect(() => {
    set(null);
    ask("point", { ...study, ...chosen }).then(({ runs: found }) => set(found), (failed) => setError(asRefused(failed).message));
  }, [JSON.stringify(chosen)]);
  const open = async (run) => {
    location.hash = await addressOf(run.document, run.seed);
  };
  const place = Object.entries(chosen.where).map(([axis, value]) => `${axis} = ${value}`).join(", ");
  return html`<section class="runs" id="runs"><h3>Runs of ${chosen.algorithm} at ${place || "the nominal point"}</h3><p class="mistake" role="alert">${error}</p>
    ${runs && html`<p>${runs.map((run) => html`<button type="button" class="switch run" key=${run.run} data-seed=${run.seed} onClick=${() => open(run)}>seed ${run.seed}</button> `)}${runs.length ? "" : "There is none."}</p>`}
    <button type="button" class="csv" onClick=${close}>close</button></section>`;
}

// The line and the mark of an algorithm, as the figures have them.
/* global colour, dash */
const Sample = ({ style }) => style !== undefined && html`<svg width="26" height="10" aria-hidden="true"><line x1="0" x2="24" y1="5" y2="5" stroke=${colour(style)} stroke-width="2.4" stroke-dasharray=${dash(style)} /></svg>`;

// A sweep varies one axis, or two that it crosses: along the one, with a figure (a facet) for each value of the other.
const sweepOver = ({ sweeps }, x, facet) => sweeps.find((vary) => x in vary && Object.keys(vary).length === (facet ? 2 : 1) && (!facet || facet in vary));
const facetsOf = ({ sweeps }, x) => sweeps.filter((vary) => x in vary).map((vary) => Object.keys(vary).find((axis) => axis !== x) ?? "").sort();
const axesOf = (part) => {
  const [first] = part.sweeps.map(Object.keys).sort((a, b) => a.length - b.length);
  return [first?.[0] ?? "", first?.[1] ?? ""];
};

function Explore({ study, parts }) {
  const [part, setPart] = useState(parts[0].id), here = parts.find((one) => one.id === part) ?? parts[0];
  const [metric, setMetric] = useState(here.metrics[0] ?? "goodput_bps"), [[x, facet], setAxes] = useState(axesOf(here));
  const facetsOfX = facetsOf(here, x), sweep = sweepOver(here, x, facet);
  const [figures, set] = useState([]), [off, setOff] = useState(new Set()), [error, setError] = useState(""), [point, pick] = useState(null);
  useEffect(() => {
    setError("");
    ask("explore", { ...study, metric, x: x || null, facet: facet || null }).then(({ figures: found }) => set(found.filter((one) => one.part === here.id && ["line", "bar"].includes(one.kind))), (failed) => { set([]); setError(asRefused(failed).message); });
    pick(null);
  }, [metric, x, facet, part]);
  const other = (id) => {
    const next = parts.find((one) => one.id === id);
    setPart(id);
    if (!next.metrics.includes(metric)) setMetric(next.metrics[0] ?? "goodput_bps");
    if (!sweepOver(next, x, facet)) setAxes(axesOf(next));
  };
  const styleOf = (label) => figures.flatMap((one) => one.series).find((one) => one.label === label)?.style;
  const toggle = (label) => {
    const next = new Set(off);
    if (!next.delete(label)) next.add(label);
    setOff(next);
  };
  return html`<section class="explore" id="explore"><h2>Explore</h2><div class="tools">
    ${parts.length > 1 && html`<label>part <select id="part" value=${part} onChange=${(e) => other(e.target.value)}>${parts.map((one) => html`<option value=${one.id} selected=${one.id === part}>${one.title || one.id}</option>`)}</select></label>`}
    <label>metric <input id="metric" list="metrics" value=${metric} onFocus=${(e) => e.target.select()} onChange=${(e) => setMetric(e.target.value)} /></label><datalist id="metrics">${here.metrics.map((name) => html`<option value=${name}></option>`)}</datalist>
    <label>axis <select id="axis" value=${x} onChange=${(e) => setAxes([e.target.value, facetsOf(here, e.target.value)[0] ?? ""])}><option value="" selected=${x === ""}>nominal point</option>${[...new Set(here.sweeps.flatMap(Object.keys))].map((axis) => html`<option value=${axis} selected=${axis === x}>${axis}</option>`)}</select></label>
    ${facetsOfX.some(Boolean) && html`<label>facets <select id="facet" value=${facet} onChange=${(e) => setAxes([x, e.target.value])}>${facetsOfX.map((axis) => html`<option value=${axis} selected=${axis === facet}>${axis || "none"}</option>`)}</select></label>`}
    ${here.algorithms.map((label) => html`<button type="button" class="switch" key=${label} aria-pressed=${String(!off.has(label))} onClick=${() => toggle(label)}><${Sample} style=${styleOf(label)} />${label}</button>`)}</div>
    <p class="mistake" role="alert">${error}</p>
    <div class=${facet ? "facets" : ""}>${figures.map((figure, i) => html`<${Figure} key=${figure.id} swept=${sweep?.[x]} facet=${facet} figure=${{ ...figure, series: figure.series.filter((one) => !off.has(one.label)) }} off=${off} pick=${(algorithm, value) => pick({ part: here.id, algorithm, where: { ...(x && { [x]: value }), ...(facet && { [facet]: sweep[facet][i] }) } })} />`)}</div>
    ${!figures.length && !error && html`<p class="meta">No run has measured this.</p>`}
    ${point && html`<${Points} study=${study} chosen=${point} close=${() => pick(null)} />`}</section>`;
}

function Claims({ claims, answer }) {
  if (!claims.length) return null;
  const effect = ({ value, low, high, unit }) => `${show(value)}${known(low) && known(high) ? ` [${show(low)}, ${show(high)}]` : ""} ${unit}`;
  const tests = (one) => [...new Set(one.tests.flatMap((test) => test.readings.map((reading) => reading.test)).filter(Boolean))].join("; ");
  return html`<section><h2>Claims</h2>${answer.map((sentence) => html`<p key=${sentence}>${sentence}</p>`)}<div class="scroll" tabindex="0" role="region" aria-label="claims"><table id="claims"><thead><tr><th>claim</th><th>verdict</th><th>what was found</th><th>test</th><th>effect</th></tr></thead><tbody>
    ${claims.map((one) => html`<tr key=${one.id}><td><strong>${one.id}</strong> ${one.text}</td><td><span class=${`verdict ${one.verdict.replaceAll(" ", "-")}`}>${one.verdict}</span></td><td>${one.sentence}</td><td>${tests(one)}</td><td>${one.effect && effect(one.effect)}</td></tr>`)}</tbody></table></div></section>`;
}

function One({ name }) {
  // Which size is shown first the lab says: the one of which there is something to read.
  const [quick, setQuick] = useState(null), [state, set] = useState(null), [error, setError] = useState(""), [busy, setBusy] = useState(false);
  const study = { name, quick }, latest = useRef(0);
  const act = async (what) => {
    const mine = (latest.current += 1);
    setBusy(what !== "look");
    try {
      const found = await ask("study", { ...study, do: what });
      if (mine === latest.current) set(found);
      if (quick === null) setQuick(found.quick);
      setError(found.error ?? "");
    } catch (failed) {
      setError(asRefused(failed).message);
      // Of what runs the next look may succeed.
      set((before) => before && { ...before });
    }
    setBusy(false);
  };
  useEffect(() => {
    if (quick !== null && state?.quick === quick) return;
    set(null);
    act("look");
  }, [quick]);
  useEffect(() => {
    if (!state?.running) return undefined;
    const timer = setTimeout(() => act("look"), LOOK_MS);
    return () => clearTimeout(timer);
  }, [state]);
  if (!state) return html`<p><a href="#studies">all studies</a></p><h1>${name}</h1><p class="mistake" role="alert">${error}</p><p class="meta">${error ? "" : "The study is read …"}</p>`;
  const complete = state.stored >= state.total;
  return html`<p><a href="#studies">all studies</a></p><h1>${state.title}</h1>${state.question !== state.title && html`<p class="question">${state.question}</p>`}
    <div class="controls" role="group" aria-label="study"><label><input type="checkbox" id="quick" checked=${quick} disabled=${state.running} onChange=${(e) => setQuick(e.target.checked)} /> quick size</label>
      <button type="button" class="switch" id="start" disabled=${busy || state.running || complete} onClick=${() => act("start")}>${state.stored && !complete ? "go on" : "start"}</button>
      <button type="button" class="switch" id="stop" disabled=${busy || !state.running} onClick=${() => act("stop")}>stop</button>
      <progress max=${state.total} value=${state.stored} aria-label="runs"></progress>
      <span id="progress" data-stored=${state.stored} data-quick=${String(state.quick)} data-running=${String(state.running)}>${state.stored} of ${state.total} runs ${state.running ? minutes(state.left_s) : ""}</span>
      ${state.stored > 0 && !state.running && html`<button type="button" class="switch" id="write-report" disabled=${busy} onClick=${() => act("report")}>write report</button>`}
      ${state.report && html`<a id="report" href=${state.report} target="_blank" rel="noopener">report</a>`}</div>
    <p class="mistake" role="alert">${error}</p>
    <${Claims} claims=${state.claims} answer=${state.answer} />
    ${state.parts.length > 0 && !state.running && html`<${Explore} key=${`${quick}${state.stored}`} study=${study} parts=${state.parts} />`}`;
}

export default function Studies({ rest }) {
  const [found, set] = useState(null), [error, setError] = useState("");
  useEffect(() => {
    if (!rest[0]) ask("studies").then(({ studies }) => set(studies), (failed) => setError(asRefused(failed).message));
  }, []);
  return html`<main class="reading" tabindex="-1"><p class="mistake" role="alert">${error}</p>
    ${rest[0] ? html`<${One} key=${rest[0]} name=${rest[0]} />` : found && html`<h1>Studies</h1><ul class="studies">${found.map((one) => html`<li key=${one.name}><a href=${`#studies/${encodeURIComponent(one.name)}`}>${one.name}</a>${one.own ? " in this folder" : ""}${one.state && html` <span class="state">${one.state}</span>`}<p class="meta">${one.question}</p></li>`)}</ul>`}</main>`;
}
