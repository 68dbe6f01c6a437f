// Series over time: panels on one axis with one cursor. Colours, dashes and numbers are those of the reports (page/*.js).
/* global uPlot, fromStyle, lineDash, lastSample, show, known */
import { html, useEffect, useLayoutEffect, useRef } from "./api.js";
import { AXIS_FONTS, isLarge, useDark, useKept, useLarge, useWidth } from "./measures.js";

const TOGETHER = [["cwnd", "send_window", "ssthresh"], ["throughput", "goodput", "sending_rate", "capacity"], ["rtt", "srtt"], ["queue", "queue_l", "queue_c"]];
export const MOST_FLOWS = 24;
const TITLES = { cwnd: "Window", throughput: "Rate", goodput: "Rate", sending_rate: "Rate", rtt: "Round-trip time", queue: "Queue" };
// A path and back, of which the first sample tells nothing of the next seconds.
const LONG_S = 1;
const ELSEWHERE = ["state", "drops", "marks", "position_x", "position_y", "position_z"];
export const STATES = [
  { name: "slow start", style: "--state-start" }, { name: "disorder", style: "--state-disorder" }, { name: "CWR", style: "--state-cwr" },
  { name: "recovery", style: "--state-recovery" }, { name: "loss", style: "--state-loss" },
];

// What is known of a series; of a variable of a class in Python its name.
const about = (facts, name) => facts[name] ?? { label: name, unit: "", factor: 1, of: "flow", definition: "", binned: false };

// Which series stand in which panel: those that belong together, then every other one that was recorded.
export function panelsOf(tracks) {
  const names = [...new Set(tracks.map((track) => track.name))].filter((name) => !ELSEWHERE.includes(name));
  const grouped = TOGETHER.map((group) => group.filter((name) => names.includes(name))).filter((group) => group.length);
  const rest = names.filter((name) => !TOGETHER.flat().includes(name)).map((name) => [name]);
  return [...grouped, ...rest];
}

// The state of a sender over time; slow start is open and below ssthresh (RFC 5681).
export function bandsOf(tracks, flow, until) {
  const of = (name) => tracks.find((track) => track.name === name && track.id === flow);
  const [state, cwnd, ssthresh] = ["state", "cwnd", "ssthresh"].map(of);
  if (!state || !cwnd) return [];
  const times = [...new Set([...state.t, ...cwnd.t, ...(ssthresh?.t ?? [])])].sort((a, b) => a - b), at = [-1, -1, -1], found = [];
  const value = (track, i, time) => {
    while (track && at[i] + 1 < track.t.length && track.t[at[i] + 1] <= time) at[i] += 1;
    return track && at[i] >= 0 ? track.v[at[i]] : NaN;
  };
  for (const time of times) {
    const [s, w, limit] = [value(state, 0, time), value(cwnd, 1, time), value(ssthresh, 2, time)];
    const now = s > 0 ? s : Number.isNaN(s) || w >= limit ? -1 : 0;
    if (found.at(-1)?.state !== now) found.push({ from: time, state: now });
  }
  return found.map((band, i) => ({ ...band, until: found[i + 1]?.from ?? until })).filter((band) => band.state >= 0);
}

function paintBands(bands) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    for (const band of bands()) {
      const [from, until] = [band.from, band.until].map((t) => Math.min(Math.max(plot.valToPos(t, "x", true), bbox.left), bbox.left + bbox.width));
      ctx.fillStyle = fromStyle(STATES[band.state].style);
      ctx.fillRect(from, bbox.top, Math.max(1, until - from), bbox.height);
    }
    ctx.restore();
  };
}

