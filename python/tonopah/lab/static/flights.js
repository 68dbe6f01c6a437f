// Packets on the drawing of the network: each moves along a link from the begin of its transmission until it arrives.
import { html } from "./api.js";
import { idOf } from "./packets.js";
import { quantity } from "./paths.js";

const MOST_DRAWN = 400;
// So long the cross of a packet that was dropped stays.
const DROPPED_S = 0.05;

// One way of a link: the engine numbers both of each in turn.
const wayOf = (graph, number) => ({ ...graph.link[number >> 1], ...(number % 2 ? graph.link[number >> 1].reverse : {}) });

// How long a packet is on a link whose rate and delay are constant.
function crossing({ rate, delay, overhead }, bytes) {
  const [perSecond, lasts] = [quantity(rate), quantity(delay)];
  return perSecond && lasts ? lasts.si + (8 * (bytes + (quantity(overhead)?.si ?? 0))) / perSecond.si : Infinity;
}

// What was on a link, or was dropped before it, within a moment.
export function flightsOf(events, graph) {
  const found = [], open = new Map();
  for (const event of events) {
    const id = idOf(event), before = open.get(id);
    // It was on its way no longer than until something else happened to it.
    if (before) before.until_s = Math.min(before.until_s, event.t_s);
    open.delete(id);
    if (event.link === undefined || !["transmitted", "dropped"].includes(event.event)) continue;
    const dropped = event.event === "dropped", lasts = dropped ? DROPPED_S : crossing(wayOf(graph, event.link), event.size_bytes);
    const flight = { link: event.link, flow: event.flow, from_s: event.t_s, until_s: event.t_s + lasts, dropped, isData: event.payload_bytes > 0 };
    found.push(flight);
    if (!dropped) open.set(id, flight);
  }
  return found.filter(({ until_s }) => Number.isFinite(until_s));
}

export function Flights({ flights, time, ends }) {
  const shown = flights.filter(({ from_s, until_s }) => from_s <= time && time < until_s).slice(0, MOST_DRAWN);
  return html`<g id="flights">${shown.map((flight, i) => html`<${Flight} key=${i} flight=${flight} time=${time} ends=${ends(flight.link)} />`)}</g>`;
}

// Beside the line, so that those of both ways do not meet.
const ASIDE = 3;

function Flight({ flight: { flow, from_s, until_s, dropped, isData }, time, ends: [[x1, y1], [x2, y2]] }) {
  if (dropped) return html`<path class="fallen" d=${`M${x1 - 4} ${y1 + 8}l8 8m0 -8l-8 8`} />`;
  const share = (time - from_s) / (until_s - from_s), [dx, dy] = [x2 - x1, y2 - y1], aside = ASIDE / (Math.hypot(dx, dy) || 1);
  const [x, y] = [x1 + dx * share + dy * aside, y1 + dy * share - dx * aside], colour = `var(--s${flow % 7})`;
  return html`<circle cx=${x} cy=${y} r=${isData ? 3 : 2} fill=${isData ? colour : "var(--paper)"} stroke=${colour} />`;
}
