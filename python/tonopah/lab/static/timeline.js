// The time axis: what of it is shown, the moment that the network is drawn at, and the run that stays behind.
import { html, useEffect, useRef, useState } from "./api.js";

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

// What stands pale behind the run that is shown: another run, or what a kernel did.
export function Ghost({ state: { ghost, id, seen }, run, recorded }) {
  const kept = run.kept === true;
  if (recorded) return html`<span class="meta" id="recorded">pale: the window as recorded, ${recorded.title}</span>`;
  if (!ghost) return html`<div class="zoom"><button type="button" class="switch" id="keep" disabled=${!seen} title="it stays pale behind what follows" onClick=${run.keep}>keep this run</button></div>`;
  return html`<div class="zoom" role="group" aria-label="run behind" id="ghost" data-run=${ghost.id}><span class="meta">pale: ${kept ? "the kept run" : "the run before"}</span>
    <button type="button" class="switch" id="keep" disabled=${!seen || ghost.id === id} onClick=${run.keep}>keep this run</button><button type="button" class="switch" id="let-go" onClick=${run.letGo}>let go</button></div>`;
}

const SPEEDS = [["real time", 1], ["10 × real time", 10], ["0.1 × real time", 0.1], ["a packet at a time", 0]];
// Of "a packet at a time": so long is each moment at which anything has changed.
const MOMENT_MS = 150;

// The next moment, or the one before, at which a series that is drawn has a sample.
function momentBeside(tracks, time, by) {
  let found = by > 0 ? Infinity : -Infinity;
  for (const { t } of tracks) {
    let [low, high] = [0, t.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (by > 0 ? t[middle] <= time : t[middle] < time) low = middle + 1;
      else high = middle;
    }
    const at = by > 0 ? low : low - 1;
    if (at >= 0 && at < t.length) found = by > 0 ? Math.min(found, t[at]) : Math.max(found, t[at]);
  }
  return found;
}

// The cursor of every plot stands at the moment that the network is drawn at.
function pointAll(time) {
  for (const { plot } of document.querySelectorAll(".plot")) plot?.setCursor({ left: plot.valToPos(time, "x"), top: 0 }, false, false);
}

// Moves the moment: by hand, or as time goes. Space plays and stops, arrows go from sample to sample.
export function TimeLine({ from, until, time, setTime, tracks }) {
  const [playing, play] = useState(false), [speed, setSpeed] = useState(1), now = useRef({});
  now.current = { ...now.current, from, until, speed, tracks };
  const to = (wanted) => {
    const { from: first, until: last } = now.current, next = Math.min(last, Math.max(first, wanted));
    now.current.at = next;
    setTime(next);
    pointAll(next);
    return next;
  };
  const start = () => {
    if (time >= until) to(from);
    else now.current.at = time;
    play(true);
  };
  useEffect(() => {
    if (!playing) return undefined;
    let frame = 0, last = performance.now();
    const turn = (clock) => {
      const { at, speed: rate } = now.current, waits = rate === 0 && clock - last < MOMENT_MS;
      const next = waits ? at : to(rate === 0 ? momentBeside(now.current.tracks, at, 1) : at + ((clock - last) / 1000) * rate);
      if (!waits) last = clock;
      if (next >= now.current.until) play(false);
      else frame = requestAnimationFrame(turn);
    };
    frame = requestAnimationFrame(turn);
    return () => cancelAnimationFrame(frame);
  }, [playing]);
  const press = (e) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[e.key];
    if (e.key !== " " && !by) return;
    e.preventDefault();
    play(false);
    if (by) to(momentBeside(tracks, time, by));
    else if (!playing) start();
  };
  return html`<div class="cursor"><label for="moment">time</label><input type="range" id="moment" min=${from} max=${until} step="any" value=${time} title="space plays, arrows go from sample to sample" onKeyDown=${press} onInput=${(e) => (play(false), to(Number(e.target.value)))} /><output>${time.toPrecision(6)} s</output>
    <button type="button" class="switch" id="play" aria-pressed=${String(playing)} onClick=${() => (playing ? play(false) : start())}>${playing ? "stop" : "play"}</button>
    <select aria-label="speed" id="speed" value=${speed} onChange=${(e) => setSpeed(Number(e.target.value))}>${SPEEDS.map(([text, value]) => html`<option value=${value} selected=${value === speed}>${text}</option>`)}</select></div>`;
}