// Drops and marks as ticks at the top: where the count of a link has grown.
function paintTicks(ticks) {
  return (plot) => {
    const { ctx, bbox } = plot, ratio = devicePixelRatio;
    ctx.save();
    for (const { name, t } of ticks()) {
      ctx.strokeStyle = fromStyle(name === "drops" ? "--tick-drop" : "--tick-mark");
      ctx.lineWidth = 1.5 * ratio;
      const [top, bottom] = name === "drops" ? [0, 6] : [7, 10];
      ctx.beginPath();
      for (const time of t) {
        const x = plot.valToPos(time, "x", true);
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.moveTo(x, bbox.top + top * ratio);
        ctx.lineTo(x, bbox.top + bottom * ratio);
      }
      ctx.stroke();
    }
    ctx.restore();
  };
}

function paintLevels(levels) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const { value, owner } of levels()) {
      const y = plot.valToPos(value, "y", true);
      ctx.strokeStyle = fromStyle(`--s${owner % 7}`);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  };
}

// The lines of another run, pale behind those of this one.
function paintGhost(lines) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.globalAlpha = 0.35;
    ctx.lineWidth = 2 * devicePixelRatio;
    for (const { track: { t, v }, owner, factor, binned } of lines()) {
      ctx.strokeStyle = fromStyle(`--s${owner % 7}`);
      ctx.beginPath();
      let before = null;
      t.forEach((time, i) => {
        const x = plot.valToPos(time, "x", true), y = known(v[i]) ? plot.valToPos(v[i] * factor, "y", true) : null;
        if (y !== null && before) {
          // Of a bin the value holds up to its time, of a sample from there on.
          if (binned) ctx.lineTo(before.x, y);
          else ctx.lineTo(x, before.y);
          ctx.lineTo(x, y);
        } else if (y !== null) ctx.moveTo(x, y);
        before = y === null ? null : { x, y };
      });
      ctx.stroke();
    }
    ctx.restore();
  };
}

// Beyond this the legend has names alone: values of all would take more room than the plot.
const MOST_LIVE = 10;
// Of one flow the series of a panel differ in their dashes.
const DASHES = [null, [2, 3], [8, 4], [8, 3, 2, 3]];

const rangeOf = (low, high) => (known(high) ? uPlot.rangeNum(Math.min(0, low), Math.max(0, high) || 1, { min: { pad: 0, soft: 0, mode: 2 }, max: { pad: 0.08 } }) : [0, 1]);

// Where a line goes beyond the panel: a mark at its upper edge.
function paintCut(plot) {
  const { ctx, bbox } = plot, { max } = plot.scales.y, half = 3 * devicePixelRatio, [times, ...rows] = plot.data;
  ctx.save();
  rows.forEach((row, i) => {
    ctx.fillStyle = plot.series[i + 1].stroke();
    let last = -Infinity;
    row.forEach((v, k) => {
      const x = known(v) && v > max ? plot.valToPos(times[k], "x", true) : -1;
      if (x < bbox.left || x > bbox.left + bbox.width || x - last < 2 * half) return;
      last = x;
      ctx.beginPath();
      ctx.moveTo(x - half, bbox.top + 2 * half);
      ctx.lineTo(x, bbox.top);
      ctx.lineTo(x + half, bbox.top + 2 * half);
      ctx.fill();
    });
  });
  ctx.restore();
}

