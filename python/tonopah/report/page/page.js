// The page: figures are drawn when they come into view; what is switched in one place holds everywhere.
"use strict";

const FIGURES = JSON.parse(document.getElementById("figures-data").textContent);
const off = new Set();
const drawn = new Map();
const options = { common: false, bands: true };

// Which figure a panel shows: its values, or the difference to the baseline.
const figureOf = (panel) => FIGURES[(panel.closest(".group, .claim, .headline")?.classList.contains("differences") && panel.dataset.difference) || panel.dataset.figure];
const shownOf = (figure) => figure.series.filter((one) => !off.has(one.label));

function draw(panel) {
  const host = panel.querySelector(".plot"), figure = figureOf(panel);
  if (!host.clientWidth) return;
  drawn.get(panel)?.destroy?.();
  host.replaceChildren();
  const title = panel.querySelector(".name");
  if (title) title.textContent = figure.heading;
  const what = panel.querySelector(".what");
  if (what) what.textContent = figure.caption;
  const shown = shownOf(figure);
  let picture = null;
  if (!shown.length) host.append(Object.assign(document.createElement("p"), { className: "meta", textContent: "All are switched off." }));
  else if (figure.kind === "series") picture = drawSeries(figure, shown, host, options);
  else host.append(DRAW[figure.kind](figure, shown, host.clientWidth, options));
  host.style.minHeight = "";
  drawn.set(panel, picture);
  panel.dataset.width = host.clientWidth;
}

const drawAgain = (inside = document) => {
  for (const panel of drawn.keys()) if (inside.contains(panel)) draw(panel);
};

function drawWhenSeen() {
  const watcher = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting && !drawn.has(entry.target)).forEach((entry) => draw(entry.target)),
    { rootMargin: "300px" },
  );
  document.querySelectorAll(".chart[data-figure]").forEach((panel) => watcher.observe(panel));
  let waiting = 0;
  new ResizeObserver(() => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const panel of drawn.keys()) {
        const now = panel.querySelector(".plot").clientWidth;
        if (now && String(now) !== panel.dataset.width) draw(panel);
      }
    }, 150);
  }).observe(document.querySelector("main"));
}

// The sample of a line: colour, dashes and marker as in the figures.
function swatch(style) {
  const picture = d3.create("svg").attr("width", 26).attr("height", 12).attr("aria-hidden", "true");
  picture.append("line").attr("x1", 0).attr("x2", 26).attr("y1", 6).attr("y2", 6).attr("stroke", colour(style)).attr("stroke-width", 2).attr("stroke-dasharray", dash(style));
  const shape = { circle: d3.symbolCircle, square: d3.symbolSquare, triangle: d3.symbolTriangle, diamond: d3.symbolDiamond, star: d3.symbolStar, wye: d3.symbolWye, cross: d3.symbolCross };
  picture.append("path").attr("d", d3.symbol(shape[symbol(style)], 36)()).attr("transform", "translate(13,6)").attr("fill", "var(--paper)").attr("stroke", colour(style)).attr("stroke-width", 1.6);
  return picture.node();
}

function button(text, pressed, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "switch" });
  made.append(text);
  made.setAttribute("aria-pressed", String(pressed));
  made.addEventListener("click", () => act(made));
  return made;
}

const press = (made, pressed) => made.setAttribute("aria-pressed", String(pressed));

function switchAlgorithm(label) {
  if (!off.delete(label)) off.add(label);
  document.querySelectorAll("button.algorithm").forEach((one) => press(one, !off.has(one.dataset.label)));
  drawAgain();
}

function fillTools(tools) {
  const group = tools.closest(".group, .claim, .headline");
  const figures = [...group.querySelectorAll(".chart[data-figure]")].flatMap((panel) => [panel.dataset.figure, panel.dataset.difference]).map((id) => FIGURES[id]).filter(Boolean);
  const labels = new Map(), algorithms = JSON.parse(tools.dataset.labels);
  for (const one of figures.flatMap((figure) => figure.series)) if (algorithms.includes(one.label)) labels.set(one.label, one.style);
  for (const [label, style] of labels.size > 1 ? labels : []) {
    const made = button(label, true, () => switchAlgorithm(label));
    made.classList.add("algorithm");
    made.dataset.label = label;
    made.title = "switch on and off, in all figures";
    made.prepend(swatch(style));
    tools.append(made);
  }
  if (group.querySelector("[data-difference]")) {
    tools.append(button("difference to the baseline", group.classList.contains("differences"), (made) => {
      press(made, group.classList.toggle("differences"));
      drawAgain(group);
    }));
  }
  if (group.matches(".group") && figures.some((figure) => known(figure.y.max))) {
    const made = button("one scale for each metric", options.common, () => {
      options.common = !options.common;
      document.querySelectorAll("button.scale").forEach((one) => press(one, options.common));
      drawAgain();
    });
    made.classList.add("scale");
    made.title = "the same vertical scale in all panels of a metric";
    tools.append(made);
  }
  if (figures.some((figure) => figure.kind === "series")) {
    const made = button("whole length", false, () => drawAgain(group));
    made.title = "undo the zoom of the series";
    made.removeAttribute("aria-pressed");
    tools.append(made);
  }
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let parent = target; parent; parent = parent.parentElement) if (parent.tagName === "DETAILS") parent.open = true;
  target?.scrollIntoView();
}

function unfold(made) {
  const folded = [...document.querySelectorAll("main details.group")];
  const open = folded.some((one) => !one.open);
  for (const one of folded) one.open = open;
  made.textContent = open ? "fold all" : "unfold all";
}

function start() {
  document.querySelectorAll(".tools").forEach(fillTools);
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  document.querySelectorAll("button.csv").forEach((made) =>
    made.addEventListener("click", () => {
      const figure = figureOf(made.closest(".chart"));
      download(`${figure.id}.csv`, csvOf(figure));
    }),
  );
  document.getElementById("unfold")?.addEventListener("click", (event) => unfold(event.currentTarget));
  drawWhenSeen();
  addEventListener("hashchange", openTarget);
  if (location.hash) openTarget();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAgain());
  // Paper shows what is unfolded, in the colours of print.
  const all = () => document.querySelectorAll(".chart[data-figure]").forEach((panel) => drawn.has(panel) || draw(panel));
  addEventListener("beforeprint", all);
  matchMedia("print").addEventListener("change", () => {
    all();
    drawAgain();
  });
}

start();
