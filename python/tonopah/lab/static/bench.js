// The bench: a scenario as sliders, form and TOML on one side, what it does over time on the other.
import { Run, ask, asRefused, html, useEffect, useRef, useState } from "./api.js";
import { COLUMNS, Compare, Difference } from "./compare.js";
import { Form } from "./form.js";
import { Network, linksOf } from "./network.js";
import { inSeconds, put } from "./paths.js";
import { Packets } from "./packets.js";
import { Panels, STATES } from "./plots.js";
import { Share } from "./share.js";
import { Sky } from "./sky.js";
import { Sliders } from "./sliders.js";

const FRAME_MS = 33;
const SETTLE_MS = 60;
const PACES = [["as fast as possible", ""], ["0.1 × real time", "0.1"], ["real time", "1"], ["10 × real time", "10"]];
export const OVER = ["done", "stopped", "failed"];

// A run with its series as state of a component: `start` begins another, `zoom` chooses what is shown.
export function useRun(columns) {
  const [state, set] = useState({ tracks: [], version: 0, phase: "none", view: null, error: null });
  const hold = useRef(null);
  if (!hold.current) {
    const run = new Run((message) => hold.current.hear(message));
    const change = (values) => set((before) => ({ ...before, ...(typeof values === "function" ? values(before) : values) }));
    const me = {
      run, view: null, over: false, began: 0, duration: 1, columns, rest: FRAME_MS,
      ask() {
        if (!me.over) clearTimeout(me.timer);
        const view = me.view ?? { from_s: 0, until_s: me.duration };
        if (run.id && !run.waiting) run.show(view.from_s, view.until_s, me.columns());
        else me.again = true;
      },
      zoom(view) {
        me.view = view;
        change({ view });
        me.ask();
      },
      hear(message) {
        if (message.kind === "started") {
          me.over = false;
          me.duration = inSeconds(message.resolved.duration) || 1;
          change({ id: message.run, graph: message.graph, links: linksOf(message.graph), resolved: message.resolved, random: message.random, warnings: message.warnings, document: message.document, duration: me.duration, phase: "running", now: 0, error: null, summary: null, seen: false });
          me.ask();
        } else if (message.kind === "series") {
          if (message.run !== run.id) return;
          change((before) => ({ tracks: message.tracks, version: before.version + 1, now: message.now_s, phase: me.over ? before.phase : message.state, seen: OVER.includes(message.state), tookMs: OVER.includes(message.state) && !before.seen ? performance.now() - me.began : before.tookMs }));
          if (me.again || !me.over) {
            me.again = false;
            me.timer = setTimeout(() => me.ask(), me.over ? 0 : me.rest);
          }
          // A slow page draws half of the time at most, so that the last series need not wait for those before.
          const heard = performance.now();
          requestAnimationFrame(() => setTimeout(() => Object.assign(me, { rest: Math.max(FRAME_MS, performance.now() - heard) })));
        } else if (message.kind === "ended") {
          me.over = true;
          change({ phase: message.state, now: message.now_s, error: message.error, summary: message.summary });
          me.ask();
        } else if (message.kind === "refused") {
          me.over = true;
          change({ error: message.error, warnings: [], phase: "refused" });
        }
      },
      start(document, seed, pace) {
        clearTimeout(me.timer);
        Object.assign(me, { over: false, again: false, began: performance.now() });
        run.start(document, seed, pace);
      },
      resume(id, document, seed) {
        me.began = performance.now();
        run.attach(id, document, seed);
      },
    };
    hold.current = me;
  }
  useEffect(() => () => hold.current.run.close(), []);
  return [{ ...state, shown: state.view ?? { from_s: 0, until_s: state.duration ?? 1 } }, hold.current];
}

function Gallery({ presets, chosen, choose }) {
  return html`<label class="gallery">Begin with <select id="preset" onChange=${(e) => e.target.value && choose(presets.find((one) => one.name === e.target.value))}>
    <option value="" selected=${!chosen}>a scenario of your own</option>
    ${presets.map((one) => html`<option value=${one.name} selected=${chosen === one.name}>${one.title}</option>`)}</select></label>
    <p class="meta">${presets.find((one) => one.name === chosen)?.text ?? ""}</p>`;
}

