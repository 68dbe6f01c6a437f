// Series over time, drawn by uPlot: drag to zoom, double click for the whole again, the values under the pointer in the legend.
"use strict";

function bytesOf(text) {
  const binary = atob(text);
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0)).buffer;
}

// The inverse of report/embed.py: values as float32, or as steps of uint16 from a first value.
function decode(packed) {
  if (Array.isArray(packed)) return packed;
  if (packed.float32 !== undefined) return Array.from(new Float32Array(bytesOf(packed.float32)), (v) => (Number.isNaN(v) ? null : v));
  let steps = 0;
  return Array.from(new Uint16Array(bytesOf(packed.steps)), (delta) => packed.first + packed.step * (steps += delta));
}

function samplesOf(one) {
  one.decoded ??= { x: decode(one.x), y: decode(one.y) };
  return one.decoded;
}

const fromStyle = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const lineDash = (style) => (DASHES[style % DASHES.length] ? DASHES[style % DASHES.length].split(" ").map(Number) : []);

// The index of the last sample at or before the pointer: a value holds until the next one.
function lastSample(plot, series, i) {
  const values = plot.data[series];
  while (i > 0 && !known(values[i])) i -= 1;
  return i;
}

function drawMarks(figure) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = fromStyle("--rule");
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const mark of figure.marks || []) {
      const x = plot.valToPos(mark.x, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
}

function drawSeries(figure, shown, host, options) {
  const tables = shown.map(samplesOf).map((samples) => [samples.x, samples.y]);
  const data = tables.length ? uPlot.join(tables) : [[]];
  const ink = fromStyle("--ink"), line = fromStyle("--line");
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "11px Inter, Arial, sans-serif", labelFont: "11px Inter, Arial, sans-serif", labelSize: 20 };
  const common = options.common && known(figure.y.max);
  const width = Math.max(240, host.clientWidth);
  const plot = new uPlot(
    {
      width, height: Math.round(Math.min(300, Math.max(220, width * 0.4))),
      scales: { x: { time: false }, y: { range: (u, low, high) => uPlot.rangeNum(common ? figure.y.min ?? 0 : Math.min(0, low ?? 0), common ? figure.y.max : high || 1, { min: { pad: 0, soft: 0, mode: 2 }, max: { pad: 0.06 } }) } },
      axes: [
        { ...axis, size: 34, label: withUnit(figure.x), values: (u, ticks) => ticks.map((v) => show(v, 6)) },
        { ...axis, label: withUnit(figure.y), size: 58, values: (u, ticks) => ticks.map((v) => show(v, 6)) },
      ],
      cursor: { drag: { x: true, y: false, dist: 4 }, dataIdx: lastSample, points: { size: 6 } },
      legend: { live: true },
      hooks: { draw: [drawMarks(figure)] },
      series: [
        { label: withUnit(figure.x), value: (u, v) => show(v, 6) },
        ...shown.map((one) => ({
          label: one.label, stroke: fromStyle(`--s${one.style % 7}`), width: Math.max(1.2, 2.2 - 0.35 * one.style), dash: lineDash(one.style), points: { show: false },
          paths: figure.step ? uPlot.paths.stepped({ align: figure.step === "before" ? -1 : 1 }) : uPlot.paths.linear(),
          value: (u, v) => (known(v) ? `${show(v)}${figure.y.unit ? ` ${figure.y.unit}` : ""}` : "–"),
        })),
      ],
    },
    data,
    host,
  );
  return plot;
}
