// The picture of the network: flows by colour, queues that fill, stations that move, at the time of the cursor.
/* global fromStyle, known */
import { html, useMemo } from "./api.js";
import { Flights, flightsOf } from "./flights.js";

const WIDTH = 360, HEIGHT = 190, EDGE = 26;

// The value that holds at a time: the last sample at or before it.
export function valueAt(track, time) {
  let low = 0, high = track?.t.length ?? 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track.t[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low ? track.v[low - 1] : undefined;
}

const peak = (track) => track.v.reduce((most, v) => (v > most ? v : most), 0);

export function linksOf(graph) {
  // The engine numbers both directions of each link in turn.
  return (graph?.link ?? []).flatMap(({ from, to }) => [{ from, to }, { from: to, to: from }]);
}

// The nodes of a network, which without places of its own stands in columns, by hops from where its first flow begins.
function placed(graph, flows) {
  const nodes = graph.node;
  if (nodes.some(({ x }) => known(x))) return nodes;
  const near = new Map(nodes.map(({ name }) => [name, []])), hops = new Map([[flows?.[0]?.from ?? nodes[0].name, 0]]), columns = [];
  for (const { from, to } of linksOf(graph)) near.get(from).push(to);
  // A map goes on with what is added while it is read.
  for (const [name, hop] of hops) for (const next of near.get(name) ?? []) if (!hops.has(next)) hops.set(next, hop + 1);
  for (const { name } of nodes) (columns[hops.get(name) ?? 0] ??= []).push(name);
  return nodes.map((node) => {
    const x = hops.get(node.name) ?? 0, column = columns[x];
    return { ...node, x, y: column.indexOf(node.name) - (column.length - 1) / 2 };
  });
}

export function Network({ graph, tracks, time, flows, moment }) {
  const flights = useMemo(() => (moment && graph?.link ? flightsOf(moment.events, graph) : []), [moment, graph]);
  const nodes = useMemo(() => (graph?.node?.length ? placed(graph, flows) : null), [graph, flows]);
  if (!nodes) return null;
  const of = (name, id) => tracks.find((track) => track.name === name && track.id === id);
  const places = new Map(nodes.map((node, i) => [node.name, { ...node, x: valueAt(of("position_x", i), time) ?? node.x ?? 0, y: valueAt(of("position_y", i), time) ?? node.y ?? 0 }]));
  const all = [...places.values()], xs = all.map((p) => p.x), ys = all.map((p) => p.y);
  const area = graph.network?.area && tracks.some((track) => track.name === "position_x");
  const moving = area ? ["x", "y"].map((axis) => parseFloat(graph.network.area[axis])) : null;
  const [left, right, top, bottom] = moving ? [0, moving[0], 0, moving[1]] : [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const at = (p) => [EDGE + ((p.x - left) / (right - left || 1)) * (WIDTH - 2 * EDGE), right > left && bottom === top ? HEIGHT / 2 : EDGE + ((p.y - top) / (bottom - top || 1)) * (HEIGHT - 2 * EDGE)];
  // An end of several flows has the colour of none.
  const ends = new Map();
  for (const { from, to, flow } of flows ?? []) for (const end of [from, to]) ends.set(end, ends.has(end) ? undefined : flow);
  const links = linksOf(graph);
  return html`<figure class="network"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${`the network at ${time.toFixed(3)} s: ${graph.node.length} nodes, ${links.length / 2} links`}>
    ${links.filter((_, i) => i % 2 === 0).map((link) => html`<${Line} ends=${[at(places.get(link.from)), at(places.get(link.to))]} />`)}
    ${links.map((link, i) => html`<${Queue} key=${i} track=${of("queue", i)} time=${time} ends=${[at(places.get(link.from)), at(places.get(link.to))]} />`)}
    ${flights.length > 0 && html`<${Flights} flights=${flights} time=${time} ends=${(i) => [at(places.get(links[i].from)), at(places.get(links[i].to))]} />`}
    ${all.map((node) => html`<${Node} node=${node} place=${at(node)} flow=${ends.get(node.name)} names=${all.length <= 16} />`)}
  </svg></figure>`;
}

const Line = ({ ends: [[x1, y1], [x2, y2]] }) => html`<line class="link" x1=${x1} y1=${y1} x2=${x2} y2=${y2} />`;

// A bar beside the link, near its sender: as full as the queue, measured by the longest of the run.
function Queue({ track, time, ends: [[x1, y1], [x2, y2]] }) {
  const most = track ? peak(track) : 0;
  if (!most) return null;
  const share = Math.min(1, (valueAt(track, time) ?? 0) / most), length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length], room = Math.max(14, Math.min(46, length * 0.55));
  const [bx, by] = [x1 + ux * 9 - uy * 7, y1 + uy * 9 + ux * 7], end = (part) => [bx + ux * room * part, by + uy * room * part];
  return html`<line class="room" x1=${bx} y1=${by} x2=${end(1)[0]} y2=${end(1)[1]} /><line class="queued" x1=${bx} y1=${by} x2=${end(share)[0]} y2=${end(share)[1]} />`;
}

function Node({ node, place: [x, y], flow, names }) {
  const colour = flow === undefined ? "var(--soft)" : `var(--s${flow % 7})`;
  const shape = node.role === "router" ? html`<rect x=${x - 6} y=${y - 6} width="12" height="12" rx="2" fill="var(--paper)" stroke=${colour} />` : html`<circle cx=${x} cy=${y} r="5" fill=${flow === undefined ? "var(--paper)" : colour} stroke=${colour} />`;
  return html`<g>${shape}${names && html`<text x=${x} y=${y + 17} text-anchor="middle">${node.name}</text>`}</g>`;
}