export function Controls({ state, run, pace, setPace, again }) {
  const running = ["running", "waiting", "paused"].includes(state.phase);
  const tell = (kind) => run.run.send({ kind });
  return html`<div class="controls" role="group" aria-label="run">
    <button type="button" class="switch" onClick=${again}>run again</button>
    <button type="button" class="switch" disabled=${!running} onClick=${() => tell(state.phase === "paused" ? "continue" : "pause")}>${state.phase === "paused" ? "go on" : "pause"}</button>
    <button type="button" class="switch" disabled=${!running} onClick=${() => tell("stop")}>stop</button>
    <label>pace <select value=${pace} onChange=${(e) => setPace(e.target.value)}>${PACES.map(([text, value]) => html`<option value=${value} selected=${value === pace}>${text}</option>`)}</select></label>
    <progress max="1" value=${Math.min(1, (state.now ?? 0) / (state.duration || 1))} aria-label="simulated time"></progress>
    <span class="meta" id="run-state" data-run=${state.id} data-version=${state.version} data-phase=${state.phase} data-seen=${String(Boolean(state.seen))}>${phaseText(state)}</span></div>`;
}

function phaseText({ phase, now, duration, tookMs, error }) {
  if (phase === "none") return "";
  if (phase === "waiting") return "waits for another run";
  if (phase === "refused") return error?.message ? "the scenario cannot be run" : "refused";
  const time = `${(now ?? 0).toPrecision(3)} of ${duration} s`;
  return phase === "done" && tookMs ? `${duration} s simulated, shown after ${Math.round(tookMs)} ms` : `${phase}: ${time}`;
}

export function ZoomTools({ view, whole, zoom }) {
  const width = view.until_s - view.from_s, middle = view.from_s + width / 2;
  const to = (from, until) => {
    const size = Math.min(whole, until - from), start = Math.max(0, Math.min(whole - size, from));
    zoom(size >= whole ? null : { from_s: start, until_s: start + size });
  };
  const make = (text, title, act) => html`<button type="button" class="switch" aria-label=${title} title=${title} onClick=${act}>${text}</button>`;
  return html`<div class="zoom" role="group" aria-label="time axis">
    ${make("+", "zoom in", () => to(middle - width / 4, middle + width / 4))}${make("−", "zoom out", () => to(middle - width, middle + width))}
    ${make("←", "earlier", () => to(view.from_s - width / 3, view.until_s - width / 3))}${make("→", "later", () => to(view.from_s + width / 3, view.until_s + width / 3))}
    ${make("whole", "show the whole run", () => zoom(null))}</div>`;
}

export function FlowSwitches({ flows, off, setOff, focus, setFocus }) {
  if (!flows?.length) return null;
  const toggle = (id) => {
    const next = new Set(off);
    if (!next.delete(id)) next.add(id);
    setOff(next);
  };
  return html`<div class="flows" role="group" aria-label="flows">
    ${flows.slice(0, 24).map((flow) => html`<button type="button" class="switch" key=${flow.flow} aria-pressed=${String(!off.has(flow.flow))} title=${`${flow.from} → ${flow.to}`} onClick=${() => toggle(flow.flow)}>
      <svg width="22" height="10" aria-hidden="true"><line x1="0" x2="22" y1="5" y2="5" stroke=${`var(--s${flow.flow % 7})`} stroke-width="3" /></svg>flow ${flow.flow}: ${flow.cc}</button>`)}
    <label>states of <select value=${focus} onChange=${(e) => setFocus(Number(e.target.value))}>${flows.slice(0, 200).map((flow) => html`<option value=${flow.flow} selected=${flow.flow === focus}>flow ${flow.flow}</option>`)}</select></label>
    <span class="bands" aria-label="states">${STATES.map((one, i) => html`<i class=${`band band-${i}`} key=${one.name}></i>${one.name} `)}</span></div>`;
}

