// Figures over an axis, drawn by Observable Plot: lines, differences, bars, distributions, heat maps.
// Colours are custom properties of the style sheet, so that dark mode and print change them without drawing again.
"use strict";

const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "wye", "cross"];
const DASHES = ["", "7 3", "8 3 2 3", "2 3", "5 2 1 2 1 2", "1 2", "10 4"];

const colour = (style) => `var(--s${style % 7})`;
const symbol = (style) => SYMBOLS[style % SYMBOLS.length];
const dash = (style) => DASHES[style % DASHES.length];
// Lines that coincide remain distinguishable: those drawn first are wider, their markers larger.
const lineWidth = (style) => Math.max(1.5, 3.1 - 0.55 * style);
const markerSize = (style) => Math.max(2.6, 4.9 - 0.75 * style);
const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

// Making a format takes longer than a hundred uses of it.
const FORMATS = Array.from({ length: 11 }, (_, decimals) => new Intl.NumberFormat("en-US", { minimumFractionDigits: 0, maximumFractionDigits: decimals }));

// A number with four significant digits and separated thousands, as the tables show it.
function show(value, digits = 4) {
  if (!known(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size < -4) return value.toExponential(digits - 1);
  const decimals = Math.max(0, digits - 1 - size);
  return FORMATS[Math.min(10, decimals)].format(value);
}

const withUnit = (axis) => (axis.unit && !axis.label.includes(axis.unit) ? `${axis.label} (${axis.unit})` : axis.label);

// The text that hovering shows: whose value, where, the value with its interval, and the number of replicates.
function hint(figure, row) {
  const unit = figure.y.unit ? ` ${figure.y.unit}` : "";
  const lines = [row.label];
  if (row.tick !== undefined) lines.push(`${withUnit(figure.x)}: ${row.tick}`);
  const interval = known(row.low) && known(row.high) ? ` [${show(row.low)}, ${show(row.high)}]` : "";
  lines.push(`${show(row.y)}${interval}${unit}`);
  if (row.n !== undefined && row.n !== null) lines.push(`n = ${row.n}`);
  if (row.note) lines.push(wrapped(row.note, 46));
  return lines.join("\n");
}

const at = (array, i) => (Array.isArray(array) ? array[i] : array);

// One row for each point of each series that is switched on.
function rowsOf(figure, shown) {
  const ticks = new Map((figure.x.values || []).map((value, i) => [value, (figure.x.ticks || [])[i]]));
  return shown.flatMap((one) =>
    one.x.map((x, i) => ({
      label: one.label, style: one.style, x, y: one.y[i], low: at(one.low, i), high: at(one.high, i), n: at(one.n, i),
      tick: ticks.get(x) ?? show(x),
    })),
  );
}

// The vertical scale: common to all panels of the metric, or just what this panel needs. Noise does not fill a panel.
function verticalDomain(figure, shown, rows, common) {
  if (common && known(figure.y.min) && known(figure.y.max)) return [figure.y.min, figure.y.max];
  const values = rows.flatMap((row) => [row.y, row.low, row.high]).concat(shown.flatMap((one) => one.points?.y ?? []), (figure.published ?? []).flatMap((one) => one.y)).filter(known);
  if (!values.length) return [0, 1];
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (figure.y.log) return [low, high];
  // What cannot be negative, or more than all, is not shown there.
  const [floor, ceiling] = [low >= 0 ? 0 : -Infinity, figure.kind !== "difference" && figure.y.unit === "%" && high <= 100 ? 100 : Infinity];
  const least = figure.kind === "difference" ? 0.5 : figure.y.unit === "%" ? 0.2 : 0.02 * Math.max(Math.abs(low), Math.abs(high));
  if (figure.kind === "difference") [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
  [low, high] = [Math.max(low, floor), Math.min(high, ceiling)];
  return low === high ? [low - 1, high + 1] : [low, high];
}

// As many of the swept values as have room for their text.
function ticksThatFit(figure, width) {
  const values = figure.x.values || [], texts = (figure.x.ticks || []).map(String);
  if (!values.length) return {};
  const span = Math.max(...values) - Math.min(...values) || 1;
  const place = (v) => (figure.x.log ? Math.log(v / Math.min(...values)) / Math.log(Math.max(...values) / Math.min(...values) || 2) : (v - Math.min(...values)) / span);
  let end = -Infinity;
  const kept = values.filter((v, i) => {
    const half = 3.4 * texts[i].length + 3, centre = place(v) * (width - 70);
    if (centre - half < end) return false;
    end = centre + half;
    return true;
  });
  const names = new Map(values.map((v, i) => [v, texts[i]]));
  return { ticks: kept, tickFormat: (v) => names.get(v) ?? "" };
}

function frame(figure, shown, width, rows, options, marks) {
  return Plot.plot({
    width, height: Math.round(Math.min(300, Math.max(200, width * 0.62))), marginLeft: 52, marginRight: 14, marginTop: 12, marginBottom: 38,
    style: { fontFamily: "inherit", fontSize: "11px", overflow: "visible" },
    ariaLabel: figure.title,
    x: { type: figure.x.log ? "log" : "linear", label: withUnit(figure.x), labelAnchor: "center", labelArrow: "none", inset: 8, ...ticksThatFit(figure, width) },
    y: {
      type: figure.y.log ? "log" : "linear", domain: verticalDomain(figure, shown, rows, options.common), nice: true, grid: true, label: null, ticks: 5,
      tickFormat: (v) => show(v, 6),
    },
    marks,
  });
}

function singlePoints(one) {
  const points = one.points.x.map((x, i) => ({ x, y: one.points.y[i] })).filter((row) => known(row.y));
  return Plot.dot(points, { x: "x", y: "y", r: 1.8, fill: colour(one.style), fillOpacity: 0.55 });
}

function lineMarks(figure, shown, rows, options) {
  const marks = [];
  for (const one of shown) {
    const mine = rows.filter((row) => row.label === one.label && known(row.y));
    const has = (row) => row !== undefined && known(row.low) && known(row.high);
    if (options.bands && mine.some(has)) {
      // A point without an interval breaks the band; one alone between two of these has a line.
      marks.push(Plot.areaY(mine, { x: "x", y1: (row) => (has(row) ? row.low : NaN), y2: (row) => (has(row) ? row.high : NaN), fill: colour(one.style), fillOpacity: 0.16 }));
      const alone = mine.filter((row, i) => has(row) && !has(mine[i - 1]) && !has(mine[i + 1]));
      if (alone.length) marks.push(Plot.ruleX(alone, { x: "x", y1: "low", y2: "high", stroke: colour(one.style) }));
    }
    if (one.points) marks.push(singlePoints(one));
    marks.push(Plot.line(mine, { x: "x", y: "y", stroke: colour(one.style), strokeWidth: lineWidth(one.style), strokeDasharray: dash(one.style) }));
    marks.push(Plot.dot(mine, { x: "x", y: "y", stroke: colour(one.style), fill: "var(--paper)", strokeWidth: 1.6, r: markerSize(one.style), symbol: symbol(one.style) }));
  }
  for (const one of figure.published || []) {
    const printed = one.x.map((x, i) => ({ x, y: one.y[i] })).filter((row) => known(row.y));
    const stroke = colour(one.style);
    marks.push(Plot.dot(printed, { x: "x", y: "y", stroke, symbol: "times", r: 5, strokeWidth: 1.8, title: (row) => `${one.label}: ${show(row.y)}` }));
  }
  return marks;
}

const pointer = (figure, rows) =>
  Plot.tip(rows.filter((row) => known(row.y)), Plot.pointer({ x: "x", y: "y", title: (row) => hint(figure, row), maxRadius: 60, fontSize: 11.5 }));

function drawLine(figure, shown, width, options) {
  const rows = rowsOf(figure, shown);
  const marks = (figure.marks || []).map((mark) => Plot.ruleX([mark.x], { stroke: "var(--rule)", strokeDasharray: "2 3", title: () => mark.label }));
  return frame(figure, shown, width, rows, options, [...marks, ...lineMarks(figure, shown, rows, options), pointer(figure, rows)]);
}

// Intervals of several algorithms stand side by side.
function drawDifference(figure, shown, width, options) {
  const values = [...(figure.x.values || [])].sort((a, b) => a - b);
  const step = Math.min(...values.slice(1).map((v, i) => v - values[i]), Infinity);
  const wide = Number.isFinite(step) && !figure.x.log ? step * 0.07 : 0;
  const rows = shown.flatMap((one, i) => rowsOf(figure, [one]).map((row) => ({ ...row, x: row.x + wide * (i - (shown.length - 1) / 2) })));
  const marks = [Plot.ruleY([0], { stroke: "var(--ink)", strokeOpacity: 0.7 })];
  for (const one of shown) {
    const mine = rows.filter((row) => row.label === one.label && known(row.y));
    const banded = mine.filter((row) => known(row.low) && known(row.high));
    if (one.points) marks.push(singlePoints(one));
    marks.push(Plot.line(mine, { x: "x", y: "y", stroke: colour(one.style), strokeWidth: 1.4, strokeDasharray: dash(one.style) }));
    marks.push(Plot.ruleX(banded, { x: "x", y1: "low", y2: "high", stroke: colour(one.style), strokeWidth: 1.6 }));
    marks.push(Plot.dot(mine, { x: "x", y: "y", stroke: colour(one.style), fill: "var(--paper)", strokeWidth: 1.6, r: markerSize(one.style), symbol: symbol(one.style) }));
  }
  return frame(figure, shown, width, rows, options, [...marks, pointer(figure, rows)]);
}

// A long label in lines of about this many letters.
function wrapped(label, letters = 18) {
  const lines = [""];
  for (const word of label.split(" ")) {
    if (lines.at(-1) && lines.at(-1).length + word.length >= letters) lines.push(word);
    else lines.push([lines.pop(), word].filter(Boolean).join(" "));
  }
  return lines.join("\n");
}

function drawBar(figure, shown, width, options) {
  const rows = shown.map((one) => ({ label: one.label, style: one.style, y: one.y[0], low: at(one.low, 0), high: at(one.high, 0), n: at(one.n, 0) }));
  const points = shown.flatMap((one) => (one.points ? one.points.y.map((y) => ({ label: one.label, y })) : [])).filter((row) => known(row.y));
  const banded = rows.filter((row) => known(row.low) && known(row.high));
  const values = rows.flatMap((row) => [row.y, row.low, row.high]).concat(points.map((row) => row.y)).filter(known);
  const top = options.common && known(figure.y.max) ? figure.y.max : Math.max(0, ...values);
  const margin = 16 + 6.3 * Math.max(...rows.flatMap((row) => wrapped(row.label).split("\n").map((line) => line.length)), 1);
  return Plot.plot({
    width, height: 62 + 30 * rows.length, marginLeft: margin, marginRight: 18, marginTop: 8, marginBottom: 38,
    style: { fontFamily: "inherit", fontSize: "11px", overflow: "visible" }, ariaLabel: figure.title,
    x: { domain: [Math.min(0, ...values), top || 1], nice: true, grid: true, label: withUnit(figure.y), labelAnchor: "center", labelArrow: "none", ticks: 5, tickFormat: (v) => show(v, 6) },
    y: { domain: rows.map((row) => row.label), label: null, padding: 0.3, tickFormat: (label) => wrapped(label) },
    marks: [
      Plot.barX(rows.filter((row) => known(row.y)), { x: "y", y: "label", fill: (row) => colour(row.style), fillOpacity: 0.8 }),
      Plot.ruleX([0], { stroke: "var(--ink)" }),
      Plot.dot(points, { x: "y", y: "label", r: 2, fill: "var(--ink)", fillOpacity: 0.6 }),
      Plot.ruleY(banded, { y: "label", x1: "low", x2: "high", stroke: "var(--ink)", strokeWidth: 1.6 }),
      Plot.tickX(banded, { y: "label", x: "low", stroke: "var(--ink)", insetTop: 5, insetBottom: 5 }),
      Plot.tickX(banded, { y: "label", x: "high", stroke: "var(--ink)", insetTop: 5, insetBottom: 5 }),
      Plot.tip(rows.filter((row) => known(row.y)), Plot.pointerY({ x: "y", y: "label", title: (row) => hint(figure, row), fontSize: 11.5 })),
    ],
  });
}

function drawEcdf(figure, shown, width, options) {
  const rows = shown.flatMap((one) => one.x.map((x, i) => ({ label: one.label, style: one.style, x, y: one.y[i] }))).filter((row) => known(row.x));
  const marks = shown.map((one) =>
    Plot.line(rows.filter((row) => row.label === one.label), { x: "x", y: "y", curve: "step-after", stroke: colour(one.style), strokeWidth: lineWidth(one.style), strokeDasharray: dash(one.style) }),
  );
  const text = (row) => `${row.label}\n${show(100 * row.y, 3)} % of the flows have at most\n${show(row.x)}${figure.x.unit ? ` ${figure.x.unit}` : ""}`;
  const tip = Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: text, maxRadius: 60, fontSize: 11.5 }));
  const plain = { ...figure, x: { ...figure.x, values: [] }, y: { ...figure.y, min: 0, max: 1 } };
  return frame(plain, shown, width, rows, { ...options, common: true }, [...marks, tip]);
}

