// Compare: the scenario with one thing changed, the same seed, and whether the difference is real.
import { ask, asRefused, html, useEffect, useMemo, useState } from "./api.js";
import { fetchAt, put } from "./paths.js";

const asValue = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
const LEAST_P = 0.0001;
const show = (v) => (v === null || v === undefined ? "–" : Number(v.toPrecision(4)).toLocaleString("en-US"));

export function Compare({ document, seed, facts, view, useRun, Panels }) {
  const [state, run] = useRun(() => 900), [shown, setShown] = useState(false);
  const [path, setPath] = useState("tcp.cc"), [value, setValue] = useState("cubic"), [found, set] = useState(null), [error, setError] = useState(""), [busy, setBusy] = useState(0);
  useEffect(() => {
    set(null);
    setShown(false);
  }, [JSON.stringify(document), seed]);
  // The same part of the time as beside it.
  useEffect(() => run.zoom(view), [view?.from_s, view?.until_s]);
  const other = useMemo(() => document && path && put(document, path, asValue(value)), [document, path, value]);
  const compare = async (replicates) => {
    setBusy(replicates);
    setError("");
    try {
      set(await ask("compare", { document, other, seed, replicates }));
    } catch (failed) {
      setError(asRefused(failed).message);
    }
    setBusy(0);
  };
  const beside = () => {
    setShown(true);
    run.start(other, seed, null);
    compare(1);
  };
  return html`<details class="comparing"><summary>Compare with one thing changed</summary><div class="tools">
    <label>key <input id="compare-path" value=${path} onInput=${(e) => setPath(e.target.value)} /></label>
    <label>instead of ${document ? JSON.stringify(fetchAt(document, path)) ?? "the default" : ""} <input id="compare-value" list="algorithms" value=${value} onInput=${(e) => setValue(e.target.value)} /></label>
    <button type="button" class="switch" id="compare" disabled=${busy > 0} onClick=${beside}>compare this seed</button>
    <button type="button" class="switch" id="is-it-real" disabled=${busy > 0} onClick=${() => compare(10)}>${busy === 10 ? "ten runs of each …" : "is the difference real?"}</button></div>
    <p class="mistake" role="alert">${error}</p>
    ${state.error && shown && html`<p class="mistake" role="alert">${state.error.path ? `${state.error.path}: ` : ""}${state.error.message}</p>`}
    ${shown && state.tracks.length > 0 && html`<h3>Changed: ${path} = ${value}</h3><${Panels} tracks=${state.tracks} version=${state.version} facts=${facts.series} view=${state.shown} zoom=${() => {}} point=${() => {}} summary=${state.summary} off=${new Set()} focus=${0} links=${state.links} />`}
    ${found && html`<div class="scroll" tabindex="0" role="region" aria-label="comparison"><table id="compared"><thead><tr><th>metric</th><th>as it is</th><th>changed</th><th>difference</th>${found.replicates > 1 && html`<th>95 % interval</th><th>p</th>`}</tr></thead><tbody>
      ${found.rows.map((row) => html`<tr key=${row.metric}><td>${row.label}${row.unit ? ` (${row.unit})` : ""}</td><td>${show(row.before)}</td><td>${show(row.after)}</td><td>${show(row.difference)}</td>${found.replicates > 1 && html`<td>${row.low === null ? "–" : `${show(row.low)} to ${show(row.high)}`}</td><td>${row.p === null ? "–" : row.p < LEAST_P ? `< ${LEAST_P}` : show(row.p)}</td>`}</tr>`)}</tbody></table></div>
      <p class="meta">${found.replicates > 1 ? `Means of ${found.replicates} runs of each, seeds ${seed} to ${seed + found.replicates - 1}, paired by seed.` : `One run of each, seed ${seed}.`} ${found.note}</p>`}</details>`;
}
