// Packets of a moment: a time–sequence diagram as tcptrace draws it, the list of packets, and the life of one, hop by hop.
/* global fromStyle, show */
import { ask, asRefused, html, useEffect, useMemo, useRef, useState } from "./api.js";
import { useDark, useWidth } from "./measures.js";

export const MOST_SECONDS = 2;
const MOST_ROWS = 300;
const HEIGHT = 300, PAD = { left: 62, right: 8, top: 8, bottom: 26 };

// Round numbers between two, five or so.
function roundTicks(low, high) {
  const rough = (high - low) / 5 || 1, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((one) => one * power >= rough) * power;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

const sameFlow = (flow) => (event) => event.flow === flow && event.transport === "tcp";
// A packet has the same of these wherever it is.
export const idOf = (event) => `${event.flow} ${event.towards} ${event.sent_at_s} ${event.seq} ${event.ack} ${event.payload_bytes}`;
const isData = (event) => event.towards === "sink" && event.payload_bytes > 0;

function lines(events) {
  const found = { data: [], again: [], acks: [], window: [], sacks: [], drops: [], marks: [] };
  for (const event of events) {
    if (event.event === "sent" && isData(event)) found[event.retransmission ? "again" : "data"].push([event.t_s, event.seq, event.seq + event.payload_bytes, event]);
    else if (event.event === "delivered" && event.towards === "source" && event.ack !== null) {
      found.acks.push([event.t_s, event.ack]);
      found.window.push([event.t_s, event.ack + event.window_bytes]);
      for (const [start, end] of event.sack ?? []) found.sacks.push([event.t_s, start, end]);
    } else if (event.event === "dropped" && isData(event)) found.drops.push([event.t_s, event.seq, event.seq + event.payload_bytes, event]);
    else if (event.event === "marked" && isData(event)) found.marks.push([event.t_s, event.seq, event.seq + event.payload_bytes, event]);
  }
  return found;
}

// In the order in which they are drawn: what is seldom last, since it may lie on another.
const KINDS = [["data", "--s0", "data"], ["window", "--rule", "window edge"], ["acks", "--s2", "ACK line"], ["sacks", "--s3", "SACK blocks"], ["marks", "--tick-mark", "marked"], ["again", "--s1", "sent again"], ["drops", "--tick-drop", "dropped"]];

function Diagram({ events, from, until, pick }) {
  const host = useRef(null), width = useWidth(host), dark = useDark(), shape = useMemo(() => lines(events), [events]);
  const values = [...shape.data, ...shape.again].flatMap(([, low, high]) => [low, high]).concat(shape.acks.map(([, v]) => v));
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const scale = { x: (t) => PAD.left + ((t - from) / (until - from)) * (width - PAD.left - PAD.right), y: (v) => HEIGHT - PAD.bottom - ((v - low) / (high - low || 1)) * (HEIGHT - PAD.top - PAD.bottom) };
  useEffect(() => {
    if (!width) return;
    const canvas = host.current, ctx = canvas.getContext("2d"), { x, y } = scale;
    canvas.width = width * 2;
    canvas.height = HEIGHT * 2;
    ctx.scale(2, 2);
    ctx.font = "11px Inter, Arial, sans-serif";
    ctx.fillStyle = fromStyle("--ink");
    ctx.strokeStyle = fromStyle("--line");
    for (const v of values.length ? roundTicks(low / 1e3, high / 1e3) : []) {
      ctx.fillText(`${show(v, 8)} kB`, 2, y(v * 1e3) + 3);
      ctx.strokeRect(PAD.left, y(v * 1e3), width - PAD.left - PAD.right, 0);
    }
    for (const t of roundTicks(from, until)) {
      ctx.fillText(`${show(t, 8)} s`, Math.min(x(t) - 12, width - 40), HEIGHT - 8);
      ctx.strokeRect(x(t), PAD.top, 0, HEIGHT - PAD.top - PAD.bottom);
    }
    ctx.beginPath();
    ctx.rect(PAD.left, PAD.top, width - PAD.left - PAD.right, HEIGHT - PAD.top - PAD.bottom);
    ctx.strokeStyle = fromStyle("--line");
    ctx.stroke();
    ctx.clip();
    for (const [kind, style] of KINDS) {
      ctx.strokeStyle = fromStyle(style);
      ctx.lineWidth = kind === "again" || kind === "drops" ? 2.5 : 1.4;
      ctx.beginPath();
      if (kind === "acks" || kind === "window") {
        shape[kind].forEach(([t, v], i) => {
          if (i) ctx.lineTo(x(t), y(shape[kind][i - 1][1]));
          ctx[i ? "lineTo" : "moveTo"](x(t), y(v));
        });
      } else if (kind === "drops") {
        for (const [t, start, end] of shape.drops) for (const [dx, dy] of [[4, 4], [4, -4]]) { const m = y((start + end) / 2); ctx.moveTo(x(t) - dx, m - dy); ctx.lineTo(x(t) + dx, m + dy); }
      } else for (const [t, start, end] of shape[kind]) {
        if (kind === "again") { ctx.moveTo(x(t) - 5, y(start) + 6); ctx.lineTo(x(t), y(start)); ctx.lineTo(x(t) + 5, y(start) + 6); }
        ctx.moveTo(x(t), y(start)); ctx.lineTo(x(t), Math.min(y(end), y(start) - 1)); }
      ctx.stroke();
    }
  }, [events, from, until, width, dark]);
  const click = (e) => {
    const box = host.current.getBoundingClientRect(), { x, y } = scale, [px, py] = [e.clientX - box.left, e.clientY - box.top];
    const near = [...shape.data, ...shape.again, ...shape.drops].map(([t, a, b, event]) => [Math.hypot(x(t) - px, y((a + b) / 2) - py), event]).sort((a, b) => a[0] - b[0])[0];
    if (near && near[0] < 30) pick(idOf(near[1]));
  };
  return html`<canvas class="sequence" ref=${host} onClick=${click} role="img" aria-label=${`time–sequence diagram: ${shape.data.length} segments, ${shape.again.length} sent again, ${shape.drops.length} dropped; the table below lists them`}></canvas>
    <p class="meta">${KINDS.filter(([kind]) => shape[kind].length).map(([kind, style, text]) => html`<span key=${kind} class="key"><svg width="14" height="10" aria-hidden="true"><rect width="14" height="4" y="3" fill=${`var(${style})`} /></svg> ${text} </span>`)}</p>`;
}

function Life({ events, links }) {
  return html`<section id="life"><h3>Life of a packet</h3><ol>${events.map((event, i) => html`<li key=${i}>${event.t_s.toFixed(6)} s: ${event.event}${event.link === undefined ? "" : ` on ${links?.[event.link] ? `${links[event.link].from} → ${links[event.link].to}` : `link ${event.link}`}`}${event.reason ? ` (${event.reason})` : ""}</li>`)}</ol></section>`;
}

// Shown below two seconds of zoom; the run is repeated up to there and gives its packet events, which the drawing of the network has too.
export function Packets({ document, seed, view, links, flows, tell }) {
  const [found, set] = useState(null), [error, setError] = useState(""), [flow, setFlow] = useState(0), [chosen, pick] = useState(null);
  const width = view.until_s - view.from_s, near = width <= MOST_SECONDS;
  const take = (moment) => (set(moment), tell(moment));
  useEffect(() => {
    take(null);
    setError("");
    if (!near) return undefined;
    let stale = false;
    const timer = setTimeout(() => ask("packets", { document, seed, from_s: view.from_s, until_s: view.until_s }).then((answer) => stale || take({ ...answer, ...view }), (failed) => stale || setError(asRefused(failed).message)), 150);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [JSON.stringify(document), seed, view.from_s, view.until_s]);
  if (!near) return html`<p class="meta">Zoom to ${MOST_SECONDS} s or less to see the packets, here and on the drawing of the network.</p>`;
  if (error) return html`<p class="mistake" role="alert">${error}</p>`;
  if (!found) return html`<p class="meta">The packets are fetched …</p>`;
  const mine = found.events.filter(sameFlow(flow)), life = chosen ? found.events.filter((event) => idOf(event) === chosen) : [];
  return html`<section class="packets" id="packets"><h2>Packets</h2><div class="tools"><label>flow <select value=${flow} onChange=${(e) => setFlow(Number(e.target.value))}>${(flows?.length ? flows : [{ flow: 0 }]).slice(0, 200).map((one) => html`<option value=${one.flow} selected=${one.flow === flow}>${one.name ?? one.flow}</option>`)}</select></label>
    <span class="meta">${mine.length} events${found.complete ? "" : "; there are more: zoom in"}</span></div>
    <${Diagram} events=${mine} from=${found.from_s} until=${found.until_s} pick=${pick} />
    ${life.length > 0 && html`<${Life} events=${life} links=${links} />`}
    <div class="scroll list" tabindex="0" role="region" aria-label="list of packets"><table><thead><tr><th>time (s)</th><th>event</th><th>to</th><th>seq</th><th>bytes</th><th>ack</th><th>flags</th></tr></thead><tbody>
      ${mine.slice(0, MOST_ROWS).map((event, i) => html`<tr key=${i} class=${idOf(event) === chosen ? "chosen" : ""}><td><button type="button" class="csv packet" onClick=${() => pick(idOf(event))}>${event.t_s.toFixed(6)}</button></td><td>${event.event}${event.retransmission ? " again" : ""}</td><td>${event.towards}</td><td>${event.seq}</td><td>${event.payload_bytes}</td><td>${event.ack ?? ""}</td><td>${event.flags.join(" ")}</td></tr>`)}</tbody></table></div></section>`;
}