// Distributions over packets: lines, and bands for their intervals over replicates.
function drawCdf(figure, shown, width, options) {
  const rows = rowsOf(figure, shown).filter((row) => known(row.x) && known(row.y) && !(figure.y.log && row.y <= 0));
  const marks = shown.flatMap((one) => {
    const mine = rows.filter((row) => row.label === one.label);
    const banded = mine.filter((row) => known(row.low) && known(row.high) && !(figure.y.log && row.low <= 0));
    return [
      ...(options.bands ? [Plot.areaY(banded, { x: "x", y1: "low", y2: "high", fill: colour(one.style), fillOpacity: 0.16 })] : []),
      Plot.line(mine, { x: "x", y: "y", stroke: colour(one.style), strokeWidth: lineWidth(one.style), strokeDasharray: dash(one.style) }),
    ];
  });
  return frame(figure, shown, width, rows, { ...options, common: true }, [...marks, pointer(figure, rows)]);
}

// Places at least `gap` apart, in the order of `wanted` and as near to it as can be (least squares: neighbours too near share their middle).
function apart(wanted, gap, most) {
  const blocks = [];
  wanted.forEach((place, i) => {
    blocks.push({ sum: place - gap * i, count: 1 });
    while (blocks.length > 1 && blocks.at(-1).sum / blocks.at(-1).count < blocks.at(-2).sum / blocks.at(-2).count) {
      const last = blocks.pop();
      blocks.at(-1).sum += last.sum;
      blocks.at(-1).count += last.count;
    }
  });
  const room = Math.max(0, most - gap * (wanted.length - 1));
  return blocks.flatMap((block) => Array(block.count).fill(Math.min(room, Math.max(0, block.sum / block.count)))).map((place, i) => place + gap * i);
}

