// Compare: the scenario with one thing changed, the same seed, and whether the difference is real.
/* global known */
import { ask, asRefused, html, readColumns, textOf, useEffect, useMemo, useRef, useState } from "./api.js";
import { fetchAt, put } from "./paths.js";
import { Panels } from "./plots.js";

const asValue = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
export const COLUMNS = 900;
const SETTLE_MS = 300;
const LEAST_P = 0.0001;
const show = (v) => (v === null || v === undefined ? "–" : Number(v.toPrecision(4)).toLocaleString("en-US"));

// The changed run less that as it is, from the samples of both on the server, on the same time axis. `look` is what its
// panels have in common with those of the runs.
export function Difference({ before, after, view, look }) {
  const [found, set] = useState({ tracks: [], version: 0 }), { from_s, until_s } = view;
  useEffect(() => {
    let stale = false;
    if (!before.seen || !after.seen) return undefined;
    ask("difference", { before: before.id, after: after.id, from_s, until_s, columns: COLUMNS })
      .then((blob) => blob.arrayBuffer())
      .then((data) => stale || set(({ version }) => ({ tracks: readColumns(data).tracks, version: version + 1 })), () => stale || set({ tracks: [], version: 0 }));
    return () => {
      stale = true;
    };
  }, [before.id, after.id, before.seen, after.seen, from_s, until_s]);
  return found.tracks.length > 0 && html`<section class="difference"><h3>Difference: changed less as it is</h3><${Panels} ...${look} tracks=${found.tracks} version=${found.version} view=${view} summary=${null} links=${after.links} /></section>`;
}

// Where the algorithm stands: flows that name their own have nothing of what all have.
const placeOfAlgorithm = (document) => (document?.flow?.[0]?.cc ? "flow[0].cc" : "tcp.cc");
// Whether a difference is more than chance, from its 95 % interval.
const real = ({ low, high }) => (low === null ? "–" : low > 0 || high < 0 ? "yes" : "cannot be told");

// What differs between two runs that are over.
function rowsOf(metrics, before, after) {
  return metrics.map((one) => ({ ...one, before: before[one.metric] * one.factor, after: after[one.metric] * one.factor, known: known(before[one.metric]) && known(after[one.metric]) }))
    .filter((row) => row.known).map((row) => ({ ...row, difference: row.after - row.before }));
}

// `base` is the run as it is; `other` and `run` are the changed one, whose plots stand beside it (bench.js) while it is `shown`.
export function Compare({ document, seed, view, metrics, base, other: state, run, shown, setShown }) {
  const [given, setPath] = useState(null), path = given ?? placeOfAlgorithm(document), [value, setValue] = useState("cubic"), [many, set] = useState(null), [error, setError] = useState(""), [busy, setBusy] = useState(0);
  const latest = useRef(0);
  // The same part of the time as beside it.
  useEffect(() => run.zoom(view), [view?.from_s, view?.until_s]);
  const changed = useMemo(() => document && path && put(document, path, asValue(value)), [document, path, value]);
  const compare = async (replicates) => {
    const mine = (latest.current += 1);
    setBusy(replicates);
    setError("");
    try {
      const answer = await ask("compare", { document, other: changed, seed, replicates });
      if (mine === latest.current) set({ ...answer, path, value: asValue(value) });
    } catch (failed) {
      if (mine === latest.current) {
        set(null);
        setError(textOf(asRefused(failed)));
      }
    }
    if (mine === latest.current) setBusy(0);
  };
  const beside = () => {
    setShown(true);
    setError("");
    set(null);
    run.start(changed, seed, null);
  };
  const over = shown && [base, state].every((one) => one.phase === "done" && one.seen && one.summary && !one.outdated && !one.stale);
  const found = many ?? (over ? { rows: rowsOf(metrics, base.summary.network, state.summary.network), replicates: 1, note: "", path, value: asValue(value) } : null);
  // When the scenario rests after a change, the changed one follows.
  useEffect(() => {
    set(null);
    if (!shown) return undefined;
    const timer = setTimeout(beside, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [JSON.stringify(document), seed]);
  return html`<details class="comparing"><summary>Compare with one thing changed</summary><div class="tools">
    <label>key <input id="compare-path" value=${path} onInput=${(e) => setPath(e.target.value)} /></label>
    <label>instead of ${document ? JSON.stringify(fetchAt(document, path)) ?? "the default" : ""} <input id="compare-value" list="algorithms" value=${value} onInput=${(e) => setValue(e.target.value)} /></label>
    <button type="button" class="switch" id="compare" disabled=${busy > 0} onClick=${beside}>compare this seed</button>
    <button type="button" class="switch" id="is-it-real" disabled=${busy > 0} onClick=${() => compare(10)}>${busy === 10 ? "ten runs of each …" : "is the difference real?"}</button>
    ${shown && html`<button type="button" class="switch" id="compare-end" onClick=${() => setShown(false)}>no comparison</button>`}</div>
    <p class="mistake" role="alert">${error || (shown && state.error ? textOf(state.error) : "")}</p>
    ${found && html`<div class="scroll" tabindex="0" role="region" aria-label="comparison"><table id="compared"><thead><tr><th>metric</th><th>as it is</th><th>changed</th><th>difference</th>${found.replicates > 1 && html`<th>95 % interval</th><th>p</th><th>real?</th>`}</tr></thead><tbody>
      ${found.rows.map((row) => html`<tr key=${row.metric}><td>${row.label}${row.unit ? ` (${row.unit})` : ""}</td><td>${show(row.before)}</td><td>${show(row.after)}</td><td>${show(row.difference)}</td>${found.replicates > 1 && html`<td>${row.low === null ? "–" : `${show(row.low)} to ${show(row.high)}`}</td><td>${row.p === null ? "–" : row.p < LEAST_P ? `< ${LEAST_P}` : show(row.p)}</td><td>${real(row)}</td>`}</tr>`)}</tbody></table></div>
      ${found.rows.every((row) => row.difference === 0) && html`<p class="warning" role="status">Both runs are the same: ${path} has no effect here${document?.flow?.some((flow) => flow.cc) && path === "tcp.cc" ? ", since flows name their own algorithms" : ""}.</p>`}
      <p class="meta">${found.path} = ${JSON.stringify(found.value)}. ${found.replicates > 1 ? `Means of ${found.replicates} runs of each, seeds ${seed} to ${seed + found.replicates - 1}, paired by seed.` : `One run of each, seed ${seed}.`} ${found.note}</p>`}</details>`;
}