function optionsOf(panel, live, width, height) {
  const ink = fromStyle("--ink"), line = fromStyle("--line"), large = isLarge(), font = AXIS_FONTS[large];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font, labelFont: font, labelSize: large ? 26 : 18 };
  const unit = panel.facts.unit ? ` ${panel.facts.unit}` : "";
  return {
    width, height,
    scales: {
      x: { time: false, range: () => [live().view.from_s, live().view.until_s] },
      y: { range: (u, ...own) => rangeOf(...widened(live().reach[panel.names[0]] ?? own, live().pale[panel.names[0]])) },
    },
    axes: [
      { ...axis, size: large ? 40 : 30, values: (u, ticks) => ticks.map((v) => show(v, 6)) },
      { ...axis, size: large ? 84 : 58, label: panel.facts.unit, values: (u, ticks) => ticks.map((v) => show(v, 6)) },
    ],
    cursor: {
      y: false, drag: { x: true, y: false, dist: 4, setScale: false }, dataIdx: lastSample, points: { size: 6 }, sync: { key: "lab" },
      bind: { dblclick: () => () => live().zoom(null) },
    },
    legend: { show: true, live: panel.lines.length <= MOST_LIVE, markers: { width: 3, dash: (u, i) => (i && panel.lines[i - 1].rank ? "dotted" : "solid") } },
    hooks: {
      drawClear: [...(panel.names.includes("cwnd") ? [paintBands(() => live().bands)] : []), paintGhost(() => live().pale[panel.names[0]] ?? [])],
      draw: [paintCut, ...(panel.names.includes("queue") ? [paintTicks(() => live().ticks)] : []), ...(panel.names.includes("rtt") ? [paintLevels(() => live().levels)] : [])],
      setSelect: [(u) => {
        if (u.select.width < 4) return;
        const [from_s, until_s] = [u.select.left, u.select.left + u.select.width].map((x) => u.posToVal(x, "x"));
        u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        live().zoom({ from_s, until_s });
      }],
      setCursor: [(u) => u.cursor.left >= 0 && u.cursor.event && live().point(u.posToVal(u.cursor.left, "x"))],
    },
    series: [
      { label: "Time (s)", value: (u, v) => show(v, 6) },
      ...panel.lines.map((one) => ({
        label: one.label, stroke: fromStyle(`--s${one.owner % 7}`), width: (large ? 2 : 1) * (one.rank ? 1 : Math.max(1.2, 2 - 0.2 * one.owner)),
        dash: DASHES[one.rank] ?? lineDash(one.owner), points: { show: false },
        paths: uPlot.paths.stepped({ align: one.binned ? -1 : 1 }),
        value: (u, v) => (known(v) ? `${show(v)}${unit}` : "–"),
      })),
    ],
  };
}

// Of each column of pixels the least and the largest sample, in their order, at the two halves of the column: of many lines the
// samples are then at the same times.
function snapped({ t, v }, { from_s, until_s }, columns) {
  const width = (until_s - from_s) / columns, [times, values] = [[], []];
  const columnOf = (time) => Math.max(-1, Math.min(columns, Math.floor((time - from_s) / width)));
  for (let start = 0, end = 0; start < t.length; start = end) {
    const column = columnOf(t[start]);
    let [low, high] = [start, start];
    for (end = start; end < t.length && columnOf(t[end]) === column; end += 1) {
      if (v[end] < v[low] || Number.isNaN(v[low])) low = end;
      if (v[end] > v[high] || Number.isNaN(v[high])) high = end;
    }
    const half = (i) => from_s + (column + ((t[i] - from_s) / width - column < 0.5 ? 0 : 0.5)) * width;
    if (low === high) times.push(half(low)) && values.push(v[low]);
    else {
      times.push(from_s + column * width, from_s + (column + 0.5) * width);
      values.push(v[Math.min(low, high)], v[Math.max(low, high)]);
    }
  }
  return { t: times, v: values };
}

// Cells of a table of all times of all lines above which lines are snapped to pixels: more would take seconds.
const MOST_CELLS = 60_000;

function drawable(panel, view, width) {
  const { lines } = panel;
  if (lines.length * lines.reduce((sum, { track }) => sum + track.t.length, 0) <= MOST_CELLS) return panel;
  const columns = Math.max(1, Math.round(width * devicePixelRatio));
  return { ...panel, lines: lines.map((one) => ({ ...one, track: snapped(one.track, view, columns) })) };
}