// A metric against another: a marker with both intervals for each series; the names stand beside, with a line to each.
function drawScatter(figure, shown, width, options) {
  const rows = shown
    .map((one) => ({ label: one.label, style: one.style, x: one.x[0], y: one.y[0], xLow: at(one.x_low, 0), xHigh: at(one.x_high, 0), low: at(one.low, 0), high: at(one.high, 0), n: at(one.n, 0) }))
    .filter((row) => known(row.x) && known(row.y))
    .sort((a, b) => b.y - a.y);
  const [xs, ys] = [rows.flatMap((row) => [row.x, row.xLow, row.xHigh]).filter(known), verticalDomain(figure, shown, rows, options.common)];
  const [top, bottom] = [12, 38];
  const right = Math.min(20 + 6.3 * Math.max(1, ...rows.map((row) => row.label.length)), width * 0.4);
  const inner = Math.max(200, width * 0.5, 13 * rows.length);
  const scale = (v) => (figure.y.log ? Math.log(v) : v);
  const share = (v) => (scale(ys[1]) - scale(v)) / (scale(ys[1]) - scale(ys[0]) || 1);
  const places = apart(rows.map((row) => 8 + share(row.y) * (inner - 16)), 13, inner);
  const stroke = (row) => colour(row.style);
  const interval = (low, high) => (known(low) && known(high) ? ` [${show(low)}, ${show(high)}]` : "");
  const text = (row) => `${row.label}\n${show(row.y)}${interval(row.low, row.high)} ${figure.y.unit}\n${show(row.x)}${interval(row.xLow, row.xHigh)} ${figure.x.unit}${known(row.n) ? `\nn = ${row.n}` : ""}`;
  const equal = figure.diagonal ? [Math.max(Math.min(...xs), ys[0]), Math.min(Math.max(...xs), ys[1])] : [];
  const names = rows.map((row, i) =>
    Plot.text([row], { text: "label", frameAnchor: "top-right", dx: 10, dy: places[i], lineAnchor: "middle", textAnchor: "start", fill: "currentColor" }),
  );
  return Plot.plot({
    width, height: Math.round(top + inner + bottom), marginLeft: 52, marginRight: right, marginTop: top, marginBottom: bottom,
    style: { fontFamily: "inherit", fontSize: "11px", overflow: "visible" }, ariaLabel: figure.title,
    x: { type: figure.x.log ? "log" : "linear", domain: xs.length ? [Math.min(...xs), Math.max(...xs)] : [0, 1], label: withUnit(figure.x), labelAnchor: "center", labelArrow: "none", inset: 8, ticks: 5, tickFormat: (v) => show(v, 6), grid: true },
    y: { type: figure.y.log ? "log" : "linear", domain: ys, inset: 8, grid: true, label: null, ticks: 5, tickFormat: (v) => show(v, 6) },
    marks: [
      Plot.line(equal, { x: (v) => v, y: (v) => v, stroke: "var(--line)" }),
      Plot.ruleX(rows.filter((row) => known(row.low)), { x: "x", y1: "low", y2: "high", stroke }),
      Plot.ruleY(rows.filter((row) => known(row.xLow)), { y: "y", x1: "xLow", x2: "xHigh", stroke }),
      (_, scales) => leaders(rows, places, scales, width - right, top),
      ...rows.map((row) => Plot.dot([row], { x: "x", y: "y", stroke: colour(row.style), fill: "var(--paper)", strokeWidth: 1.6, r: 4, symbol: symbol(row.style) })),
      ...names,
      Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: text, maxRadius: 60, fontSize: 11.5 })),
    ],
  });
}

