// The bench: a scenario as sliders, form and TOML on one side, what it does over time on the other.
/* global known, lineDash, show */
import { Run, ask, asRefused, html, useEffect, useRef, useState } from "./api.js";
import { COLUMNS, Compare, Difference } from "./compare.js";
import { Form } from "./form.js";
import { Network, linksOf } from "./network.js";
import { inSeconds, put } from "./paths.js";
import { Packets } from "./packets.js";
import { MOST_FLOWS, Panels, STATES } from "./plots.js";
import { Recordings, useRecorded } from "./recorded.js";
import { Script, scriptOf } from "./script.js";
import { Share } from "./share.js";
import { Sky } from "./sky.js";
import { Sliders } from "./sliders.js";
import { Ghost, TimeLine, ZoomTools } from "./timeline.js";

const FRAME_MS = 33;
const SETTLE_MS = 60;
const PACES = [["as fast as possible", ""], ["0.1 × real time", "0.1"], ["real time", "1"], ["10 × real time", "10"]];
export const OVER = ["done", "stopped", "failed"];

// The last run stays on the screen until the next one is over, or so long: till then nothing is asked for, as drawing what is not
// complete would only delay the end of a short run.
const HOLD_MS = 1000;

// A run with its series as state of a component: `start` begins another, `zoom` chooses what is shown. What is shown is always one run:
// series, network and numbers change together, and `stale` says that they are of a run before the newest.
export function useRun(columns) {
  const [state, set] = useState({ tracks: [], version: 0, phase: "none", view: null, error: null });
  const hold = useRef(null);
  if (!hold.current) {
    const run = new Run((message) => hold.current.hear(message));
    const change = (values) => set((before) => ({ ...before, ...(typeof values === "function" ? values(before) : values) }));
    const me = {
      run, view: null, over: false, began: 0, duration: 1, columns, rest: FRAME_MS,
      ask() {
        clearTimeout(me.timer);
        const view = me.view ?? { from_s: 0, until_s: me.duration };
        if (!run.id || run.waiting) return void (me.again = true);
        me.asked = performance.now();
        return run.show(view.from_s, view.until_s, me.columns());
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
          const { graph, resolved, random, document, flow_count } = message;
          // The numbers of the run before stay, pale, until those of this one are there.
          me.next = { id: message.run, graph, links: linksOf(graph), flows: flowsOf(message), flow_count, resolved, random, document, duration: me.duration, seen: false, outdated: true };
          change((before) => ({ phase: "running", now: 0, error: null, warnings: message.warnings, stale: before.tracks.length > 0, ...(before.tracks.length ? {} : me.next) }));
          if (me.paced) me.ask();
          else me.timer = setTimeout(() => me.ask(), HOLD_MS);
        } else if (message.kind === "series") {
          if (message.run !== run.id) return;
          const ended = OVER.includes(message.state), drawable = message.tracks.some((track) => track.t.length > 1);
          const ready = ended || !me.next || drawable;
          const facts = ready ? me.next : null;
          if (ready) me.next = null;
          change((before) => {
            const phase = me.over ? before.phase : message.state;
            if (!ready) return { now: message.now_s, phase };
            const seen = facts ? false : before.seen;
            return { ...facts, ...(facts && me.replaces && before.seen ? ghostOf(before, me) : {}), tracks: message.tracks, version: before.version + 1, now: message.now_s, phase, stale: false, seen: ended, tookMs: ended && !seen ? performance.now() - me.began : before.tookMs };
          });
          if (me.again || !me.over) {
            me.again = false;
            me.timer = setTimeout(() => me.ask(), me.over ? 0 : me.rest);
          }
          // Of a run under way the page and its engine draw a quarter of the time at most: the end is what one waits for.
          requestAnimationFrame(() => setTimeout(() => Object.assign(me, { rest: Math.max(FRAME_MS, 3 * (performance.now() - me.asked)) })));
        } else if (message.kind === "ended") {
          me.over = true;
          const { summary } = message;
          const numbers = { summary, outdated: false };
          if (me.next) Object.assign(me.next, numbers);
          change({ phase: message.state, now: message.now_s, error: message.error, ...(me.next ? {} : numbers) });
          me.ask();
        } else if (message.kind === "refused") {
          me.over = true;
          me.next = null;
          change({ error: message.error, warnings: [], phase: "refused", stale: true });
        }
      },
      start(document, seed, pace) {
        clearTimeout(me.timer);
        const now = performance.now();
        // Of a slider that is dragged the run before the first move stays; a run that is kept stays until it is let go.
        me.replaces = !me.kept && (me.replaces || now - me.began > ONE_CHANGE_MS);
        Object.assign(me, { over: false, again: false, next: null, paced: pace !== null, began: now });
        run.start(document, seed, pace);
      },
      keep() {
        change((before) => ghostOf(before, me));
        me.kept = true;
      },
      letGo() {
        Object.assign(me, { kept: false, replaces: false });
        change({ ghost: null });
      },
      // What comes next has nothing to do with what was.
      anew() {
        me.letGo();
        me.zoom(null);
        me.began = Infinity;
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

// A run that is over, as far as it stays behind the next: pale lines, and the numbers that those of the next are held against.
function ghostOf({ id, tracks, summary, links }, me) {
  me.replaces = false;
  return { ghost: { id, tracks, summary, links } };
}

// Flows as the network has them, each with its name and the algorithm that its connection has.
function flowsOf({ flows, resolved }) {
  return flows.map(({ from, to, name, tcp, app }, flow) => ({ flow, from, to, name, cc: isDatagram(app) ? null : nameOf(tcp?.cc ?? resolved.tcp?.cc) }));
}

const nameOf = (cc) => (typeof cc === "string" ? cc : cc?.name ?? cc?.python ?? cc?.native ?? null);
const isDatagram = (app) => app?.transport === "udp";
// What a flow is called wherever it is shown: by its name if it has one, and its algorithm; datagrams have none.
export const titleOf = ({ flow, name, cc }) => `${name ?? `flow ${flow}`}: ${cc ?? "datagrams"}`;

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
  if (phase === "refused") return "the scenario cannot be run";
  const time = `${(now ?? 0).toPrecision(3)} of ${duration} s`;
  return phase === "done" && tookMs ? `${duration} s simulated, shown after ${Math.round(tookMs)} ms` : `${phase}: ${time}`;
}

export function FlowSwitches({ flows, off, setOff, focus, setFocus, states, count }) {
  if (!flows?.length) return null;
  const shown = flows.slice(0, MOST_FLOWS);
  const toggle = (id) => {
    const next = new Set(off);
    if (!next.delete(id)) next.add(id);
    setOff(next);
  };
  return html`<div class="flows" role="group" aria-label="flows">
    ${shown.map((flow) => html`<button type="button" class="switch" key=${flow.flow} aria-pressed=${String(!off.has(flow.flow))} title=${`${flow.from} → ${flow.to}`} onClick=${() => toggle(flow.flow)}>
      <svg width="26" height="10" aria-hidden="true"><line x1="0" x2="26" y1="5" y2="5" stroke=${`var(--s${flow.flow % 7})`} stroke-width="3" stroke-dasharray=${(lineDash(flow.flow) ?? []).join(" ") || null} /></svg>${titleOf(flow)}</button>`)}
    ${count > shown.length && html`<span class="meta" id="more-flows">the first ${shown.length} of ${count} flows are drawn</span>`}
    ${states && html`<label>states of <select value=${focus} onChange=${(e) => setFocus(Number(e.target.value))}>${shown.map((flow) => html`<option value=${flow.flow} selected=${flow.flow === focus}>${flow.name ?? `flow ${flow.flow}`}</option>`)}</select></label>
    <span class="bands" aria-label="states">${STATES.map((one, i) => html`<i class=${`band band-${i}`} key=${one.name}></i>${one.name} `)}</span>`}</div>`;
}

// Everything right of the scenario: controls, plots, network.
// `other` is a changed run to stand beside it.
export function Watch({ state, run, facts, pace, setPace, again, other, moment, recorded, children }) {
  const [off, setOff] = useState(new Set()), [focus, setFocus] = useState(0), [time, setTime] = useState(0);
  const flows = state.flows ?? [];
  const view = other && !state.view ? { from_s: 0, until_s: Math.max(state.duration ?? 1, other.duration ?? 1) } : state.shown;
  const look = { facts: facts.series, zoom: run.zoom, point: setTime, off, focus };
  // A run under way has no state later than it has come to.
  const latest = OVER.includes(state.phase) || state.stale ? state.shown.until_s : Math.min(state.shown.until_s, state.now ?? 0);
  const seen = Math.min(Math.max(time, state.shown.from_s), Math.max(latest, state.shown.from_s)), orbits = state.resolved?.network?.kind === "constellation";
  return html`<div class="watch"><${Controls} state=${state} run=${run} pace=${pace} setPace=${setPace} again=${again} />
    ${state.error && state.phase !== "refused" && html`<p class="mistake" role="alert" id="run-error">${state.error.path ? `${state.error.path}: ` : ""}${state.error.message}${state.error.hint ? ` (${state.error.hint})` : ""}</p>`}
    ${state.warnings?.map((text) => html`<p class="warning" role="status" key=${text}>Warning: ${text}</p>`)}
    ${state.phase === "refused" && state.tracks.length > 0 && html`<p class="warning" role="status" id="stale">What is shown below is the last scenario that could be run.</p>`}
    <div class=${state.stale ? "shown stale" : "shown"}><${FlowSwitches} states=${state.tracks.some((track) => track.name === "state")} flows=${flows} count=${state.flow_count} off=${off} setOff=${setOff} focus=${focus} setFocus=${setFocus} />
    ${state.tracks.length > 0 && html`<div class="tools"><${ZoomTools} view=${state.shown} whole=${state.duration} zoom=${run.zoom} /><${Ghost} state=${state} run=${run} recorded=${recorded} /></div>`}
    <div class=${other ? "split compared" : "split"}><${Panels} ...${look} tracks=${state.tracks} version=${state.version} view=${view} summary=${state.outdated ? null : state.summary} links=${state.links} other=${other} ghost=${other ? null : recorded ?? state.ghost} />
    ${other && html`<${Difference} before=${state} after=${other} view=${view} look=${look} />`}
    <div class="beside">${(state.graph || orbits) && html`${orbits ? html`<${Sky} run=${state.id} time=${seen} flows=${flows} />` : html`<${Network} graph=${state.graph} tracks=${state.tracks} time=${seen} flows=${flows} moment=${moment} />`}`}
      ${state.tracks.length > 0 && html`<${TimeLine} from=${state.shown.from_s} until=${latest} time=${seen} setTime=${setTime} tracks=${state.tracks} />`}
      ${state.summary && html`<div class=${state.outdated ? "shown stale" : "shown"}><${Numbers} summary=${state.summary} flows=${flows} before=${state.ghost?.summary} /></div>`}${children}</div></div></div></div>`;
}

const MOST_ROWS = 12;
const scaled = (factor) => (v) => (known(v) ? show(v * factor, 3) : "–");
const COUNTED = [["goodput_bps", 1e-6, scaled(1e-6)], ["rtt_s", 1e3, scaled(1e3)], ["retransmitted_packets", 1, (v) => v]];

// By how much a number has changed since the run that is pale.
function Change({ now, before, factor }) {
  if (!known(now) || !known(before) || now === before) return null;
  return html` <small class="change">${now > before ? "+" : "−"}${show(Math.abs(now - before) * factor, 3)}</small>`;
}

function Numbers({ summary, flows, before }) {
  const more = summary.flows.length - MOST_ROWS;
  return html`<div class="scroll"><table class="results"><thead><tr><th>flow</th><th>algorithm</th><th>Mb/s</th><th>RTT ms</th><th>retransm.</th></tr></thead><tbody>
    ${summary.flows.slice(0, MOST_ROWS).map((flow) => html`<tr key=${flow.flow}><td>${flows[flow.flow]?.name ?? flow.flow}</td><td>${flow.cc ?? "datagrams"}</td>${COUNTED.map(([key, factor, text]) => html`<td key=${key}>${text(flow[key])}<${Change} now=${flow[key]} before=${before?.flows[flow.flow]?.[key]} factor=${factor} /></td>`)}</tr>`)}</tbody></table>${more > 0 && html`<p class="meta">and ${more} flows more: the files below Share have them all</p>`}</div>`;
}

// Changes that can be undone; those within a second are one.
const MOST_UNDONE = 50, ONE_CHANGE_MS = 1000;

// The scenario of the bench: a document, its TOML, the mistake in either. An edit of one changes the other. `turn` is the change of a
// slider, which keeps the sliders as they are; any other begins them anew (`origin`).
export function useScenario(begin) {
  const [scenario, set] = useState({ document: null, toml: "", matched: "", error: null, origin: 0, past: [] });
  const timer = useRef(0), latest = useRef(0), changed = useRef({ at: -Infinity });
  const me = useRef(null);
  const remember = (by) => {
    const now = performance.now(), apart = by !== changed.current.by || now - changed.current.at > ONE_CHANGE_MS;
    changed.current = { at: now, by };
    return ({ document, matched, past }) => (apart && document ? [...past.slice(1 - MOST_UNDONE), { document, toml: matched, matched }] : past);
  };
  me.current = {
    ...scenario,
    turn(document) {
      const past = remember("slider");
      set((before) => ({ ...before, past: past(before) }));
      me.current.show(document);
      begin(document);
    },
    change(document) {
      set((before) => ({ ...before, origin: before.origin + 1 }));
      me.current.turn(document);
    },
    undo() {
      const last = scenario.past.at(-1);
      latest.current += 1;
      changed.current = { at: -Infinity };
      set((before) => ({ ...last, error: null, origin: before.origin + 1, past: before.past.slice(0, -1) }));
      begin(last.document);
    },
    resume(document, toml) {
      set((before) => ({ ...before, document, toml, matched: toml }));
    },
    show(document) {
      clearTimeout(timer.current);
      const number = (latest.current += 1);
      set((before) => ({ ...before, document, error: null }));
      ask("toml", { document, previous: me.current.matched }).then(({ toml }) => latest.current === number && set((before) => ({ ...before, toml, matched: toml })), (error) => set((before) => ({ ...before, error: asRefused(error) })));
    },
    async load(toml) {
      const number = (latest.current += 1);
      set((before) => ({ ...before, toml }));
      try {
        const { document } = await ask("document", { toml });
        if (latest.current !== number) return;
        const past = remember("text");
        set((before) => ({ document, toml, matched: toml, error: null, origin: before.origin + 1, past: past(before) }));
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

// What this tab last ran, so that a reload, or the way back from another view, takes it up again; another tab has its own.
const KEPT = "bench";
let begun = performance.getEntriesByType("navigation")[0]?.type === "reload";

function recall() {
  try {
    const kept = begun ? JSON.parse(sessionStorage.getItem(KEPT)) : null;
    return kept && ["", "#bench", kept.hash].includes(location.hash) ? kept : null;
  } catch {
    return null;
  }
}

function keep(facts) {
  begun = true;
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
  const [state, run] = useRun(() => Math.min(2000, Math.max(300, innerWidth))), [other, otherRun] = useRun(() => COLUMNS), [compared, setCompared] = useState(false), [moment, setMoment] = useState(null);
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
  const scenario = useScenario(begin), recorded = useRecorded(facts.recordings, scenario.document);
  // What has been changed is no preset any more.
  const change = (document) => (choose(""), scenario.change(document)), turn = (document) => (choose(""), scenario.turn(document));
  useEffect(() => {
    const undo = (e) => {
      if (!(e.ctrlKey || e.metaKey) || e.shiftKey || e.key.toLowerCase() !== "z" || e.target.matches("textarea, input:not([type=range])") || !scenario.past.length) return;
      e.preventDefault();
      scenario.undo();
    };
    addEventListener("keydown", undo);
    return () => removeEventListener("keydown", undo);
  }, [scenario.past]);
  useEffect(() => {
    if (kept) {
      scenario.resume(kept.document, kept.toml);
      run.resume(kept.run, kept.document, kept.seed);
    } else if (given?.document) {
      if (given.view) run.zoom(given.view);
      scenario.change(given.document);
    } else scenario.load(facts.presets[0].toml);
  }, []);
  useEffect(() => {
    if (state.id) keep({ run: state.id, document: scenario.document, toml: scenario.matched, seed, chosen });
  }, [state.id, scenario.matched]);
  const setPace = (text) => {
    setPaceText(text);
    run.run.send({ kind: "pace", factor: text ? Number(text) : null });
  };
  const pick = (preset) => {
    choose(preset.name);
    run.anew();
    scenario.load(preset.toml);
  };
  const again = () => scenario.document && begin(scenario.document);
  const error = scenario.error ?? (state.phase === "refused" || state.phase === "failed" ? state.error : null);
  // What is no scenario at all cannot be run either.
  const shown = scenario.error ? { ...state, phase: "refused", stale: true } : state;
  return html`<main class="bench" tabindex="-1"><h1 class="unseen">Bench</h1>
    <section class="setup" aria-label="scenario">
      <${Gallery} presets=${facts.presets} chosen=${chosen} choose=${pick} />
      <${Recordings} recordings=${facts.recordings} chosen=${recorded?.id} choose=${({ document }) => (choose(""), run.anew(), scenario.change(document))} />
      ${scenario.document && html`<${Sliders} document=${scenario.document} origin=${scenario.origin} change=${turn} />`}
      <div class="tools"><${Seed} seed=${seed} change=${(next) => { settings.current.seed = next; setSeed(next); again(); }} />
        <button type="button" class="switch" id="undo" disabled=${!scenario.past.length} title="Ctrl-Z" onClick=${() => (choose(""), scenario.undo())}>undo</button></div>
      <details open=${innerWidth > NARROW}><summary>Scenario as TOML</summary>
        <textarea id="toml" aria-label="scenario as TOML" spellcheck="false" rows="18" value=${scenario.toml} aria-invalid=${error ? "true" : null} aria-describedby="toml-mistake" onInput=${(e) => (choose(""), scenario.type(e.target.value))}></textarea>
        <p class="mistake" id="toml-mistake" role="alert">${error ? `${error.path ? `${error.path}: ` : ""}${error.message}${error.hint ? ` (${error.hint})` : ""}` : ""}</p></details>
      <${Script} given=${given?.script} again=${again} />
      <details id="form"><summary>Scenario as a form</summary>${scenario.document && html`<${Form} document=${scenario.document} root=${facts.schema} error=${error} change=${(path, value) => change(put(scenario.document, path, value))} />`}</details>
      <datalist id="algorithms">${facts.algorithms.map((name) => html`<option value=${name}></option>`)}</datalist>
      ${scenario.document && html`<${Share} scenario=${scenario} seed=${seed} view=${state.view} script=${scriptOf(scenario.document)} />`}
    </section>
    <section class="results" aria-label="what happens"><${Compare} document=${scenario.document} seed=${seed} view=${state.view} metrics=${facts.compared} base=${state} other=${other} run=${otherRun} shown=${compared} setShown=${setCompared} />
      <${Watch} state=${shown} run=${run} facts=${facts} pace=${pace} setPace=${setPace} again=${again} moment=${moment} recorded=${recorded} other=${compared && other.phase !== "refused" && other.tracks.length ? other : null} />
      ${state.tracks.length > 0 && html`<${Packets} document=${state.document} seed=${seed} view=${state.shown} links=${state.links} flows=${state.flows} tell=${setMoment} />`}</section></main>`;
}

// A wider window has the scenario as text beside its sliders from the beginning.
const NARROW = 760;

function Seed({ seed, change }) {
  const [mistake, tell] = useState("");
  const take = (e) => {
    const wanted = Number(e.target.value), fits = e.target.value.trim() !== "" && Number.isSafeInteger(wanted) && wanted >= 0;
    tell(fits ? "" : `a seed is a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`);
    if (fits) change(wanted);
  };
  return html`<label class="seed">seed <input type="number" id="seed" min="0" step="1" value=${seed} aria-invalid=${mistake ? "true" : null} onChange=${take} /></label><p class="mistake" role="alert" id="seed-mistake">${mistake}</p>`;
}