// All times in one column, and a column of values for each line: null where it has no value, nothing where it has no sample.
// What uPlot.join does, for times that are typed and in order: faster.
function dataOf({ lines, facts }) {
  const all = new Float64Array(lines.reduce((sum, { track }) => sum + track.t.length, 0));
  let end = 0;
  for (const { track } of lines) {
    all.set(track.t, end);
    end += track.t.length;
  }
  const times = Array.from(all.sort().filter((time, i) => i === 0 || time !== all[i - 1]));
  return [times, ...lines.map(({ name, track: { t, v } }) => {
    const row = new Array(times.length).fill(undefined), sampled = name === "rtt" || name === "srtt";
    for (let i = 0, at = 0; i < t.length; i += 1) {
      while (times[at] !== t[i]) at += 1;
      row[at] = Number.isNaN(v[i]) ? null : v[i] * facts.factor;
      // A round-trip time that nobody has measured for long is not known: the line ends with the sample.
      if (sampled && t[i + 1] - t[i] > Math.max(LONG_S, 3 * v[i], 3 * (t[i] - (t[i - 1] ?? t[i]))) && times[at + 1] < t[i + 1]) row[at + 1] = null;
    }
    return row;
  })];
}

// Three panels and their legends fit into a window, as far as they stay readable.
const heightOf = (large) => (large ? Math.max(200, innerHeight - 430) : Math.round(Math.min(190, Math.max(110, (innerHeight - 150) / 3 - 62))));