// The lines from markers to names.
function leaders(rows, places, scales, right, top) {
  const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
  rows.forEach((row, i) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const ends = { x1: scales.x(row.x) + 5, y1: scales.y(row.y), x2: right + 7, y2: top + places[i] };
    for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value);
    line.setAttribute("stroke", colour(row.style));
    line.setAttribute("stroke-opacity", 0.45);
    line.setAttribute("stroke-width", 0.8);
    group.append(line);
  });
  return group;
}

// A panel for each algorithm, all with one scale of colours. Two colours meet at zero of a difference, or at the middle of the scale.
function drawHeatmap(figure, shown, width, options) {
  const all = figure.series.flatMap((one) => one.y).filter(known);
  const values = (options.common ? all : shown.flatMap((one) => one.y)).filter(known);
  const [halves, common] = [known(figure.y.middle), options.common && known(figure.y.min) && known(figure.y.max)];
  const ends = common || halves ? [figure.y.min, figure.y.max] : [Math.min(...values), Math.max(...values)];
  const middle = halves ? figure.y.middle : 0;
  const most = Math.max(...ends.map((end) => Math.abs(end - middle))) || 1;
  const diverging = halves || figure.baseline !== "";
  const colours = diverging
    ? { type: "diverging", scheme: halves ? "RdBu" : "PuOr", pivot: middle, domain: [middle - most, middle + most] }
    : { type: "linear", scheme: "cividis", domain: ends };
  const [columns, rows] = [figure.x, figure.rows];
  const name = (axis) => (v) => axis.ticks[axis.values.indexOf(v)] ?? show(v);
  const letters = (axis) => Math.max(1, ...axis.ticks.map((tick) => String(tick).length));
  const room = Math.max(260, Math.min(430, width / Math.max(1, Math.min(shown.length, Math.floor(width / 300))) - 12));
  const left = Math.max(62, 20 + 6 * letters(rows));
  const each = Math.min(width, Math.max(room, left + 24 * columns.values.length));
  const turned = 6.2 * letters(columns) > (each - left) / columns.values.length;
  const bottom = turned ? 30 + 5.2 * letters(columns) : 38;
  const host = document.createElement("div");
  host.className = "tiles";
  for (const one of shown) {
    const cells = one.x.map((x, i) => ({
      label: one.label, x, row: one.row[i], y: one.y[i], low: at(one.low, i), high: at(one.high, i), n: at(one.n, i), note: at(one.notes, i), marked: at(one.marked, i),
    }));
    const text = (cell) => hint(figure, { ...cell, tick: `${name(columns)(cell.x)}, ${rows.label}: ${name(rows)(cell.row)}` });
    const light = (cell) => (diverging ? Math.abs(cell.y - middle) < 0.55 * most : cell.y > (ends[0] + ends[1]) / 2);
    host.append(
      Plot.plot({
        width: each, height: 40 + bottom + (rows.values.length > 12 ? 22 : 34) * rows.values.length, marginLeft: left, marginRight: 6, marginTop: 26, marginBottom: bottom,
        style: { fontFamily: "inherit", fontSize: "11px", overflow: "visible" }, ariaLabel: `${figure.title}, ${one.label}`,
        color: colours,
        x: { type: "band", domain: columns.values, label: withUnit(columns), labelAnchor: "center", labelArrow: "none", tickFormat: name(columns), tickRotate: turned ? -60 : 0, padding: 0.03 },
        y: { type: "band", domain: [...rows.values].reverse(), label: withUnit(rows), labelArrow: "none", tickFormat: name(rows), padding: 0.03 },
        marks: [
          Plot.text([one.label], { frameAnchor: "top", dy: -18, fontWeight: 600, fill: "currentColor" }),
          Plot.cell(cells.filter((cell) => known(cell.y)), { x: "x", y: "row", fill: "y" }),
          Plot.text(cells, { x: "x", y: "row", text: (cell) => show(cell.y, 3), fill: (cell) => (light(cell) ? "black" : "white"), fontSize: 10.5 }),
          Plot.dot(cells.filter((cell) => cell.marked), { x: "x", y: "row", dy: 9, r: 2.2, fill: "white", stroke: "black", strokeWidth: 0.6 }),
          Plot.tip(cells.filter((cell) => known(cell.y)), Plot.pointer({ x: "x", y: "row", title: text, fontSize: 11.5 })),
        ],
      }),
    );
  }
  return host;
}

const DRAW = { line: drawLine, difference: drawDifference, bar: drawBar, scatter: drawScatter, ecdf: drawEcdf, cdf: drawCdf, heatmap: drawHeatmap };