// Everything right of the scenario: controls, plots, network.
// `other` is a changed run to stand beside it.
export function Watch({ state, run, facts, pace, setPace, again, other, children }) {
  const [off, setOff] = useState(new Set()), [focus, setFocus] = useState(0), [time, setTime] = useState(0);
  const flows = state.summary?.flows ?? flowsOf(state);
  const view = other && !state.view ? { from_s: 0, until_s: Math.max(state.duration ?? 1, other.duration ?? 1) } : state.shown;
  const look = { facts: facts.series, zoom: run.zoom, point: setTime, off, focus };
  const seen = Math.min(Math.max(time, state.shown.from_s), state.shown.until_s), orbits = state.resolved?.network?.kind === "constellation";
  return html`<div class="watch"><${Controls} state=${state} run=${run} pace=${pace} setPace=${setPace} again=${again} />
    ${state.error && html`<p class="mistake" role="alert" id="run-error">${state.error.path ? `${state.error.path}: ` : ""}${state.error.message}${state.error.hint ? ` (${state.error.hint})` : ""}</p>`}
    ${state.warnings?.map((text) => html`<p class="warning" role="status" key=${text}>Warning: ${text}</p>`)}
    <${FlowSwitches} flows=${flows} off=${off} setOff=${setOff} focus=${focus} setFocus=${setFocus} />
    ${state.tracks.length > 0 && html`<${ZoomTools} view=${state.shown} whole=${state.duration} zoom=${run.zoom} />`}
    <div class=${other ? "split compared" : "split"}><${Panels} ...${look} tracks=${state.tracks} version=${state.version} view=${view} summary=${state.summary} links=${state.links} other=${other} />
    ${other && html`<${Difference} before=${state} after=${other} view=${view} look=${look} />`}
    <div class="beside">${(state.graph || orbits) && html`${orbits ? html`<${Sky} run=${state.id} time=${seen} flows=${flows} />` : html`<${Network} graph=${state.graph} tracks=${state.tracks} time=${seen} flows=${flows} />`}
      <label class="cursor">time <input type="range" min=${state.shown.from_s} max=${state.shown.until_s} step="any" value=${seen} onInput=${(e) => setTime(Number(e.target.value))} /><output>${seen.toPrecision(4)} s</output></label>`}
      ${state.summary && html`<${Numbers} summary=${state.summary} />`}${children}</div></div></div>`;
}

const flowsOf = (state) => [...new Set(state.tracks.filter((track) => track.name === "cwnd").map((track) => track.id))].map((flow) => ({ flow, cc: "" }));

function Numbers({ summary }) {
  const rate = (v) => (v === null ? "–" : (v / 1e6).toPrecision(3)), ms = (v) => (v === null ? "–" : (v * 1e3).toPrecision(3));
  return html`<div class="scroll"><table class="results"><thead><tr><th>flow</th><th>algorithm</th><th>Mb/s</th><th>RTT ms</th><th>retransm.</th></tr></thead><tbody>
    ${summary.flows.slice(0, 12).map((flow) => html`<tr key=${flow.flow}><td>${flow.flow}</td><td>${flow.cc}</td><td>${rate(flow.goodput_bps)}</td><td>${ms(flow.rtt_s)}</td><td>${flow.retransmitted_packets}</td></tr>`)}</tbody></table></div>`;
}

// The scenario of the bench: a document, its TOML, the mistake in either. An edit of one changes the other.
export function useScenario(begin) {
  const [scenario, set] = useState({ document: null, toml: "", error: null, origin: 0 });
  const timer = useRef(0), latest = useRef(0);
  const me = useRef(null);
  me.current = {
    ...scenario,
    change(document) {
      me.current.show(document);
      begin(document);
    },
    show(document) {
      clearTimeout(timer.current);
      const number = (latest.current += 1);
      set((before) => ({ ...before, document, error: null }));
      ask("toml", { document }).then(({ toml }) => latest.current === number && set((before) => ({ ...before, toml })), (error) => set((before) => ({ ...before, error: asRefused(error) })));
    },
    async load(toml) {
      const number = (latest.current += 1);
      set((before) => ({ ...before, toml }));
      try {
        const { document } = await ask("document", { toml });
        if (latest.current !== number) return;
        set((before) => ({ document, toml, error: null, origin: before.origin + 1 }));
        begin(document);
      } catch (error) {
        if (latest.current === number) set((before) => ({ ...before, error: asRefused(error) }));
      }
    },
    type(toml) {
      set((before) => ({ ...before, toml }));
      clearTimeout(timer.current);
      timer.current = setTimeout(() => me.current.load(toml), 250);
    },
  };
  return me.current;
}

// What this tab last ran, so that a reload takes it up again; another tab has its own.
const KEPT = "bench";
const reloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";

function recall() {
  try {
    const kept = reloaded ? JSON.parse(sessionStorage.getItem(KEPT)) : null;
    return kept?.hash === location.hash ? kept : null;
  } catch {
    return null;
  }
}