export function Panel({ panel, side, live, dark, large }) {
  const host = useRef(null), plot = useRef(null), width = useWidth(host), height = heightOf(large);
  const shape = JSON.stringify([panel.lines.map((one) => one.label), width > 0, dark, large]);
  // Before the page is painted: no frame is without its plot.
  useLayoutEffect(() => {
    if (!width) return undefined;
    plot.current = new uPlot(optionsOf(panel, live, width, height), dataOf(drawable(panel, live().view, width)), host.current);
    host.current.plot = plot.current;
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);
  useLayoutEffect(() => {
    if (width) plot.current?.setSize({ width, height });
  }, [width]);
  useEffect(() => {
    plot.current?.setData(dataOf(drawable(panel, live().view, width)), true);
    host.current.dataset.version = panel.version;
  }, [panel.version]);
  const names = panel.lines.map((one) => one.label).join(", ");
  const title = side ? `${panel.title}, ${side}` : panel.title;
  return html`<figure class="series" data-series=${panel.names.join(" ")} data-side=${side}><figcaption>${title}${panel.facts.unit ? ` (${panel.facts.unit})` : ""}</figcaption>
    <div class="plot" ref=${host} role="img" aria-label=${`${title} over time: ${names}`}></div></figure>`;
}

// The lines of a panel: the series `names` of one run, of the same links as beside it.
function linesOf({ tracks, links }, names, ids, facts, off) {
  const perFlow = (track) => about(facts, track.name).of === "flow";
  const shown = tracks.filter((track) => names.includes(track.name) && (perFlow(track) ? track.id < MOST_FLOWS && !off.has(track.id) : ids.includes(track.id)));
  return shown.map((track) => ({
    track, name: track.name, owner: perFlow(track) ? track.id : ids.indexOf(track.id), rank: names.indexOf(track.name), binned: about(facts, track.name).binned,
    label: `${names.length > 1 || !perFlow(track) ? `${about(facts, track.name).label}, ` : ""}${nameOf(about(facts, track.name).of, track.id, links)}`,
  }));
}

// What a link offers and what arrives; rates of sending go beyond it for moments, and would press all else onto the axis.
function whatArrives(lines) {
  const arrived = lines.filter(({ name }) => name === "throughput" || name === "capacity");
  return arrived.length && arrived.some(({ track }) => track.v.some((v) => v > 0)) ? arrived : lines;
}

// The range of all lines of a row, so that panels beside one another have one scale.
function reachOf(lines, factor) {
  let [low, high] = [Infinity, -Infinity];
  for (const { track } of lines) {
    for (const v of track.v) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  return low > high ? [null, null] : [low * factor, high * factor];
}

// The range of a panel with that of the lines behind it.
function widened([low, high], pale) {
  if (!pale?.length) return [low, high];
  const [from, until] = reachOf(pale, pale[0].factor), all = [low, high, from, until].filter(known);
  return all.length ? [Math.min(...all), Math.max(...all)] : [low, high];
}

// Of each panel the lines of a run before: of its first series alone, since pale dashes tell nothing apart.
function paleOf(ghost, rows, facts, off) {
  if (!ghost) return {};
  return Object.fromEntries(rows.map(([{ names: [name], facts: { factor } }]) => {
    const ids = busiest(ghost.tracks.filter((track) => track.name === name && about(facts, name).of !== "flow"), MOST_OWNERS);
    return [name, linesOf(ghost, [name], ids, facts, off).map((one) => ({ ...one, factor }))];
  }));
}

// All panels of a run; with `other` a second column has those of another run. `off` has the flows that are switched off;
// `focus` is the flow whose state is shown as bands.
export function Panels({ tracks, version, facts, view, zoom, point, summary, off, focus, links, other, ghost }) {
  const dark = useDark(), large = useLarge(), [chosen, choose] = useKept("panel", ""), live = useRef([]);
  const sides = [{ tracks, version, summary, links }, ...(other ? [other] : [])];
  const everything = sides.flatMap((side) => side.tracks);
  const reach = {}, pale = {};
  live.current = sides.map((side) => ({
    view, zoom, point, reach, pale,
    bands: bandsOf(side.tracks, focus, view.until_s),
    ticks: side.tracks.filter((track) => track.name === "drops" || track.name === "marks"),
    levels: (side.summary?.flows ?? []).filter((flow) => known(flow.min_rtt_s) && !off.has(flow.flow)).map((flow) => ({ value: flow.min_rtt_s * 1e3, owner: flow.flow })),
  }));
  const seen = `${sides.map((side) => side.version).join(" ")} ${view.from_s} ${view.until_s} ${focus} ${ghost?.id ?? ""}`;
  const rows = panelsOf(everything).map((names) => {
    const first = about(facts, names[0]), ids = busiest(everything.filter((track) => names.includes(track.name) && about(facts, track.name).of !== "flow"), MOST_OWNERS);
    const panels = sides.map((side) => ({ names, title: TITLES[names[0]] ?? first.label, facts: first, lines: linesOf(side, names, ids, facts, off), version: seen }));
    const lines = panels.flatMap((panel) => panel.lines);
    if (other || names.includes("sending_rate")) reach[names[0]] = reachOf(whatArrives(lines), first.factor);
    return panels;
  });
  Object.assign(pale, paleOf(ghost, rows, facts, off));
  const shown = large ? rows.filter(([{ names }], i) => names[0] === chosen || (i === 0 && !rows.some(([one]) => one.names[0] === chosen))) : rows;
  return html`${large && html`<label class="chosen">plot <select id="panel" onChange=${(e) => choose(e.target.value)}>${rows.map(([{ names, title }]) => html`<option value=${names[0]} selected=${names[0] === chosen}>${title}</option>`)}</select></label>`}
    <div class=${other ? "stack two" : "stack"}>${shown.flatMap((panels) => panels.map((panel, side) => html`<${Panel} key=${`${panel.names[0]} ${side}`} panel=${panel} side=${other && SIDES[side]} live=${() => live.current[side]} dark=${dark} large=${large} />`))}</div>`;
}

const SIDES = ["as it is", "changed"], MOST_OWNERS = 4;
const nameOf = (owner, id, links) => (owner === "link" && links?.[id] ? `${links[id].from} → ${links[id].to}` : `${owner} ${id}`);

// Of many links those whose queues were the longest; those that never had any are left out.
function busiest(tracks, most) {
  const peak = new Map();
  for (const { id, v } of tracks) peak.set(id, v.reduce((sum, one) => (one > sum ? one : sum), peak.get(id) ?? 0));
  const ids = [...peak.keys()], some = ids.filter((id) => peak.get(id) > 0);
  return (some.length ? some : ids).sort((a, b) => peak.get(b) - peak.get(a)).slice(0, most);
}