function keep(facts) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ ...facts, hash: location.hash }));
  } catch {
    // Too large for the browser: after a reload the bench begins as its address says.
    sessionStorage.removeItem(KEPT);
  }
}

export function Bench({ facts, given }) {
  const [kept] = useState(recall), first = kept ?? given;
  const [seed, setSeed] = useState(first?.seed ?? 1), [pace, setPaceText] = useState(""), [chosen, choose] = useState(kept?.chosen ?? (given ? "" : facts.presets[0].name));
  const [state, run] = useRun(() => Math.min(2000, Math.max(300, innerWidth))), [other, otherRun] = useRun(() => COLUMNS), [compared, setCompared] = useState(false);
  const pending = useRef({ timer: 0, at: 0 }), settings = useRef({});
  settings.current = { seed, pace: pace ? Number(pace) : null };
  // While a slider moves the newest scenario runs, at most one each SETTLE_MS.
  const begin = (document) => {
    clearTimeout(pending.current.timer);
    const wait = Math.max(0, SETTLE_MS - (performance.now() - pending.current.at));
    pending.current.timer = setTimeout(() => {
      pending.current.at = performance.now();
      run.start(document, settings.current.seed, settings.current.pace);
    }, wait);
  };
  const scenario = useScenario(begin);
  useEffect(() => {
    if (kept) {
      scenario.show(kept.document);
      run.resume(kept.run, kept.document, kept.seed);
    } else if (given?.document) scenario.change(given.document);
    else scenario.load(facts.presets[0].toml);
  }, []);
  useEffect(() => {
    if (state.id) keep({ run: state.id, document: scenario.document, seed, chosen });
  }, [state.id]);
  const setPace = (text) => {
    setPaceText(text);
    run.run.send({ kind: "pace", factor: text ? Number(text) : null });
  };
  const pick = (preset) => {
    choose(preset.name);
    run.zoom(null);
    scenario.load(preset.toml);
  };
  const again = () => scenario.document && begin(scenario.document);
  const error = scenario.error ?? (state.phase === "refused" || state.phase === "failed" ? state.error : null);
  return html`<main class="bench"><h1 class="unseen">Bench</h1>
    <section class="setup" aria-label="scenario">
      <${Gallery} presets=${facts.presets} chosen=${chosen} choose=${pick} />
      ${scenario.document && html`<${Sliders} document=${scenario.document} origin=${scenario.origin} change=${scenario.change} />`}
      <label class="seed">seed <input type="number" id="seed" min="0" value=${seed} onChange=${(e) => { settings.current.seed = Math.max(0, Math.round(Number(e.target.value))); setSeed(settings.current.seed); again(); }} /></label>
      <details open><summary>Scenario as TOML</summary>
        <textarea id="toml" aria-label="scenario as TOML" spellcheck="false" rows="18" value=${scenario.toml} aria-invalid=${error ? "true" : null} aria-describedby="toml-mistake" onInput=${(e) => scenario.type(e.target.value)}></textarea>
        <p class="mistake" id="toml-mistake" role="alert">${error ? `${error.path ? `${error.path}: ` : ""}${error.message}${error.hint ? ` (${error.hint})` : ""}` : ""}</p></details>
      <details id="form"><summary>Scenario as a form</summary>${scenario.document && html`<${Form} document=${scenario.document} root=${facts.schema} error=${error} change=${(path, value) => scenario.change(put(scenario.document, path, value))} />`}</details>
      <datalist id="algorithms">${facts.algorithms.map((name) => html`<option value=${name}></option>`)}</datalist>
      ${scenario.document && html`<${Share} scenario=${scenario} seed=${seed} />`}
    </section>
    <section class="results" aria-label="what happens"><${Compare} document=${scenario.document} seed=${seed} view=${state.view} other=${other} run=${otherRun} shown=${compared} setShown=${setCompared} />
      <${Watch} state=${state} run=${run} facts=${facts} pace=${pace} setPace=${setPace} again=${again} other=${compared && other.phase !== "refused" && other.tracks.length ? other : null} />
      ${state.tracks.length > 0 && html`<${Packets} document=${state.document} seed=${seed} view=${state.shown} links=${state.links} flows=${state.summary?.flows} />`}</section></main>`;
}
